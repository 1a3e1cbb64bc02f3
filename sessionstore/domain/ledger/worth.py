"""What a fact is worth when there is no room for all: exact strings that nobody can guess before what anybody could say.

A line in full is chosen by how much it matters now. What is kept in brief, for ever, is chosen by worth a token, and age counts
for nothing there: a fact must not fade because it is old. The numbers are weights, not measurements: a path that was changed, a
command that failed or a rule of the user is about 60, a file that was only looked at a quarter of that.
"""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.deeds import MUTATIONS
from sessionstore.domain.ledger.entry import LedgerEntry
from sessionstore.domain.ledger.references import NAMES
from sessionstore.domain.ledger.result_facts import is_failure
from sessionstore.domain.ledger.sentences import LABEL, is_wish

SHARE_OF_A_LINE: Final = 2
"""Tokens that a fact in brief costs beside its words: its separator, and its part of the line's bullet and range."""
SCRATCH: Final = ("/tmp/", "/private/tmp/", "/var/folders/")
"""Where files are that nobody needs once the work is done."""
_EXACT: Final = re.compile(r"\d|://|`[^`\n]{1,80}`|\w[_/@]\w|\w\.\w{1,5}\b|[\"“«「][^\"”»」\n]{1,60}[\"”»」]")
_CROWDED: Final = 0.4
"""What is left of a sentence's worth when it stands in a document that the user pasted."""
_SHORT_REQUEST: Final = 160
_REFERENCES: Final = {"user": 60.0, "assistant": 36.0, "call": 14.0, "bulk": 12.0, "output": 10.0}


def sentence_worth(entry: LedgerEntry, *, crowded: bool = False, recited: bool = False) -> float:
    """A constraint, a statement, a decision or a finding: by how it binds, and whether it holds something exact.

    ``crowded`` sentences stand in a document that was pasted; ``recited`` ones are messages that were sent over and over.
    """
    # What somebody gives a LABEL: is meant to be kept.
    exact = is_exact(entry.text) or LABEL.match(entry.text) is not None
    match entry.kind:
        case "constraint" if is_wish(entry.text):
            worth = 45.0 if exact else 24.0
        case "constraint":
            worth = 90.0 if exact else 80.0
        case "decision":
            worth = 72.0 if exact else 40.0
        case "statement" if LABEL.match(entry.text):
            worth = 70.0
        case "statement":
            worth = 48.0 if exact else 20.0
        case _:
            worth = 24.0
    if entry.source == "bulk" or recited:
        worth /= 4
    return worth * _CROWDED if crowded else worth


def deed_worth(entry: LedgerEntry, *, told_by_error: bool = False) -> float:
    """A command, an action, a file or an error; ``told_by_error`` is a command of whose failure the message is known."""
    match entry.kind:
        case "command":
            worth = {"tests": 86.0, "run": 72.0, "look": 14.0}[entry.about]
            worth += 8 if is_failure(entry.outcome.split(":")[0]) else 0
            # ``git pull`` and ``npm test`` are what anybody would run, and run again.
            return worth / 2 if told_by_error or not is_exact(entry.text) else worth
        case "action":
            # A tool that does something tells what came of it.
            return {"file": 6.0, "tool": 36.0 if is_exact(entry.outcome) else 20.0, "look": 6.0}[entry.about]
        case "file":
            worth = 60.0 if MUTATIONS & dict(entry.operations).keys() else 12.0 if "read" in dict(entry.operations) else 5.0
            return worth / 3 if entry.text.startswith(SCRATCH) else worth
        case _:
            worth = 66.0 if entry.closed_by is None else 44.0
            return worth if is_exact(entry.text) or "rror" in entry.text else worth / 3


def reference_worth(entry: LedgerEntry, *, crowded: bool = False, housed: bool = False) -> float:
    """A URL, an id, a number: by who said it. What user and model speak of is theirs; of an output's there are hundreds.

    ``housed`` ones stand in a sentence that has a line of its own.
    """
    worth = _REFERENCES[entry.source]
    if entry.about == "path":
        worth *= 0.6
    elif entry.about == "id":
        # Nothing can be found again without it, and nobody can guess it.
        worth *= 1.4
    elif entry.about not in NAMES:
        worth *= 0.5
    elif housed:
        worth *= 0.7
    return worth * _CROWDED if crowded else worth


def request_worth(text: str, *, first: bool, only_asks: bool) -> float:
    """An answered request; the first one often says what all of it is for, one that ``only_asks`` nothing any more."""
    if first:
        return 80.0
    if only_asks:
        return 8.0 if is_exact(text) else 1.0
    return 24.0 if is_exact(text) and len(text) <= _SHORT_REQUEST else 12.0


def answer_worth(question: str, answer: str, *, decides: bool = False) -> float:
    """An answered question: one whose answer is short and exact is a fact that was asked for.

    An answer that ``decides`` is the user's own, to what the assistant asked or proposed.
    """
    short = len(answer) <= _SHORT_REQUEST
    if short and re.search(r"\d", answer):
        return 56.0 if is_exact(question) else 30.0
    return 30.0 if decides and short else 12.0


def is_exact(text: str) -> bool:
    """Whether it holds something to be repeated letter by letter: a number, a path, a name in code, a quoted string."""
    return _EXACT.search(text) is not None
