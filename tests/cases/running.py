"""The state of one run of a case: the store, the session held, the writer's list, and what each step left behind."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any, Final

from sqlalchemy import Connection, inspect

from sessionstore import (
    CompactionHooks,
    CompactionPolicy,
    PromptContext,
    Session,
    SessionStore,
    SessionStoreError,
)
from sessionstore.counting import EstimatingCounter, default_counter
from tests.cases.kept import Attempt, Load, RecordedError, Thread
from tests.cases.loading import FALLBACK, Case
from tests.cases.pairing import spoken_text
from tests.cases.scripted import ScriptedSummarizer
from tests.cases.vocabulary import POLICY_OPTIONS
from tests.databases import Databases, outside

START: Final = 1_800_000_000.0
"""Where the clock of a run begins, in seconds since 1970."""

DEFAULT_WINDOW: Final = 128_000

PROFILES: Final[Mapping[str | None, Any]] = {
    None: "openai",
    "anthropic": "anthropic",
    "responses": "responses",
    "mistral-template": "strict",
    "deepseek-strict": "strict",
    "single-system": "strict",
}


class CaseFailed(AssertionError):  # noqa: N818 - it reads as what it says in a report
    """A case did not hold, or asks for something that cannot be done."""


@dataclass
class StepClock:
    """The passed-in clock: it stands until a step moves it; ``script`` is read first, its last reading stays."""

    at: float = START
    script: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        if not self.script:
            return self.at
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@dataclass
class CaseRun:
    """One run of a case."""

    case: Case
    databases: Databases
    url: str
    clock: StepClock = field(default_factory=StepClock)
    root_id: str = ""
    threads: dict[str | None, Thread] = field(default_factory=dict)
    main_branch: str | None = None
    summarizer: ScriptedSummarizer = field(init=False)
    held_before_compact: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[tuple[str, int, str]] = field(default_factory=list)
    input_messages: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    errors: list[RecordedError] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    renders: list[list[dict[str, Any]]] = field(default_factory=list)
    raw_loads: list[list[Any]] = field(default_factory=list)
    pressures: list[Any] = field(default_factory=list)
    resumes: list[Session] = field(default_factory=list)
    traces: list[Any] = field(default_factory=list)
    expansions: dict[int, list[Any]] = field(default_factory=dict)
    exports: list[str] = field(default_factory=list)
    brought_in: dict[int, set[int]] = field(default_factory=dict)
    hits: list[Any] | None = None
    findings: list[Any] | None = None
    report: Any = None
    crashes: list[Any] = field(default_factory=list)
    planted: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    pinned: bool = False
    turns: int = 0
    elapsed: float = 0.0
    last_write: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        options = self.case.options
        fallback = FALLBACK in (options.get("estimator"), self.case.tokenizer)
        if options.get("estimator") not in (None, FALLBACK):
            raise CaseFailed(f"unknown estimator {options['estimator']!r}")
        self.counter = EstimatingCounter() if fallback else default_counter()
        self.policy = self._policy()
        self.summarizer = ScriptedSummarizer(
            options["summarizer"],
            count=self.counter.count,
            last_user_text=self._last_user_text,
            window=options.get("summarizer_window"),
            input_tokens=options.get("summarizer_input_tokens"),
        )
        if options.get("profile") not in PROFILES:
            raise CaseFailed(f"unknown profile {options['profile']!r}")
        self.profile = PROFILES[options.get("profile")]
        self.store = self.open_store()

    @property
    def main(self) -> Thread:
        """The thread of the session held."""
        return self.threads[None]

    @property
    def session(self) -> Session:
        """The session held."""
        return self.main.session

    def thread(self, branch: str | None) -> Thread:
        """The thread of a branch; the first branch, or none, is the session held."""
        if branch in (None, self.main_branch):
            return self.main
        if branch not in self.threads:
            raise CaseFailed(f"there is no branch {branch!r}")
        return self.threads[branch]

    def open_store(self, url: str | None = None) -> SessionStore:
        """Open the case's store, or another one with the same clock, counter, hooks and limits."""
        options: dict[str, Any] = {}
        if "max_message_bytes" in self.case.options:
            options["max_message_bytes"] = self.case.options["max_message_bytes"]
        if "system_builder" in self.case.options:
            options["hooks"] = CompactionHooks(build_system_prompt=self._build_prompt)
        # A disk that others keep busy may take seconds for one commit, and eight writers wait for each other's.
        return SessionStore.open(url or self.url, clock=self.clock, counter=self.counter, busy_timeout=200.0, **options)

    def record(self, step: str, error: SessionStoreError, *, excused: bool = False) -> None:
        """Remember a typed error of a step."""
        self.errors.append(RecordedError(step, error, excused or self.planted))

    def remember_input(self, lineage_id: str, seqs: Sequence[int], messages: Sequence[Mapping[str, Any]]) -> None:
        """Remember what was given for which row, and the body that was stored for it."""
        thread = self.store.session(lineage_id)
        for seq, message in zip(seqs, messages, strict=True):
            row = thread.history(seq, seq)[0]
            self.inputs.append((lineage_id, seq, row.body))
            self.input_messages[lineage_id, seq] = deepcopy(dict(message))

    def log(self, session: Session | None = None) -> list[Any]:
        """Every row of a lineage's log."""
        held = session or self.session
        tip = self.store.lineage(held.lineage_id).tip
        return list(held.history(0, max(tip.next_seq - 1, 0)))

    def load(self, branch: str | None = None) -> Load:
        """Render the session held, and keep it as a load."""
        session = self.thread(branch).session
        found = Load(session.id, session.render(self.profile), session.context_rows(), branch)
        self.loads.append(found)
        return found

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, by table, read past the library."""
        with outside(self.url) as connection:
            names = sorted(inspect(connection).get_table_names())
            return {name: self._rows_of(connection, name) for name in names}

    def _rows_of(self, connection: Connection, table: str) -> list[tuple[Any, ...]]:
        rows = connection.exec_driver_sql(f'SELECT * FROM "{table}"').mappings()
        return sorted((tuple(row.items()) for row in rows), key=repr)

    def _policy(self) -> CompactionPolicy:
        given = {name: value for name, value in self.case.options.items() if name in POLICY_OPTIONS}
        unknown = sorted(set(given) - {one.name for one in fields(CompactionPolicy)})
        if unknown:
            raise CaseFailed(f"the policy has no field {', '.join(unknown)}")
        for name in ("protected_tools", "protected_arg_keys"):
            if name in given:
                given[name] = frozenset(given[name])
        return CompactionPolicy(**{"head_messages": 0, "min_tail_messages": 0, "keep_tool_results": 0, **given})

    def _build_prompt(self, _context: PromptContext) -> str:
        return str(self.case.options["system_builder"])

    def _last_user_text(self, prompt: str) -> str:
        said = [
            spoken_text(row.message)
            for thread in self.threads.values()
            for row in self.log(thread.session)
            if row.kind == "message" and row.role == "user"
        ]
        return next((text for text in reversed(said) if text and text in prompt), "")


def need(owner: object, name: str) -> Any:
    """A public name of the library; the case fails with a clear word where it isn't there."""
    try:
        return getattr(owner, name)
    except AttributeError:
        raise CaseFailed(f"the library has no {type(owner).__name__}.{name}") from None
