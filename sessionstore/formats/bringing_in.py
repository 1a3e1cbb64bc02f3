"""Storing a foreign transcript: messages by key, so that a second import adds nothing and a grown file adds what is new."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from sessionstore.domain.messages import encode_json_text
from sessionstore.domain.records import SessionRecord
from sessionstore.domain.spans import Span
from sessionstore.domain.system_prompt import prompt_from_text
from sessionstore.errors import ImportFormatError, InvalidMessageError
from sessionstore.formats.message_pieces import unstored_part
from sessionstore.formats.parsed import DamagedLine, ParsedCompaction, ParsedLineage, ParsedMessage, ParsedRewind
from sessionstore.formats.report import ImportedLineage
from sessionstore.operations.appending import NewMessage, append_messages
from sessionstore.operations.branching import rewind, rewind_to_spans
from sessionstore.operations.creating import NewSession, create_session
from sessionstore.storage.compaction_rows import find_compaction
from sessionstore.storage.lineage_rows import find_lineage
from sessionstore.storage.message_rows import seqs_of_client_ids
from sessionstore.storage.session_rows import find_tip

BATCH = 500
"""Messages of an import that are written with one statement."""


@dataclass
class Progress:
    """Tells whoever waits how much of an import is done; ``tell`` gets (messages done, messages in all)."""

    total: int
    tell: Callable[[int, int], None] | None = None
    done: int = 0

    def add(self, count: int) -> None:
        """So many messages more are done."""
        self.done += count
        if self.tell is not None:
            self.tell(self.done, self.total)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to a conversation, in order: messages, a compaction of another tool, or a rewind."""

    messages: Sequence[tuple[int, ParsedMessage]] = ()
    compaction: ParsedCompaction | None = None
    rewind: ParsedRewind | None = None


@dataclass
class BroughtIn:
    """What came of storing one conversation."""

    lineage: ImportedLineage
    damaged: list[DamagedLine] = field(default_factory=list)


def bring_in(
    connection: Connection,
    parsed: ParsedLineage,
    *,
    lineage_id: str,
    parent_id: str | None,
    title: str | None,
    name: str,
    source: str,
    max_bytes: int,
    progress: Progress,
    now: float,
) -> BroughtIn:
    """Store one conversation, all of it in the transaction that the connection is in.

    A lineage of that id that is there already gets what it doesn't have. Raises ``ImportFormatError`` when that lineage is
    another conversation, or went on in another way. Compactions of the other tool become compactions of
    the lineage; what was rewound away stays in the log and leaves the context.
    """
    created = find_lineage(connection, lineage_id) is None
    if created:
        create_session(connection, _new_session(parsed, lineage_id, parent_id, title, source), now=_started(parsed, now))
    store = _Storing(connection, parsed, lineage_id, source, max_bytes, progress, now)
    if not created:
        store.refuse_another_conversation(name)
    for event in events_of(parsed):
        store.carry_out(event)
    tip = _tip(connection, lineage_id)
    return BroughtIn(
        ImportedLineage(
            session_id=tip.session_id,
            lineage_id=lineage_id,
            created=created,
            imported=store.imported,
            skipped=len(parsed.messages) - store.imported - len(store.damaged),
            compactions=store.compactions,
            relation=parsed.relation,
        ),
        store.damaged,
    )


def events_of(parsed: ParsedLineage) -> Iterator[Event]:
    """A conversation as what happened in order: at each position its compactions, then its rewinds, then messages."""
    places = sorted({0, *(one.position for one in parsed.compactions), *(one.position for one in parsed.rewinds)})
    ends = [*places[1:], len(parsed.messages)]
    for place, end in zip(places, ends, strict=True):
        yield from (Event(compaction=one) for one in parsed.compactions if one.position == place)
        yield from (Event(rewind=one) for one in parsed.rewinds if one.position == place)
        for start in range(place, end, BATCH):
            stop = min(start + BATCH, end)
            yield Event(messages=list(enumerate(parsed.messages[start:stop], start)))


