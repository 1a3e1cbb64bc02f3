"""What belongs to a lineage as a whole: its title, its pins, and how far its readers are (LIN-6, PIN-1)."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.health.evidence import Evidence
from sessionstore.domain.health.finding import Diagnosis, Remedy
from sessionstore.domain.spans import count_of


def check_belongings(evidence: Evidence) -> Iterator[Diagnosis]:
    """Title, pins, readers."""
    yield from _title(evidence)
    pins = evidence.lineage.pins
    dangling = [seq for seq in pins if not 0 <= seq < evidence.end]
    if dangling:
        kept = [seq for seq in pins if seq not in dangling]
        for seq in dangling:
            yield evidence.diagnosis(
                "dangling_pin",
                f"#{seq} is pinned, and the log ends at #{evidence.end - 1}",
                Remedy("set", "lineages", {}, {"pins": kept}),
                seq=seq,
            )
    yield from _readers(evidence)


def _title(evidence: Evidence) -> Iterator[Diagnosis]:
    lineage = evidence.lineage
    wanted = None if lineage.title is None else (lineage.namespace, lineage.title)
    for namespace, title in sorted(evidence.titles - {wanted}):
        yield evidence.diagnosis(
            "title_mismatch",
            f"the title {title!r} is kept for {evidence.lineage_id}, which has another one",
            Remedy("drop", "titles", {"namespace": namespace, "title": title}),
        )
    if wanted is None or wanted in evidence.titles:
        return
    if evidence.title_holder is None:
        remedy = Remedy("add", "titles", {"namespace": lineage.namespace, "title": lineage.title})
        message = f"the title {lineage.title!r} of {evidence.lineage_id} is not kept for it"
        yield evidence.diagnosis("title_mismatch", message, remedy)
    else:
        yield evidence.diagnosis(
            "title_mismatch",
            f"the title {lineage.title!r} of {evidence.lineage_id} belongs to {evidence.title_holder}; it goes without",
            Remedy("set", "lineages", {}, {"title": None}),
        )


def _readers(evidence: Evidence) -> Iterator[Diagnosis]:
    lengths = {session.generation: count_of(evidence.context(session)) for session in evidence.sessions}
    for reader in evidence.readers:
        length = lengths.get(reader.generation)
        if length is None or (reader.history_offset <= length and reader.last_seq < max(evidence.end, 0)):
            continue
        if reader.last_seq < 0 and reader.history_offset <= length:
            continue
        yield evidence.diagnosis(
            "reader_ahead",
            f"reader {reader.reader!r} is at {reader.history_offset} of {length} and at #{reader.last_seq} of a log that ends "
            f"at #{evidence.end - 1}",
            Remedy(
                "set",
                "readers",
                {"reader": reader.reader},
                {"history_offset": min(reader.history_offset, length), "last_seq": min(reader.last_seq, evidence.end - 1)},
            ),
            generation=reader.generation,
        )
