"""Long strings made shorter, with what is gone said in the middle."""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from sessionstore.domain.messages import clean_text, json_text
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.token_counter import TokenCounter

_CUT: Final = re.compile(r"… \[[\d,]+ characters cut(?:; whole in #\d+)?\] …")
_BEGINNING: Final = 0.6
"""Part of what is left that comes from the beginning; the rest is from the end."""


def is_cut(text: str) -> bool:
    """Whether a string was shortened already."""
    return _CUT.search(text) is not None


def cut_to_characters(text: str, limit: int, *, seq: int | None = None) -> str:
    """Beginning and end of a text, about ``limit`` characters with the remark of how many went; ``seq`` has all of it."""
    where = "" if seq is None else f"; whole in #{seq}"
    kept = max(limit - len(f"… [{len(text):,} characters cut{where}] …"), 16)
    head = round(kept * _BEGINNING)
    tail = kept - head
    if len(text) <= kept:
        return text
    return clean_text(f"{text[:head]}… [{len(text) - kept:,} characters cut{where}] …{text[-tail:]}")


def cut_to_tokens(text: str, limit: int, counter: TokenCounter, *, tokens: int, seq: int) -> str:
    """The same for a limit in tokens; ``tokens`` is what the text has."""
    characters = max(len(text) * limit // max(tokens, 1), 64)
    for _ in range(12):
        shorter = cut_to_characters(text, characters, seq=seq)
        if counter.count(shorter) <= limit or characters <= 64:
            return shorter
        # Tokens are not spread evenly; each try gives a good part of the room back.
        characters = characters * 2 // 3
    return cut_to_characters(text, 64, seq=seq)


def cut_arguments_text(arguments: str, policy: CompactionPolicy) -> str:
    """Arguments as JSON text with their long strings shortened; the text itself when it is no JSON or has none."""
    if len(arguments) <= policy.prune_args_over:
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    shorter = cut_arguments(value, policy)
    return arguments if shorter == value else json_text(shorter)


def cut_arguments(value: Any, policy: CompactionPolicy) -> Any:
    """Any JSON value with the strings over ``prune_args_over`` shortened, except under ``protected_arg_keys``."""
    if isinstance(value, str):
        if len(value) <= policy.prune_args_over or is_cut(value):
            return value
        return cut_to_characters(value, policy.cut_args_to)
    if isinstance(value, Mapping):
        return {key: item if key in policy.protected_arg_keys else cut_arguments(item, policy) for key, item in value.items()}
    if isinstance(value, list):
        return [cut_arguments(item, policy) for item in value]
    return value
