"""What a store can do, each as a flow of steps; the fronts document them for their users.

What isn't done by most programs imports its modules when it is, so that a program starts fast.
"""
from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sessionstore.counting import default_counter
from sessionstore.domain.messages import check_column_text
from sessionstore.domain.policy import CompactionPolicy, checked_window
from sessionstore.domain.session_ids import checked_lineage_id, split_session_id
from sessionstore.domain.system_prompt import prompt_from_parts, prompt_from_text
from sessionstore.errors import SessionNotFoundError
from sessionstore.flows.session_flow import SessionFlow
from sessionstore.operations import resolving, tracing
from sessionstore.operations.creating import NewSession, create_session
from sessionstore.operations.environment import Clock, CompactionHooks, Environment, IdSource
from sessionstore.operations.flushing import Landmarks
from sessionstore.operations.steps import Steps, read, write
from sessionstore.operations.tracing import LineageTrace
from sessionstore.storage.lineage_rows import delete_lineage
from sessionstore.storage.session_rows import list_tips

if TYPE_CHECKING:
    from pathlib import Path

    from sessionstore.compaction.outcome import CompactionOutcome
    from sessionstore.domain.closed_sets import Profile, Relation
    from sessionstore.domain.health.finding import DoctorReport
    from sessionstore.domain.keeping import BackupReport, PrunedLineage, StoreStats
    from sessionstore.domain.records import SessionSummary
    from sessionstore.domain.search_hit import SearchHit
    from sessionstore.domain.summarizing import Summarizer
    from sessionstore.domain.token_counter import TokenCounter
    from sessionstore.formats.exporting import ExportFormat
    from sessionstore.formats.report import ImportReport
    from sessionstore.formats.transcript_source import ImportFormat
    from sessionstore.storage.engines import Database


def environment_of(
    database: Database,
    *,
    clock: Clock | None,
    ids: IdSource | None,
    counter: TokenCounter | None,
    hooks: CompactionHooks | None,
    max_message_bytes: int,
) -> Environment:
    """What a store works with, defaults filled in."""
    return Environment(
        database=database,
        clock=clock,
        ids=ids or _new_id,
        counter=counter or default_counter(),
        hooks=hooks or CompactionHooks(),
        max_message_bytes=max_message_bytes,
        owner=f"{socket.gethostname()}:{os.getpid()}",
    )


