"""A compaction policy from a file of its fields, in TOML or JSON."""
from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

from sessionstore.domain.policy import CompactionPolicy


def policy_file(name: str) -> CompactionPolicy:
    """The policy in a file: TOML, or JSON when its name ends in ``.json``.

    Raises ``click.BadParameter`` that names what is wrong: the file, an unknown field, a value of a wrong kind.
    """
    path = Path(name)
    is_json = path.suffix.lower() == ".json"
    try:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise click.BadParameter(f"{path} is not valid {'JSON' if is_json else 'TOML'}: {error}") from error
    if not isinstance(given, Mapping):
        raise click.BadParameter(f"{path} holds no fields of a policy")
    try:
        return policy_from(given)
    except ValueError as error:
        raise click.BadParameter(f"{path}: {error}") from error


def policy_from(given: Mapping[str, Any]) -> CompactionPolicy:
    """The default policy with the given fields in place of its own. Raises ``ValueError`` that names the field at fault."""
    known = get_type_hints(CompactionPolicy)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"a policy has no field {name!r}; {advice}")
        values[name] = _checked(name, value, known[name])
    return replace(CompactionPolicy(), **values)


def _checked(name: str, value: Any, kind: Any) -> Any:
    """The value as the field holds it."""
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise ValueError(f"{name!r} is true or false, not {value!r}")
    if get_origin(kind) is Literal:
        if value in get_args(kind):
            return value
        raise ValueError(f"{name!r} is one of {', '.join(get_args(kind))}, not {value!r}")
    if get_origin(kind) is frozenset:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return frozenset(value)
        raise ValueError(f"{name!r} is a list of names, not {value!r}")
    if value is None and NoneType in get_args(kind):
        return None
    wants_whole = kind is int or int in get_args(kind)
    is_number = isinstance(value, int if wants_whole else int | float) and not isinstance(value, bool)
    # NaN compares with nothing, so it is refused here too.
    if is_number and 0 <= value < float("inf"):
        return value
    raise ValueError(f"{name!r} is a {'whole number' if wants_whole else 'number'} from 0 up, not {value!r}")
