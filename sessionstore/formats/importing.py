"""Importing a transcript of any format: read it, find out which lineages it becomes, store each in one transaction."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from sqlalchemy import Connection

from sessionstore.errors import ImportFormatError
from sessionstore.formats.bringing_in import BroughtIn, Progress, bring_in
from sessionstore.formats.damage import merge_damage
from sessionstore.formats.naming import lineage_id_of
from sessionstore.formats.own_export import DumpedRow, begins_own_export, read_own_export, report_of, restore_lineage
from sessionstore.formats.parsed import ParsedLineage, ParsedTranscript
from sessionstore.formats.report import ImportedLineage, ImportReport
from sessionstore.formats.transcript_source import ImportFormat, TranscriptLines, read_transcript
from sessionstore.operations.environment import Environment
from sessionstore.operations.steps import Steps, call, write


def import_transcript(
    environment: Environment,
    source: Path | Sequence[str],
    *,
    format: ImportFormat,  # noqa: A002 - the command line's word
    name: str,
    session_id: str | None,
    title: str | None,
    tell: Callable[[int, int], None] | None,
) -> Steps[ImportReport]:
    """Store everything of a transcript that is not stored yet; each of its conversations in a transaction of its own."""
    lines: Iterable[str] = TranscriptLines(source) if isinstance(source, Path) else source
    if format == "sessionstore" or (yield from call(lambda: begins_own_export(lines))):
        return (yield from _import_own(lines, name))
    parsed = yield from call(lambda: read_transcript(source, format=format, name=name))
    progress = Progress(sum(len(lineage.messages) for lineage in parsed.lineages), tell)
    main_id: str | None = None
    done: list[BroughtIn] = []
    for lineage in parsed.lineages:
        lineage_id = lineage_id_of(lineage, main_id=main_id, wanted=session_id if not done else None, name=name)
        wanted = title if not done else None
        work = _storing(environment, parsed, lineage, lineage_id, main_id, name, wanted, progress)
        done.append((yield from write(work)))
        if main_id is None:
            main_id = lineage_id
    damaged = merge_damage([*parsed.damaged, *(line for one in done for line in one.damaged)])
    return ImportReport(
        name=name,
        format=parsed.format,
        lineages=tuple(one.lineage for one in done),
        damaged=tuple(damaged),
        notes=parsed.notes,
        left_out=parsed.skipped,
    )


def _storing(
    environment: Environment,
    parsed: ParsedTranscript,
    lineage: ParsedLineage,
    lineage_id: str,
    main_id: str | None,
    name: str,
    title: str | None,
    progress: Progress,
) -> Callable[[Connection], BroughtIn]:
    parent_id = main_id if main_id is not None and lineage.branch is not None else lineage.parent

    def work(connection: Connection) -> BroughtIn:
        return bring_in(
            connection,
            lineage,
            lineage_id=lineage_id,
            parent_id=parent_id,
            title=title,
            name=name,
            source=parsed.format,
            max_bytes=environment.max_message_bytes,
            progress=progress,
            now=environment.now(),
        )

    return work


def _import_own(lines: Iterable[str], name: str) -> Steps[ImportReport]:
    lineages, damaged = yield from call(lambda: read_own_export(lines, name=name))
    if not lineages:
        raise ImportFormatError(name, "there is no lineage in it")
    done: list[ImportedLineage] = []
    for lineage_id, rows in lineages.items():
        done.append((yield from write(_restoring(lineage_id, rows, name))))
    return report_of(name, done, damaged)


def _restoring(lineage_id: str, rows: list[DumpedRow], name: str) -> Callable[[Connection], ImportedLineage]:
    return lambda connection: restore_lineage(connection, lineage_id, rows, name=name)
