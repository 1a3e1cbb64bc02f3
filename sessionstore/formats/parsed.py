"""What a reader of a foreign transcript hands over: plain values, nothing stored yet."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionstore.domain.closed_sets import Relation, Trigger


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """A record that holds a part of a message: its own key, and how many content blocks it brought."""

    key: str
    blocks: int


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message of a transcript, ready to be appended.

    ``key`` identifies it within its lineage: the record's own id, else a digest of its content with the number of its
    occurrence, so that the same record in a grown file has the same key. ``body`` is JSON text that is stored byte for byte.
    ``created_at`` is in seconds since 1970 (UTC), None where the record has no time. ``line`` counts from 1. A message that
    was put together from several records has the key of the last one, and ``pieces`` names all of them in order: a file that
    ended inside the message was stored under the key of an earlier piece (see ``unstored_part``).
    """

    key: str
    body: str
    line: int
    created_at: float | None = None
    pieces: tuple[MessagePiece, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedCompaction:
    """A compaction that another tool made, at a place in the messages of its lineage.

    ``position`` is the number of messages that stood before it (0: the file begins with it). ``kept`` are the indexes of older
    messages that stayed in the context verbatim, after the summary. ``summary`` is the text that replaced the others, None
    where the format hides it.
    """

    key: str
    position: int
    summary: str | None
    kept: tuple[int, ...] = ()
    trigger: Trigger = "auto"
    tokens_before: int | None = None
    tokens_after: int | None = None
    created_at: float | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class ParsedRewind:
    """A place where the conversation went back to an earlier message and on from there.

    It takes effect before message ``position``, and after a compaction at the same position. The context from then on is the
    newest one that held message ``target``, cut after it. Without a target, it is only the summary of compaction
    ``compaction`` (its key), or empty when that is None too.
    """

    position: int
    target: int | None
    compaction: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedLineage:
    """One conversation of a transcript file, in the order of its log.

    ``session_id`` is the id the file gives it, None where the format has none. ``parent`` with ``relation`` names the lineage
    that a side chain or sub-agent belongs to; ``branch`` is what tells it from its siblings, so that ``<parent>.<branch>`` is
    its id also where the file has none for the parent. ``branched_after`` is the index of the parent's message after which it
    began, None where the parent is in another file or had no message yet. ``messages`` holds everything that was ever said,
    also what was rewound away: ``rewinds`` take that out of the context, not out of the log.
    """

    session_id: str | None
    messages: tuple[ParsedMessage, ...]
    compactions: tuple[ParsedCompaction, ...] = ()
    rewinds: tuple[ParsedRewind, ...] = ()
    title: str | None = None
    model: str | None = None
    system_prompt: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    branch: str | None = None
    branched_after: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line (from 1) of which something could not be read, with the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class LineNote:
    """A line (from 1) that was read whole although something about it is odd: its parent is missing, its id is taken."""

    line: int
    note: str


@dataclass(frozen=True, slots=True)
class ParsedTranscript:
    """A whole file: its conversations (main one first), what was damaged, and what was left out on purpose.

    ``damaged`` has one entry a line, in order. ``notes`` are about records that came in. ``skipped`` counts records that carry
    no message, by their type (a progress notice, a snapshot of files).
    """

    format: str
    lineages: tuple[ParsedLineage, ...]
    damaged: tuple[DamagedLine, ...] = ()
    notes: tuple[LineNote, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
