"""A store of sessions: opening it, and everything that concerns more than one session."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sessionstore.domain.hygiene import DEFAULT_GRACE
from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES
from sessionstore.flows.store_flow import StoreFlow, environment_of
from sessionstore.operations.steps import Steps, drive
from sessionstore.session import Session
from sessionstore.storage.engines import DEFAULT_BUSY_TIMEOUT, Database, Durability
from sessionstore.storage.schema import prepare_schema

if TYPE_CHECKING:
    from types import TracebackType

    from sessionstore.compaction.outcome import CompactionResult
    from sessionstore.domain.closed_sets import Profile, Relation
    from sessionstore.domain.health.finding import DoctorReport
    from sessionstore.domain.keeping import BackupReport, PrunedLineage, StoreStats
    from sessionstore.domain.policy import CompactionPolicy
    from sessionstore.domain.records import SessionSummary
    from sessionstore.domain.search_hit import SearchHit
    from sessionstore.domain.summarizing import Summarizer
    from sessionstore.domain.token_counter import TokenCounter
    from sessionstore.formats.exporting import ExportFormat
    from sessionstore.formats.report import ImportReport
    from sessionstore.formats.transcript_source import ImportFormat
    from sessionstore.operations.environment import Clock, CompactionHooks, Environment, IdSource
    from sessionstore.operations.tracing import LineageTrace

T = TypeVar("T")


class SessionStore:
    """Keeps transcripts in a database: SQLite embedded, PostgreSQL to scale.

    Open it with ``SessionStore.open(url)``, as a context manager or with ``close()`` at the end. It may be shared by threads.
    """

    def __init__(self, environment: Environment) -> None:
        self._flow = StoreFlow(environment)
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
        search_index: bool | None = None,
    ) -> Self:
        """Open a database and bring its schema up to date; a new file gets a schema, an older one is upgraded in place.

        ``url`` is SQLAlchemy's: ``sqlite:///agent.db``, ``postgresql+psycopg://…``; with several servers of which one takes
        writes, ``…/agent?host=a:5432&host=b:5432&target_session_attrs=read-write``; behind a pooler in transaction mode,
        ``?pooler=transaction``. ``clock`` gives seconds since 1970
        (this machine's by default; leases and pauses then go by the server's clock on PostgreSQL),
        ``ids`` new ids (UUIDv7 by default), ``counter`` tokens (offline, exact for OpenAI's newer models).
        ``durability="normal"`` may lose the last commits at a power cut. ``busy_timeout`` is how many seconds a writer waits
        for another one. ``search_index`` says whether the database has a full-text index: True makes one, which fills while
        conversations are written to (or at once by ``rebuild_search_index``) and which everybody who writes keeps up, False
        drops it, None leaves it as it is; a new database has none. Raises ``SchemaError`` for a database of a newer version,
        ``StoreUnavailableError`` for one that can't be used, ``StoreLockedError``.
        """
        database = Database(url, durability=durability, busy_timeout=busy_timeout)
        try:
            prepare_schema(database)
        except BaseException:
            database.close()
            raise
        store = cls(
            environment_of(
                database, clock=clock, ids=ids, counter=counter, hooks=hooks, max_message_bytes=max_message_bytes
            )
        )
        if search_index is not None:
            from sessionstore.flows.search_flow import keep_search_index

            drive(keep_search_index(search_index), database)
        return store

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

        ``id`` is 1–200 characters without ``~`` and control characters, unique in the whole store; by default a UUIDv7.
        ``title`` is unique in its ``namespace``. ``context_window`` is the model's, in tokens; nothing is compacted by itself
        while it is unknown. ``relation`` (``subagent``, ``reset``) with ``forked_from`` (an id, ``id#seq`` for a place) names
        where it branched off. Raises ``SessionExistsError``, ``TitleTakenError``, ``ValueError`` for an id that cannot be one.
        """
        flow = self._flow.create_session(
            id,
            title=title,
            model=model,
            context_window=context_window,
            profile=profile,
            system_prompt=system_prompt,
            system_prompt_parts=system_prompt_parts,
            namespace=namespace,
            owner=owner,
            source=source,
            metadata=metadata,
            tool_schema_tokens=tool_schema_tokens,
            relation=relation,
            forked_from=forked_from,
        )
        return Session(self._drive(flow))

    def session(self, session_id: str, *, namespace: str | None = None) -> Session:
        """A handle on exactly the session of that id, also when it has ended. Raises ``SessionNotFoundError``."""
        return Session(self._drive(self._flow.session(session_id, namespace)))

    def resume(self, reference: str, *, namespace: str | None = None) -> Session:
        """The tip of the conversation that answers to an id of any generation, a title, or a unique part of an id.

        Raises ``SessionNotFoundError``, or ``AmbiguousSessionError`` with the candidates. ``namespace`` limits where it looks.
        """
        return Session(self._drive(self._flow.resume(reference, namespace)))

    def lineage(self, reference: str, *, namespace: str | None = None, ledgers: bool = False) -> LineageTrace:
        """The generations and compactions of the conversation that answers to the reference, without any message.

        With ``ledgers`` also the facts beside each summary, which grow with the history: megabytes after thousands of messages.
        """
        return self._drive(self._flow.lineage(reference, namespace, ledgers))

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
        flow = self._flow.list_sessions(
            namespace=namespace, owner=owner, source=source, open_only=open_only, before=before, limit=limit
        )
        return self._drive(flow)

    def search(
        self,
        text: str,
        *,
        lineage: str | None = None,
        namespace: str | None = None,
        limit: int = 20,
        before: SearchHit | None = None,
        derived: bool = False,
    ) -> list[SearchHit]:
        """The messages that hold every word of a text, the newest first; in one conversation from its end.

        The text is plain: white space parts its words, and no character is an operator. A word is found from its beginning and
        from the humps of ``camelCase``, one of less than three characters and a number only as it is; ``src/auth.py`` is found
        where its parts follow each other; case doesn't matter. Texts, the values of call arguments and results are searched,
        also of messages that no context holds any more. ``lineage`` is any id, title or part of an id. ``before`` is the last
        hit of the page before this one. With ``derived`` summaries and renditions are searched too.

        Without an index, or where it is behind, the messages themselves are read. Raises ``SessionNotFoundError``,
        ``AmbiguousSessionError``.
        """
        flow = self._flow.search(
            text, lineage=lineage, namespace=namespace, limit=limit, before=before, derived=derived
        )
        return self._drive(flow)

    def rebuild_search_index(self) -> int:
        """Make the full-text index anew, from all messages, and give their number; others may write meanwhile.

        For a database that was upgraded, whose index was damaged, or that is to have one.
        """
        return self._drive(self._flow.rebuild_search_index())

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

        ``id`` and ``title`` are for the main conversation of the file. Importing a file again adds nothing, a grown one adds
        what is new. ``progress`` is told (messages done, messages in all). What cannot be read is in the report, by line.
        Raises ``ImportFormatError`` when the file cannot be opened or is in no known format.
        """
        source = Path(path)
        flow = self._flow.import_transcript(
            source, form=format, name=source.name, session_id=id, title=title, progress=progress
        )
        return self._drive(flow)

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
        flow = self._flow.import_transcript(
            list(lines), form=format, name=name, session_id=id, title=title, progress=None
        )
        return self._drive(flow)

    def export(
        self,
        reference: str,
        *,
        format: ExportFormat = "jsonl",  # noqa: A002 - the command line's word
        lineage: bool = False,
        namespace: str | None = None,
    ) -> Iterator[str]:
        """A conversation as text, in pieces that are joined to the whole.

        ``jsonl`` is the tip's context, a message a line; with ``lineage`` it is every row with its state, which imports to an
        equal lineage. ``openai`` is one JSON list as it goes to a model. ``markdown`` is for people, with ``lineage`` the
        whole log.
        """
        yield from self._drive(self._flow.export(reference, form=format, lineage=lineage, namespace=namespace))

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Look at the whole database for breaches of what the store promises, and say where they are.

        Rows are read without their bodies, a page of conversations at a time, while others write. With ``repair`` what can be
        mended without a model is, each conversation in a transaction of its own; rows of the log are never changed. The report
        lists findings with a code (``FindingCode``); those of a healthy database are none, but for oddities that callers wrote.
        """
        return self._drive(self._flow.doctor(repair))

    def hygiene(
        self,
        *,
        policy: CompactionPolicy | None = None,
        summarizer: Summarizer | None = None,
        grace: float = DEFAULT_GRACE,
    ) -> list[CompactionResult[Session]]:
        """Compact every open session that nobody else does: one pass of what ``sessionstore worker`` does all the time.

        Those are sessions that have been due for longer than ``grace`` seconds, that are above ``policy.hygiene_ratio`` of
        their window, or that have more than 5,000 messages in their context; one whose window is unknown is left alone. They
        are found by their counters; messages are read of those only that changed since they were last counted, of 200 sessions
        a pass. Jobs of workers that died are settled. Gives how the compactions ended; one that broke off is tried again by a
        later pass.
        """
        from sessionstore.compaction.outcome import CompactionResult

        outcomes = self._drive(self._flow.hygiene(policy=policy, summarizer=summarizer, grace=grace))
        return [CompactionResult(outcome, Session(self._flow.handle(outcome))) for outcome in outcomes]

    def backup(self, path: str | Path) -> BackupReport:
        """Copy a SQLite database to a file while others write, and compare the two row by row.

        The file is there only once it is proved equal to the database as it was when the copy began; one of that name is
        replaced. Raises ``StoreUnavailableError`` when the copy is not equal, and on PostgreSQL, which has pg_dump.
        """
        return self._drive(self._flow.backup(Path(path)))

    def stats(self) -> StoreStats:
        """The whole database in numbers: conversations, messages, compactions, bytes."""
        return self._drive(self._flow.stats())

    def prune(
        self, *, older_than: float, namespace: str | None = None, ended_only: bool = False, dry_run: bool = False
    ) -> list[PrunedLineage]:
        """Delete whole conversations whose last activity is more than ``older_than`` seconds ago, and say which.

        Every generation goes with its conversation; one that is active is kept whole. ``ended_only`` leaves open ones alone.
        One in which a compaction runs is kept. ``dry_run`` deletes nothing. There is no way back.
        """
        flow = self._flow.prune(older_than=older_than, namespace=namespace, ended_only=ended_only, dry_run=dry_run)
        return self._drive(flow)

    def delete(self, reference: str, *, namespace: str | None = None) -> str:
        """Delete a whole conversation with all its generations; gives its lineage id. There is no way back."""
        return self._drive(self._flow.delete(reference, namespace))

    def _drive(self, steps: Steps[T]) -> T:
        return drive(steps, self._database)
