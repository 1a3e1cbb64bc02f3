"""Turns messages into text for a summariser, in pieces that fit it.

What a person wrote is never shortened: a request that is too long for one piece goes on in the next. Outputs, arguments and the
assistant's own words are cut in the middle, saying how much went and where to read it. Secrets are gone before anything is cut,
so that no half of one survives.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.messages import clean_text
from sessionstore.domain.redaction import redact
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry, MessageView
from sessionstore.errors import SummarizerError

SMALLEST_CHUNK: Final = 64
"""Tokens that a piece has at least: room for its heading and a line of text."""

_HEADING_LIKE: Final = re.compile(r"^(?=#\d+ (?:user|assistant|tool|system)\b)", re.MULTILINE)
_MARGIN: Final = 8_000
"""Characters read beyond a cut before secrets are looked for: more than the longest private key (6,500 for RSA 8192)."""


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """Characters above which a part of a message that no person wrote is cut in the middle."""

    output: int = 4_000
    argument: int = 1_500
    assistant: int = 8_000


@dataclass(frozen=True, slots=True)
class HistoryChunk:
    """A piece of history as text, the seqs of the messages in it, whole or in part, in order, and what the user wrote in it."""

    text: str
    seqs: tuple[int, ...]
    requests: tuple[str, ...] = ()


def history_block(entry: Entry, limits: HistoryLimits | None = None) -> str:
    """One message as text: a line ``#seq role``, then what it says, its calls and results; empty for a summary.

    A rendition stands under the seq of the message it was made from. Images and files become placeholders, with the text of
    documents cut as outputs are; reasoning is left out, lone surrogates become U+FFFD, secrets ``[REDACTED:kind]``.
    """
    if entry.kind == "summary":
        return ""
    return _heading(entry) + "\n" + _body(entry, limits or HistoryLimits())


def history_text(entries: Sequence[Entry], limits: HistoryLimits | None = None) -> str:
    """All messages as one text, a blank line between two; summaries are left out."""
    return "\n\n".join(block for entry in entries if (block := history_block(entry, limits)))


def chunk_history(entries: Sequence[Entry], *, max_tokens: int, counter: TokenCounter) -> tuple[HistoryChunk, ...]:
    """The messages as pieces of at most ``max_tokens`` tokens each, none of them empty; no message, no piece.

    In small pieces outputs are cut shorter, so that one of them doesn't fill several. Raises ``SummarizerError`` (kind
    ``window_too_small``) below 64 tokens.
    """
    if max_tokens < SMALLEST_CHUNK:
        raise SummarizerError(
            f"only {max_tokens} tokens are left for the history, {SMALLEST_CHUNK} are needed", kind="window_too_small"
        )
    # A third of a piece, at 3 characters a token, which holds for code.
    limits = HistoryLimits(*(max(200, min(most, max_tokens)) for most in (4_000, 1_500, 8_000)))
    chunks: list[HistoryChunk] = []
    blocks: list[tuple[Entry, str]] = []
    used = 0
    for entry, text, tokens in _pieces(entries, limits, max_tokens, counter):
        # Two tokens for the blank line, and because the tokens of a text may be one more than those of its parts.
        if blocks and used + tokens + 2 > max_tokens:
            chunks.append(_chunk(blocks))
            blocks, used = [], 0
        blocks.append((entry, text))
        used += tokens + 2
    if blocks:
        chunks.append(_chunk(blocks))
    return tuple(chunks)


def shorten_middle(text: str, limit: int, place: str) -> str:
    """The beginning and the end of a text of more than ``limit`` characters, with what went between; secrets redacted.

    ``place`` says where the whole of it is (``#137``). A text within the limit comes back with its secrets redacted.
    """
    if len(text) <= limit + 2 * _MARGIN:
        text = redact(text)
        if len(text) <= limit:
            return text
        head, tail = text, text
        whole = len(text)
    else:
        head, tail = redact(text[: limit + _MARGIN]), redact(text[-limit - _MARGIN :])
        whole = len(text)
    first, last = limit * 2 // 3, limit // 3
    return f"{head[:first]}\n… {whole - first - last:,} characters left out, {place} …\n{tail[-last:]}"


def _chunk(blocks: Sequence[tuple[Entry, str]]) -> HistoryChunk:
    return HistoryChunk(
        text="\n\n".join(text for _, text in blocks),
        seqs=tuple(dict.fromkeys(entry.seq for entry, _ in blocks)),
        requests=tuple(text for entry, text in blocks if entry.is_request),
    )


def _heading(entry: Entry) -> str:
    return f"#{entry.written_seq} {entry.view.role}"


def _body(entry: Entry, limits: HistoryLimits) -> str:
    view = entry.view
    parts: list[str] = []
    place = f"#{entry.written_seq}"
    if view.text.strip():
        parts.append(redact(view.text) if entry.is_request else shorten_middle(view.text, limits.assistant, place))
    parts += _attached(view, limits, place)
    if view.images:
        parts.append("[image]" if view.images == 1 else f"[{view.images} images]")
    parts += [f"call {call.name}({shorten_middle(call.arguments, limits.argument, place)})" for call in view.calls]
    parts += _results(view, limits, place)
    return clean_text(_HEADING_LIKE.sub(" ", "\n".join(parts))) or "(no text)"


def _attached(view: MessageView, limits: HistoryLimits, place: str) -> Iterator[str]:
    for attachment in view.attachments:
        if attachment.text:
            yield f"{redact(attachment.label)} {shorten_middle(attachment.text, limits.output, place)}"
        elif not view.is_labelled(attachment):
            yield redact(attachment.label)


def _results(view: MessageView, limits: HistoryLimits, place: str) -> Iterator[str]:
    for result in view.results:
        name = f" of {result.name}" if result.name else ""
        error = " (error)" if result.is_error else ""
        images = f" [{result.images} image{'s' if result.images > 1 else ''}]" if result.images else ""
        yield f"result{name}{error}:{images} {shorten_middle(result.text, limits.output, place)}"


def _pieces(
    entries: Sequence[Entry], limits: HistoryLimits, max_tokens: int, counter: TokenCounter
) -> Iterator[tuple[Entry, str, int]]:
    for entry in entries:
        block = history_block(entry, limits)
        if not block:
            continue
        tokens = counter.count(block)
        if tokens <= max_tokens:
            yield entry, block, tokens
            continue
        heading = _heading(entry)
        rest = block[len(heading) + 1 :]
        while rest:
            size, tokens = _fitting(heading, rest, max_tokens, counter)
            yield entry, f"{heading}\n{rest[:size]}", tokens
            rest = rest[size:]
            heading = f"{_heading(entry)} (continued)"


def _fitting(heading: str, text: str, max_tokens: int, counter: TokenCounter) -> tuple[int, int]:
    """How many characters of the text fit under the heading, and the tokens of both; at least one character."""
    size = min(len(text), 4 * max_tokens)
    while True:
        tokens = counter.count(f"{heading}\n{text[:size]}")
        if tokens <= max_tokens or size == 1:
            break
        size = max(1, min(size - 1, int(size * max_tokens / tokens * 0.95)))
    if size < len(text):
        # A break between lines, or else between words, reads better, if it is near.
        near = max(text.rfind("\n", size * 4 // 5, size), text.rfind(" ", size * 9 // 10, size))
        if near > 0:
            size = near + 1
            tokens = counter.count(f"{heading}\n{text[:size]}")
    return size, tokens
