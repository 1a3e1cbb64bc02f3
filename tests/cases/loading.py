"""Reading cases from a folder: macros are expanded, and each file becomes one case a variant, a mode, a back end, a counter."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from tests.cases.vocabulary import problems_of

OWN_CASES: Final = Path(__file__).parent / "data"
"""The cases that come with the project."""

BACKENDS: Final = {"sqlite": "sqlite", "postgres": "postgresql"}
"""The back ends that a case may name, as the rest of the tests call them. Every case runs on all of them; what it names is
compared with each other."""

FALLBACK: Final = "fallback"
"""The counter that needs no vocabulary."""

COUNTERS: Final = ("tiktoken-or-fallback", "tiktoken", FALLBACK)
"""Names of counters that a case may ask for; the first two are exact where the vocabulary is installed."""


@dataclass(frozen=True)
class Case:
    """One run of a case file. ``problems`` is everything in the file that the vocabulary doesn't know; such a case fails."""

    name: str
    id: str
    messages: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    checks: Sequence[Mapping[str, Any]]
    backend: str = "sqlite"
    tokenizer: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def slow(self) -> bool:
        """Whether it runs only with ``--slow``."""
        return bool(self.options.get("slow"))

    @property
    def steps(self) -> list[Mapping[str, Any]]:
        """What is done, in order, with what a case leaves out."""
        importing = "import_lines" in self.options
        given = self.options.get("steps")
        if given is None:
            if importing:
                return [{"op": "load"}]
            shrink = "prune" if self.options.get("prune_only") else "compact"
            return [{"op": "append_all"}, {"op": shrink}, {"op": "load"}]
        if importing or any(step["op"] == "append_all" for step in given):
            return list(given)
        return [{"op": "append_all"}, *given]


def load_cases(folder: Path) -> list[Case]:
    """Every run of every ``*.json`` of a folder; raises ``ValueError`` when there is none."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise ValueError(f"there are no cases (*.json) in {folder}")
    return [case for file in files for case in read_case(file)]


def read_case(file: Path) -> list[Case]:
    """The runs of one file; a file that is no case at all is one run that fails."""
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return list(_runs(file.stem, expand_macros(raw)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return [Case(file.stem, file.stem, (), {}, (), problems=(f"{file} cannot be read: {error}",))]


def expand_macros(value: Any) -> Any:
    """The value with a string in place of every ``$repeat`` and ``$concat``. Raises ``ValueError`` for an unknown macro."""
    if isinstance(value, list):
        return [expand_macros(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        unit, count = value["$repeat"]
        return str(expand_macros(unit)) * int(count)
    if "$concat" in value:
        return "".join(str(expand_macros(part)) for part in value["$concat"])
    unknown = [key for key in value if key.startswith("$")]
    if unknown:
        raise ValueError(f"there is no macro {', '.join(unknown)}")
    return {key: expand_macros(item) for key, item in value.items()}


def _runs(stem: str, case: Mapping[str, Any]) -> Iterator[Case]:
    problems = problems_of(case)
    options = case.get("options", {})
    if problems:
        slow = isinstance(options, Mapping) and options.get("slow")
        yield Case(stem, stem, (), {"slow": True} if slow else {}, (), problems=tuple(problems))
        return
    variants = options.get("variants") or [case.get("messages", [])]
    mode = options.get("summarizer", {}).get("mode", "ok")
    modes = [mode, *options.get("also_modes", [])]
    backends = options.get("backends", ["sqlite"])
    wrong = [f"unknown back end {name!r}" for name in backends if name not in BACKENDS]
    tokenizers = options.get("tokenizers", [None])
    wrong += [f"unknown counter {name!r}" for name in tokenizers if name is not None and name not in COUNTERS]
    if wrong:
        yield Case(stem, case["id"], (), {}, (), problems=tuple(wrong))
        return
    for (index, messages), one_mode, tokenizer in product(enumerate(variants), modes, tokenizers):
        parts = [
            stem,
            f"variant{index}" if len(variants) > 1 else "",
            one_mode if len(modes) > 1 else "",
            tokenizer or "",
        ]
        yield Case(
            name="-".join(part for part in parts if part),
            id=case["id"],
            messages=deepcopy(messages),
            options={**options, "summarizer": {**options.get("summarizer", {}), "mode": one_mode}},
            checks=case["checks"],
            tokenizer=tokenizer,
        )
