"""Which outputs are repeats of a later one, and where its full copy is (PRUNE-1).

Equal text is not enough: when a file was written between two reads of it, the second is another fact, even where it reads the
same.
"""
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.outputs.lines import LONGEST_REMARK, is_described, shortened
from sessionstore.domain.tool_reading import Subject, call_subject
from sessionstore.domain.transcript import Entry, Pairing, ToolCall, ToolResult

_REFERENCE: Final = re.compile(r"\[same output as #(\d{1,18})\](?: \(failed: [^\n]*\))?")


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output with the call it answers (None for an orphan) and its place: index of the entry and number in it."""

    index: int
    number: int
    result: ToolResult
    call: ToolCall | None
    subject: Subject

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands."""
        return self.index, self.number

    @property
    def tool(self) -> str:
        """Name of the tool, empty when nobody says."""
        return (self.call.name if self.call is not None else "") or self.result.name or ""


def list_outputs(entries: Sequence[Entry], pairing: Pairing) -> list[Output]:
    """Every output of a context in order, each with its call."""
    calls = {id(paired.result): paired.call for paired in pairing.calls if paired.result is not None}
    found: list[Output] = []
    for index, entry in enumerate(entries):
        for number, result in enumerate(entry.view.results):
            call = calls.get(id(result))
            found.append(Output(index, number, result, call, Subject("other") if call is None else call_subject(call)))
    return found


def reference_to(seq: int, *, failure: str | None = None) -> str:
    """What stands in place of an output that a later row has in full; a failure says what it was."""
    reference = f"[same output as #{seq}]"
    return reference if failure is None else f"{reference} (failed: {shortened(failure, LONGEST_REMARK)})"


def referenced_seq(text: str) -> int | None:
    """The row that a back-reference names, None when the text is none."""
    match = _REFERENCE.fullmatch(text)
    return None if match is None else int(match.group(1))


def find_repeats(outputs: Sequence[Output], *, minimum: int) -> dict[tuple[int, int], Output]:
    """For each output that is repeated later, the last copy of it; ``minimum`` are the characters below which nobody looks."""
    writes = [output for output in outputs if output.subject.kind in ("write", "patch")]
    same: dict[str, list[Output]] = {}
    for output in outputs:
        text = output.result.text
        is_all = not output.result.images and not output.result.payload_tokens
        if len(text) >= minimum and is_all and referenced_seq(text) is None and not is_described(text):
            same.setdefault(text, []).append(output)
    found: dict[tuple[int, int], Output] = {}
    for copies in same.values():
        last = copies[-1]
        for position in range(len(copies) - 2, -1, -1):
            earlier, later = copies[position], copies[position + 1]
            if _written_between(earlier, later, writes):
                last = earlier
            elif later.index != earlier.index:
                found[earlier.place] = last
    return found


def _written_between(earlier: Output, later: Output, writes: Sequence[Output]) -> bool:
    first = bisect_right(writes, earlier.index, key=_index)
    last = bisect_left(writes, later.index, key=_index)
    return any(_concerns(write, earlier) or _concerns(write, later) for write in writes[first:last])


def _index(output: Output) -> int:
    return output.index


def _concerns(write: Output, read: Output) -> bool:
    if read.subject.kind not in ("read", "terminal", "search", "other"):
        return False
    if not write.subject.paths:
        return True
    said = f"{read.subject.command or ''} {read.subject.detail or ''}"
    for path in write.subject.paths:
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        named = any(other.replace("\\", "/").rsplit("/", 1)[-1] == name for other in read.subject.paths)
        if named or (name and name in said) or (read.subject.kind != "read" and not read.subject.paths):
            return True
    return False
