"""Fits the table of the token estimate and prints it: `python benchmarks/fit_estimate.py`.

A token never crosses a piece, so nothing has to be regressed: the number for a kind and length is the mean of
the exact counts of all such pieces in the texts below. A kind whose pieces come in any length gets one number
a character for what is longer than its row.
"""

from __future__ import annotations

import base64
import random
import sysconfig
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final, get_args

from sessionstore.counting import VocabularyCounter
from sessionstore.counting.pieces import Kind, cut, shape

LONGEST: Final = {"word": 15, "glued": 15, "joined": 15, "led": 15, "loud": 12, "random": 8, "punctuation": 12, "symbol": 4}
"""Lengths that have a number of their own; a kind that isn't listed goes by the character alone."""
NOT_FITTED: Final = ("run", "rule", "wide rule", "spaces", "line ends", "digits")
"""Kinds whose numbers were read off by counting a few of them: they hardly vary."""
FEWEST: Final = 20
"""Pieces that a length must have been seen with; below that the row ends."""


def texts() -> Iterator[str]:
    """What is fitted on: this Python's library, its language reference, texts of our own, random strings."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = sorted([*library.glob("*.py"), *library.glob("[a-z]*/*.py")])
    for file in modules:
        if file.parent.name not in {"test", "encodings", "pydoc_data", "idlelib"}:
            yield file.read_text(encoding="utf-8", errors="replace")
    yield "\n".join(f"/{file.relative_to(library).as_posix()}" for file in modules)
    yield "\n".join(topics.values())
    for file in sorted((Path(__file__).parent / "fit_texts").glob("*.txt")):
        yield file.read_text(encoding="utf-8")
    source = random.Random(20_250_101)
    for page in (*map(str.encode, topics.values()), *(source.randbytes(4_000) for _ in topics)):
        yield base64.b64encode(page[:4_000]).decode()
    for _ in range(40):
        yield source.randbytes(1_000).hex()


def main() -> None:
    """Prints the rows and the slopes of the table."""
    counter = VocabularyCounter()
    seen: dict[Kind, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for text in texts():
        pieces = cut(text)
        for found, is_random in ((pieces.ordinary, False), (pieces.random, True)):
            for piece, times in found.items():
                kind, length = shape(piece, random=is_random)
                if kind != "random" or is_random:  # not the alphabets that a library quotes
                    seen[kind][length].append((times, counter.count(piece)))
    for kind in get_args(Kind):
        if kind in NOT_FITTED:
            continue
        row: list[float] = []
        for length in range(1, LONGEST.get(kind, 0) + 1):
            found_here = seen[kind][length]
            times = sum(times for times, _ in found_here)
            if times >= FEWEST:
                row.append(sum(times * tokens for times, tokens in found_here) / times)
            elif row:
                break
            else:
                row.append(1.0)  # a length that the kind cannot have, one letter being two capitals
        longer = [
            (times * (tokens - sum(row[-1:])), times * (length - len(row)))
            for length, found_here in seen[kind].items()
            for times, tokens in found_here
            if length > len(row)
        ]
        slope = sum(tokens for tokens, _ in longer) / sum(characters for _, characters in longer)
        print(f'    "{kind}": Row(({", ".join(f"{mean:.2f}" for mean in row)}), {slope:.2f}),')  # noqa: T201 - the table is what it is for


if __name__ == "__main__":
    main()
