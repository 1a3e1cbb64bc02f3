"""A store of sessions: opening it, and everything that concerns more than one session."""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection
from uuid_utils import uuid7

from sessionstore.counting import default_counter
from sessionstore.domain.closed_sets import Profile, Relation
from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES
from sessionstore.domain.records import SessionSummary
from sessionstore.domain.session_ids import lineage_id_problem, split_session_id
from sessionstore.domain.system_prompt import prompt_from_parts, prompt_from_text
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.errors import SessionNotFoundError
from sessionstore.formats.exporting import ExportFormat, export_markdown, export_messages, export_openai
from sessionstore.formats.importing import import_transcript
from sessionstore.formats.own_export import export_lineage
from sessionstore.formats.reading import ImportFormat
from sessionstore.formats.report import ImportReport
from sessionstore.operations import resolving, tracing
from sessionstore.operations.creating import NewSession, create_session
from sessionstore.operations.environment import Clock, CompactionHooks, Environment, IdSource
from sessionstore.operations.flushing import Landmarks
from sessionstore.operations.steps import drive
from sessionstore.operations.tracing import LineageTrace
from sessionstore.session import Session
from sessionstore.storage.engines import DEFAULT_BUSY_TIMEOUT, Database, Durability
from sessionstore.storage.lineage_rows import delete_lineage
from sessionstore.storage.schema import prepare_schema
from sessionstore.storage.session_rows import list_tips


