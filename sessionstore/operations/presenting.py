"""What goes to a model, and what a summary or a rendition stands for."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import Profile, TaskPlace
from sessionstore.domain.records import LogRow
from sessionstore.domain.rendering import Rendering, render_context
from sessionstore.domain.rules.pairs import in_flight_index
from sessionstore.domain.spans import seqs_of
from sessionstore.domain.task_state import open_todos_text, task_text
from sessionstore.domain.transcript import Entry
from sessionstore.errors import InvalidTargetError
from sessionstore.operations.prompting import prompt_of
from sessionstore.operations.reading import covered_spans, history, session_of
from sessionstore.storage.message_rows import context_rows, log_rows, log_rows_at
from sessionstore.storage.task_rows import latest_task


def render_session(
    connection: Connection,
    lineage_id: str,
    generation: int,
    *,
    profile: Profile | None = None,
    task_state_in: TaskPlace = "system",
) -> Rendering:
    """The system prompt with the task state, and the context with the repairs that the provider needs.

    With ``task_state_in="message"`` a message at the end shows the open todos instead, unless a call still waits for its
    result there.
    """
    session = session_of(connection, lineage_id, generation)
    prompt = prompt_of(connection, session)
    rows = context_rows(connection, lineage_id, generation)
    summaries = {row.seq for row in rows if row.kind == "summary"}
    covered = (
        [span for seq, spans in covered_spans(connection, lineage_id).items() if seq in summaries for span in spans]
        if summaries
        else []
    )
    task = latest_task(connection, lineage_id)
    entries = [Entry(row.seq, row.kind, row.message, row.origin_seq) for row in rows]
    if task is not None and task_state_in == "message" and in_flight_index(entries) is None:
        snapshot = open_todos_text(task.todos)
        if snapshot is not None:
            entries.append(Entry(session.next_seq, "message", {"role": "user", "content": snapshot}))
        task = None
    return render_context(
        entries,
        profile=profile or session.profile,
        system_prompt=None if prompt is None else prompt.text,
        task_text=None if task is None else task_text(task.goal, task.todos),
        covered=covered,
    )


def expand(connection: Connection, lineage_id: str, seq: int) -> list[LogRow]:
    """The messages that a summary stands for, those of the summaries before it included, or the original of a rendition.

    Raises ``InvalidTargetError`` when the row is neither.
    """
    row = next(iter(history(connection, lineage_id, seq, seq)), None)
    if row is None:
        raise InvalidTargetError(lineage_id, f"the log has no #{seq} to expand", seq=seq)
    if row.kind == "rendition" and row.origin_seq is not None:
        return log_rows(connection, lineage_id, row.origin_seq, row.origin_seq)
    covered = covered_spans(connection, lineage_id)
    if row.kind != "summary" or seq not in covered:
        raise InvalidTargetError(lineage_id, f"#{seq} is a message; only a summary or a rendition can be expanded", seq=seq)
    originals: set[int] = set()
    waiting = [seq]
    while waiting:
        for covered_row in log_rows_at(connection, lineage_id, seqs_of(covered.get(waiting.pop(), ()))):
            if covered_row.kind == "summary":
                waiting.append(covered_row.seq)
            elif covered_row.origin_seq is not None:
                originals.add(covered_row.origin_seq)
            else:
                originals.add(covered_row.seq)
    return list(log_rows_at(connection, lineage_id, originals))
