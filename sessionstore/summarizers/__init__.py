"""Summarisers: text in, text out. The one that needs no model, the one that wraps a function, and how to ask any of them."""
from __future__ import annotations

from sessionstore.summarizers.asking import ask
from sessionstore.summarizers.extractive import ExtractiveSummarizer
from sessionstore.summarizers.from_callable import CallableSummarizer

__all__ = ["CallableSummarizer", "ExtractiveSummarizer", "ask"]
