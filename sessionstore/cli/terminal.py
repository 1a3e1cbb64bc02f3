"""Where output goes: colour, boxes and rendered Markdown on a terminal, plain aligned text everywhere else.

What is shown is said once, as lines of (text, style) pairs, branches of a tree, or rows of a table; how it looks is decided
here. Styles are rich's words (``bold``, ``dim``, ``cyan``) and mean nothing outside a terminal.
"""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from unicodedata import combining, east_asian_width

import click

from sessionstore.domain.messages import clean_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

Line = Sequence[tuple[str, str]]
"""One line: texts with their styles, shown side by side."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HTML: Final = re.compile(r"<[A-Za-z/!?]")
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a tree: its lines, the first of which stands at the fork, and what hangs from it."""

    lines: Sequence[Line]
    children: Sequence[Branch] = field(default=())


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, whether it holds numbers, which stand to the right, and whether it must not be cut."""

    heading: str
    numeric: bool = False
    whole: bool = False


def printable(text: str) -> str:
    """The text with every control character but tab and line feed shown as its picture.

    A message may hold anything; its escape sequences must not drive the reader's terminal.
    """
    return _CONTROLS.sub(_picture, clean_text(text.replace("\r\n", "\n")))


class Terminal:
    """The standard output of a command that people read."""

    def __init__(self) -> None:
        self.is_interactive: Final = sys.stdout.isatty()
        self._console: Console | None = _console() if self.is_interactive else None
        self._art = _BOX if _can_encode("".join(_BOX)) else _ASCII

    def print(self, *parts: tuple[str, str]) -> None:
        """Print one line, or an empty one."""
        if self._console is None:
            click.echo(_plain(parts))
        else:
            self._console.print(_rich(parts), soft_wrap=True)

    def text(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Print a text as it is, each of its lines behind so many blanks."""
        for line in text.split("\n"):
            self.print((" " * indent + line if line else line, style))

    def markdown(self, text: str) -> None:
        """Print a text: rendered on a terminal unless it holds tags, which a rendering would swallow, else as it is."""
        if self._console is None or _HTML.search(_CODE.sub("", text)):
            self.text(text)
            return
        from rich.markdown import Markdown

        self._console.print(Markdown(text))

    def tree(self, root: Branch) -> None:
        """Print a tree."""
        if self._console is not None:
            self._console.print(_rich_tree(root))
            return
        for drawn in _drawn(root, "", "", self._art):
            click.echo(drawn)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Print a table of at least one row; each cell is a text with a style."""
        if self._console is None:
            for line in _aligned(columns, [[text for text, _ in row] for row in rows]):
                click.echo(line)
            return
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for index, column in enumerate(columns):
            widest = max(_width(row[index][0]) for row in rows)
            table.add_column(
                column.heading,
                justify="right" if column.numeric else "left",
                no_wrap=column.numeric or column.whole,
                min_width=widest if column.whole else None,
            )
        for row in rows:
            table.add_row(*(Text(text, style=style) for text, style in row))
        self._console.print(table)


def note(message: str) -> None:
    """A remark beside the result: one line on stderr."""
    click.echo(message, err=True)


def _console() -> Console:
    from rich.console import Console

    if os.environ.get("NO_COLOR"):
        return Console(no_color=True, color_system=None, highlight=False)
    return Console(highlight=False)


def _can_encode(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    # Unicode has a picture for each of the older controls; the newer ones (0x80 and up) have none.
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _plain(parts: Iterable[tuple[str, str]]) -> str:
    return "".join(text for text, _ in parts)


def _rich(parts: Iterable[tuple[str, str]]) -> Text:
    from rich.text import Text

    return Text.assemble(*((text, style) for text, style in parts))


def _rich_tree(branch: Branch, parent: Tree | None = None) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    label = Text("\n").join(_rich(line) for line in branch.lines)
    tree = Tree(label, guide_style="dim") if parent is None else parent.add(label)
    for child in branch.children:
        _rich_tree(child, tree)
    return tree


_BOX: Final = ("├── ", "└── ", "│   ", "    ")
_ASCII: Final = ("+-- ", "`-- ", "|   ", "    ")


def _drawn(branch: Branch, first: str, rest: str, art: tuple[str, str, str, str]) -> Iterator[str]:
    fork, corner, pass_by, blank = art
    hanging = pass_by if branch.children else blank
    for index, line in enumerate(branch.lines):
        yield f"{first if index == 0 else rest + hanging}{_plain(line)}"
    for index, child in enumerate(branch.children):
        last = index == len(branch.children) - 1
        yield from _drawn(child, rest + (corner if last else fork), rest + (blank if last else pass_by), art)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    lines = [[column.heading.upper() for column in columns], *rows]
    widths = [max(_width(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        cells = []
        for column, text, width in zip(columns, line, widths, strict=True):
            blanks = " " * (width - _width(text))
            cells.append(blanks + text if column.numeric else text + blanks)
        yield "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """Columns that a text takes: letters of East Asian scripts take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
