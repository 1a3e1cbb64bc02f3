"""A conversation as text for other programs and for people."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from sqlalchemy import Connection

from sessionstore.domain.messages import clean_text, json_text
from sessionstore.domain.records import LogRow
from sessionstore.domain.session_ids import display_title
from sessionstore.domain.transcript import view_message
from sessionstore.operations.presenting import render_session
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.storage.message_rows import context_rows, log_rows

ExportFormat = Literal["jsonl", "openai", "markdown"]
"""``jsonl``: a message a line, as stored (with ``lineage``: every row of every table). ``openai``: one JSON list, rendered
for a model. ``markdown``: for people."""

_PAGE: Final = 500
_LINE_BREAKS: Final = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def export_messages(connection: Connection, lineage_id: str, generation: int) -> Iterator[str]:
    """The context as JSON Lines: each message as it is stored, on one line."""
    for row in context_rows(connection, lineage_id, generation):
        yield one_line(row.body) + "\n"


def export_openai(connection: Connection, lineage_id: str, generation: int) -> Iterator[str]:
    """The context as one JSON list of OpenAI chat messages, system prompt first, with the repairs that a provider needs."""
    messages = render_session(connection, lineage_id, generation, profile="openai").messages
    yield json_text(messages, json.JSONEncoder(indent=2)) + "\n"


def export_markdown(connection: Connection, lineage_id: str, generation: int, *, whole_log: bool) -> Iterator[str]:
    """The conversation for people: a heading a message, calls and results as fenced text."""
    lineage = lineage_of(connection, lineage_id)
    session = session_of(connection, lineage_id, generation)
    yield f"# {display_title(lineage.title, generation) or session.session_id}\n"
    for rows in _pages(connection, lineage_id, session.next_seq) if whole_log else [
        context_rows(connection, lineage_id, generation)
    ]:
        for row in rows:
            yield from _markdown(row)


def one_line(body: str) -> str:
    """JSON text without any character that some reader takes for the end of a line; the value stays the same.

    Inside strings such characters become escapes; between values a line break is white space.
    """
    if not _LINE_BREAKS.search(body):
        return body
    return _LINE_BREAKS.sub(lambda match: " " if match.group() in "\n\r" else f"\\u{ord(match.group()):04x}", body)


def _pages(connection: Connection, lineage_id: str, end: int) -> Iterator[Sequence[LogRow]]:
    for start in range(0, end, _PAGE):
        yield log_rows(connection, lineage_id, start, min(start + _PAGE, end) - 1)


def _markdown(row: LogRow) -> Iterator[str]:
    view = view_message(row.message)
    kind = "" if row.kind == "message" else f" ({row.kind})"
    yield f"\n## #{row.seq} {row.role}{kind}\n"
    if view.text.strip():
        yield f"\n{view.text.strip()}\n"
    for call in view.calls:
        yield f"\n{_fenced(f'{call.name} {clean_text(call.arguments)}')}"
    for result in view.results:
        yield f"\n{_fenced(result.text)}"
    if view.images:
        yield f"\n[{view.images} images]\n"


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}\n"
