"""Facts that can be checked by looking, of eight kinds, and the turns of a conversation that they are said in."""
from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.payloads import WORDS, Message

KINDS = ("path", "command", "error", "constraint", "decision", "id", "number", "URL")
REACH = 400
"""Characters after a command within which its exit code has to stand."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: what must stand in a text for it to be there, and one sentence that says all of it."""

    kind: str
    marks: tuple[str, ...]
    statement: str
    exit_code: int | None = None

    def stands_in(self, text: str) -> bool:
        """Whether a text (white space made single) holds it word for word; a command needs its exit code behind it."""
        if self.exit_code is None:
            return all(mark in text for mark in self.marks)
        wanted = re.compile(rf"exit\D{{0,14}}{self.exit_code}\b|-> {self.exit_code}\b")
        begin = text.find(self.marks[0])
        while begin >= 0:
            end = begin + len(self.marks[0])
            if wanted.search(text, end, end + REACH):
                return True
            begin = text.find(self.marks[0], end)
        return False

    def as_json(self) -> dict[str, Any]:
        """The fact for a scripted model in another process."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact with the messages that say it."""

    fact: Fact
    turn: list[Message]


def plant(kind: str, source: random.Random, number: int) -> Planted:
    """A fact of a kind that no other number has."""
    return MAKERS[kind](source, number)


def _path(source: random.Random, number: int) -> Planted:
    path = f"services/{source.choice(WORDS)}/{source.choice(WORDS)}_{number}.py"
    turn = [
        _user(f"Move the {source.choice(WORDS)} code into a module of its own."),
        *_call(number, "write_file", {"path": path, "content": "from __future__ import annotations\n"}, "Wrote 36 bytes."),
        _assistant("Done, it has a module of its own now."),
    ]
    return Planted(Fact("path", (path,), f"{path} was written."), turn)


def _command(source: random.Random, number: int) -> Planted:
    code = source.choice((0, 1, 2, 3, 4, 5))
    command = f"pytest tests/{source.choice(WORDS)} -k {source.choice(WORDS)}_{number} --maxfail={source.randint(1, 9)}"
    output = f"{source.randint(1, 90)} tests collected\nprocess ended\nexit code: {code}"
    turn = [
        _user(f"Run the {source.choice(WORDS)} tests."),
        *_call(number, "terminal", {"command": command}, output),
        _assistant("They ran."),
    ]
    return Planted(Fact("command", (command,), f"`{command}` ended with exit code {code}.", code), turn)


def _error(source: random.Random, number: int) -> Planted:
    kind = source.choice(("KeyError", "ValueError", "TimeoutError", "RuntimeError", "PermissionError"))
    error = f"{kind}: {source.choice(WORDS)} {source.choice(WORDS)}_{number} has no {source.choice(WORDS)}"
    place = f'  File "main.py", line {source.randint(9, 99)}, in run'
    output = f"Traceback (most recent call last):\n{place}\n{error}\nexit code: 1"
    turn = [
        _user("Does the program start?"),
        *_call(number, "terminal", {"command": f"python main.py --port {8000 + number % 1000}"}, output),
        _assistant("It doesn't start yet; I will look into it later."),
    ]
    return Planted(Fact("error", (error,), f"It failed with {error}"), turn)


def _constraint(source: random.Random, number: int) -> Planted:
    verb = source.choice(("change", "rename", "delete", "call", "import"))
    sentence = f"Never {verb} the {source.choice(WORDS)}_{number} module without asking me first."
    turn = [_user(f"Before you go on: {sentence}"), _assistant("Understood.")]
    return Planted(Fact("constraint", (sentence,), sentence), turn)


def _decision(source: random.Random, number: int) -> Planted:
    first, second, reason = source.sample(WORDS, 3)
    sentence = f"we use the {first}_{number} design instead of the {second} one because the {reason} stays simple"
    turn = [_user(f"How do we build the {first} part?"), _assistant(f"Decision: {sentence}.")]
    return Planted(Fact("decision", (sentence,), f"Decision: {sentence}."), turn)


def _identifier(source: random.Random, number: int) -> Planted:
    name = f"{source.choice(('OPS', 'PAY', 'WEB', 'SRE'))}-{10_000 + number * 7}"
    output = json.dumps({"key": name, "status": "open", "assignee": source.choice(WORDS)})
    turn = [
        _user(f"Open a ticket for the {source.choice(WORDS)} fault."),
        *_call(number, "create_ticket", {"title": f"The {source.choice(WORDS)} is broken"}, output),
        _assistant(f"I opened {name} for it."),
    ]
    return Planted(Fact("id", (name,), f"The ticket is {name}."), turn)


def _number(source: random.Random, number: int) -> Planted:
    rows = f"{source.randint(10, 999)},{number % 1000:03d}"
    table = f"{source.choice(WORDS)}_{number}"
    turn = [
        _user(f"How many rows has the table {table}?"),
        *_call(number, "query", {"sql": f"SELECT count(*) FROM {table}"}, rows.replace(",", "")),
        _assistant(f"The table {table} has {rows} rows."),
    ]
    return Planted(Fact("number", (f"{rows} rows",), f"The table {table} has {rows} rows."), turn)


def _url(source: random.Random, number: int) -> Planted:
    url = f"https://{source.choice(WORDS)}.example.org/{source.choice(WORDS)}/{number}"
    turn = [_user(f"The {source.choice(WORDS)}-{number} board is at {url} if you need it."), _assistant("Thank you, noted.")]
    return Planted(Fact("URL", (url,), f"The board is at {url}"), turn)


MAKERS: dict[str, Callable[[random.Random, int], Planted]] = dict(
    zip(KINDS, (_path, _command, _error, _constraint, _decision, _identifier, _number, _url), strict=True)
)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _call(number: int, name: str, arguments: dict[str, Any], output: str) -> list[Message]:
    call = {"id": f"call_f{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_f{number}", "content": output},
    ]
