"""A lineage as a tree: its generations in order, and under each what was tried to compact it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sessionstore.cli.figures import counted, duration, figure, local_time, saving, spans_text
from sessionstore.cli.terminal import Branch, Line, printable
from sessionstore.domain.records import CompactionRecord, LineageRecord, SessionRecord
from sessionstore.domain.session_ids import display_title, session_id
from sessionstore.domain.spans import Span, count_of, joined, spans_of

if TYPE_CHECKING:
    from sessionstore.operations.tracing import LineageTrace

_BRANCHED: Final = {"fork": "fork of", "subagent": "sub-agent of", "reset": "begun anew after"}


def lineage_tree(trace: LineageTrace, context_tokens: Mapping[int, int]) -> Branch:
    """The tree of a lineage; ``context_tokens`` by generation."""
    attempts: dict[int, list[CompactionRecord]] = {}
    for record in trace.compactions:
        attempts.setdefault(record.generation, []).append(record)
    generations = [
        Branch(
            _session_lines(trace, session, context_tokens.get(session.generation)),
            [_attempt(trace, record) for record in attempts.get(session.generation, ())],
        )
        for session in trace.sessions
    ]
    return Branch([_root_line(trace.lineage)], generations)


def _root_line(lineage: LineageRecord) -> Line:
    title = printable(lineage.title) if lineage.title else lineage.lineage_id
    parts = [(title, "bold"), (f"  lineage {lineage.lineage_id}", "dim")]
    if lineage.relation is not None and lineage.forked_from is not None:
        place = "" if lineage.forked_from_seq is None else f" #{lineage.forked_from_seq}"
        parts.append((f", {_BRANCHED[lineage.relation]} {lineage.forked_from}{place}", "dim"))
    if lineage.pins:
        parts.append((f", pinned {spans_text(spans_of(lineage.pins))}", "dim"))
    return parts


def _session_lines(trace: LineageTrace, session: SessionRecord, tokens: int | None) -> list[Line]:
    is_tip = session.generation == trace.lineage.tip_generation
    title = display_title(trace.lineage.title, session.generation)
    heading = [(session.session_id, "bold green" if is_tip else "bold")]
    if title is not None:
        heading.append((f"  {printable(title)}", ""))
    heading.append((f"  {counted(session.flush_cursor, 'message')}, {figure(tokens)} tokens", "cyan"))
    if is_tip:
        heading.append(("  ← the tip", "green"))
    until = "open" if session.ended_at is None else f"{local_time(session.ended_at)} ({session.end_reason})"
    lines: list[Line] = [heading, [(f"{local_time(session.started_at)} – {until}", "dim")]]
    if session.edge in ("undo", "rewind"):
        lines.append([(_went_back(trace, session), "yellow")])
    return lines


def _went_back(trace: LineageTrace, session: SessionRecord) -> str:
    basis = session.basis_generation
    restored = "an earlier context" if basis is None else f"the context of {session_id(session.lineage_id, basis)}"
    if session.edge == "undo":
        return f"undo: restores {restored}, followed by what was said since"
    kept = [last for _, last in trace.spans.get(session.generation, ()) if last is not None]
    return f"rewind: restores {restored}" + (f" up to #{kept[-1]}" if kept else "")


def _attempt(trace: LineageTrace, record: CompactionRecord) -> Branch:
    if record.status != "committed":
        reason = "" if record.reason is None else f": {record.reason}"
        return Branch([[(printable(f"{record.status} ({record.trigger}){reason}"), "dim")]])
    heading = [(f"compacted into {session_id(record.lineage_id, record.opened_generation or 1)}", "bold magenta")]
    if record.tokens_before is not None and record.tokens_after is not None:
        heading.append((f"  {record.tokens_before:,} → {record.tokens_after:,} tokens", "cyan"))
        heading.append((f" ({saving(record.tokens_before, record.tokens_after)})", "green"))
    return Branch([heading], [Branch([line]) for line in _details(trace, record)])


def _details(trace: LineageTrace, record: CompactionRecord) -> Sequence[Line]:
    lines: list[Line] = []
    if record.middle:
        what = "summarised" if record.summary_seq is not None else "pruned"
        into = "" if record.summary_seq is None else f", into #{record.summary_seq}"
        ranges = spans_text(joined(sorted(record.middle)))
        lines.append([(f"{what} {ranges} ({counted(count_of(record.middle), 'message')}{into})", "")])
    lines.append([(f"kept {spans_text(_kept(trace, record))}", "")])
    lines.append([(f"{_how(record)}", ""), (" (degraded: the model failed)" if record.degraded else "", "bold red")])
    if record.focus:
        lines.append([(printable(f"focus: {record.focus}"), "")])
    if record.reason:
        lines.append([(printable(f"reason: {record.reason}"), "dim")])
    lines += [[(printable(f"warning: {warning}"), "yellow")] for warning in record.warnings]
    return lines


def _kept(trace: LineageTrace, record: CompactionRecord) -> Sequence[Span]:
    """The rows of the compacted context that the continuation's context begins with, in the order of the log."""
    compacted = next(session for session in trace.sessions if session.generation == record.generation)
    spans = trace.spans.get(record.opened_generation or 0, ())
    return joined(sorted(Span(first, last) for first, last in spans if last is not None and first < compacted.next_seq))


def _how(record: CompactionRecord) -> str:
    parts = [f"trigger {record.trigger}"]
    if record.summarizer is not None:
        parts.append(f"summariser {record.summarizer}")
    # An imported compaction has a time and no length.
    if record.started_at is not None and record.finished_at is not None and record.finished_at > record.started_at:
        parts.append(duration(record.finished_at - record.started_at))
    return ", ".join(parts)
