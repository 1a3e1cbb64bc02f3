"""Building the log of one conversation from records that form a tree: append-only, with the places where it went back.

A transcript file is only ever appended to, so the log takes messages as they come, and a message whose parent is not at the
end of the context is a rewind. A grown file therefore gives a log that begins with the log of the shorter file.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES, EncodedMessage
from sessionstore.domain.transcript import view_message
from sessionstore.formats.message_pieces import PieceText, cut_into_blocks, merge_pieces
from sessionstore.formats.parsed import MessagePiece, ParsedCompaction, ParsedMessage, ParsedRewind

Place = int
"""Where in a conversation a record stands: index of the nearest message at or above it, ``START``, or a compaction."""

START: Final[Place] = -1
"""Above the first message."""


@dataclass(slots=True)
class _Entry:
    message: ParsedMessage
    decisive: bool
    cut: list[PieceText] = field(default_factory=list)
    pieces: list[MessagePiece] = field(default_factory=list)
    size: int = 0


class _Link:
    """A message in a context, linked to the one before it, so that going back copies nothing.

    ``decided_by`` is the nearest message at or above it that a person or the model wrote.
    """

    __slots__ = ("decided_by", "place")

    def __init__(self, place: Place, previous: _Link | None, *, decisive: bool) -> None:
        self.place = place
        self.decided_by: _Link | None = self if decisive else _decided_by(previous)


class ConversationLog:
    """One conversation while its file is read. ``place`` values are indexes into its messages, or stand for a compaction."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._compactions: list[ParsedCompaction] = []
        self._rewinds: list[ParsedRewind] = []
        self._tip: _Link | None = None
        self._newest: dict[Place, _Link] = {}
        self._keys: dict[str, int] = {}
        self._open_calls: set[str] = set()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def tip(self) -> Place:
        """The place at which the context ends now."""
        return START if self._tip is None else self._tip.place

    def append(
        self, key: str, encoded: EncodedMessage, line: int, created_at: float | None, *, after: Place, decisive: bool
    ) -> Place:
        """Add a message whose parent stands at ``after``, and say where it stands itself.

        ``decisive`` says that a person or the model wrote it. Between two such messages the tree branches for reasons of its
        own (parallel results, notices), so only a parent above the last decisive message is a rewind. Nor is the result of a
        call that is still open.
        """
        view = view_message(encoded.message)
        answered = {result.call_id for result in view.results} & self._open_calls
        if answered:
            self._open_calls -= answered
        else:
            self._return_to(after)
        self._open_calls.update(call.call_id for call in view.calls)
        place = len(self._entries)
        entry = _Entry(ParsedMessage(self._unique(key), encoded.body, line, created_at), decisive, size=len(encoded.body))
        self._entries.append(entry)
        self._link(place, decisive=decisive)
        return place

    def extend(self, place: Place, key: str, encoded: EncodedMessage) -> bool:
        """Add the blocks of a further record to the message at ``place``; False when the two cannot be one message."""
        entry = self._entries[place]
        added = cut_into_blocks(encoded.body)
        if not entry.cut:
            begun = cut_into_blocks(entry.message.body)
            if begun is None:
                return False
            entry.cut = [begun]
            entry.pieces = [MessagePiece(entry.message.key, len(begun.blocks))]
        # A character takes at most four bytes, so a merged body is never too large to be stored.
        if added is None or (entry.size + len(encoded.body)) * 4 > DEFAULT_MAX_MESSAGE_BYTES:
            return False
        entry.size += len(encoded.body)
        entry.cut.append(added)
        entry.pieces.append(MessagePiece(self._unique(key), len(added.blocks)))
        self._open_calls.update(call.call_id for call in view_message(encoded.message).calls)
        return True

    def is_current(self, place: Place) -> bool:
        """Whether the message at ``place`` is the last one in the context that a person or the model wrote."""
        decided_by = _decided_by(self._tip)
        return decided_by is not None and decided_by.place == place

    def compact(self, compaction: ParsedCompaction, kept: Iterable[Place]) -> Place:
        """Replace the context by a summary and the messages in ``kept``; the position is set here."""
        indexes = tuple(sorted({place for place in kept if place >= 0}))
        self._compactions.append(replace(compaction, position=len(self._entries), kept=indexes))
        place = -1 - len(self._compactions)
        self._link(place, decisive=True)
        for index in indexes:
            self._link(index, decisive=self._entries[index].decisive)
        # Whoever goes back to the summary goes back to the context as the compaction left it.
        self._newest[place] = self._newest[self.tip]
        return place

    def summarize(self, summary: str) -> Place | None:
        """Give the last compaction its summary; None when there is none that waits for one."""
        if not self._compactions or self._compactions[-1].summary is not None:
            return None
        self._compactions[-1] = replace(self._compactions[-1], summary=summary)
        return -1 - len(self._compactions)

    def drop_unfinished_compaction(self) -> bool:
        """Drop a compaction at the very end that has no summary yet: the next, grown file has it with its summary."""
        last = self._compactions[-1] if self._compactions else None
        if last is None or last.summary is not None or last.position != len(self._entries):
            return False
        self._compactions.pop()
        return True

    def messages(self) -> tuple[ParsedMessage, ...]:
        """The messages, each put together from its pieces."""
        return tuple(
            replace(entry.message, key=entry.pieces[-1].key, body=merge_pieces(entry.cut), pieces=tuple(entry.pieces))
            if len(entry.pieces) > 1
            else entry.message
            for entry in self._entries
        )

    def compactions(self) -> tuple[ParsedCompaction, ...]:
        """The compactions in order."""
        return tuple(self._compactions)

    def rewinds(self) -> tuple[ParsedRewind, ...]:
        """The rewinds in order."""
        return tuple(self._rewinds)

    def _return_to(self, place: Place) -> None:
        target = self._newest.get(place)
        if _decided_by(target) is _decided_by(self._tip):
            return
        self._tip = target
        self._open_calls.clear()
        at = self.tip
        compaction = self._compactions[-2 - at].key if at < START else None
        self._rewinds.append(ParsedRewind(len(self._entries), at if at >= 0 else None, compaction))

    def _link(self, place: Place, *, decisive: bool) -> None:
        self._tip = _Link(place, self._tip, decisive=decisive)
        self._newest[place] = self._tip

    def _unique(self, key: str) -> str:
        seen = self._keys[key] = self._keys.get(key, 0) + 1
        return key if seen == 1 else f"{key}:{seen}"


def _decided_by(link: _Link | None) -> _Link | None:
    return None if link is None else link.decided_by
