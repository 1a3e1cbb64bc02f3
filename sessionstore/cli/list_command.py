"""``sessionstore list``: which conversations there are."""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import UNKNOWN, ago, figure, iso_time, local_time
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Column, Terminal, note, printable
from sessionstore.domain.outputs.lines import shortened
from sessionstore.domain.records import SessionSummary

if TYPE_CHECKING:
    from sessionstore.store import SessionStore

_PAGE: Final = 500
_TITLE_WIDTH: Final = 60


@click.command("list")
@click.option("--namespace", metavar="NAME", help="Those of this namespace only.")
@click.option("--owner", metavar="NAME", help="Those of this owner only.")
@click.option("--open", "open_only", is_flag=True, help="Those only that have not ended.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@click.option("--all", "everything", is_flag=True, help="All of them, however many.")
@json_option
@pass_settings
def command(
    settings: Settings,
    namespace: str | None,
    owner: str | None,
    open_only: bool,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List conversations, the latest active first.

    Tokens are those of the context's messages; a dash stands where they were not counted yet (`lineage` and `compact` count).

    \b
    Examples
      sessionstore list
      sessionstore list --limit 5 --json
    """
    with settings.open() as store:
        found = _found(store, namespace, owner, open_only, None if everything else limit + 1)
        listed = [(summary, summary.context_tokens) for summary in found]
        url = store.url
    more = not everything and len(listed) > limit
    shown = listed[:limit] if more else listed
    if as_json:
        print_json([_as_json(summary, tokens) for summary, tokens in shown])
    elif shown:
        _print_table(shown)
    else:
        note(f"no sessions in {url}; `sessionstore import FILE` brings some in")
    if more:
        note(f"there are more than {limit}; --all lists them, --limit more of them")


def _found(
    store: SessionStore, namespace: str | None, owner: str | None, open_only: bool, limit: int | None
) -> Iterator[SessionSummary]:
    last: SessionSummary | None = None
    left = limit
    while left is None or left > 0:
        size = _PAGE if left is None else min(left, _PAGE)
        page = store.list_sessions(namespace=namespace, owner=owner, open_only=open_only, before=last, limit=size)
        yield from page
        if len(page) < size:
            return
        last = page[-1]
        left = None if left is None else left - size


def _as_json(summary: SessionSummary, tokens: int | None) -> dict[str, Any]:
    return {
        "session_id": summary.session_id,
        "lineage_id": summary.lineage_id,
        "generation": summary.generation,
        "title": summary.title,
        "namespace": summary.namespace,
        "owner": summary.owner,
        "source": summary.source,
        "model": summary.model,
        "messages": summary.context_messages,
        "log_messages": summary.log_messages,
        "context_tokens": tokens,
        "started_at": iso_time(summary.started_at),
        "updated_at": iso_time(summary.updated_at),
        "ended_at": iso_time(summary.ended_at),
        "end_reason": summary.end_reason,
    }


def _print_table(listed: list[tuple[SessionSummary, int | None]]) -> None:
    terminal = Terminal()
    now = time.time()
    columns = [
        Column("id", whole=True),
        Column("title"),
        Column("messages", numeric=True),
        Column("tokens", numeric=True),
        Column("last active"),
        Column("state"),
    ]
    rows = [
        [
            (summary.session_id, "bold"),
            (shortened(printable(summary.title or UNKNOWN), _TITLE_WIDTH), ""),
            (figure(summary.context_messages), ""),
            (figure(tokens), "cyan"),
            (ago(summary.updated_at, now) if terminal.is_interactive else local_time(summary.updated_at), "dim"),
            ("open", "green") if summary.end_reason is None else (f"ended: {summary.end_reason}", "dim"),
        ]
        for summary, tokens in listed
    ]
    terminal.table(columns, rows)
