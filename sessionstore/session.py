"""A handle on one session: what an agent framework holds while a conversation goes on."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection

from sessionstore.compaction.job import CompactionRequest, compact_session
from sessionstore.compaction.outcome import CompactionOutcome, CompactionResult
from sessionstore.domain.closed_sets import EndReason, Profile, Trigger
from sessionstore.domain.messages import EncodedMessage, Message, decode_body, encode_json_text, encode_message
from sessionstore.domain.metering import Pressure
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.summarizing import Summarizer
from sessionstore.domain.system_prompt import prompt_from_parts, prompt_from_text, split_leading_prompt
from sessionstore.errors import StaleCursorError
from sessionstore.operations import branching, ending, pinning, presenting, prompting, reading, settings
from sessionstore.operations.appending import Appended, NewMessage, append_messages
from sessionstore.operations.environment import Environment
from sessionstore.operations.flushing import Flushed, Landmarks, flush_messages, unsaved_after
from sessionstore.operations.pressing import pressure_of
from sessionstore.operations.steps import drive
from sessionstore.reader import Reader
from sessionstore.storage.message_rows import context_bodies, context_rows, last_context_rows


class Session:
    """One generation of a lineage, with what its holder knows of it.

    A handle is cheap and holds no connection. It may be used by several threads; two handles on one session are two writers.
    Appends through a handle whose session was compacted go to the tip; a flush through it raises ``SessionEndedError``.
    """

    def __init__(
        self, environment: Environment, lineage_id: str, generation: int, landmarks: Landmarks | None = None
    ) -> None:
        self._environment = environment
        self._database = environment.database
        self.lineage_id = lineage_id
        self.generation = generation
        # What the last full comparison of a flushed list with the stored context found; None before the first one.
        self._landmarks = landmarks

    def __repr__(self) -> str:
        return f"<Session {self.id!r} of {self._database.url}>"

    @property
    def id(self) -> str:
        """The id of this very generation: ``fix-auth``, ``fix-auth~2``."""
        return session_id(self.lineage_id, self.generation)

    def record(self) -> SessionRecord:
        """The session's row as it is now: settings, counters, ends."""
        return self._database.read(self._session)

    def append(
        self,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        client_id: str | Sequence[str | None] | None = None,
    ) -> list[int]:
        """Add one message or several to the log, in one transaction, and give their seqs.

        ``client_id`` (one a message) makes a retry safe: the second write of an id gives the first one's seq and stores nothing.
        Equal messages without one are stored again. The lineage's tip takes them, whatever generation this handle has.
        Raises ``InvalidMessageError``, ``MessageTooLargeError``, ``SessionEndedError`` (ended on purpose), ``StoreLockedError``.
        """
        listed = [messages] if isinstance(messages, Mapping) else list(messages)
        client_ids = _client_ids(client_id, len(listed))
        limit = self._environment.max_message_bytes
        single = isinstance(messages, Mapping)
        new = [
            NewMessage(encode_message(message, max_bytes=limit, index=None if single else index), client_ids[index])
            for index, message in enumerate(listed)
        ]
        return self._append(new)

    def append_json(self, text: str, *, client_id: str | None = None) -> int:
        """Add one message given as JSON text, which is kept byte for byte, and give its seq; see ``append``."""
        encoded = encode_json_text(text, max_bytes=self._environment.max_message_bytes)
        return self._append([NewMessage(encoded, client_id)])[0]

    def flush(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store what a whole in-memory list has beyond the session's context, and give the seqs of what was written.

        The list must begin with the context: flushing it again writes nothing, a list that shrank or differs is refused with
        ``StaleCursorError``. System and developer messages at its head are the system prompt, and are no rows. Raises
        ``ConflictError`` when another writer added something that the list doesn't hold, and ``SessionEndedError`` with the unsaved
        messages when the session was compacted or ended meanwhile (see ``rebase``).
        """
        prompt_text, start = split_leading_prompt(messages)
        listed = cast("Sequence[Message]", messages[start:])
        prompt = None if not prompt_text else prompt_from_text(prompt_text)
        known = self._landmarks
        # What is surely new is encoded before the write lock is taken.
        begin = min(known.cursor if known is not None else 0, len(listed))
        ready = self._encode(listed, begin, start) if known is not None else []

        def encode_from(index: int) -> Sequence[EncodedMessage]:
            if known is not None and index >= begin:
                return ready[index - begin :]
            return self._encode(listed, index, start)

        def work(connection: Connection) -> Flushed:
            return flush_messages(
                connection,
                self.lineage_id,
                self.generation,
                listed,
                encode_from,
                prompt=prompt,
                known=known,
                now=self._environment.now(),
            )

        flushed = self._database.write(work)
        self._landmarks = flushed.landmarks
        return list(flushed.seqs)

    def rebase(self, messages: Sequence[Mapping[str, Any]]) -> tuple[Session, list[Message]]:
        """Move to the lineage's tip, carrying over what a list has that was never stored; gives the tip and the list to go on with.

        For a writer whose ``flush`` met ``SessionEndedError``: its messages are appended to the tip, none is stored twice.
        """
        _, start = split_leading_prompt(messages)
        listed = cast("Sequence[Message]", messages[start:])
        stored = [row.message for row in self._database.read(lambda c: context_rows(c, self.lineage_id, self.generation))]
        unsaved = unsaved_after(stored, listed)
        shared = len(listed) - len(unsaved)
        if shared < min(len(stored), len(listed)):
            raise StaleCursorError(self.id, cursor=len(stored), length=len(listed), first_difference=shared)
        if unsaved:
            self.append(unsaved)
        lineage = self._database.read(lambda c: reading.lineage_of(c, self.lineage_id))
        tip = Session(self._environment, self.lineage_id, lineage.tip_generation)
        return tip, tip.context()

    def context(self) -> list[Message]:
        """The messages of the session's context, in order: exactly what ``flush`` compares a list with."""
        bodies = self._database.read(lambda c: context_bodies(c, self.lineage_id, self.generation))
        return [decode_body(body) for body in bodies]

    def context_rows(self) -> list[LogRow]:
        """The rows of the session's context, in order: the messages with their seqs and kinds."""
        return self._database.read(lambda c: context_rows(c, self.lineage_id, self.generation))

    def last(self, count: int) -> list[Message]:
        """The last messages of the context, in order; it costs as much as they are, however long the session is."""
        rows = self._database.read(lambda c: last_context_rows(c, self.lineage_id, self.generation, max(count, 0)))
        return [row.message for row in rows]

    def history(self, first: int, last: int) -> list[LogRow]:
        """Rows ``first`` to ``last`` of the lineage's log, both included, whatever any compaction did to the context."""
        return self._database.read(lambda c: reading.history(c, self.lineage_id, first, last))

    def expand(self, seq: int) -> list[LogRow]:
        """The rows that a summary stands for, or the original of a rendition, in order.

        Raises ``InvalidTargetError`` when the row is neither.
        """
        return self._database.read(lambda c: presenting.expand(c, self.lineage_id, seq))

    def render(self, profile: Profile | None = None) -> list[Message]:
        """What goes to a model: the system prompt as first message, then the context with the repairs that the provider needs.

        ``profile`` defaults to the session's. Repairs are computed and never stored; a rendered list is not to be flushed.
        """
        return self._database.read(lambda c: presenting.render_session(c, self.lineage_id, self.generation, profile=profile)).messages

    def system_prompt(self) -> str | None:
        """The stored system prompt of this session, None when it has none."""
        prompt = self._database.read(lambda c: prompting.prompt_of(c, self._session(c)))
        return None if prompt is None else prompt.text

    def set_system_prompt(self, text: str | None = None, *, parts: Mapping[str, str] | None = None) -> None:
        """Replace the session's system prompt, by a text or by named parts in order (a part ``current date`` goes last)."""
        prompt = prompt_from_parts(parts) if parts is not None else prompt_from_text(text or "")
        self._database.write(lambda c: settings.set_system_prompt(c, self._session(c), prompt))

    def set_model(self, model: str, context_window: int | None = None, *, profile: Profile | None = None) -> None:
        """Say which model the session goes on with, and its window in tokens; the thresholds follow."""
        self._database.write(
            lambda c: settings.set_model(c, self._session(c), model=model, context_window=context_window, profile=profile)
        )

    def record_usage(self, *, prompt: int, completion: int) -> None:
        """Store what the provider measured for the context as it is now, in tokens; it beats any estimate until the next change."""
        self._database.write(lambda c: settings.record_usage(c, self._session(c), prompt=prompt, completion=completion))

    def pressure(self, policy: CompactionPolicy | None = None) -> Pressure:
        """How full the context is: tokens by part, how they were counted, the threshold, the tier, and whether it is due.

        Rows are counted once and remembered; only what is new is read and counted.
        """
        flow = pressure_of(self._environment, self.lineage_id, self.generation, policy or CompactionPolicy())
        return drive(flow, self._database)

    def compact(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        *,
        focus: str | None = None,
        summarizer: Summarizer | None = None,
        policy: CompactionPolicy | None = None,
        force: bool = False,
        dry_run: bool = False,
        trigger: Trigger = "manual",
    ) -> CompactionResult[Session]:
        """Close this session and go on in a continuation whose context is a summary and the recent tail, in one transaction.

        ``messages`` are flushed first, in this session. ``focus`` gets most of the summary. The default summariser needs no model.
        ``dry_run`` makes the plan and changes nothing. Nothing is written unless at least ``policy.min_saving`` is saved. Raises
        ``CompactionInProgressError`` while another one runs; how it ended otherwise is the result's ``status``.
        """
        if messages is not None and not dry_run:
            self.flush(messages)
        request = CompactionRequest(
            lineage_id=self.lineage_id,
            generation=self.generation,
            trigger=trigger,
            policy=policy or CompactionPolicy(),
            focus=focus,
            summarizer=summarizer,
            force=force,
            dry_run=dry_run,
        )
        outcome: CompactionOutcome = drive(compact_session(self._environment, request), self._database)
        committed = outcome.opened_generation
        session = self if committed is None else Session(self._environment, self.lineage_id, committed)
        return CompactionResult(outcome=outcome, session=session)

    def undo_compaction(self) -> Session:
        """Take back the newest compaction in force; gives the session to go on with. Undoing again goes further back."""
        child = self._database.write(
            lambda c: branching.undo_compaction(c, self.lineage_id, now=self._environment.now())
        )
        return Session(self._environment, child.lineage_id, child.generation)

    def rewind(self, seq: int) -> Session:
        """Go back to a message of the log, which stays, also across compactions; gives the session to go on with."""
        child = self._database.write(lambda c: branching.rewind(c, self.lineage_id, seq, now=self._environment.now()))
        return Session(self._environment, child.lineage_id, child.generation)

    def pin(self, *seqs: int) -> None:
        """Keep these messages verbatim in every later context of the lineage; each must be a message of this context."""
        self._database.write(lambda c: pinning.pin(c, self.lineage_id, self.generation, seqs))

    def unpin(self, *seqs: int) -> None:
        """Let these messages go at the next compaction; unpinning what is not pinned changes nothing."""
        self._database.write(lambda c: pinning.unpin(c, self.lineage_id, self.generation, seqs))

    def end(self, reason: EndReason = "user") -> None:
        """End the session: ``user``, ``reset`` and ``finished`` are final, ``idle`` and ``shutdown`` are undone by the next append."""
        now = self._environment.now()
        self._database.write(lambda c: ending.end(c, self.lineage_id, self.generation, reason=reason, now=now))

    def reopen(self) -> None:
        """Open the session again after any end but one that a later generation took over."""
        self._database.write(lambda c: ending.reopen(c, self.lineage_id, self.generation))

    def reader(self, name: str) -> Reader:
        """A reader of this lineage by its name, whose place is durable."""
        return Reader(self._environment, self.lineage_id, name)

    def _session(self, connection: Connection) -> SessionRecord:
        return reading.session_of(connection, self.lineage_id, self.generation)

    def _append(self, new: Sequence[NewMessage]) -> list[int]:
        if not new:
            return []
        now = self._environment.now()

        def work(connection: Connection) -> Appended:
            return append_messages(connection, self.lineage_id, self.generation, new, now=now)

        appended = self._database.write(work)
        return list(appended.seqs)

    def _encode(self, messages: Sequence[Mapping[str, Any]], begin: int, offset: int) -> list[EncodedMessage]:
        limit = self._environment.max_message_bytes
        return [
            encode_message(messages[index], max_bytes=limit, index=offset + index) for index in range(begin, len(messages))
        ]


def _client_ids(client_id: str | Sequence[str | None] | None, count: int) -> Sequence[str | None]:
    if client_id is None:
        return [None] * count
    listed = [client_id] if isinstance(client_id, str) else list(client_id)
    if len(listed) != count:
        raise ValueError(f"{count} messages need {count} client ids, not {len(listed)}")
    return listed
