"""The generations of a lineage form one line from root to tip, and each says truly whether it has ended (LIN-2 to LIN-4)."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.closed_sets import SUPERSEDED_ENDS
from sessionstore.domain.health.evidence import Evidence, set_session
from sessionstore.domain.health.finding import Diagnosis, Remedy
from sessionstore.domain.records import SessionRecord
from sessionstore.domain.session_ids import session_id


def check_generations(evidence: Evidence) -> Iterator[Diagnosis]:
    """Parents, the tip, and ends."""
    tip = evidence.tip
    if tip is None:
        yield evidence.diagnosis("tip_mismatch", "the lineage has no session at all")
        return
    yield from _parents(evidence)
    if evidence.lineage.tip_generation != tip.generation:
        recorded = session_id(evidence.lineage_id, evidence.lineage.tip_generation)
        yield evidence.diagnosis(
            "tip_mismatch",
            f"the lineage says that its tip is {recorded}, and the highest generation is {tip.session_id}",
            Remedy("set", "lineages", {}, {"tip_generation": tip.generation}),
            generation=tip.generation,
        )
    children = {session.parent_generation: session for session in evidence.sessions if session.parent_generation is not None}
    live = {job.generation for job in evidence.jobs if _is_held(job.status, job.lease_expires_at, evidence.now)}
    for session in evidence.sessions:
        child = children.get(session.generation)
        yield from _end(evidence, session, child, is_tip=session is tip, held=session.generation in live)


def _parents(evidence: Evidence) -> Iterator[Diagnosis]:
    """Each generation continues the one before it: that is how they are numbered, so a parent that is lost is known."""
    there = {session.generation for session in evidence.sessions}
    parents = {session.generation: session.parent_generation for session in evidence.sessions}
    claimed: dict[int, int] = {}
    for session in evidence.sessions:
        number, parent = session.generation, session.parent_generation
        if _is_in_cycle(number, parents):
            yield evidence.diagnosis(
                "parent_cycle",
                f"{session.session_id} descends from itself",
                *_reparented(session, there, parents),
                generation=number,
            )
            continue
        if parent is None and number > 1:
            yield evidence.diagnosis(
                "missing_parent",
                f"{session.session_id} names no parent though it is not the first generation",
                *_reparented(session, there, parents),
                generation=number,
            )
        elif parent is not None and parent not in there:
            yield evidence.diagnosis(
                "missing_parent",
                f"{session.session_id} continues {session_id(evidence.lineage_id, parent)}, which is not there",
                *_reparented(session, there, parents),
                generation=number,
            )
        elif parent is not None and parent in claimed:
            other = session_id(evidence.lineage_id, claimed[parent])
            yield evidence.diagnosis(
                "fork",
                f"{session.session_id} and {other} both continue {session_id(evidence.lineage_id, parent)}",
                generation=number,
            )
        if parent is not None:
            claimed.setdefault(parent, number)


def _is_in_cycle(number: int, parents: dict[int, int | None]) -> bool:
    seen: set[int] = set()
    current = parents.get(number)
    while current is not None and current not in seen:
        if current == number:
            return True
        seen.add(current)
        current = parents.get(current)
    return False


def _reparented(session: SessionRecord, there: set[int], parents: dict[int, int | None]) -> tuple[Remedy, ...]:
    """The parent that the number tells, unless that one isn't there or is taken by another."""
    number = session.generation
    if number == 1:
        return (set_session(1, parent_generation=None, edge="root"),)
    taken = any(parent == number - 1 for other, parent in parents.items() if other != number)
    if number - 1 not in there or taken or session.edge == "root":
        return ()
    return (set_session(number, parent_generation=number - 1),)


def _end(
    evidence: Evidence, session: SessionRecord, child: SessionRecord | None, *, is_tip: bool, held: bool
) -> Iterator[Diagnosis]:
    number = session.generation
    superseded = session.end_reason in SUPERSEDED_ENDS
    if is_tip and superseded and child is None:
        # Opened again in the transaction that looked once more: nobody took over, and nobody is about to.
        reopened = set_session(number, ended_at=None, end_reason=None)
        remedies = () if held else (reopened, Remedy("set", "lineages", {}, {"closed_at": None}))
        yield evidence.diagnosis(
            "ended_without_child",
            f"{session.session_id} ended by {session.end_reason}, but no session continues it",
            *remedies,
            generation=number,
        )
        return
    if child is not None and not superseded:
        ended_at = child.started_at if session.ended_at is None else session.ended_at
        yield evidence.diagnosis(
            "open_with_child",
            f"{session.session_id} is continued by {child.session_id}, but does not say that it ended so",
            set_session(number, end_reason=child.edge, ended_at=ended_at),
            generation=number,
        )
        return
    if (session.end_reason is None) != (session.ended_at is None):
        values = {"ended_at": session.updated_at} if session.end_reason is not None else {"ended_at": None}
        yield evidence.diagnosis(
            "half_ended",
            f"{session.session_id} has only one of the time and the reason of its end",
            set_session(number, **values),
            generation=number,
        )


def _is_held(status: str, lease_expires_at: float | None, now: float) -> bool:
    return status == "running" and lease_expires_at is not None and lease_expires_at > now