class StoreFlow:
    """The flows of a store."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def create_session(
        self,
        session_id: str | None,
        *,
        title: str | None,
        model: str | None,
        context_window: int | None,
        profile: Profile,
        system_prompt: str | None,
        system_prompt_parts: Mapping[str, str] | None,
        namespace: str,
        owner: str | None,
        source: str | None,
        metadata: Mapping[str, Any] | None,
        tool_schema_tokens: int,
        relation: Relation | None,
        forked_from: str | None,
    ) -> Steps[SessionFlow]:
        """Begin a lineage."""
        lineage_id = checked_lineage_id(self.environment.ids() if session_id is None else session_id)
        for name, text in (("title", title), ("namespace", namespace), ("owner", owner), ("source", source), ("model", model)):
            check_column_text(name, text)
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
            context_window=checked_window(context_window),
            profile=profile,
            prompt=prompt,
            metadata=dict(metadata or {}),
            tool_schema_tokens=tool_schema_tokens,
            relation=relation,
            forked_from=origin,
            forked_from_seq=origin_seq,
        )
        now = self.environment.now()
        yield from write(lambda c: create_session(c, new, now=now))
        # Nothing is stored yet, so the first flush has nothing to compare.
        return SessionFlow(self.environment, lineage_id, 1, Landmarks(cursor=0, last=None, marker=None))

    def session(self, session_id: str, namespace: str | None) -> Steps[SessionFlow]:
        """Find exactly one generation."""
        record = yield from read(lambda c: resolving.resolve_exact(c, session_id, namespace=namespace))
        return SessionFlow(self.environment, record.lineage_id, record.generation)

    def resume(self, reference: str, namespace: str | None) -> Steps[SessionFlow]:
        """Find the tip of a lineage."""
        record = yield from read(lambda c: resolving.resolve_tip(c, reference, namespace=namespace))
        return SessionFlow(self.environment, record.lineage_id, record.generation)

    def lineage(self, reference: str, namespace: str | None, ledgers: bool) -> Steps[LineageTrace]:
        """Read generations and compactions, and with ``ledgers`` the facts beside the summaries."""
        return read(lambda c: tracing.trace_lineage(c, reference, namespace=namespace, ledgers=ledgers))

    def list_sessions(
        self,
        *,
        namespace: str | None,
        owner: str | None,
        source: str | None,
        open_only: bool,
        before: SessionSummary | None,
        limit: int,
    ) -> Steps[list[SessionSummary]]:
        """Read a page of tips."""
        place = None if before is None else (before.updated_at, before.lineage_id)
        return read(
            lambda c: list_tips(
                c, namespace=namespace, owner=owner, source=source, open_only=open_only, before=place, limit=limit
            )
        )

    def search(
        self,
        text: str,
        *,
        lineage: str | None,
        namespace: str | None,
        limit: int,
        before: SearchHit | None,
        derived: bool,
    ) -> Steps[list[SearchHit]]:
        """Find rows by their words."""
        from sessionstore.flows.search_flow import search_store

        return search_store(
            text, lineage=lineage, namespace=namespace, limit=limit, before=before, derived=derived
        )

    def rebuild_search_index(self) -> Steps[int]:
        """Make the search index anew."""
        from sessionstore.flows.search_flow import rebuild_search_index

        return rebuild_search_index()

    def import_transcript(
        self,
        source: Path | Sequence[str],
        *,
        form: ImportFormat,
        name: str,
        session_id: str | None,
        title: str | None,
        progress: Callable[[int, int], None] | None,
    ) -> Steps[ImportReport]:
        """Bring in a transcript."""
        from sessionstore.formats.importing import import_transcript

        return import_transcript(
            self.environment, source, format=form, name=name, session_id=session_id, title=title, tell=progress
        )

    def export(self, reference: str, *, form: ExportFormat, lineage: bool, namespace: str | None) -> Steps[list[str]]:
        """Read a conversation as text."""
        from sessionstore.formats.exporting import export_markdown, export_messages, export_openai
        from sessionstore.formats.own_export import export_lineage

        def work(connection: Connection) -> list[str]:
            tip = resolving.resolve_tip(connection, reference, namespace=namespace)
            if form == "markdown":
                return list(export_markdown(connection, tip.lineage_id, tip.generation, whole_log=lineage))
            if form == "openai":
                return list(export_openai(connection, tip.lineage_id, tip.generation))
            if lineage:
                return list(export_lineage(connection, tip.lineage_id))
            return list(export_messages(connection, tip.lineage_id, tip.generation))

        return read(work)

    def doctor(self, repair: bool) -> Steps[DoctorReport]:
        """Look for breaches of what the store promises."""
        from sessionstore.flows.doctor_flow import examine_store

        return examine_store(self.environment, repair=repair)

    def hygiene(
        self, *, policy: CompactionPolicy | None, summarizer: Summarizer | None, grace: float
    ) -> Steps[list[CompactionOutcome]]:
        """One pass of a worker."""
        from sessionstore.flows.hygiene_flow import HygieneFlow, hygiene_pass

        return hygiene_pass(
            HygieneFlow(self.environment, policy=policy or CompactionPolicy(), summarizer=summarizer, grace=grace)
        )

    def handle(self, outcome: CompactionOutcome) -> SessionFlow:
        """The session to go on with after a compaction of a worker."""
        lineage_id, generation = split_session_id(outcome.continuation_id or outcome.session_id)
        return SessionFlow(self.environment, lineage_id, generation or 1)

    def backup(self, target: Path) -> Steps[BackupReport]:
        """Copy the database and compare."""
        from sessionstore.flows.keeping_flow import backup

        return backup(target)

    def stats(self) -> Steps[StoreStats]:
        """Count everything."""
        from sessionstore.flows.keeping_flow import stats

        return stats()

    def prune(
        self, *, older_than: float, namespace: str | None, ended_only: bool, dry_run: bool
    ) -> Steps[list[PrunedLineage]]:
        """Delete what has long been quiet."""
        from sessionstore.flows.keeping_flow import prune

        before = self.environment.now() - older_than
        return prune(before=before, namespace=namespace, ended_only=ended_only, dry_run=dry_run)

    def delete(self, reference: str, namespace: str | None) -> Steps[str]:
        """Delete a whole lineage."""

        def work(connection: Connection) -> str:
            lineage_id = resolving.resolve_lineage(connection, reference, namespace=namespace)
            if not delete_lineage(connection, lineage_id):
                raise SessionNotFoundError(reference, namespace=namespace)
            return lineage_id

        return write(work)


def _new_id() -> str:
    from uuid_utils import uuid7

    return str(uuid7())


def _origin(forked_from: str | None) -> tuple[str | None, int | None]:
    if forked_from is None:
        return None, None
    reference, _, seq = forked_from.partition("#")
    return split_session_id(reference)[0], int(seq) if seq.isdigit() else None
