"""A ledger as the text of a summary's sections, under a budget: what matters most, and where the rest stands."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.citations import windows_over
from sessionstore.domain.ledger.entry import Ledger, LedgerEntry
from sessionstore.domain.ledger.fact_line import FactLine
from sessionstore.domain.ledger.fact_lines import fact_lines
from sessionstore.domain.ledger.shown_facts import ShownFacts, places_of
from sessionstore.domain.ledger.wording import search_words
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.redaction import redact
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry

_DEFAULT_POLICY: Final = CompactionPolicy()
_OVERFLOW_RATIO: Final = 0.10
"""Part of the budget that is kept for counts and ranges of what is left out, at least."""
_COUNTS_RATIO: Final = 0.02
"""Part of the budget that counts take beside the ranges of a long conversation."""
_WINDOW_TOKENS: Final = 7
"""Tokens of one range to look up."""
_UNFOLDABLE_RATIO: Final = 0.12
"""Most of the budget that goes to what can only be said in full, such as todos, before the rest is said in brief."""
_FULL_RATIO: Final = 0.12
"""Part of the budget that goes to lines in full before the rest is said in brief."""
_FOCUS_FULL_RATIO: Final = 0.40
"""The same for lines that concern the focus."""
_SECTION_RATIOS: Final = {
    sections.GOAL: 0.05,
    sections.CONSTRAINTS: 0.02,
    sections.COMPLETED_ACTIONS: 0.05,
    sections.CRITICAL_CONTEXT: 0.02,
    sections.RELEVANT_FILES: 0.02,
    sections.BLOCKED: 0.04,
    sections.KEY_DECISIONS: 0.01,
    sections.RESOLVED_QUESTIONS: 0.01,
}
"""Most of the budget that a section takes while others still have something to say; the rest is then given away freely."""
_REFILLS: Final = 4
_MOST_TRIED: Final = 40
_SLACK_RATIO: Final = 0.008
_TOKENS_A_WINDOW: Final = 36
"""Tokens of budget for which one range to look up is listed: a fifth of it at most goes to ranges."""
_TINY: Final = 200
"""Tokens below which a request that takes more than its share is pointed at where it stands, right behind the summary."""
_TASK_WHOLE_WHEN_TINY: Final = 3
_TASK_SHARE_WHEN_TINY: Final = 8
_SMALL: Final = 1_000
"""Tokens below which there is room for facts only: labels go, and what is left out is counted in one line."""


def render_facts(
    ledger: Ledger,
    *,
    budget: int,
    counter: TokenCounter,
    active: Entry | None = None,
    focus: str | None = None,
    omit: str = "",
    policy: CompactionPolicy = _DEFAULT_POLICY,
    section_tokens: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, str]:
    """The text of every heading of ``SECTIONS``, empty where there is nothing to say; in all at most ``budget`` tokens.

    Headings are not part of the texts; each that has a text takes its ``section_tokens`` of the budget. Every line ends with
    the seqs it came from. Lines in full are chosen by how much they matter, newer ones first among equals, lines in brief by
    what they are worth a token, whatever their age; both stand in a stable order. ``active`` is the latest request (else the
    ledger's last one): Active Task quotes up to the policy's ``active_task_tokens`` of it, then its seq. ``focus`` reserves the
    policy's ``focus_ratio`` of the budget for lines that share a word with it or come from the same messages. A fact that
    ``omit`` states verbatim has no line. What there is no room to say in full shares lines with its like, in brief; what
    doesn't fit at all is counted by kind with its range of seqs, and Critical Context lists the messages to read for it.
    """
    task, active_seq = _active_task(ledger, active, budget, counter, policy.active_task_tokens)
    small = budget < _SMALL
    lines = [line for line in fact_lines(ledger, active_seq=active_seq, brief=small) if not (omit and _is_stated(line, omit))]
    lines.sort(key=lambda line: (-line.score, line.place))
    shown = ShownFacts(budget, counter, task, section_tokens)
    whole = budget - _overflow(lines, budget)
    if focus and (related := _related(lines, focus)):
        _choose(shown, [line for line in lines if line in related], int(policy.focus_ratio * budget), _FOCUS_FULL_RATIO, {})
        _choose(shown, [line for line in lines if line not in related], whole, _FULL_RATIO, _SECTION_RATIOS)
    elif small:
        _choose(shown, lines, whole, 0, {})
    else:
        _choose(shown, lines, whole, _FULL_RATIO, _SECTION_RATIOS)
    return _fitted(shown, lines, budget)


def _overflow(lines: Sequence[FactLine], budget: int) -> int:
    """Tokens to keep for what is left out: enough to look up every part of a long conversation, as far as the limit goes."""
    windows = len(windows_over([places_of(line) for line in lines], limit=budget // _TOKENS_A_WINDOW))
    return max(int(_OVERFLOW_RATIO * budget), int(_COUNTS_RATIO * budget) + _WINDOW_TOKENS * windows)


def _choose(
    shown: ShownFacts, lines: Sequence[FactLine], until: int, full_ratio: float, ratios: Mapping[str, float]
) -> None:
    """Everything in full where it fits; else what has no brief form and the first in full, and the rest in brief."""
    if not shown.fits(lines, until=until):
        room = until - shown.spent
        shown.take([line for line in lines if not line.brief], until=shown.spent + int(_UNFOLDABLE_RATIO * room), ratios=ratios)
        shown.take(lines, until=shown.spent + int(full_ratio * room), ratios=ratios)
        shown.take_brief(lines, until=until)
        if shown.is_complete(lines):
            shown.unfold(lines, until=until)
    shown.take(lines, until=until, ratios={})


def _active_task(
    ledger: Ledger, active: Entry | None, budget: int, counter: TokenCounter, most: int
) -> tuple[str, int | None]:
    if active is not None:
        text, seq = redact(active.spoken.strip()) or "[image]", active.written_seq
    else:
        requests = [entry for entry in ledger.of_kind("request") if entry.about != "injected"]
        if not requests:
            return "", None
        latest: LedgerEntry = max(requests, key=lambda entry: entry.last_seq)
        text, seq = latest.text, latest.last_seq
    mark = f" #{seq}"
    allowed = min(most, budget - counter.count(mark))
    if active is not None and budget < _TINY and counter.count(text) > budget // _TASK_WHOLE_WHEN_TINY:
        # It stands word for word behind the summary, so the room is better spent on what stands nowhere else.
        allowed = min(allowed, budget // _TASK_SHARE_WHEN_TINY)
    if counter.count(text) <= allowed and counter.count(text + mark) <= budget:
        return text + mark, seq
    shown = _cut_to(text, allowed - counter.count("… [goes on:]"), counter)
    task = f"{shown}… [goes on:{mark}]" if shown else mark.strip()
    return (task if counter.count(task) <= budget else ""), seq


def _cut_to(text: str, tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of a text that is found to have at most so many tokens, within one in sixteen of its length."""
    low, high = 0, min(len(text), max(0, tokens) * 12)
    while high - low > max(1, high // 16):
        middle = (low + high) // 2
        if counter.count(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle
    return text[:low].rstrip()


def _is_stated(line: FactLine, omit: str) -> bool:
    return len(line.core) >= 4 and line.core in omit


def _related(lines: Iterable[FactLine], focus: str) -> set[FactLine]:
    """Lines that share a word with the focus, and those that come from the same messages."""
    wanted = search_words(focus)
    direct = {line for line in lines if wanted & search_words(line.text)}
    seqs = {seq for line in direct if len(line.seqs) <= 3 for seq in line.seqs}
    return direct | {line for line in lines if seqs.issuperset(line.seqs)}


def _fitted(shown: ShownFacts, lines: Sequence[FactLine], budget: int) -> dict[str, str]:
    """The texts, with fewer ranges and then fewer lines until they are within the budget by the counter's own word."""
    small = budget < _SMALL
    windows = max(1, budget // _TOKENS_A_WINDOW)
    refills = _REFILLS
    while True:
        texts = shown.texts(shown.left_out(lines), windows=windows, small=small)
        total = shown.measured(texts)
        if total <= budget:
            slack = budget - total
            if refills == 0 or slack < _SLACK_RATIO * budget or shown.is_complete(lines):
                return _filled(shown, lines, texts) if small else texts
            refills -= 1
            shown.take_brief(lines, until=shown.spent + int(0.9 * slack))
            continue
        if windows > 0:
            windows -= max(1, windows // 8)
            continue
        dropped = [shown.drop_last() for _ in range(1 + (total - budget) // 60)]
        if not any(dropped):
            return {**dict.fromkeys(sections.SECTIONS, ""), sections.ACTIVE_TASK: shown.task}


def _filled(shown: ShownFacts, lines: Sequence[FactLine], texts: dict[str, str]) -> dict[str, str]:
    """The texts with every further fact that fits when it is measured: in a small summary an estimate leaves a tenth empty."""
    for _ in range(_MOST_TRIED):
        if not shown.try_brief(lines):
            return texts
        more = shown.texts(shown.left_out(lines), windows=0, small=True)
        if shown.measured(more) <= shown.budget:
            texts = more
        else:
            shown.refuse_last()
    return texts
