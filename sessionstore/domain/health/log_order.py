"""The log is 0, 1, 2, … without a gap, each row where its generation wrote it, and every body can be read (LOG-1 to LOG-3)."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.health.evidence import Evidence
from sessionstore.domain.health.finding import Diagnosis


def check_log(evidence: Evidence) -> Iterator[Diagnosis]:
    """Numbers, generations, bodies, and what renditions come from."""
    first = min((share.first for share in evidence.shares), default=0)
    if first != 0:
        yield evidence.diagnosis("sequence_gap", f"the log begins at #{first}", seq=first)
    for seq in evidence.breaks:
        yield evidence.diagnosis("sequence_gap", f"the row before #{seq} is missing", seq=seq)
    tip = evidence.tip
    if tip is not None and tip.next_seq != evidence.end:
        yield evidence.diagnosis(
            "sequence_gap",
            f"the log ends at #{evidence.end - 1}, and {tip.session_id} gives out #{tip.next_seq} next",
            generation=tip.generation,
            seq=evidence.end,
        )
    yield from _shares(evidence)
    for seq in evidence.unreadable:
        yield evidence.diagnosis("unreadable_body", f"the body of #{seq} is no JSON", seq=seq)
    for row in evidence.derived:
        if row.kind != "rendition":
            continue
        if row.origin_seq is None or not 0 <= row.origin_seq < min(row.seq, evidence.end):
            origin = "nothing" if row.origin_seq is None else f"#{row.origin_seq}"
            yield evidence.diagnosis("dangling_origin", f"#{row.seq} is a rendition of {origin}", seq=row.seq)


def _shares(evidence: Evidence) -> Iterator[Diagnosis]:
    """A generation's rows lie between where its parent stopped and where it stopped itself."""
    sessions = {session.generation: session for session in evidence.sessions}
    for share in evidence.shares:
        session = sessions.get(share.generation)
        if session is None:
            continue  # the row's session is gone: found as orphan_rows
        parent = sessions.get(session.parent_generation or 0)
        lowest = 0 if parent is None else parent.next_seq
        if share.first < lowest or share.last >= session.next_seq:
            yield evidence.diagnosis(
                "row_of_other_generation",
                f"{session.session_id} wrote #{lowest} to #{session.next_seq - 1}, and its rows reach from #{share.first} to "
                f"#{share.last}",
                generation=share.generation,
                seq=share.first if share.first < lowest else share.last,
            )
