"""What a handle on a session can do, each as a flow of steps; the fronts document them for their users.

What isn't done every turn imports its modules when it is, so that a program starts fast.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection

from sessionstore.domain.messages import (
    EncodedMessage,
    Message,
    check_column_text,
    decode_body,
    encode_json_text,
    encode_message,
    message_digest,
)
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.session_ids import checked_lineage_id, session_id
from sessionstore.domain.system_prompt import prompt_from_parts, prompt_from_text, split_leading_prompt
from sessionstore.errors import InvalidMessageError, StaleCursorError
from sessionstore.operations import adjusting, branching, ending, forking, pinning, prompting, reading
from sessionstore.operations.appending import NewMessage, SeenBeforeError, append_messages, append_unseen
from sessionstore.operations.flushing import Flushed, Landmarks, flush_messages, unsaved_after
from sessionstore.operations.pressing import pressure_of, warning_pressure_of
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.message_rows import context_bodies, context_rows, last_context_rows

if TYPE_CHECKING:
    from sessionstore.compaction.outcome import CompactionOutcome
    from sessionstore.domain.closed_sets import EndReason, Profile, TaskPlace, Trigger
    from sessionstore.domain.metering import Pressure
    from sessionstore.domain.records import LogRow, SessionRecord
    from sessionstore.domain.summarizing import Summarizer
    from sessionstore.flows.task_flow import TaskFlow
    from sessionstore.operations.environment import Environment


class SessionFlow:
    """The flows of one session: where it is, and what its holder's last full comparison of a flushed list found."""

    def __init__(
        self, environment: Environment, lineage_id: str, generation: int, landmarks: Landmarks | None = None
    ) -> None:
        self.environment = environment
        self.lineage_id = lineage_id
        self.generation = generation
        self.landmarks = landmarks
        # The session's cursor after this handle's own last write: a stored cursor that is another one was moved by somebody
        # else.
        self.seen = None if landmarks is None else landmarks.cursor

    @property
    def id(self) -> str:
        """The id of this very generation."""
        return session_id(self.lineage_id, self.generation)

    def at(self, generation: int) -> SessionFlow:
        """The flows of another generation of the lineage."""
        return SessionFlow(self.environment, self.lineage_id, generation)

    def record(self) -> Steps[SessionRecord]:
        """Read the session's row."""
        return read(self._session)

    def append(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], client_id: str | Sequence[str | None] | None
    ) -> Steps[list[int]]:
        """Encode before the transaction, then write."""
        single = isinstance(messages, Mapping)
        listed = cast("Sequence[Mapping[str, Any]]", [messages] if single else messages)
        client_ids = _client_ids(client_id, len(listed))
        limit = self.environment.max_message_bytes
        return self._append(
            [
                NewMessage(encode_message(message, max_bytes=limit, index=None if single else index), client_ids[index])
                for index, message in enumerate(listed)
            ]
        )

    def append_json(self, text: str, client_id: str | None) -> Steps[list[int]]:
        """The same for one message given as JSON text."""
        encoded = encode_json_text(text, max_bytes=self.environment.max_message_bytes)
        return self._append([NewMessage(encoded, client_id)])

    def flush(self, messages: Sequence[Mapping[str, Any]]) -> Steps[list[int]]:
        """Compare with what is stored, write what is new, and remember what was compared."""
        prompt_text, start = split_leading_prompt(messages)
        listed = cast("Sequence[Message]", messages[start:])
        prompt = prompt_from_text(prompt_text) if prompt_text else None
        known = self.landmarks
        # What is surely new is encoded before the write lock is taken.
        begin = min(known.cursor, len(listed)) if known is not None else len(listed)
        try:
            ready = self._encode(listed, begin, start)
        except InvalidMessageError:
            # It may be stored already, as JSON text that no dict can carry; the comparison tells.
            begin, ready = len(listed), []

        def encode_from(index: int) -> Sequence[EncodedMessage]:
            return ready[index - begin :] if index >= begin else self._encode(listed, index, start)

        def work(connection: Connection) -> Flushed:
            return flush_messages(
                connection,
                self.lineage_id,
                self.generation,
                listed,
                encode_from,
                prompt=prompt,
                known=known,
                seen=self.seen,
                now=self.environment.now(),
            )

        flushed = yield from write(work, repeatable=True)
        self.landmarks = flushed.landmarks
        self.seen = flushed.landmarks.cursor
        return list(flushed.seqs)

    def rebase(self, messages: Sequence[Mapping[str, Any]]) -> Steps[SessionFlow]:
        """Append to the tip what a list has that was never stored; gives the tip."""
        _, start = split_leading_prompt(messages)
        listed = cast("Sequence[Message]", messages[start:])
        rows = yield from self.context_rows()
        stored = [row.message for row in rows]
        unsaved = unsaved_after(stored, listed)
        shared = len(listed) - len(unsaved)
        if shared < min(len(stored), len(listed)):
            raise StaleCursorError(self.id, cursor=len(stored), length=len(listed), first_difference=shared)
        if unsaved:
            # Named by their place in the list and their content, so that carrying them over twice stores them once.
            names = [
                f"rebase:{self.generation}:{shared + index}:{message_digest(message)}"
                for index, message in enumerate(unsaved)
            ]
            yield from self.append(unsaved, names)
        lineage = yield from read(lambda c: reading.lineage_of(c, self.lineage_id))
        return self.at(lineage.tip_generation)

    def context(self) -> Steps[list[Message]]:
        """Read the bodies of the context; they are parsed when the transaction is over."""
        bodies = yield from read(
            lambda c: context_bodies(c, self.lineage_id, self.generation) or self._nothing(c), one_query=True
        )
        return [decode_body(body) for body in bodies]

    def context_rows(self) -> Steps[list[LogRow]]:
        """Read the rows of the context."""
        return read(lambda c: context_rows(c, self.lineage_id, self.generation) or self._nothing(c), one_query=True)

    def last(self, count: int) -> Steps[list[Message]]:
        """Read the last messages of the context."""
        wanted = min(max(count, 0), reading.LAST_SEQ)
        rows = yield from read(
            lambda c: last_context_rows(c, self.lineage_id, self.generation, wanted) or self._nothing(c), one_query=True
        )
        return [row.message for row in rows]

    def history(self, first: int, last: int) -> Steps[list[LogRow]]:
        """Read rows of the log."""
        return read(lambda c: reading.history(c, self.lineage_id, first, last) or self._nothing(c), one_query=True)

    def expand(self, seq: int) -> Steps[list[LogRow]]:
        """Read what a summary or a rendition stands for."""
        from sessionstore.operations import presenting

        return read(lambda c: presenting.expand(c, self.lineage_id, seq))

    def render(self, profile: Profile | None, task_state_in: TaskPlace = "system") -> Steps[list[Message]]:
        """Read the context and put it into the form of a provider."""
        from sessionstore.operations import presenting

        rendering = yield from read(
            lambda c: presenting.render_session(
                c, self.lineage_id, self.generation, profile=profile, task_state_in=task_state_in
            )
        )
        return rendering.messages

    def system_prompt(self) -> Steps[str | None]:
        """Read the stored system prompt."""
        prompt = yield from read(lambda c: prompting.prompt_of(c, self._session(c)))
        return None if prompt is None else prompt.text

    def set_system_prompt(self, text: str | None, parts: Mapping[str, str] | None) -> Steps[None]:
        """Replace the system prompt."""
        prompt = prompt_from_parts(parts) if parts is not None else prompt_from_text(text or "")
        return write(lambda c: adjusting.set_system_prompt(c, self._session(c), prompt), repeatable=True)

    def set_model(self, model: str, context_window: int | None, profile: Profile | None) -> Steps[None]:
        """Change the model, its window and its profile."""
        return write(
            lambda c: adjusting.set_model(
                c, self._session(c), model=model, context_window=context_window, profile=profile
            ),
            repeatable=True,
        )

    def record_usage(self, prompt: int, completion: int) -> Steps[None]:
        """Store what the provider measured."""
        return write(lambda c: adjusting.record_usage(c, self._session(c), prompt=prompt, completion=completion))

    def pressure(self, policy: CompactionPolicy | None, *, peek: bool = False) -> Steps[Pressure]:
        """Measure the context."""
        measure = pressure_of if peek else warning_pressure_of
        return measure(self.environment, self.lineage_id, self.generation, policy or CompactionPolicy())

    def compact(
        self,
        messages: Sequence[Mapping[str, Any]] | None,
        *,
        focus: str | None,
        summarizer: Summarizer | None,
        policy: CompactionPolicy | None,
        force: bool,
        dry_run: bool,
        trigger: Trigger,
        context_window: int | None = None,
    ) -> Steps[CompactionOutcome]:
        """Flush, then run a compaction job."""
        from sessionstore.compaction.deciding import CompactionRequest
        from sessionstore.compaction.job import compact_session

        if messages is not None and not dry_run:
            yield from self.flush(messages)
        request = CompactionRequest(
            lineage_id=self.lineage_id,
            generation=self.generation,
            trigger=trigger,
            policy=policy or CompactionPolicy(),
            focus=focus,
            summarizer=summarizer,
            force=force,
            dry_run=dry_run,
            context_window=context_window,
        )
        return (yield from compact_session(self.environment, request))

    def compact_if_due(
        self, *, summarizer: Summarizer | None, policy: CompactionPolicy | None, trigger: Trigger
    ) -> Steps[CompactionOutcome]:
        """Measure, and compact when the context is over its threshold; ``noop`` with the figures when it isn't."""
        from sessionstore.compaction.outcome import CompactionOutcome
        from sessionstore.domain.metering import tier_warning

        found = yield from self.pressure(policy)
        if found.due:
            return (
                yield from self.compact(
                    None, focus=None, summarizer=summarizer, policy=policy, force=False, dry_run=False, trigger=trigger
                )
            )
        messages = yield from self.context()
        prompt = yield from self.system_prompt()
        limit = "the model's window is unknown" if found.threshold is None else f"the threshold is {found.threshold:,}"
        return CompactionOutcome(
            status="noop",
            reason=f"the context has {found.tokens:,} tokens and {limit}",
            session_id=self.id,
            opened_generation=None,
            continuation_id=None,
            job_id=None,
            messages=messages,
            system_prompt=prompt,
            tokens_before=found.tokens,
            tokens_after=found.tokens,
            messages_before=len(messages),
            messages_after=len(messages),
            plan=None,
            warnings=(tier_warning(found),) if found.is_new_tier else (),
        )

    def undo_compaction(self) -> Steps[SessionFlow]:
        """Take back the newest compaction in force."""
        child = yield from write(
            lambda c: branching.undo_compaction(c, self.lineage_id, now=self.environment.now())
        )
        return self.at(child.generation)

    def rewind(self, seq: int) -> Steps[SessionFlow]:
        """Go back to a message."""
        child = yield from write(lambda c: branching.rewind(c, self.lineage_id, seq, now=self.environment.now()))
        return self.at(child.generation)

    def fork(self, new_id: str | None, *, at_seq: int | None, title: str | None) -> Steps[SessionFlow]:
        """Copy the lineage up to a row; the copy is indexed for search when it is there."""
        from sessionstore.flows.search_flow import index_some

        target = checked_lineage_id(self.environment.ids() if new_id is None else new_id)
        now = self.environment.now()
        tip = yield from write(
            lambda c: forking.fork(c, self.lineage_id, target, at_seq=at_seq, title=title, now=now)
        )
        while (yield from index_some(target)):
            pass
        return SessionFlow(self.environment, tip.lineage_id, tip.generation)

    def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> Steps[str]:
        """Do what a model asked for with one of the agent tools."""
        from sessionstore.flows.tool_flow import run_agent_tool

        return run_agent_tool(self.environment, self.lineage_id, name, arguments)

    def task(self) -> TaskFlow:
        """The flows of the lineage's task."""
        from sessionstore.flows.task_flow import TaskFlow

        return TaskFlow(self.environment, self.lineage_id)

    def pin(self, seqs: Sequence[int]) -> Steps[None]:
        """Pin messages of the log."""
        return write(lambda c: pinning.pin(c, self.lineage_id, self.generation, seqs), repeatable=True)

    def unpin(self, seqs: Sequence[int]) -> Steps[None]:
        """Take pins away."""
        return write(lambda c: pinning.unpin(c, self.lineage_id, self.generation, seqs), repeatable=True)

    def end(self, reason: EndReason) -> Steps[None]:
        """End the session."""
        now = self.environment.now()
        return write(lambda c: ending.end(c, self.lineage_id, self.generation, reason=reason, now=now), repeatable=True)

    def reopen(self) -> Steps[None]:
        """Open the session again."""
        return write(lambda c: ending.reopen(c, self.lineage_id, self.generation), repeatable=True)

    def _nothing(self, connection: Connection) -> list[Any]:
        """Nothing, from a session that is there; a deleted one is an error, not an empty one."""
        self._session(connection)
        return []

    def _session(self, connection: Connection) -> SessionRecord:
        return reading.session_of(connection, self.lineage_id, self.generation)

    def _append(self, new: Sequence[NewMessage]) -> Steps[list[int]]:
        if not new:
            return []
        now = self.environment.now()

        place = (self.lineage_id, self.generation)
        named = [message.client_id is not None for message in new]
        try:
            if not any(named):
                appended = yield from write(lambda c: append_messages(c, *place, new, now=now))
            else:
                appended = yield from write(lambda c: append_unseen(c, *place, new, now=now), repeatable=all(named))
        except SeenBeforeError:
            appended = yield from write(lambda c: append_messages(c, *place, new, now=now), repeatable=all(named))
        if appended.generation == self.generation and self.seen == appended.cursor - appended.written:
            self.seen = appended.cursor
        return list(appended.seqs)

    def _encode(self, messages: Sequence[Mapping[str, Any]], begin: int, offset: int) -> list[EncodedMessage]:
        limit = self.environment.max_message_bytes
        return [
            encode_message(messages[index], max_bytes=limit, index=offset + index)
            for index in range(begin, len(messages))
        ]


def _client_ids(client_id: str | Sequence[str | None] | None, count: int) -> Sequence[str | None]:
    if client_id is None:
        return [None] * count
    listed = [client_id] if isinstance(client_id, str) else list(client_id)
    if len(listed) != count:
        raise ValueError(f"{count} messages need {count} client ids, not {len(listed)}")
    for one in listed:
        check_column_text("client_id", one)
    return listed
