"""``compaction-guard``: how many of its forty constraints are still certified after four compactions to a fifth."""
from __future__ import annotations

import json
import random
import sys
import tarfile
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import payloads
from benchmarks.environments import library, source_archive
from benchmarks.payloads import Message
from benchmarks.report import Cell, Table, against_goal
from benchmarks.settings import Settings
from benchmarks.yardsticks.adapter import FittedConversation

REQUIREMENT = "compaction-guard==0.1"
BUDGET = 0.20
COMPACTIONS = 4
GOAL = 36
CHARACTERS = 40_000
"""Of the transcript that the constraints are said in."""
KEPT = ("preserved", "paraphrased")


def constraint_guard(settings: Settings) -> list[Table]:
    """The constraints of its own corpus, each said once by the user, work in between."""
    folder, archive = library("compaction-guard", REQUIREMENT), source_archive(REQUIREMENT)
    if folder is None or archive is None:
        return [Table("compaction-guard", ("compactions",), (), (f"{REQUIREMENT} could not be installed",))]
    sys.path.append(str(folder))
    guard = import_module("compaction_guard")
    constraints = _constraints(archive)
    rows: list[tuple[Cell, ...]] = []
    for seed in range(1, settings.pick(3, 1) + 1):
        rows += _run(guard, constraints, random.Random(seed), seed)
    notes = (
        f"{REQUIREMENT}: the {len(constraints)} constraints of its corpus in {CHARACTERS:,} characters of talk",
        f"as much new talk before each later compaction, always to {BUDGET:.0%} of the first transcript; no model",
        "kept is what its own check, standard library tier, calls preserved or paraphrased",
    )
    columns = ("seed", "compactions", "kept", "goal", "verbatim", "verdicts", "within budget")
    return [Table("compaction-guard", columns, tuple(rows), notes)]


def _run(guard: Any, constraints: list[str], source: random.Random, seed: int) -> list[tuple[Cell, ...]]:
    conversation = FittedConversation()
    conversation.add(_conversation(constraints, source))
    budget = int(len(conversation.text) * BUDGET)
    rows: list[tuple[Cell, ...]] = []
    for compactions in range(1, COMPACTIONS + 1):
        conversation.fit(budget)
        text = conversation.text
        verdicts = Counter(finding.kind.value for finding in guard.check(constraints, text).findings)
        kept = sum(verdicts[kind] for kind in KEPT)
        verbatim = sum(constraint in " ".join(text.split()) for constraint in constraints)
        goal = against_goal(-kept, -GOAL).replace("≤ -", "≥ ") if compactions == COMPACTIONS else None
        told = ", ".join(f"{kind} {count}" for kind, count in verdicts.most_common())
        rows.append((seed, compactions, kept, goal, verbatim, told, len(text) <= budget))
        conversation.add(_talk(source, CHARACTERS))
    conversation.close()
    return rows


def _conversation(constraints: list[str], source: random.Random) -> list[Message]:
    talk = _talk(source, CHARACTERS)
    for constraint in constraints:
        place = 2 * source.randrange(len(talk) // 2)
        talk[place:place] = [{"role": "user", "content": constraint}, {"role": "assistant", "content": "Understood."}]
    return talk


def _talk(source: random.Random, characters: int) -> list[Message]:
    messages: list[Message] = []
    while characters > 0:
        asked, said = payloads.prose(source, source.randint(60, 200)), payloads.prose(source, source.randint(100, 500))
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
        characters -= len(asked) + len(said)
    return messages


def _constraints(archive: Path) -> list[str]:
    with tarfile.open(archive) as files:
        name = next(name for name in files.getnames() if name.endswith("evidence/corpus.jsonl"))
        corpus = files.extractfile(name)
        lines = corpus.read().decode().splitlines() if corpus is not None else []
    return list(dict.fromkeys(json.loads(line)["invariant"] for line in lines))
