"""Leaves out what needs a program that is not on this machine."""
from __future__ import annotations

from tests.pooler import BINARY

collect_ignore = [] if BINARY else ["test_pooler.py"]
