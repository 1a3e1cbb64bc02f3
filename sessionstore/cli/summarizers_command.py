"""``sessionstore summarizers``: the models that write summaries."""
from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.json_output import print_json
from sessionstore.cli.summarizer_choice import chooses_a_summarizer, chosen_settings, config_path
from sessionstore.cli.terminal import Terminal, printable

if TYPE_CHECKING:
    from sessionstore.summarizers.trial import Trial


@click.group("summarizers")
def command() -> None:
    """Check the models that write summaries."""


@command.command("check")
@chooses_a_summarizer
@json_option
def check(summarizer: str | None, model: str | None, base_url: str | None, as_json: bool) -> None:
    """Try the endpoint on a tiny conversation, and say what works.

    Which one is said by the options, else by the environment (SESSIONSTORE_SUMMARIZER, ..._MODEL, ..._BASE_URL), else by
    config.toml in the user's config folder. Exit status 1 when one of them can't be used. Nothing is stored.

    \b
    Example
      sessionstore summarizers check
    With a model that runs here
      summarizers check --summarizer openai --model qwen3 --base-url http://localhost:11434/v1
    """
    from sessionstore.counting import default_counter
    from sessionstore.summarizers.trial import try_summarizer

    made = [settings.summarizer() for settings in chosen_settings(summarizer, model, base_url)]
    trials = [try_summarizer(one, default_counter()) for one in made if one is not None]
    if as_json:
        print_json({"config": str(config_path()), "summarizers": [_json(trial) for trial in trials]})
    elif not trials:
        Terminal().print(("extractive: needs no model and always works", ""))
        Terminal().print((f"  a model can be named in {config_path()}", "dim"))
    for trial in () if as_json else trials:
        _print(trial)
    if not all(trial.works for trial in trials):
        click.get_current_context().exit(1)


def _json(trial: Trial) -> dict[str, Any]:
    return {"works": trial.works, **asdict(trial), "seconds": round(trial.seconds, 2)}


def _print(trial: Trial) -> None:
    terminal = Terminal()
    took = f" in {trial.seconds:.1f} s"
    if trial.works:
        terminal.print((trial.summarizer, "bold"), (": works", "bold green"), (took, ""))
    else:
        reason = printable(trial.reason or "")
        terminal.print((trial.summarizer, "bold"), (f": {trial.failure}", "bold red"), (f"{took}, {reason}", ""))
    schema = {True: "keeps to a JSON schema", False: "is asked for Markdown", None: "JSON schema not tried"}[trial.schema]
    terminal.print((f"  {schema}", ""))
    if trial.works:
        task = "quoted" if trial.names_task else "not quoted"
        terminal.print((f"  {trial.headings} of 13 sections, the request is {task}", ""))
    if trial.usage is not None:
        counts = ", ".join(f"{name} {number:,}" for name, number in trial.usage.items())
        terminal.print((f"  tokens: {printable(counts)}", ""))
    window = "not set, 128,000 tokens are assumed" if trial.window is None else f"{trial.window:,} tokens without thoughts"
    terminal.print((f"  window: {window}", ""))
