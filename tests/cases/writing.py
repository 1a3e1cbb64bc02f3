"""Writing small cases for the tests of the runner itself."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_case(
    folder: Path,
    name: str,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Any] | None = None,
    checks: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write a case as a file of its own and give the file."""
    file = folder / f"{name}.json"
    case = {"id": name, "messages": list(messages), "options": dict(options or {}), "checks": list(checks)}
    file.write_text(json.dumps(case), encoding="utf-8")
    return file
