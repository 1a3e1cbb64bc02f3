"""What a person should know of a compaction beyond how it ended."""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.compaction.drafts import Draft
from sessionstore.domain.policy import UNKNOWN_WINDOW
from sessionstore.domain.records import CompactionRecord
from sessionstore.domain.transcript import Entry, pair_calls


def cautions_of(
    entries: Sequence[Entry], *, window_known: bool, jobs: Sequence[CompactionRecord]
) -> tuple[str, ...]:
    """Sentences about an unknown window, calls and results that have lost each other, and a summary made of a summary."""
    found = []
    if not window_known:
        found.append(f"the model's window is unknown, {UNKNOWN_WINDOW:,} tokens were assumed; give context_window")
    pairing = pair_calls(entries)
    for index, result in pairing.orphans:
        found.append(f"the result {result.call_id!r} (#{entries[index].seq}) has no call; renderings leave it out")
    in_flight = len(entries) - 1
    for paired in pairing.unanswered():
        if paired.call_index < in_flight:
            seq = entries[paired.call_index].seq
            found.append(f"the call {paired.call.call_id!r} (#{seq}) has no result; renderings say so in its place")
    if any(entry.kind == "summary" for entry in entries):
        count = _times_compacted(entries, jobs)
        times = "once" if count == 1 else f"{count} times"
        found.append(
            f"this context was compacted {times} before; accuracy degrades with each compaction, "
            "consider a new session for new work"
        )
    return tuple(found)


def _times_compacted(entries: Sequence[Entry], jobs: Sequence[CompactionRecord]) -> int:
    """How many summaries went into the one of the context, itself included; those that were undone did not."""
    summaries = {entry.seq for entry in entries if entry.kind == "summary"}
    count = 0
    for job in reversed(jobs):
        if job.summary_seq in summaries:
            count += 1
            summaries = {seq for first, last in (*job.head, *job.middle, *job.tail) for seq in range(first, last + 1)}
    return max(count, 1)


def still_over(draft: Draft) -> tuple[str, ...]:
    """A sentence for a compaction that saves enough and yet ends above its threshold, empty for any other."""
    plan = draft.plan
    if draft.tokens_after <= plan.threshold:
        return ()
    sentence = (
        f"the new context has {draft.tokens_after:,} tokens, the threshold is {plan.threshold:,}: head, tail, pins and the last"
        f" request alone have {plan.kept_tokens:,}; a larger window or a new session helps, another compaction doesn't"
    )
    return (sentence,)