class SessionStore:
    """Keeps transcripts in a database: SQLite embedded, PostgreSQL to scale.

    Open it with ``SessionStore.open(url)``, as a context manager or with ``close()`` at the end. It may be shared by threads.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._database = environment.database

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        counter: TokenCounter | None = None,
        hooks: CompactionHooks | None = None,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        durability: Durability = "full",
        busy_timeout: float = DEFAULT_BUSY_TIMEOUT,
    ) -> Self:
        """Open a database and bring its schema up to date; a new file gets a schema, an older one is upgraded in place.

        ``url`` is SQLAlchemy's: ``sqlite:///agent.db``, ``postgresql+psycopg://…``. ``clock`` gives seconds since 1970, ``ids`` new ids
        (UUIDv7 by default), ``counter`` tokens (offline, exact for OpenAI's newer models). ``durability="normal"`` may lose the last
        commits at a power cut. ``busy_timeout`` is how many seconds a writer waits for another one. Raises ``SchemaError`` for a
        database of a newer version, ``StoreUnavailableError`` for one that can't be used, ``StoreLockedError``.
        """
        database = Database(url, durability=durability, busy_timeout=busy_timeout)
        try:
            prepare_schema(database)
        except BaseException:
            database.close()
            raise
        return cls(
            Environment(
                database=database,
                clock=clock or time.time,
                ids=ids or _new_id,
                counter=counter or default_counter(),
                hooks=hooks or CompactionHooks(),
                max_message_bytes=max_message_bytes,
                owner=f"{socket.gethostname()}:{os.getpid()}",
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the database connections back. A handle that is used later opens new ones."""
        self._database.close()

    @property
    def url(self) -> str:
        """The database's URL, without its password."""
        return self._database.url

    def create_session(
        self,
        id: str | None = None,  # noqa: A002 - the contract's name
        *,
        title: str | None = None,
        model: str | None = None,
        context_window: int | None = None,
        profile: Profile = "openai",
        system_prompt: str | None = None,
        system_prompt_parts: Mapping[str, str] | None = None,
        namespace: str = "",
        owner: str | None = None,
        source: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tool_schema_tokens: int = 0,
        relation: Relation | None = None,
        forked_from: str | None = None,
    ) -> Session:
        """Begin a conversation: a lineage with its first session.

        ``id`` is 1–200 characters without ``~`` and control characters, unique in the whole store; by default a UUIDv7. ``title`` is
        unique in its ``namespace``. ``context_window`` is the model's, in tokens; nothing is compacted by itself while it is
        unknown. ``relation`` (``subagent``, ``reset``) with ``forked_from`` (an id, ``id#seq`` for a place) names where it branched
        off. Raises ``SessionExistsError``, ``TitleTakenError``, ``ValueError`` for an id that cannot be one.
        """
        lineage_id = self._environment.ids() if id is None else id
        problem = lineage_id_problem(lineage_id)
        if problem is not None:
            raise ValueError(f"{lineage_id!r} cannot be a session id: {problem}")
        prompt = None
        if system_prompt_parts is not None:
            prompt = prompt_from_parts(system_prompt_parts)
        elif system_prompt is not None:
            prompt = prompt_from_text(system_prompt)
        origin, origin_seq = _origin(forked_from)
        new = NewSession(
            lineage_id=lineage_id,
            namespace=namespace,
            owner=owner,
            source=source,
            title=title,
            model=model,
            context_window=context_window,
            profile=profile,
            prompt=prompt,
            metadata=dict(metadata or {}),
            tool_schema_tokens=tool_schema_tokens,
            relation=relation,
            forked_from=origin,
            forked_from_seq=origin_seq,
        )
        now = self._environment.now()
        self._database.write(lambda c: create_session(c, new, now=now))
        # Nothing is stored yet, so the first flush has nothing to compare.
        return Session(self._environment, lineage_id, 1, Landmarks(cursor=0, last=None, marker=None))

    def session(self, session_id: str, *, namespace: str | None = None) -> Session:
        """A handle on exactly the session of that id, also when it has ended. Raises ``SessionNotFoundError``."""
        record = self._database.read(lambda c: resolving.resolve_exact(c, session_id, namespace=namespace))
        return Session(self._environment, record.lineage_id, record.generation)

    def resume(self, reference: str, *, namespace: str | None = None) -> Session:
        """The tip of the conversation that answers to an id of any generation, a title, or a unique part of an id.

        Raises ``SessionNotFoundError``, or ``AmbiguousSessionError`` with the candidates. ``namespace`` limits where it looks.
        """
        record = self._database.read(lambda c: resolving.resolve_tip(c, reference, namespace=namespace))
        return Session(self._environment, record.lineage_id, record.generation)

    def lineage(self, reference: str, *, namespace: str | None = None) -> LineageTrace:
        """The generations and compactions of the conversation that answers to the reference, without any message."""
        return self._database.read(lambda c: tracing.trace_lineage(c, reference, namespace=namespace))

    def list_sessions(
        self,
        *,
        namespace: str | None = None,
        owner: str | None = None,
        source: str | None = None,
        open_only: bool = False,
        before: SessionSummary | None = None,
        limit: int = 50,
    ) -> list[SessionSummary]:
        """A page of conversations, the latest active first, without any message body.

        ``before`` is the last line of the page before this one.
        """
        place = None if before is None else (before.updated_at, before.lineage_id)
        return self._database.read(
            lambda c: list_tips(
                c, namespace=namespace, owner=owner, source=source, open_only=open_only, before=place, limit=limit
            )
        )

    def import_file(
        self,
        path: str | Path,
        *,
        format: ImportFormat = "auto",  # noqa: A002 - the command line's word
        id: str | None = None,  # noqa: A002 - the contract's name
        title: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        """Bring in a transcript: OpenAI chat JSON or JSON Lines, a Claude Code session, or an export of this library.

        ``id`` and ``title`` are for the main conversation of the file. Importing a file again adds nothing, a grown one adds what is
        new. ``progress`` is told (messages done, messages in all). What cannot be read is in the report, by line. Raises
        ``ImportFormatError`` when the file cannot be opened or is in no known format.
        """
        source = Path(path)
        flow = import_transcript(
            self._environment, source, format=format, name=source.name, session_id=id, title=title, tell=progress
        )
        return drive(flow, self._database)

    def import_lines(
        self,
        lines: Iterable[str],
        *,
        format: ImportFormat = "auto",  # noqa: A002 - the command line's word
        id: str | None = None,  # noqa: A002 - the contract's name
        title: str | None = None,
        name: str = "lines",
    ) -> ImportReport:
        """Bring in a transcript from its lines; see ``import_file``. ``name`` is what the report calls it."""
        flow = import_transcript(
            self._environment, list(lines), format=format, name=name, session_id=id, title=title, tell=None
        )
        return drive(flow, self._database)

    def export(
        self,
        reference: str,
        *,
        format: ExportFormat = "jsonl",  # noqa: A002 - the command line's word
        lineage: bool = False,
        namespace: str | None = None,
    ) -> Iterator[str]:
        """A conversation as text, in pieces that are joined to the whole.

        ``jsonl`` is the tip's context, a message a line; with ``lineage`` it is every row with its state, which imports to an equal
        lineage. ``openai`` is one JSON list as it goes to a model. ``markdown`` is for people, with ``lineage`` the whole log.
        """

        def work(connection: Connection) -> list[str]:
            tip = resolving.resolve_tip(connection, reference, namespace=namespace)
            if format == "markdown":
                return list(export_markdown(connection, tip.lineage_id, tip.generation, whole_log=lineage))
            if format == "openai":
                return list(export_openai(connection, tip.lineage_id, tip.generation))
            if lineage:
                return list(export_lineage(connection, tip.lineage_id))
            return list(export_messages(connection, tip.lineage_id, tip.generation))

        yield from self._database.read(work)

    def delete(self, reference: str, *, namespace: str | None = None) -> str:
        """Delete a whole conversation with all its generations; gives its lineage id. There is no way back."""

        def work(connection: Connection) -> str:
            lineage_id = resolving.resolve_lineage(connection, reference, namespace=namespace)
            if not delete_lineage(connection, lineage_id):
                raise SessionNotFoundError(reference, namespace=namespace)
            return lineage_id

        return self._database.write(work)


def _new_id() -> str:
    return str(uuid7())


def _origin(forked_from: str | None) -> tuple[str | None, int | None]:
    if forked_from is None:
        return None, None
    reference, _, seq = forked_from.partition("#")
    return split_session_id(reference)[0], int(seq) if seq.isdigit() else None
