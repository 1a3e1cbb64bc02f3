"""Summarisers: text in, text out. The one that needs no model, those that talk to one, and how to ask any of them."""
from __future__ import annotations

from sessionstore.summarizers.asking import answer_of, ask, put_question, typed_failures
from sessionstore.summarizers.chain import SummarizerChain, links_of
from sessionstore.summarizers.extractive import ExtractiveSummarizer
from sessionstore.summarizers.from_callable import CallableSummarizer

__all__ = [
    "CallableSummarizer",
    "ExtractiveSummarizer",
    "SummarizerChain",
    "answer_of",
    "ask",
    "links_of",
    "put_question",
    "typed_failures",
]
