"""``sessionstore compact``: closes a session and opens its continuation."""
from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from sessionstore.cli.arguments import json_option, names_a_session
from sessionstore.cli.figures import counted, saving, spans_text
from sessionstore.cli.json_output import print_json
from sessionstore.cli.policy_file import policy_file
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.summarizer_choice import chooses_a_summarizer, chosen_summarizer
from sessionstore.cli.terminal import Terminal, note, printable
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.spans import count_of, joined

if TYPE_CHECKING:
    from sessionstore.compaction.outcome import CompactionResult
    from sessionstore.session import Session

NOT_COMPACTED: Final = 3
"""Exit status when a compaction ended other than ``committed`` or ``noop``."""


@click.command("compact")
@names_a_session
@click.option("--focus", metavar="TOPIC", help="What most of the summary is to be about.")
@click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.")
@click.option("--force", is_flag=True, help="Also while automatic compaction is stopped or cooling down.")
@click.option(
    "--context-window",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="The model's window in tokens, this time only. Default: the session's own, else 128,000.",
)
@chooses_a_summarizer
@click.option("--policy", type=policy_file, metavar="FILE", help="TOML or JSON with fields of CompactionPolicy.")
@json_option
@pass_settings
def command(
    settings: Settings,
    reference: str,
    namespace: str | None,
    focus: str | None,
    dry_run: bool,
    force: bool,
    context_window: int | None,
    summarizer: str | None,
    model: str | None,
    base_url: str | None,
    policy: CompactionPolicy | None,
    as_json: bool,
) -> None:
    """Compact a session into a continuation.

    A summary and the recent messages go on there. Nothing is lost: the log keeps every message, and `undo` takes the compaction
    back. No agent needs to run, and no model is asked unless one is named, here, in the environment or in config.toml (see
    `summarizers check`). Exit status 3 when it ended neither committed nor with nothing to do.

    \b
    Examples
      sessionstore compact fix-auth --dry-run
      sessionstore compact fix-auth --context-window 32000 --focus "the auth module"
    With a model that runs here
      compact fix-auth --summarizer openai --model qwen3 --base-url http://localhost:11434/v1
    """
    asked = chosen_summarizer(summarizer, model, base_url)
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace)
        result = session.compact(
            focus=focus,
            summarizer=asked,
            policy=policy,
            force=force,
            dry_run=dry_run,
            trigger="offline",
            context_window=context_window,
        )
    if as_json:
        plan = {"plan": _plan_json(result.plan)} if dry_run and result.plan is not None else {}
        print_json({**result.to_json(), **plan})
    elif dry_run and result.plan is not None:
        _print_plan(result, result.plan)
    else:
        _print_result(result)
    if result.status not in ("committed", "noop"):
        click.get_current_context().exit(NOT_COMPACTED)


def _print_result(result: CompactionResult[Session]) -> None:
    terminal = Terminal()
    if result.status != "committed":
        style = "" if result.status == "noop" else "bold yellow"
        terminal.print((result.status, style), (f": {printable(result.reason)}", ""))
    else:
        outcome = result.outcome
        terminal.print(
            ("committed", "bold green"),
            (f": {outcome.session_id} goes on in ", ""),
            (str(outcome.continuation_id), "bold"),
        )
        terminal.print(
            (f"  {result.tokens_before:,} → {result.tokens_after:,} tokens", "cyan"),
            (f" ({saving(result.tokens_before, result.tokens_after)})", "green"),
            (f", {result.messages_before:,} → {result.messages_after:,} messages", ""),
        )
        if result.plan is not None:
            verb = "summarised" if result.summary is not None else "pruned"
            terminal.print((f"  {verb} {spans_text(joined(sorted(result.plan.middle)))}", ""))
        opened = outcome.continuation_id
        terminal.print((f"  sessionstore lineage {opened} shows it, sessionstore undo {opened} takes it back", "dim"))
    _print_warnings(result)


def _print_plan(result: CompactionResult[Session], plan: CompactionPlan) -> None:
    terminal = Terminal()
    terminal.print(("dry run, nothing was changed: ", "bold"), (plan.outcome, "bold cyan"), (f", {printable(plan.reason)}", ""))
    limits = f"the threshold is {plan.threshold:,} of a window of {plan.window:,}"
    terminal.print((f"  context  {plan.tokens_before:,} tokens; {limits}", ""))
    parts = [("head", plan.head), ("pinned", plan.pins), ("goes", plan.middle), ("request", plan.apart), ("tail", plan.tail)]
    for name, spans in parts:
        if spans:
            style = "yellow" if name == "goes" else ""
            terminal.print((f"  {name:<8} {spans_text(joined(sorted(spans)))} ({counted(count_of(spans), 'message')})", style))
    if plan.outcome == "compact":
        kept = f"{plan.kept_tokens:,} tokens stay as they are"
        terminal.print((f"  summary  at most {plan.summary_budget:,} tokens; {kept}", ""))
    _print_warnings(result)


def _print_warnings(result: CompactionResult[Session]) -> None:
    for warning in result.warnings:
        note(f"warning: {printable(warning)}")


def _plan_json(plan: CompactionPlan) -> dict[str, Any]:
    return {
        name: [list(span) for span in value] if isinstance(value, tuple) else value for name, value in asdict(plan).items()
    }
