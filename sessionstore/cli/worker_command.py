"""``sessionstore worker``: compacts what nobody else does."""
from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from sessionstore.cli.policy_file import policy_file
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.summarizer_choice import chooses_a_summarizer, chosen_summarizer
from sessionstore.domain.hygiene import DEFAULT_GRACE
from sessionstore.domain.policy import CompactionPolicy

if TYPE_CHECKING:
    from sessionstore.cli.working import Tally, Worker

FAILED_JOBS = 3
"""Exit status of a single pass in which a job ended as ``aborted`` or ``stuck``; ``compact`` has the same."""


@click.command("worker")
@click.option("--once", is_flag=True, help="One pass, then end: for cron.")
@click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True, help="Jobs at the same time.")
@click.option("--interval", type=click.FloatRange(min=0), default=60.0, show_default=True, help="Seconds between passes.")
@click.option(
    "--grace", type=click.FloatRange(min=0), default=DEFAULT_GRACE, show_default=True, help="Seconds a session may stay due."
)
@chooses_a_summarizer
@click.option("--policy", type=policy_file, metavar="FILE", help="TOML or JSON with fields of CompactionPolicy.")
@pass_settings
def command(
    settings: Settings,
    once: bool,
    concurrency: int,
    interval: float,
    grace: float,
    summarizer: str | None,
    model: str | None,
    base_url: str | None,
    policy: CompactionPolicy | None,
) -> None:
    """Compact sessions that nobody else does.

    Those that are due for longer than the grace period, nearly full, or have more than 5,000 messages. One line of JSON a job
    on stderr. SIGTERM or Ctrl-C: running jobs may finish for 30 seconds, then they go back into the queue. Exit status 0 when
    it was told to stop or a pass is done, 3 when a job of a single pass failed, 1 when the database can't be used.

    \b
    Examples
      sessionstore worker --once
      sessionstore worker --once --concurrency 4 --grace 60
    """
    from sessionstore.cli.working import Worker, print_record
    from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES
    from sessionstore.flows.hygiene_flow import HygieneFlow
    from sessionstore.flows.store_flow import environment_of
    from sessionstore.storage.engines import Database
    from sessionstore.storage.schema import prepare_schema

    asked = chosen_summarizer(summarizer, model, base_url)
    with closing(Database(settings.url())) as database:
        prepare_schema(database)
        environment = environment_of(
            database, clock=None, ids=None, counter=None, hooks=None, max_message_bytes=DEFAULT_MAX_MESSAGE_BYTES
        )
        flow = HygieneFlow(environment, policy=policy or CompactionPolicy(), summarizer=asked, grace=grace)
        worker = Worker(environment, flow, print_record, concurrency=concurrency, interval=interval)
        with _stopped_by_signals(worker.stop), _shown(worker):
            tally = worker.run(once=once)
    if once and tally.failed:
        click.get_current_context().exit(FAILED_JOBS)


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    def handle(_number: int, _frame: Any) -> None:
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _shown(worker: Worker) -> Iterator[None]:
    """A line that moves with the tally, on a terminal only: logs have the records."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")))
    with console.status("looking for sessions that are due") as status:

        def show(tally: Tally) -> None:
            status.update(f"{tally.running} running, {tally.waiting} waiting, {tally.done} done, {tally.failed} failed")

        worker.progress = show
        yield
