"""The forms in which an answer can be asked for beside plain text: a JSON schema, the words that go with it, the way back.

A summariser whose endpoint keeps to schemas adds ``words`` to the prompt and turns the JSON back into the text that would have
been written without; everything behind it sees that text only.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.section_parsing import is_heading
from sessionstore.domain.sections import SECTIONS


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """One kind of answer as JSON.

    ``name`` is what providers want a schema to be called, ``version`` stands for ``words`` and schema in the records and
    changes whenever they do. ``text_of`` turns a value into text, None when it is not of this form.
    """

    name: str
    version: str
    schema: Mapping[str, Any]
    words: str
    text_of: Callable[[object], str | None]


def key_of(heading: str) -> str:
    """The name of a section in JSON: ``Constraints & Preferences`` is ``constraints_and_preferences``."""
    return "_".join(heading.lower().replace("&", "and").split())


def notes_text(value: object) -> str | None:
    """The thirteen sections as Markdown from an object of texts; None for anything but an object with half of them.

    A section may also be a list of texts. A line that reads as a heading gets a blank before it, so that no section can pose as
    another.
    """
    if not isinstance(value, Mapping):
        return None
    texts = {heading: _section_text(value.get(key_of(heading))) for heading in SECTIONS}
    told = [f"## {heading}\n{text}" for heading, text in texts.items() if text is not None]
    return "\n\n".join(told) if 2 * len(told) >= len(SECTIONS) else None


def facts_text(value: object) -> str | None:
    """The facts of ``{"facts": [text, …]}``, one a line behind a dash; None for anything else."""
    facts = value.get("facts") if isinstance(value, Mapping) else None
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        return None
    return "\n".join(f"- {' '.join(fact.split())}" for fact in facts if fact.strip()) or "None"


def _section_text(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(f"- {' '.join(item.split())}" for item in value)
    if not isinstance(value, str):
        return None
    lines = (f" {line}" if line.startswith("#") or is_heading(line) else line for line in value.splitlines())
    return "\n".join(lines).strip("\n")


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


NOTES: Final = AnswerForm(
    name="working_notes",
    version="notes-json-1",
    schema=_object_schema({key_of(heading): {"type": "string", "description": heading} for heading in SECTIONS}),
    words=(
        "Give the notes as one JSON object instead of Markdown: a string for each heading, in the same order, under the "
        "heading in lower case with underscores (constraints_and_preferences for Constraints & Preferences). Within a string "
        "Markdown lists are fine. A heading with nothing to say has the string None."
    ),
    text_of=notes_text,
)
"""The thirteen sections of a summary."""

FACTS: Final = AnswerForm(
    name="durable_facts",
    version="facts-json-1",
    schema=_object_schema({"facts": {"type": "array", "items": {"type": "string"}}}),
    words='Give the facts as one JSON object instead of lines: {"facts": ["…", "…"]}, with an empty list when there is none.',
    text_of=facts_text,
)
"""Facts to keep."""
