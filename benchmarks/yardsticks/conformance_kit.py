"""``compaction-conformance-kit``: its budget benchmark, and its generated sessions, five rounds each."""
from __future__ import annotations

import sys
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from benchmarks.environments import library
from benchmarks.payloads import Message
from benchmarks.report import Cell, Table, against_goal
from benchmarks.settings import Settings
from benchmarks.yardsticks.adapter import FittedConversation

REQUIREMENT = "compaction-conformance-kit==0.8"
BUDGETS = (0.10, 0.20, 0.30)
GOALS = {("random", 0.20): 0.85, ("generated", 0.20): 0.75}
"""Facts that survive five rounds."""
ROUNDS = 5


class StoreCompactor:
    """A session that is compacted; the text that it gave in the last round it knows again, and goes on there."""

    name = "sessionstore"

    def __init__(self, compacted_context: Any) -> None:
        self._made = compacted_context
        self._conversation: FittedConversation | None = None

    def compact(self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None) -> Any:
        """One round of the kit: its turns, or the text of the round before."""
        if self._conversation is None or len(turns) != 1 or turns[0].text != self._conversation.text:
            self.forget()
            self._conversation = FittedConversation()
            self._conversation.add([_message(turn.role, turn.text) for turn in turns])
        self._conversation.fit(budget_chars or len(self._conversation.text))
        return self._made(text=self._conversation.text, compactor_name=self.name, round_num=round_num)

    def forget(self) -> None:
        """End the session."""
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None


class TextCompactor(StoreCompactor):
    """The same, given nothing but the text of the round before, as what an assistant said."""

    name = "sessionstore, text only"

    def compact(self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None) -> Any:
        """One round of the kit, nothing remembered."""
        self.forget()
        return super().compact(turns, round_num, budget_chars)


def conformance_kit(settings: Settings) -> list[Table]:
    """Its random sessions and updates, its generated ones, ours beside its own compactors."""
    folder = library("compaction-conformance-kit", REQUIREMENT)
    if folder is None:
        return [Table("compaction-conformance-kit", ("compactor",), (), (f"{REQUIREMENT} could not be installed",))]
    sys.path.append(str(folder))
    kit = import_module("compaction_kit")
    seeds = tuple(range(1, settings.pick(4, 1) + 1))
    with ExitStack() as stack:
        rows = _rows(kit, _factories(kit, stack), seeds)
    columns = (
        "budget",
        "compactor",
        "within budget",
        "random",
        "goal",
        "generated",
        "goal ",
        "latest only, random",
        "generated ",
        "paraphrased",
        "distinct pairs",
    )
    notes = (
        f"{REQUIREMENT}, seeds {seeds[0]} to {seeds[-1]}, {ROUNDS} rounds, budgets in characters of the whole transcript",
        "no model anywhere; 'text only' is given the text of its last round and nothing else",
    )
    return [Table("compaction-conformance-kit", columns, tuple(rows), notes)]


def _factories(kit: Any, stack: ExitStack) -> dict[str, Any]:
    def seated(kind: type[StoreCompactor]) -> StoreCompactor:
        compactor = kind(kit.CompactedContext)
        stack.callback(compactor.forget)
        return compactor

    return {
        StoreCompactor.name: lambda: seated(StoreCompactor),
        TextCompactor.name: lambda: seated(TextCompactor),
        "kit: update-aware checklist": kit.UpdateAwareChecklistCompactor,
        "kit: semantic checklist": kit.SemanticChecklistCompactor,
        "kit: progressive summary": kit.ProgressiveSummaryCompactor,
        "kit: truncation": kit.LossyTruncationCompactor,
    }


def _rows(kit: Any, factories: dict[str, Any], seeds: tuple[int, ...]) -> list[tuple[Cell, ...]]:
    payload = kit.run_budget_benchmark(factories, budgets=BUDGETS, seeds=seeds, rounds=ROUNDS)
    rows: list[tuple[Cell, ...]] = []
    for entry in payload["entries"]:
        name, budget = entry["compactor"], entry["budget_fraction"]
        survival = entry["randomized"]["overall_final_survival"]
        updates = entry["randomized"]["supersession"]
        generated = _generated(kit, factories[name], budget, seeds)
        rows.append(
            (
                f"{budget:.0%}",
                name,
                entry["budget_compliant"] and generated["compliant"],
                survival,
                _goal(name, "random", budget, survival),
                generated["survival"],
                _goal(name, "generated", budget, generated["survival"]),
                f"{updates['resolved']} of {updates['n']}",
                f"{generated['resolved']} of {generated['updated']}",
                f"{entry['semantic']['conflicts']['resolved']} of {entry['semantic']['conflicts']['n']}",
                entry["semantic"]["distinct_pair_rate"],
            )
        )
    return rows


def _generated(kit: Any, factory: Any, budget: float, seeds: tuple[int, ...]) -> dict[str, Any]:
    kept = total = resolved = updated = 0
    compliant = True
    for seed in seeds:
        session, canaries = kit.build_generated_session(seed)
        run = kit.run_conformance(session, factory(), rounds=ROUNDS, canaries=canaries, budget_fraction=budget)
        final = run.rounds[-1]
        compliant = compliant and all(one.within_budget for one in run.rounds)
        kept += sum(final.survived.values())
        total += len(canaries)
        text = final.context.text.lower()
        for canary in canaries:
            if canary.superseded_tokens:
                updated += 1
                latest = all(token.lower() in text for token in canary.required_tokens)
                resolved += latest and not any(token.lower() in text for token in canary.superseded_tokens)
    return {"survival": round(kept / total, 3), "resolved": resolved, "updated": updated, "compliant": compliant}


def _goal(name: str, corpus: str, budget: float, value: float) -> str | None:
    goal = GOALS.get((corpus, budget))
    if goal is None or not name.startswith("sessionstore"):
        return None
    return against_goal(-value, -goal).replace("≤ -", "≥ ")


def _message(role: str, text: str) -> Message:
    # A turn of the system in the middle of a conversation is nothing that a store's log has; an assistant may say anything.
    return {"role": role if role in ("user", "assistant") else "assistant", "content": text}
