"""Start-up of the command line, against importing the libraries that it stands on."""
from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.machine import load
from benchmarks.report import Table, against_goal, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import interleaved
from sessionstore import SessionStore

GOAL = 1.5
ROOT = Path(__file__).parent.parent.parent
PEAK = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
"""A small process that starts another: a child's peak is never below what its parent had when it was forked."""


def start_up(settings: Settings) -> list[Table]:
    """``--help`` and ``lineage``, each beside its floor."""
    with scratch() as folder:
        url = f"sqlite:///{folder}/start.db"
        with SessionStore.open(url) as store:
            store.create_session(id="fix-auth").append({"role": "user", "content": "Why does the login time out?"})
        # Every command finds its modules compiled, as installed ones are, whatever this process was told about that.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        program = (sys.executable, "-m", "sessionstore")
        commands = {
            "python -c 'import click'": (sys.executable, "-c", "import click"),
            "sessionstore --help": (*program, "--help"),
            "python -c 'import sqlalchemy'": (sys.executable, "-c", "import sqlalchemy"),
            "sessionstore lineage": (*program, "--db", url, "lineage", "fix-auth"),
            "sessionstore list": (*program, "--db", url, "list"),
        }
        for command in commands.values():
            _peak(command, environment)  # compiles what is not
        peaks = {name: _peak(command, environment) for name, command in commands.items()}

        def run(name: str) -> float:
            begun = time.perf_counter()
            subprocess.run(commands[name], check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment)
            return time.perf_counter() - begun

        rounds = settings.pick(20, 2)
        times = interleaved([lambda name=name: run(name) for name in commands], rounds)  # type: ignore[misc]  # a default binds the loop's value
    medians = {name: found.median for name, found in zip(commands, times, strict=True)}
    click, help_page, sqlalchemy, lineage, listing = medians.values()
    compared = (
        (click, None),
        (help_page, click),
        (sqlalchemy, None),
        (lineage, sqlalchemy),
        (listing, sqlalchemy),
    )
    rows = tuple(
        (
            name,
            milliseconds(median),
            ratio(median, base),
            None if base is None else against_goal(median / base, GOAL),
            peaks[name],
        )
        for name, (median, base) in zip(commands, compared, strict=True)
    )
    about = f"median of {rounds}, one of each in turn, modules compiled before; {load()}"
    return [Table("Start-up", ("command", "median ms", "to its floor", "goal", "peak MB"), rows, (about,))]


def _peak(command: tuple[str, ...], environment: dict[str, str]) -> float:
    watched = [sys.executable, "-I", "-S", "-c", PEAK, *command]
    done = subprocess.run(watched, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    return int(done.stdout) / 1024
