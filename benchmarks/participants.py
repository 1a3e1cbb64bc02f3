"""Who is measured: this library, raw SQL, and the stores of other packages, each a process of its own."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import environment, versions
from benchmarks.report import Table
from benchmarks.settings import Settings

ROOT = Path(__file__).parent.parent
HOME = "benchmarks.contestants"


@dataclass(frozen=True, slots=True)
class Participant:
    """A store: what tables call it, its class, and what its environment has installed (nothing: this interpreter)."""

    name: str
    module: str
    kind: str
    asynchronous: bool = False
    package: str | None = None
    requirements: tuple[str, ...] = ()


RAW = Participant("raw sqlite3", "raw_sqlite", "RawSqlite")
LIBRARY = Participant("sessionstore", "library", "Library")
ASYNC_LIBRARY = Participant("sessionstore, async", "library", "AsyncLibrary", asynchronous=True)
_AGENTS = ("openai-agents", "sqlalchemy[asyncio]", "aiosqlite")
HERMES = Participant("hermes-agent SessionDB", "hermes", "Hermes", False, "hermes-agent", ("hermes-agent",))
LANGCHAIN_SUMMARY = Participant(
    "langchain SummarizationMiddleware", "langchain_summary", "LangchainSummary", False, "langchain", ("langchain",)
)
HERMES_COMPRESSOR = Participant(
    "hermes-agent ContextCompressor", "hermes_compressor", "HermesCompressor", False, "hermes-agent", ("hermes-agent",)
)
COMPACTORS = (LANGCHAIN_SUMMARY, HERMES_COMPRESSOR)
PEERS = (
    Participant("openai-agents SQLiteSession", "openai_agents", "AgentsSqlite", True, "openai-agents", _AGENTS),
    Participant("openai-agents SQLAlchemySession", "openai_agents", "AgentsSqlalchemy", True, "openai-agents", _AGENTS),
    Participant(
        "google-adk DatabaseSessionService", "google_adk", "GoogleAdk", True, "google-adk", ("google-adk[db]",)
    ),
    Participant(
        "langgraph SqliteSaver",
        "langgraph_saver",
        "LanggraphSaver",
        False,
        "langgraph-checkpoint-sqlite",
        ("langgraph-checkpoint-sqlite",),
    ),
    Participant("agno SqliteDb", "agno_db", "AgnoSqlite", False, "agno", ("agno", "sqlalchemy[asyncio]")),
    Participant("llm logs", "llm_logs", "LlmLogs", False, "llm", ("llm",)),
    HERMES,
)


class Seat:
    """A participant's process, which carries out one order at a time."""

    def __init__(self, participant: Participant, python: Path) -> None:
        self.participant = participant
        # The root goes last on the path: its names must not hide those of the packages that are measured.
        code = f"import sys; sys.path.append({str(ROOT)!r}); from benchmarks.contestants.contestant import main; main()"
        self._process = subprocess.Popen(
            [str(python), "-P", "-c", code, f"{HOME}.{participant.module}", participant.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def order(self, do: str, **details: Any) -> Answer:
        """Have one thing done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **details}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return Answer((), 0.0, "its process has ended")
        line = self._process.stdout.readline()
        if not line:
            return Answer((), 0.0, "its process has ended")
        told = json.loads(line)
        return Answer(tuple(told.get("seconds", ())), told.get("megabytes", 0.0), told.get("problem"), told.get("value"))

    def call(self, operation: str, *arguments: Any, expected: int | None = None) -> Answer:
        """Have an operation of the contestant done, and its count compared with what is expected."""
        more = {} if expected is None else {"expected": expected}
        return self.order(operation, arguments=arguments, **more)

    def leave(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds of each repetition, the peak of memory meanwhile, what went wrong, and what came back."""

    seconds: tuple[float, ...]
    megabytes: float
    problem: str | None
    value: Any = None

    @property
    def once(self) -> float | None:
        """Seconds of the one repetition; None when it failed."""
        return None if self.problem or not self.seconds else self.seconds[0]


@contextmanager
def seated(participants: Sequence[Participant]) -> Iterator[tuple[list[Seat], list[str]]]:
    """The processes of all that can be had, and a note on each that can't."""
    seats: list[Seat] = []
    notes: list[str] = []
    with ExitStack() as stack:
        for participant in participants:
            python: Path | None = Path(sys.executable)
            if participant.package is not None:
                installed = environment(participant.package, participant.requirements)
                python = installed.python
                if installed.problem:
                    notes.append(f"{participant.name} could not be installed: {installed.problem}")
            if python is not None:
                seats.append(Seat(participant, python))
                stack.callback(seats[-1].leave)
        yield seats, notes


def peer_versions() -> Table:
    """The peers that a run measures, and the versions of their packages."""
    rows = []
    for package, requirements in {peer.package: peer.requirements for peer in (*PEERS, *COMPACTORS) if peer.package}.items():
        installed = environment(package, requirements)
        rows.append((package, installed.problem if installed.python is None else versions(installed.python, (package,))))
    return Table("Peers", ("package", "version"), tuple(rows))


def wanted(settings: Settings, *, asynchronous: bool = True) -> list[Participant]:
    """Who takes part in a run: raw SQL, the library, and the peers when they are asked for."""
    ours = [RAW, LIBRARY, *([ASYNC_LIBRARY] if asynchronous else [])]
    return [*ours, *PEERS] if settings.peers else ours
