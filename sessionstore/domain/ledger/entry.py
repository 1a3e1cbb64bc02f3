"""A ledger: the exact facts of a transcript, each with the seqs it came from, as an immutable value that JSON can hold.

A model may word a summary as it likes; what must never blur is kept here. Facts are merged by kind and key, never removed.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

FactKind = Literal[
    "request", "constraint", "statement", "finding", "decision", "question", "action", "command", "file", "error", "todo",
    "next", "reference", "state",
]
"""What a fact is.

``request`` a message of the user; ``constraint`` a sentence of the user that binds; ``statement`` a sentence of the user that
gives a value; ``finding`` a conclusion of the assistant; ``decision`` a choice with its reason; ``question`` what somebody
asked; ``command`` a command line; ``action`` another thing that was done; ``file`` a path; ``error`` a message of failure;
``todo`` an entry of a todo list; ``next`` what the assistant said is left; ``reference`` a URL, id, path, port, version or
number; ``state`` a named value that changes: working directory, branch, commit, tests."""

Source = Literal["user", "assistant", "call", "output", "bulk"]
"""Where a fact was read: ``bulk`` is text in the user's role that a tool or harness put there."""

FACT_KINDS: Final = get_args(FactKind)
SOURCES: Final = get_args(Source)
LEDGER_VERSION: Final = 1
"""Version of the JSON form."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One fact, verbatim, with every seq at which it was seen.

    ``key`` is its identity: two facts of one kind and key are one entry. ``seqs`` ascend, so their number is how often it was
    seen. ``outcomes`` are (seq, text) pairs in ascending order, one wherever the text changed: exit statuses of a command,
    values of a state, statuses of a todo, the answer to a question or request, the result of an action. ``operations`` are
    (what was done, at which seqs) of a file. ``closed_by`` is the seq that resolved an error, answered a question or request,
    or replaced a sentence by a later value. ``about`` says what an error came from or what kind of reference it is; of a file
    it holds the other spellings, of a todo the ids that its tool gave it, one a line; of a request it is ``injected`` when a
    harness put it there and ``asks`` when it only asks. ``ordinal`` numbers actions and commands from 1 in the order they first
    happened, 0 for every other kind.
    """

    kind: FactKind
    key: str
    text: str
    seqs: tuple[int, ...]
    source: Source = "user"
    about: str = ""
    outcomes: tuple[tuple[int, str], ...] = ()
    operations: tuple[tuple[str, tuple[int, ...]], ...] = ()
    closed_by: int | None = None
    ordinal: int = 0

    @property
    def last_seq(self) -> int:
        """The newest seq at which it was seen."""
        return self.seqs[-1]

    @property
    def outcome(self) -> str:
        """The latest outcome; empty when none is known."""
        return self.outcomes[-1][1] if self.outcomes else ""

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object; keys that hold a default are left out."""
        value: dict[str, Any] = {"kind": self.kind, "key": self.key, "text": self.text, "seqs": list(self.seqs)}
        value["source"] = self.source
        if self.about:
            value["about"] = self.about
        if self.outcomes:
            value["outcomes"] = [list(outcome) for outcome in self.outcomes]
        if self.operations:
            value["operations"] = [[name, list(seqs)] for name, seqs in self.operations]
        if self.closed_by is not None:
            value["closed_by"] = self.closed_by
        if self.ordinal:
            value["ordinal"] = self.ordinal
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LedgerEntry:
        """The entry that ``to_json`` wrote. Raises ``ValueError`` for a kind or source that is not in the closed sets."""
        if value["kind"] not in FACT_KINDS or value["source"] not in SOURCES:
            raise ValueError(f"a ledger entry of kind {value['kind']!r} and source {value['source']!r} is unknown here")
        return cls(
            kind=value["kind"],
            key=value["key"],
            text=value["text"],
            seqs=tuple(value["seqs"]),
            source=value["source"],
            about=value.get("about", ""),
            outcomes=tuple((seq, text) for seq, text in value.get("outcomes", ())),
            operations=tuple((name, tuple(seqs)) for name, seqs in value.get("operations", ())),
            closed_by=value.get("closed_by"),
            ordinal=value.get("ordinal", 0),
        )


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose result had not come when it was read; the result may come after the call has left the context.

    ``arguments`` are those of the call without secrets, and without the end of very long texts.
    """

    seq: int
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class RunningCommand:
    """A command in the background: the id that its tool gave it, empty where it said none, and the key of its fact."""

    identity: str
    key: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The facts of a transcript, in the order in which they first appeared.

    ``open_calls`` wait for their results. ``directory`` is where relative paths begin, as the transcript last announced it, and
    ``running`` the commands that went on when their calls returned.
    """

    entries: tuple[LedgerEntry, ...] = ()
    open_calls: tuple[OpenCall, ...] = ()
    directory: str = ""
    running: tuple[RunningCommand, ...] = ()

    def of_kind(self, *kinds: FactKind) -> tuple[LedgerEntry, ...]:
        """The facts of these kinds, in order."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)

    def to_json(self) -> dict[str, Any]:
        """The ledger as a JSON object; ``from_json`` gives an equal one back."""
        value: dict[str, Any] = {"version": LEDGER_VERSION, "entries": [entry.to_json() for entry in self.entries]}
        if self.open_calls:
            value["open_calls"] = [[call.seq, call.call_id, call.name, call.arguments] for call in self.open_calls]
        if self.directory:
            value["directory"] = self.directory
        if self.running:
            value["running"] = [[one.identity, one.key] for one in self.running]
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ledger:
        """The ledger that ``to_json`` wrote. Raises ``ValueError`` when a newer version wrote it."""
        if value.get("version") != LEDGER_VERSION:
            raise ValueError(f"a ledger of version {value.get('version')!r} cannot be read, only version {LEDGER_VERSION}")
        return cls(
            tuple(LedgerEntry.from_json(entry) for entry in value["entries"]),
            tuple(OpenCall(*call) for call in value.get("open_calls", ())),
            value.get("directory", ""),
            _running(value.get("running", "")),
        )


def _running(value: str | Sequence[Sequence[str]]) -> tuple[RunningCommand, ...]:
    """What is running, as it is written now or as it was once: only the key of the newest."""
    if isinstance(value, str):
        return (RunningCommand("", value),) if value else ()
    return tuple(RunningCommand(identity, key) for identity, key in value)


EMPTY_LEDGER: Final = Ledger()
"""The ledger of a transcript without a previous summary."""
