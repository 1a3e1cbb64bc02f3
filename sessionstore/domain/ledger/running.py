"""Commands that go on when their calls return: a later call, which names one by its id, tells how it ended."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.entry import Ledger, RunningCommand
from sessionstore.domain.transcript import ToolCall

_RUNNING: Final = re.compile(r"running with session ID|running in (?:the )?background|still running", re.IGNORECASE)
_GIVEN_ID: Final = re.compile(r"(?:\b|_)(?<!chunk )id\b[\"']?\s{0,3}[:=]?\s{0,3}[\"'`]?([\w-]{1,80})", re.IGNORECASE)
_SCANNED: Final = 400
_MOST: Final = 64
"""Commands that are remembered, the newest of them."""


class RunningCommands:
    """The commands that still run; it begins with those of the previous ledger."""

    def __init__(self, previous: Ledger) -> None:
        self.newest = previous.running
        """What is to be remembered, in order."""

    def note(self, key: str, text: str) -> None:
        """Remember a command under the id that its output gives it; another one of that id runs no more."""
        said = _RUNNING.search(text[:_SCANNED])
        named = _GIVEN_ID.search(text[:_SCANNED], said.start() if said else 0) or _GIVEN_ID.search(text[:_SCANNED])
        begun = RunningCommand(named[1] if named else "", key)
        self.newest = (*(one for one in self.newest if one.identity != begun.identity), begun)[-_MOST:]

    def waited_for(self, call: ToolCall) -> RunningCommand | None:
        """The command that a call waits for: by its id, else the only one that may be meant."""
        given = {str(value) for name, value in call.argument_values().items() if name.lower().endswith("id")}
        named = [one for one in self.newest if one.identity in given]
        possible = named or [one for one in self.newest if not (one.identity and given)]
        return possible[0] if len(possible) == 1 else None

    def forget(self, ended: RunningCommand) -> None:
        """Note that a command runs no more."""
        self.newest = tuple(one for one in self.newest if one != ended)


def goes_on(status: str, text: str) -> bool:
    """Whether a command was still running when its call returned."""
    return not status.startswith("exit ") and _RUNNING.search(text[:_SCANNED]) is not None
