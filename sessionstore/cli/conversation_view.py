"""A conversation as people read it: one message after the other, calls in a line each, outputs cut."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sessionstore.cli.figures import counted, local_time
from sessionstore.cli.terminal import Terminal, printable
from sessionstore.domain.outputs.lines import shortened
from sessionstore.domain.records import LogRow
from sessionstore.domain.transcript import MessageView, ToolCall, ToolResult, view_message

OUTPUT_LINES: Final = 12
"""Lines of an output that are shown unless all of it is asked for."""

_LONGEST_LINE: Final = 400
_LONGEST_ARGUMENT: Final = 80
_LONGEST_CALL: Final = 160
_ROLE_STYLES: Final[Mapping[str, str]] = {"user": "bold green", "assistant": "bold cyan", "tool": "yellow", "system": "magenta"}
_MARKS: Final = {"summary": "summary of earlier messages", "rendition": "shortened form of"}


class ConversationView:
    """Prints rows of a log on a terminal. ``full`` shows outputs and reasoning whole."""

    def __init__(self, terminal: Terminal, *, full: bool) -> None:
        self._terminal = terminal
        self._full = full
        self._names: dict[str, str] = {}

    def show_prompt(self, text: str) -> None:
        """The system prompt, which is no row of the log."""
        self._terminal.print(("system prompt", _ROLE_STYLES["system"]))
        self._cut(text, indent=0)
        self._terminal.print()

    def show_row(self, row: LogRow) -> None:
        """One message with its heading, and an empty line after it."""
        view = view_message(row.message)
        self._heading(row)
        for thought in view.reasoning:
            self._cut(thought, indent=4, label="reasoning: ")
        if view.text.strip():
            self._said(row, view)
        for call in view.calls:
            self._names[call.call_id] = call.name
            self._terminal.print(("  → ", "dim"), *_call_line(call))
        for result in view.results:
            self._result(result)
        images = view.images + sum(result.images for result in view.results)
        if images:
            self._terminal.print((f"    [{counted(images, 'image')}]", "dim"))
        self._terminal.print()

    def _heading(self, row: LogRow) -> None:
        parts = [(f"#{row.seq} ", "bold"), (printable(row.role), _ROLE_STYLES.get(row.role, "bold"))]
        if row.kind != "message":
            origin = "" if row.origin_seq is None else f" #{row.origin_seq}"
            parts.append((f"  [{_MARKS[row.kind]}{origin}]", "bold magenta"))
        self._terminal.print(*parts, (f"  {local_time(row.created_at)}", "dim"))

    def _said(self, row: LogRow, view: MessageView) -> None:
        text = printable(view.text)
        if view.role == "assistant" or row.kind == "summary":
            self._terminal.markdown(text)
        else:
            # What a person wrote is shown as it was typed.
            self._terminal.text(text)

    def _result(self, result: ToolResult) -> None:
        name = result.name or self._names.get(result.call_id)
        failed = (" failed", "red") if result.is_error else ("", "")
        if name:
            self._terminal.print((f"  ← {printable(name)}", "dim"), failed)
        self._cut(result.text, indent=4)

    def _cut(self, text: str, *, indent: int, label: str = "") -> None:
        lines = (label + printable(text).strip("\n")).split("\n")
        # A single line that --full would show is no reason to leave one out.
        shown = lines if self._full or len(lines) <= OUTPUT_LINES + 1 else lines[:OUTPUT_LINES]
        for line in shown:
            whole = self._full or len(line) <= _LONGEST_LINE
            self._terminal.text(line if whole else f"{line[:_LONGEST_LINE]}…", style="dim", indent=indent)
        if len(shown) < len(lines):
            more = counted(len(lines) - len(shown), "more line")
            self._terminal.text(f"… {more}, --full shows them", style="dim italic", indent=indent)


def _call_line(call: ToolCall) -> list[tuple[str, str]]:
    values = call.argument_values()
    listed = [f"{name}={shortened(str(value), _LONGEST_ARGUMENT)}" for name, value in values.items()]
    arguments = " ".join(listed) if values else shortened(call.arguments, _LONGEST_CALL)
    return [(printable(call.name), "bold"), (f"  {printable(shortened(arguments, _LONGEST_CALL))}", "dim")]
