"""``sessionstore show``: a conversation, as the model sees it or as it was."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from sessionstore.cli.arguments import json_option, names_a_session, range_of
from sessionstore.cli.conversation_view import ConversationView
from sessionstore.cli.figures import counted, iso_time
from sessionstore.cli.json_output import print_json_rows
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal, printable
from sessionstore.domain.outputs.lines import shortened
from sessionstore.domain.records import LogRow
from sessionstore.domain.session_ids import display_title
from sessionstore.domain.spans import Span, count_of

if TYPE_CHECKING:
    from sessionstore.session import Session
    from sessionstore.store import SessionStore

_PAGE = 200
"""Rows read at a time, so that a log of any length is shown in little memory."""


@click.command("show")
@names_a_session
@click.option("--log", "whole_log", is_flag=True, help="The whole log instead of the context.")
@click.option("--range", "range_", type=range_of, metavar="A-B", help="These rows of the log, both ends included.")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="The last N messages only.")
@click.option("--exact", is_flag=True, help="Exactly the generation of that id, not the newest one.")
@click.option("--full", is_flag=True, help="Outputs and reasoning whole.")
@json_option
@pass_settings
def command(
    settings: Settings,
    reference: str,
    namespace: str | None,
    whole_log: bool,
    range_: tuple[int, int | None] | None,
    last: int | None,
    exact: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Show a conversation, or its whole log.

    By default its context, which is what its model still knows; with --log everything that was ever said.

    \b
    Examples
      sessionstore show fix-auth
      sessionstore show fix-auth --log --last 20
      sessionstore show fix-auth --range 12-57 --full
      sessionstore show fix-auth --json
    """
    with settings.open_existing() as store:
        session = store.session(reference, namespace=namespace) if exact else store.resume(reference, namespace=namespace)
        spans = _wanted(store, session, whole_log=whole_log, range_=range_)
        if last is not None:
            spans = _last(spans, last)
        if as_json:
            print_json_rows((_fields(row), "message", row.body) for row in _rows(session, spans))
        else:
            part_of_it = whole_log or range_ is not None or last is not None
            _show(store, session, spans, with_prompt=not part_of_it, full=full)


def _wanted(
    store: SessionStore, session: Session, *, whole_log: bool, range_: tuple[int, int | None] | None
) -> Sequence[Span]:
    """The rows to show, as closed spans of the log in the order in which they are shown."""
    end = session.record().next_seq - 1
    if range_ is not None:
        first, last = range_
        return [Span(first, end if last is None else min(last, end))]
    if whole_log:
        return [Span(0, end)]
    stored = store.lineage(session.id).spans[session.generation]
    return [Span(first, end if last is None else last) for first, last in stored]


def _last(spans: Sequence[Span], count: int) -> Sequence[Span]:
    """The last so many rows of the spans."""
    kept: list[Span] = []
    for first, last in reversed(spans):
        if count <= 0:
            break
        begin = max(first, last - count + 1)
        kept.insert(0, Span(begin, last))
        count -= max(last - begin + 1, 0)
    return kept


def _rows(session: Session, spans: Sequence[Span]) -> Iterator[LogRow]:
    for first, last in spans:
        for start in range(first, last + 1, _PAGE):
            yield from session.history(start, min(start + _PAGE - 1, last))


def _fields(row: LogRow) -> Mapping[str, Any]:
    return {
        "seq": row.seq,
        "kind": row.kind,
        "role": row.role,
        "generation": row.generation,
        "created_at": iso_time(row.created_at),
        "origin_seq": row.origin_seq,
    }


def _show(store: SessionStore, session: Session, spans: Sequence[Span], *, with_prompt: bool, full: bool) -> None:
    terminal = Terminal()
    view = ConversationView(terminal, full=full)
    record = session.record()
    title = display_title(store.lineage(session.id).lineage.title, session.generation)
    state = "open" if record.end_reason is None else f"ended: {record.end_reason}"
    shown = counted(count_of([span for span in spans if span.last >= span.first]), "message")
    terminal.print(
        (shortened(printable(title or session.id), 200), "bold"), (f"  {session.id}, {shown} shown, {state}", "dim")
    )
    terminal.print()
    prompt = session.system_prompt() if with_prompt else None
    if prompt:
        view.show_prompt(prompt)
    for row in _rows(session, spans):
        view.show_row(row)
