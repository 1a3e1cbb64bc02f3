"""What a handle on a session writes to its log and reads from it, each as a flow of steps.

What isn't done every turn imports its modules when it is, so that a program starts fast.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

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
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.system_prompt import leading_prompts, prompt_from_text, split_leading_prompt
from sessionstore.errors import InvalidMessageError, StaleCursorError
from sessionstore.operations import reading
from sessionstore.operations.appending import NewMessage, SeenBeforeError, append_messages, append_unseen
from sessionstore.operations.flushing import Flushed, Landmarks, flush_messages, unsaved_after
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.message_rows import context_bodies, context_rows, context_slice, last_context_rows

if TYPE_CHECKING:
    from sessionstore.domain.closed_sets import Profile, TaskPlace
    from sessionstore.domain.records import LogRow, SessionRecord
    from sessionstore.operations.environment import Environment


class LogFlow:
    """Where a session is, and what its holder's last full comparison of a flushed list found."""

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

    def at(self, generation: int) -> Self:
        """The flows of another generation of the lineage."""
        return type(self)(self.environment, self.lineage_id, generation)

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
        stored = yield from self._stored_prompts(messages)
        prompt_text, start = split_leading_prompt(messages, stored=stored)
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

    def rebase(self, messages: Sequence[Mapping[str, Any]]) -> Steps[Self]:
        """Append to the tip what a list has that was never stored; gives the tip."""
        rows = yield from self.context_rows()
        stored = [row.message for row in rows]
        _, start = split_leading_prompt(messages, stored=leading_prompts(stored))
        listed = cast("Sequence[Message]", messages[start:])
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

    def _stored_prompts(self, messages: Sequence[Mapping[str, Any]]) -> Steps[int]:
        """With how many messages in the system's voice the stored context begins, as far as a list that does can tell."""
        if self.landmarks is not None and self.landmarks.cursor:
            return self.landmarks.prompts
        count = leading_prompts(messages)
        if not count:
            return 0
        rows = yield from read(
            lambda c: context_slice(c, self.lineage_id, self.generation, offset=0, limit=count), one_query=True
        )
        return leading_prompts([row.message for row in rows])

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
