"""Counts tokens with code that shares nothing with ours: the Rust library and vocabulary of `bpe-openai`."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its import uses importlib.resources.open_binary
    import bpe_openai  # type: ignore[import-untyped]  # it ships no types

    _ENCODING = bpe_openai.get_encoding("o200k_base")


def others_count(text: str) -> int:
    """What the other implementation says, of texts below a million characters and 200,000 tokens."""
    return len(_ENCODING.encode_ordinary(text))
