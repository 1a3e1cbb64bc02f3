"""Retention, compactor by compactor: which planted facts are still there after one compaction, and after ten."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from benchmarks.corpus.readers import corpus_files
from benchmarks.participants import COMPACTORS, seated
from benchmarks.payloads import Message
from benchmarks.report import Cell, Table
from benchmarks.retention.compactors import Compactor, LibraryCompactor, SeatedCompactor, Truncation
from benchmarks.retention.facts import KINDS, Fact
from benchmarks.retention.reaching import reached
from benchmarks.retention.scripted import SCRIPTS
from benchmarks.retention.work import EACH_KIND, LEG_TOKENS, Leg, legs, text_of, tokens_of
from benchmarks.settings import Settings
from sessionstore.counting import default_counter
from sessionstore.domain.token_counter import TokenCounter

DEPTHS = (1, 3, 5, 10)
SEED = 20_260_101
OURS = "sessionstore"


@dataclass(frozen=True, slots=True)
class Entry:
    """A compactor with the script that plays its model."""

    name: str
    script: str
    make: Callable[[], Compactor]


@dataclass(slots=True)
class Findings:
    """Rows as they come about: of all facts, and of those before the first compaction."""

    everything: list[tuple[Cell, ...]] = field(default_factory=list)
    first: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def retention(settings: Settings) -> list[Table]:
    """Two tables a kind of work: of all planted facts, and of those planted before the first compaction."""
    counter = default_counter()
    tables: list[Table] = []
    for work in ("synthetic", "real"):
        findings = Findings()
        with seated(COMPACTORS if settings.peers else ()) as (seats, notes):
            entries = [
                Entry("head 3 + tail", "none", partial(Truncation, counter)),
                Entry(OURS, "none", partial(LibraryCompactor, None)),
            ]
            for script in SCRIPTS:
                entries.append(Entry(OURS, script, partial(LibraryCompactor, script)))
                entries += [Entry(seat.participant.name, script, partial(SeatedCompactor, seat, script)) for seat in seats]
            planned = list(islice(legs(work, counter, SEED), settings.pick(DEPTHS[-1], 3))) if _there_is(work) else []
            for entry in entries:
                try:
                    _follow(entry, planned, counter, findings)
                except RuntimeError as error:
                    findings.notes.append(f"{entry.name} ({entry.script}), {work} work: {error}")
        columns = ("compactor", "model", "compactions", *KINDS, "verbatim", "in two steps", "context tokens", "summary tokens")
        about = (
            f"percent of {EACH_KIND} facts of each kind per {LEG_TOKENS:,} tokens of work; verbatim: in the context",
            "in two steps: verbatim, or a search or a reading of at most 20 messages away, its argument in the summary",
            "only a compactor with a log has steps to take",
            "summary: the largest message that the compaction added",
        )
        for title, rows in (("all facts so far", findings.everything), ("before the first compaction", findings.first)):
            said = (*about, *notes, *findings.notes)
            tables.append(Table(f"Retention, {work} work: {title}", columns, tuple(rows), said))
    return tables


def _there_is(work: str) -> bool:
    return work == "synthetic" or bool(corpus_files())


def _follow(entry: Entry, planned: Sequence[Leg], counter: TokenCounter, findings: Findings) -> None:
    compactor = entry.make()
    try:
        messages: list[Message] = []
        facts: list[Fact] = []
        for depth, leg in enumerate(planned, start=1):
            messages = [*messages, *leg.messages]
            facts += leg.facts
            before = {text_of(message) for message in messages}
            messages = compactor.compact(messages, facts)
            if depth not in DEPTHS:
                continue
            text = " ".join(text_of(message) for message in messages)
            verbatim = {fact for fact in facts if fact.stands_in(text)}
            within = None
            if isinstance(compactor, LibraryCompactor) and compactor.result is not None:
                summary = compactor.result.summary or ""
                left = [fact for fact in facts if fact not in verbatim]
                within = verbatim | reached(compactor.store, compactor.session, summary, left)
            added = [tokens_of([message], counter) for message in messages if text_of(message) not in before]
            sizes = (tokens_of(messages, counter), max(added, default=0))
            for rows, chosen in ((findings.everything, facts), (findings.first, planned[0].facts)):
                rows.append((entry.name, entry.script, depth, *_shares(chosen, verbatim, within), *sizes))
    finally:
        compactor.close()


def _shares(facts: Sequence[Fact], verbatim: set[Fact], within: set[Fact] | None) -> Iterator[str | None]:
    for kind in KINDS:
        yield _share([fact for fact in facts if fact.kind == kind], verbatim)
    yield _share(facts, verbatim)
    yield None if within is None else _share(facts, within)


def _share(facts: Sequence[Fact], kept: set[Fact]) -> str:
    return f"{100 * sum(fact in kept for fact in facts) / len(facts):.0f}"
