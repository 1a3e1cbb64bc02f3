"""One fact as a line of a summary, and what such a line must know of the rest of the ledger."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.ledger.citations import cite
from sessionstore.domain.ledger.entry import Ledger, LedgerEntry
from sessionstore.domain.ledger.sentences import LABEL, sentences_of
from sessionstore.domain.ledger.small_talk import is_bare_answer
from sessionstore.domain.ledger.wording import values_of

BRIEF_LENGTH: Final = 100
"""Characters of a command, an action or a request in brief."""
_CHANGE_DIRECTORY: Final = re.compile(r"^cd \S+ ?(?:&&|;) ?")
_RECENT_WEIGHT: Final = 10.0
_RECENT_REQUESTS: Final = 2
_CROWDED: Final = 12
"""Sentences that bind or state, in one message, above which it is a document, of which each sentence matters less."""
_RECITED: Final = 3
"""Equal messages of the user above which what they say is told by none of them."""
_SHORT_SENTENCE: Final = 160
_SHORT_ANSWER: Final = 120


@dataclass(frozen=True, slots=True, eq=False)
class FactLine:
    """One line under a heading. ``score`` says how much it matters, higher first; ``place`` where it stands among the others.

    ``plural`` names its kind in a count of what is left out. ``core`` is the part that is verbatim. ``brief`` is how it reads
    where several share a line with one range of seqs, which begins with their ``lead``; empty for what is only worth saying in
    full. ``worth`` is what keeping it in brief is worth, whatever its age.
    """

    section: str
    text: str
    core: str
    seqs: tuple[int, ...]
    score: float
    place: tuple[int, float, str]
    plural: str
    brief: str = ""
    lead: str = ""
    worth: float = 0.0


class LedgerSight:
    """What a line must know of the rest of the ledger: the newest seq, which requests are recent, what stands in a message.

    ``brief`` leaves out LABELS: that only repeat the heading.
    """

    def __init__(self, ledger: Ledger, active_seq: int | None, *, brief: bool) -> None:
        self.ledger = ledger
        self.brief = brief
        self.active_seq = active_seq
        self.newest = max((entry.last_seq for entry in ledger.entries), default=0) or 1
        # What stood in front of an earlier summary is read later than what it covers, so a ledger is in no order of seqs.
        requests = sorted(
            (entry for entry in ledger.of_kind("request") if entry.source == "user" and entry.last_seq != active_seq),
            key=lambda entry: entry.last_seq,
        )
        self.first_request = requests[0].key if requests else None
        self.recent_from = requests[-_RECENT_REQUESTS].last_seq if len(requests) >= _RECENT_REQUESTS else 0
        self.binding: dict[int, list[LedgerEntry]] = {}
        for entry in ledger.of_kind("constraint", "statement", "decision"):
            for seq in entry.seqs:
                self.binding.setdefault(seq, []).append(entry)
        self.answers = {
            entry.closed_by for entry in ledger.of_kind("question")
            if entry.source == "assistant" and entry.closed_by is not None and entry.outcome
        }
        self.paths = {entry.text.rsplit("/", 1)[-1] for entry in ledger.of_kind("file")}
        self.repeats: dict[str, list[LedgerEntry]] = {}
        for entry in requests:
            self.repeats.setdefault(entry.text, []).append(entry)
        self.error_origins = {entry.about for entry in ledger.of_kind("error")}
        commits = [entry for entry in ledger.of_kind("state") if entry.key == "commit"]
        self.last_commit = commits[0].last_seq if commits else -1

    def worded(self, sentence: str) -> str:
        """A sentence of the user as its line says it."""
        return LABEL.sub("", sentence) if self.brief else sentence

    def is_crowded(self, entry: LedgerEntry) -> bool:
        """Whether it was only said in messages so full of sentences that bind that they are documents."""
        return all(len(self.binding.get(seq, ())) > _CROWDED for seq in entry.seqs)

    def is_recited(self, entry: LedgerEntry) -> bool:
        """Whether it is a whole message that was sent over and over, as *continue* is, or the words of a template."""
        return len(self.repeats.get(entry.text, ())) >= _RECITED

    def is_housed(self, entry: LedgerEntry) -> bool:
        """Whether a sentence with a short line of its own says it, and says of what it is."""
        return any(
            entry.text in fact.text and fact.closed_by is None and len(fact.text) <= _SHORT_SENTENCE
            for seq in entry.seqs for fact in self.binding.get(seq, ())
        )

    def is_replaced(self, entry: LedgerEntry) -> bool:
        """Whether the sentences that a reference stands in were all replaced by later ones."""
        holders = [fact for seq in entry.seqs for fact in self.binding.get(seq, ()) if entry.text in fact.text]
        return bool(holders) and all(fact.closed_by is not None for fact in holders)

    def is_told_with_question(self, entry: LedgerEntry) -> bool:
        """Whether a request only answers what the assistant asked or proposed, and a line says both."""
        return entry.last_seq in self.answers and len(entry.text) <= _SHORT_ANSWER and is_bare_answer(sentences_of(entry.text))

    def is_known_file(self, path: str) -> bool:
        """Whether a path that somebody named is one of the files that were worked on, however it is written."""
        return path.rsplit("/", 1)[-1] in self.paths

    def line(
        self, entry: LedgerEntry, section: str, text: str, score: float, plural: str, *, group: int = 0,
        place: float | None = None, seqs: tuple[int, ...] | None = None, brief: str = "", lead: str = "", worth: float = 0.0,
        core: str = "",
    ) -> FactLine:
        """A line for a fact: its seqs are cited after the text, and newer facts score up to 10 more."""
        cited = seqs if seqs is not None else entry.seqs
        return FactLine(
            section, f"{text} {cite(cited)}", core or entry.text, cited, score + _RECENT_WEIGHT * entry.last_seq / self.newest,
            (group, entry.seqs[0] if place is None else place, text), plural, brief, lead, worth,
        )


def shortened(text: str, length: int) -> str:
    """The text on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length].rstrip()}…"


def short_command(command: str, length: int) -> str:
    """A command as it reads in brief; a long one is cut to ``BRIEF_LENGTH``, without the change of directory before it."""
    if len(command) <= length:
        return " ".join(command.split())
    return shortened(_CHANGE_DIRECTORY.sub("", command, count=1), BRIEF_LENGTH)


def answer_in_brief(question: str, answer: str) -> str:
    """What a question came to: the answer alone where it names the thing that was asked about."""
    asked = values_of(question)
    return answer if asked and all(value in answer for value in asked) else f"{question} → {answer}"


def quoted_text(text: str, length: int) -> str:
    """The text on one line in quotation marks, cut to so many characters."""
    return f"“{shortened(text, length)}”"
