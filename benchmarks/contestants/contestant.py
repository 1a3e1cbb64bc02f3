"""What a store has to do to be measured, and the loop that lets it be told so from another process."""
from __future__ import annotations

import asyncio
import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from benchmarks import payloads
from benchmarks.payloads import Message
from benchmarks.timing import memory_peak

T = TypeVar("T")


class NotOfferedError(Exception):
    """The store has no such operation."""


class Contestant(ABC):
    """A store with one conversation open. Every operation is durable when it returns, at ``synchronous=FULL``."""

    @abstractmethod
    def open(self, path: str) -> None:
        """Open a new database and begin a conversation."""

    @abstractmethod
    def append(self, turn: Sequence[Message]) -> None:
        """Store a turn."""

    def append_turns(self, turns: Sequence[Sequence[Message]]) -> list[float]:
        """Store turns one by one, and give the seconds of each."""
        seconds = []
        for turn in turns:
            begun = time.perf_counter()
            self.append(turn)
            seconds.append(time.perf_counter() - begun)
        return seconds

    def fill(self, messages: Sequence[Message]) -> None:
        """Store many messages by the fastest way there is."""
        for begin in range(0, len(messages), 3):
            self.append(messages[begin : begin + 3])

    def load(self) -> int:
        """Read the whole conversation as Python values; gives how many messages it has."""
        raise NotOfferedError

    def last(self, count: int) -> int:
        """Read the last messages; gives how many came."""
        raise NotOfferedError(f"last of {count}")

    def make_sessions(self, count: int) -> None:
        """Begin many conversations of one message."""
        raise NotOfferedError(f"make_sessions of {count}")

    def list_sessions(self, count: int) -> int:
        """List so many conversations; gives how many came."""
        raise NotOfferedError(f"list_sessions of {count}")

    def compact(self, count: int) -> float:
        """Begin a conversation of so many messages, then compact and store it; gives the seconds of the second part."""
        raise NotOfferedError(f"compact of {count}")

    def close(self) -> None:
        """Close the database, everything written out."""
        raise NotOfferedError("close")


class AsyncContestant(Contestant):
    """A store for asyncio, with a loop of its own; a run of turns is one coroutine, so that no start of a loop is measured."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""
        return self._loop.run_until_complete(coroutine)

    @abstractmethod
    async def append_async(self, turn: Sequence[Message]) -> None:
        """Store a turn."""

    def append(self, turn: Sequence[Message]) -> None:
        """Store a turn from outside the loop."""
        self.run(self.append_async(turn))

    def append_turns(self, turns: Sequence[Sequence[Message]]) -> list[float]:
        """Store turns inside one coroutine."""

        async def all_of_them() -> list[float]:
            seconds = []
            for turn in turns:
                begun = time.perf_counter()
                await self.append_async(turn)
                seconds.append(time.perf_counter() - begun)
            return seconds

        return self.run(all_of_them())


def obey(contestant: Any, order: dict[str, Any]) -> dict[str, Any]:
    """Carry out one order; gives the seconds of each repetition and the peak of memory meanwhile."""
    do, value = order["do"], None
    with memory_peak() as peak:
        if do == "append":
            first, turns = order["first"], order["turns"]
            made = [payloads.turn(first + number, order["body_bytes"]) for number in range(turns)]
            seconds = contestant.append_turns(made)
        elif do == "fill":
            contestant.fill(payloads.messages(order["count"], order["body_bytes"]))
            seconds = []
        elif do == "compact":
            seconds = [contestant.compact(order["count"])]
        else:
            begun = time.perf_counter()
            value = getattr(contestant, do)(*order.get("arguments", ()))
            seconds = [time.perf_counter() - begun]
            if value != order.get("expected", value):
                return {"problem": f"{do} gave {value} instead of {order['expected']}"}
    return {"seconds": seconds, "megabytes": peak.megabytes, "value": value}


def main() -> None:
    """Obey orders, one JSON object a line on standard input, until it ends. ``argv`` is the module and the class."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a package prints is no answer
    contestant = getattr(import_module(sys.argv[1]), sys.argv[2])()
    for line in sys.stdin:
        try:
            answer = obey(contestant, json.loads(line))
        except NotOfferedError:
            answer = {"problem": "not offered"}
        except Exception as error:  # noqa: BLE001 - any fault of somebody else's package is an answer here
            answer = {"problem": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def folder_bytes(path: Path) -> int:
    """Bytes of a database with the files beside it."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
