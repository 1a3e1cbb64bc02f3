"""Running the command line: in this process, as a child process, and as a child process on a terminal."""
from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from sessionstore.cli import main

TRANSCRIPT = Path(__file__).parents[2] / "sessionstore" / "cli" / "demo_transcript.jsonl"


@dataclass(frozen=True)
class CommandLine:
    """The program on one database."""

    database: Path

    def run(self, *arguments: str, answer: str | None = None) -> Result:
        """Run it in this process; an exception that is no exit is the test's failure."""
        result = CliRunner().invoke(main, ["--db", str(self.database), *arguments], input=answer)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def succeed(self, *arguments: str, answer: str | None = None) -> str:
        """Run it, expect exit status 0, and give what it printed."""
        result = self.run(*arguments, answer=answer)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    def json(self, *arguments: str) -> Any:
        """Run it, expect exit status 0, and read its output as one JSON document."""
        return json.loads(self.succeed(*arguments))

    def spawn(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """Start it as a child process with its output in pipes, and with Ctrl-C as a terminal would give it.

        A shell that starts the tests in the background makes them, and all they start, ignore it.
        """
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return subprocess.Popen(
            self._command(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **options
        )

    def child(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run it as a child process to its end."""
        return subprocess.run(
            self._command(arguments),
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **(environment or {})},
            check=False,
            timeout=60,
        )

    def on_terminal(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """What it prints when its output is a terminal of 120 columns."""
        ours, theirs = pty.openpty()
        settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **(environment or {})}
        settings = {name: value for name, value in settings.items() if value}
        with subprocess.Popen(self._command(arguments), stdout=theirs, stderr=theirs, env=settings) as process:
            os.close(theirs)
            written = b"".join(iter(lambda: _read(ours), b""))
            os.close(ours)
            assert process.wait() == 0, written
        return written.decode("utf-8").replace("\r\n", "\n")

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "sessionstore", "--db", str(self.database), *arguments]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        # Linux reports the other side's end as an error.
        return b""


def write_transcript(path: Path, messages: Sequence[Mapping[str, Any]]) -> Path:
    """A transcript in OpenAI's form, a message a line."""
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
    return path
