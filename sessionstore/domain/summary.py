"""The text of a summary: composed of what a model wrote and what the ledger knows, and taken apart again.

A stored summary is a preface, a line that says which messages it stands for, and thirteen sections, always in the same order,
or five that hold the same. Whether a message is a summary is a field of its row; nothing here decides it by the
text.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.closed_sets import Headings
from sessionstore.domain.messages import clean_text
from sessionstore.domain.redaction import redact
from sessionstore.domain.section_parsing import parse_sections
from sessionstore.domain.sections import ACTIVE_TASK, COMPLETED_ACTIONS, SECTIONS
from sessionstore.domain.summary_frame import FULL, PREFACE, SHORT_PREFACE, SummaryFrame
from sessionstore.domain.text_fitting import NOTE_TOKENS, fit_lines
from sessionstore.domain.token_counter import TokenCounter

_COVERS: Final = re.compile(r"Covers #[^\n]*\n+")
_NUMBERED: Final = re.compile(r"^(\s*)\d+[.)] ", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_ORDER_OF_NEED: Final = (
    sections.GOAL,
    sections.CONSTRAINTS,
    sections.IN_PROGRESS,
    sections.BLOCKED,
    sections.PENDING_ASKS,
    sections.REMAINING_WORK,
    sections.KEY_DECISIONS,
    sections.ACTIVE_STATE,
    sections.CRITICAL_CONTEXT,
    sections.COMPLETED_ACTIONS,
    sections.RESOLVED_QUESTIONS,
    sections.RELEVANT_FILES,
)
"""Which section's narrative is kept first when not all of it fits: what the next step needs, then what happened."""


def compose_summary(
    *,
    narrative: str | None,
    facts: Mapping[str, str],
    covers: Sequence[tuple[int, int]],
    budget: int,
    counter: TokenCounter,
    headings: Headings = "thirteen",
    frame: SummaryFrame = FULL,
) -> str:
    """The text of a summary, at most ``budget`` tokens of content and what the ``frame`` takes with nothing in it.

    ``narrative`` is a model's answer (None without one), ``facts`` the ledger's text per heading, ``covers`` the ranges of
    seqs it stands for, both ends included. Under each heading the narrative comes first, then the facts it doesn't state;
    Active Task is always the facts' text. Over budget, the narrative loses whole lines and says how many. Secrets are redacted.
    """
    stated = {heading: redact(clean_text(facts.get(heading, ""))).strip() for heading in SECTIONS}
    told = _narrative(None if narrative is None else clean_text(narrative), stated)
    texts = {heading: _merge(told.get(heading, ""), stated[heading]) for heading in SECTIONS}
    costs = frame.section_tokens(counter, headings)
    budget = max(0, budget - sum(costs.get(heading, 0) for heading, text in texts.items() if text))
    if _tokens(texts, counter) > budget:
        stated = _fit_facts(stated, budget, counter)
        told = _fit_narrative(told, budget - _tokens(stated, counter), counter)
        texts = {heading: _merge(told.get(heading, ""), stated[heading]) for heading in SECTIONS}
    return frame.text(texts, covers, headings)


def facts_budget(narrative: str, *, budget: int, counter: TokenCounter) -> int:
    """Tokens that the facts may take beside a narrative: what it leaves of the budget, and never less than half of it."""
    return max(budget // 2, budget - counter.count(narrative))


def narrative_within(narrative: str, *, budget: int, counter: TokenCounter) -> str:
    """What of a narrative a summary keeps that has so many tokens for it."""
    told = _narrative(clean_text(narrative), dict.fromkeys(SECTIONS, ""))
    return "\n".join((told if _tokens(told, counter) <= budget else _fit_narrative(told, budget, counter)).values())


def previous_body(text: str) -> str:
    """The sections of a stored summary, without preface and coverage, to be handed to the next one; other text as it is."""
    body = text.lstrip()
    preface = next((known for known in (PREFACE, SHORT_PREFACE) if body.startswith(known)), None)
    if preface is None:
        return text.strip()
    return _COVERS.sub("", body[len(preface) :].lstrip(), count=1).strip()


def _narrative(narrative: str | None, stated: Mapping[str, str]) -> dict[str, str]:
    if narrative is None:
        return {}
    told = parse_sections(previous_body(redact(narrative)))
    told.pop(ACTIVE_TASK, None)
    told = {heading: _without_stated(text, stated[heading]) for heading, text in told.items()}
    if _NUMBERED.search(stated[COMPLETED_ACTIONS]):
        # The ledger's numbers go on from one compaction to the next; a second count beside them would make two of each.
        told[COMPLETED_ACTIONS] = _NUMBERED.sub(r"\1- ", told.get(COMPLETED_ACTIONS, ""))
    return told


def _without_stated(told: str, stated: str) -> str:
    """The narrative less the lines that the facts have word for word, with their numbers and references."""
    facts = {_plain(line) for line in stated.splitlines()} - {""}
    return "\n".join(line for line in told.splitlines() if _plain(line) not in facts).strip("\n")


def _merge(told: str, stated: str) -> str:
    if not told:
        return stated
    said = f" {_plain(told)} "
    missing = [line for line in stated.splitlines() if (plain := _plain(line)) and f" {plain} " not in said]
    return "\n".join([told, *missing])


def _plain(text: str) -> str:
    return " ".join(_BULLET.sub("", line) for line in text.casefold().split("\n") if line.strip()).strip()


def _tokens(texts: Mapping[str, str], counter: TokenCounter) -> int:
    return sum(counter.count(text) for text in texts.values() if text)


def _fit_facts(stated: Mapping[str, str], budget: int, counter: TokenCounter) -> dict[str, str]:
    """Facts within the budget as they are; else cut from the largest section down, the task last."""
    fitted = dict(stated)
    while (over := _tokens(fitted, counter) - budget) > 0:
        sizes = {heading: counter.count(text) for heading, text in fitted.items() if text}
        largest = max(sizes, key=lambda heading: (heading != ACTIVE_TASK and sizes[heading] > 2 * NOTE_TOKENS, sizes[heading]))
        smaller = fit_lines(fitted[largest], max(0, sizes[largest] - max(over, sizes[largest] // 4)), counter)
        fitted[largest] = smaller if counter.count(smaller) < sizes[largest] else ""
    return fitted


def _fit_narrative(told: Mapping[str, str], budget: int, counter: TokenCounter) -> dict[str, str]:
    fitted: dict[str, str] = {}
    waiting = [heading for heading in _ORDER_OF_NEED if told.get(heading)]
    left = budget
    while waiting and left > NOTE_TOKENS:
        heading = waiting.pop(0)
        # One endless section may take half of what is left, so that the others are heard too.
        fitted[heading] = fit_lines(told[heading], left // 2 if waiting else left, counter)
        left -= counter.count(fitted[heading])
    return fitted
