"""A summary that a case begins with, as a compaction of the lineage: written into its own export, which is imported again."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sessionstore import Session
from tests.cases.kept import Thread
from tests.cases.running import CaseRun


def bring_in_summary(run: CaseRun, message: Mapping[str, Any], covered: tuple[int, int]) -> None:
    """Go on in a generation whose context has the message as the summary of rows ``covered``, both ends included."""
    run.threads[None] = Thread(_with_summary(run, message, covered), [])
    run.main.held[:] = run.session.context()


def _with_summary(run: CaseRun, message: Mapping[str, Any], covered: tuple[int, int]) -> Session:
    lines = [json.loads(line) for line in "".join(run.store.export(run.root_id, lineage=True)).splitlines()]
    header, rows = lines[0], lines[1:]
    context = [row.seq for row in run.session.context_rows()]
    parent = next(row["row"] for row in reversed(rows) if row["table"] == "sessions")
    lineage = next(row["row"] for row in rows if row["table"] == "lineages")
    seq, now, generation = parent["next_seq"], int(run.clock.at * 1e6), parent["generation"] + 1
    first, last = covered
    head = [one for one in context if one < first]
    tail = [one for one in context if one > last]
    child = {
        **parent,
        "generation": generation,
        "parent_generation": parent["generation"],
        "edge": "compaction",
        "flush_cursor": len(head) + 1 + len(tail),
        "next_seq": seq + 1,
        "start_seq": seq + 1,
        "tail_digest": None,
        "started_at": now,
        "updated_at": now,
    }
    parent.update(ended_at=now, end_reason="compaction")
    lineage["tip_generation"] = generation
    body = json.dumps(message, ensure_ascii=False)
    summary = {
        **next(row["row"] for row in rows if row["table"] == "messages"),
        "seq": seq, "generation": generation, "role": message["role"], "kind": "summary", "body": body, "created_at": now,
    }  # fmt: skip
    spans = [*_ranges(head), (seq, seq), *_ranges(tail), (seq + 1, None)]
    run.brought_in[seq] = {one for one in context if first <= one <= last}
    job = _job(run, parent, generation, summary_seq=seq, text=message["content"], covered=covered, now=now)
    added = [
        ("sessions", child),
        ("messages", summary),
        *(
            ("context_spans", _span(run, generation, ordinal, one))
            for ordinal, one in enumerate(spans)
        ),
        ("compactions", job),
    ]
    order = list(dict.fromkeys(["lineages", "system_prompts", "sessions", "messages", "context_spans", "compactions"]))
    everything = [*((row["table"], row["row"]) for row in rows), *added]
    everything.sort(key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order))
    written = [json.dumps({**header, "rows": len(everything)})]
    written += [json.dumps({"table": table, "row": row}) for table, row in everything]
    run.store.import_lines(written, format="jsonl")
    return run.store.resume(run.root_id)


def _span(run: CaseRun, generation: int, ordinal: int, span: tuple[int, int | None]) -> dict[str, Any]:
    return {
        "lineage_id": run.root_id,
        "generation": generation,
        "ordinal": ordinal,
        "first_seq": span[0],
        "last_seq": span[1],
    }


def _job(
    run: CaseRun,
    parent: Mapping[str, Any],
    generation: int,
    *,
    summary_seq: int,
    text: str,
    covered: tuple[int, int],
    now: int,
) -> dict[str, Any]:
    return {
        "lineage_id": run.root_id, "job_id": f"brought-in-{generation}", "generation": parent["generation"],
        "opened_generation": generation, "trigger": "manual", "status": "committed", "policy": "{}",
        "watermark": summary_seq - 1, "head": "[]", "middle": json.dumps([list(covered)]), "tail": "[]",
        "summary_seq": summary_seq, "summary": text, "degraded": False, "warnings": "[]", "attempts": 1, "fencing_token": 1,
        "created_at": now, "started_at": now, "finished_at": now,
    }  # fmt: skip


def _ranges(seqs: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for seq in seqs:
        if found and found[-1][1] == seq - 1:
            found[-1] = (found[-1][0], seq)
        else:
            found.append((seq, seq))
    return found
