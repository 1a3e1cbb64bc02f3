"""Looking at a lineage for faults, and mending those that need no model."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from sessionstore.domain.health.diagnosing import diagnose
from sessionstore.domain.health.evidence import Evidence
from sessionstore.domain.health.finding import Diagnosis, Finding, Remedy
from sessionstore.domain.health.open_calls import doubtful_calls
from sessionstore.domain.messages import decode_body, message_digest
from sessionstore.domain.records import SessionRecord
from sessionstore.domain.transcript import Entry
from sessionstore.storage import health_rows
from sessionstore.storage.lineage_rows import find_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.remedies import apply_remedy
from sessionstore.storage.session_rows import sessions_of
from sessionstore.storage.title_rows import holder_of_title


def mend_lineage(connection: Connection, lineage_id: str, *, now: float) -> list[Finding]:
    """Mend a lineage step by step: one fault hides another, so it is looked at again as long as that helps."""
    lock_tip(connection, lineage_id)
    found = examine_lineage(connection, lineage_id, now=now)
    mended: list[Finding] = []
    while any(diagnosis.remedies for diagnosis in found):
        remedies: list[Remedy] = []
        for diagnosis in found:
            remedies.extend(remedy for remedy in diagnosis.remedies if remedy not in remedies)
        for remedy in remedies:
            apply_remedy(connection, lineage_id, remedy)
        again = examine_lineage(connection, lineage_id, now=now)
        left = [_place(diagnosis) for diagnosis in again]
        gone = [diagnosis for diagnosis in found if _place(diagnosis) not in left]
        mended.extend(replace(diagnosis.finding, repaired=True) for diagnosis in gone)
        found = again
        if not gone:
            break
    return [*mended, *(diagnosis.finding for diagnosis in found)]


def _place(diagnosis: Diagnosis) -> tuple[object, ...]:
    finding = diagnosis.finding
    return (finding.code, finding.session_id, finding.seq, finding.message)


def examine_lineage(connection: Connection, lineage_id: str, *, now: float) -> list[Diagnosis]:
    """What is wrong with one lineage, as one consistent reading shows it; nothing when it is gone by now."""
    try:
        evidence = read_evidence(connection, lineage_id, now=now)
    except (ValueError, TypeError) as error:
        message = f"a column of {lineage_id} that holds JSON cannot be read: {error}"
        return [Diagnosis(Finding("unreadable_row", lineage_id, None, None, message))]
    return [] if evidence is None else list(diagnose(evidence))


def read_evidence(connection: Connection, lineage_id: str, *, now: float) -> Evidence | None:
    """Read what the checks go by: no body but those of last rows, and of calls whose ids leave a doubt."""
    lineage = find_lineage(connection, lineage_id)
    if lineage is None:
        return None
    holder = None if lineage.title is None else holder_of_title(connection, lineage.namespace, lineage.title)
    evidence = Evidence(
        lineage=lineage,
        sessions=sessions_of(connection, lineage_id),
        spans=health_rows.stored_spans(connection, lineage_id),
        shares=health_rows.log_shares(connection, lineage_id),
        breaks=health_rows.log_breaks(connection, lineage_id),
        derived=health_rows.derived_rows(connection, lineage_id),
        jobs=health_rows.job_rows(connection, lineage_id),
        prompts=health_rows.prompt_digests(connection, lineage_id),
        titles=health_rows.titles_of(connection, lineage_id),
        title_holder=None if holder == lineage_id else holder,
        readers=health_rows.reader_rows(connection, lineage_id),
        call_rows=health_rows.call_rows(connection, lineage_id),
        unreadable=health_rows.unreadable_bodies(connection, lineage_id),
        now=now,
    )
    tip = evidence.tip
    if tip is None:
        return evidence
    return replace(
        evidence, tail_digests=_tail_digest(connection, evidence, tip), calls=_calls(connection, evidence, tip)
    )


def _tail_digest(connection: Connection, evidence: Evidence, tip: SessionRecord) -> dict[int, str | None]:
    context = evidence.context(tip)
    if not context:
        return {tip.generation: None}
    last = _readable(connection, evidence, [context[-1].last])
    return {tip.generation: message_digest(last[0][1])} if last else {}


def _calls(connection: Connection, evidence: Evidence, tip: SessionRecord) -> list[Entry]:
    context = evidence.context(tip)
    bodies = dict(_readable(connection, evidence, doubtful_calls(context, evidence.call_rows)))
    ordered = [seq for first, last in context for seq in range(first, last + 1) if seq in bodies] if bodies else []
    return [Entry(seq, "message", bodies[seq]) for seq in ordered]


def _readable(connection: Connection, evidence: Evidence, seqs: Sequence[int]) -> list[tuple[int, dict[str, object]]]:
    wanted = [seq for seq in seqs if seq not in evidence.unreadable]
    return [(seq, decode_body(body)) for seq, body in health_rows.bodies_of(connection, evidence.lineage_id, wanted)]