class _Storing:
    """One conversation on its way into the store."""

    def __init__(
        self,
        connection: Connection,
        parsed: ParsedLineage,
        lineage_id: str,
        source: str,
        max_bytes: int,
        progress: Progress,
        now: float,
    ) -> None:
        self.connection = connection
        self.parsed = parsed
        self.lineage_id = lineage_id
        self.source = source
        self.max_bytes = max_bytes
        self.progress = progress
        self.now = now
        self.imported = 0
        self.compactions = 0
        self.damaged: list[DamagedLine] = []
        keys = {message.key for message in parsed.messages}
        keys.update(piece.key for message in parsed.messages for piece in message.pieces)
        self.seq_of_key = seqs_of_client_ids(connection, lineage_id, sorted(keys))
        self.summary_of_key: dict[str, int | None] = {}

    def refuse_another_conversation(self, name: str) -> None:
        """Raise ``ImportFormatError`` when the file doesn't continue what is stored.

        A record without an id of its own is known by its content only, so there what is new must come last.
        """
        known = [unstored_part(message, self.seq_of_key.__contains__) is None for message in self.parsed.messages]
        if not known or _tip(self.connection, self.lineage_id).next_seq == 0:
            return
        if not self.seq_of_key:
            reason = f"the conversation {self.lineage_id!r} holds nothing of it; give it an id of its own with --id"
            raise ImportFormatError(name, reason)
        last = max((index for index, is_known in enumerate(known) if is_known), default=0)
        if self.source == "openai" and not all(known[:last]):
            line = self.parsed.messages[known.index(False)].line
            reason = f"line {line} is not in the conversation {self.lineage_id!r}, but what follows is; give it another --id"
            raise ImportFormatError(name, reason)

    def carry_out(self, event: Event) -> None:
        if event.compaction is not None:
            self._compact(event.compaction)
        elif event.rewind is not None:
            self._rewind(event.rewind)
        else:
            self._append(event.messages)

    def _append(self, messages: Sequence[tuple[int, ParsedMessage]]) -> None:
        new: list[NewMessage] = []
        for _, message in messages:
            part = unstored_part(message, self.seq_of_key.__contains__)
            if part is None:
                continue
            try:
                encoded = encode_json_text(part.body, max_bytes=self.max_bytes)
            except InvalidMessageError as error:
                self.damaged.append(DamagedLine(message.line, error.reason))
                continue
            new.append(NewMessage(encoded, part.key, part.created_at))
        if new:
            tip = _tip(self.connection, self.lineage_id)
            appended = append_messages(self.connection, self.lineage_id, tip.generation, new, now=self.now)
            self.seq_of_key.update(
                (message.client_id, seq)
                for message, seq in zip(new, appended.seqs, strict=True)
                if message.client_id is not None
            )
            self.imported += len(new)
        self.progress.add(len(messages))

    def _compact(self, compaction: ParsedCompaction) -> None:
        known = find_compaction(self.connection, self.lineage_id, compaction.key)
        if known is not None:
            self.summary_of_key[compaction.key] = known.summary_seq
            return
        # Few transcripts have one, and the patterns of the ledger take as long to compile as all the readers together.
        from sessionstore.compaction.imported import bring_in_compaction

        kept = sorted(self._seqs(compaction.kept))
        summary_seq = bring_in_compaction(
            self.connection,
            _tip(self.connection, self.lineage_id),
            job_id=compaction.key,
            summary=compaction.summary,
            kept=kept,
            trigger=compaction.trigger,
            tokens_before=compaction.tokens_before,
            tokens_after=compaction.tokens_after,
            summarizer=self.source,
            now=self.now if compaction.created_at is None else compaction.created_at,
        )
        self.summary_of_key[compaction.key] = summary_seq
        self.compactions += summary_seq is not None

    def _rewind(self, back: ParsedRewind) -> None:
        following = self.parsed.messages[back.position] if back.position < len(self.parsed.messages) else None
        if following is None or unstored_part(following, self.seq_of_key.__contains__) is None:
            return
        if back.target is not None:
            target = next(iter(self._seqs([back.target])), None)
            if target is not None:
                rewind(self.connection, self.lineage_id, target, now=self.now)
            return
        summary = None if back.compaction is None else self.summary_of_key.get(back.compaction)
        spans = () if summary is None else (Span(summary, summary),)
        rewind_to_spans(self.connection, self.lineage_id, spans, now=self.now)

    def _seqs(self, indexes: Sequence[int]) -> Iterator[int]:
        """The seqs of messages by their index, where they came in at all."""
        for index in indexes:
            message = self.parsed.messages[index]
            names = [message.key, *(piece.key for piece in reversed(message.pieces))]
            seq = next((self.seq_of_key[name] for name in names if name in self.seq_of_key), None)
            if seq is not None:
                yield seq


def _tip(connection: Connection, lineage_id: str) -> SessionRecord:
    tip = find_tip(connection, lineage_id)
    assert tip is not None, "the lineage was made or found in this transaction"
    return tip


def _started(parsed: ParsedLineage, now: float) -> float:
    times = [message.created_at for message in parsed.messages if message.created_at is not None]
    return min(times, default=now)


def _new_session(
    parsed: ParsedLineage, lineage_id: str, parent_id: str | None, title: str | None, source: str
) -> NewSession:
    return NewSession(
        lineage_id=lineage_id,
        source=source,
        title=title or parsed.title,
        title_is_automatic=title is None,
        model=parsed.model,
        prompt=prompt_from_text(parsed.system_prompt) if parsed.system_prompt else None,
        profile="anthropic" if source == "claude-code" else "openai",
        metadata=parsed.metadata,
        relation=parsed.relation,
        forked_from=parent_id,
        forked_from_seq=None,
    )
