"""One JSON document on stdout: stable keys, valid in every encoding that stdout may have."""
from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NOT_ASCII: Final = re.compile("[^\x00-\x7f]+")


def print_json(value: Any) -> None:
    """Print a value as an indented document."""
    click.echo(_encodable(json.dumps(value, ensure_ascii=False, indent=2)))


def print_json_rows(rows: Iterable[tuple[Mapping[str, Any], str, str]]) -> None:
    """Print a list of objects, one a line, while they come: each has fields, and one more whose value is JSON text already.

    The text is put in as it stands, so numbers and the order of keys stay as they were stored.
    """
    click.echo("[", nl=False)
    separator = "\n"
    for fields, key, text in rows:
        head = json.dumps(fields, ensure_ascii=False)
        body = text.replace("\r", " ").replace("\n", " ")
        click.echo(separator + _encodable(f"{head[:-1]}, {json.dumps(key)}: {body}}}"), nl=False)
        separator = ",\n"
    click.echo("\n]")


def _encodable(document: str) -> str:
    # A lone surrogate is in no encoding, and a letter may be missing in stdout's; inside a string an escape says the same.
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "").replace("_", "")
    if encoding == "utf8":
        return _SURROGATE.sub(_escaped, document)
    return _NOT_ASCII.sub(_escaped, document)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]
