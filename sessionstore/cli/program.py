"""The program ``sessionstore``: its global option, its commands by purpose, and how a failure looks.

Nothing here imports the database, rich or a tokenizer, so ``--help`` and ``--version`` answer at once.
"""
from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NoReturn

import click

from sessionstore import __version__
from sessionstore.cli.failure import OneLineError
from sessionstore.cli.settings import DATABASE_VARIABLE, Settings

COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Look": {
        "demo": "See a real conversation compacted and traced.",
        "list": "List conversations, the latest active first.",
        "show": "Show a conversation, or its whole log.",
        "lineage": "Trace what was compacted when, and into what.",
        "stats": "Show the database in numbers.",
        "search": "Find messages by their words.",
        "export": "Write out a conversation.",
    },
    "Act": {
        "import": "Bring in transcripts of agents.",
        "compact": "Compact a session into a continuation.",
        "undo": "Take back the newest compaction.",
        "rewind": "Go back to an earlier message.",
        "fork": "Copy a conversation, up to a message, under a new id.",
        "pin": "Keep messages whole through every compaction.",
        "task": "Show or change goal and todos.",
    },
    "Keep healthy": {
        "doctor": "Look for faults in the database.",
        "worker": "Compact sessions that nobody else does.",
        "backup": "Copy the database to a file.",
        "copy": "Copy every conversation of a database into another.",
        "prune": "Delete conversations that are long quiet.",
        "delete": "Delete a whole conversation.",
        "db": "Check or upgrade the database's schema.",
        "vocabulary": "Fetch what tokens are counted with.",
        "summarizers": "Check the models that write summaries.",
    },
}
"""The commands by what they are for, each with its help in one sentence, so that the list of them needs no module of theirs.

``list`` is the ``command`` of the module ``list_command`` of this package, and so on.
"""

_INTERRUPTED: Final = 130
"""Exit status after Ctrl-C: 128 + SIGINT, as shells have it."""

_BROKEN_PIPE: Final = 141
"""Exit status when the reader of the output went away: 128 + SIGPIPE, as shells have it."""


class Program(click.Group):
    """A group that loads a command's module when the command is asked for, and lists its commands by purpose."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the help."""
        return [name for commands in COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name, its module imported now; None when there is none."""
        if all(cmd_name not in commands for commands in COMMANDS.values()):
            return None
        command: click.Command = import_module(f"sessionstore.cli.{cmd_name}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write ``COMMANDS`` under its headings."""
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises on purpose becomes one line on stderr and an exit status."""
        from sessionstore.errors import SessionStoreError

        try:
            result = super().invoke(ctx)
            # Written out here, so that a full disk or a reader that went away is met where it can be told.
            sys.stdout.flush()
        except SessionStoreError as error:
            raise OneLineError(str(error)) from error
        except BrokenPipeError:
            _silence()
            ctx.exit(_BROKEN_PIPE)
        except OSError as error:
            raise OneLineError(_described(error)) from error
        except KeyboardInterrupt:
            _interrupted(ctx)
        except click.Abort as abort:
            # click turns Ctrl-C and the end of the input at a question into the same thing.
            if isinstance(abort.__context__, KeyboardInterrupt):
                click.echo(err=True)
                _interrupted(ctx)
            raise OneLineError("there was nobody to answer the question; --yes answers it") from abort
        return result


@click.command(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--db",
    metavar="URL",
    envvar=DATABASE_VARIABLE,
    help="Database: a SQLAlchemy URL, or the path of a SQLite file. Default: a file in the user's data folder.",
    show_envvar=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Keep the transcripts of LLM agents, and compact those that outgrew their model without losing a message.

    \b
    Begin with
      sessionstore demo
      sessionstore import transcript.jsonl
      sessionstore list

    An ID is the id of any generation of a conversation, its title, or a unique beginning or end of an id.
    Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage, 3 a compaction that did not come about.
    """
    ctx.obj = Settings(db)
    # A process that ends needs nobody to look for cycles in what it leaves, which takes a fifth of the time of importing
    # SQLAlchemy; what must be closed is closed by the command.
    atexit.register(gc.freeze)
    # Transcripts hold every script there is; a terminal that lacks a letter shows a question mark instead of failing.
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _interrupted(ctx: click.Context) -> NoReturn:
    click.echo("interrupted", err=True)
    ctx.exit(_INTERRUPTED)


def _silence() -> None:
    """Let what is still buffered go nowhere, so that the interpreter's last flush doesn't complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def _described(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}"
