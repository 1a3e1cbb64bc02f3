"""Counting tokens: milliseconds a megabyte, by kind of text and by method."""
from __future__ import annotations

import base64
import json
import random
from functools import partial
from pathlib import Path
from pydoc_data.topics import topics

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Cell, Table, milliseconds
from benchmarks.settings import Settings
from benchmarks.timing import Times, interleaved, memory_peak, timed
from sessionstore.counting import EstimatingCounter, VocabularyCounter
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.errors import VocabularyError

CJK = (
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里"
    "所去行过家十用发天如然作方成者多日都三小军二无同主经公此已工使情明性知全道高物现意间样想新"
)


def count_tokens(settings: Settings) -> list[Table]:
    """Every kind with the counter that knows the vocabulary, and with the estimate."""
    counters: list[TokenCounter] = [EstimatingCounter()]
    notes = [f"texts of {settings.pick(1_000, 50)} kB of characters, cut into messages of 4,000; {load()}"]
    try:
        exact = VocabularyCounter()
        exact.count("load the vocabulary")
        counters.insert(0, exact)
    except VocabularyError as error:
        notes.append(f"no exact counter: {error}")
    rows: list[tuple[Cell, ...]] = []
    for kind, text in texts(settings.pick(1_000_000, 50_000)).items():
        messages = [text[begin : begin + 4_000] for begin in range(0, len(text), 4_000)]
        megabytes = len(text.encode()) / 1e6
        with memory_peak() as peak:
            times = interleaved(
                [partial(_seconds, counter, messages) for counter in counters],
                settings.pick(3, 1),
            )
        for counter, found in zip(counters, times, strict=True):
            tokens = sum(counter.count(one) for one in messages)
            rows.append((kind, counter.method, milliseconds(_each(found, megabytes)), tokens, peak.megabytes))
    return [Table("Count tokens", ("text", "method", "ms a MB", "tokens", "peak MB"), tuple(rows), tuple(notes))]


def texts(characters: int) -> dict[str, str]:
    """A text of each kind, of so many characters: this Python's own documentation and library, and generated ones."""
    source = random.Random(7)
    library = sorted(Path(json.__file__).parent.parent.glob("*.py"))
    code = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in library)
    rows = [{"id": row, "name": source.choice(payloads.WORDS), "amount": source.random()} for row in range(characters // 40)]
    log = "\n".join(
        f"2026-03-{source.randint(1, 28):02d}T10:{source.randint(0, 59):02d}:11Z INFO worker-{source.randint(1, 9)} "
        f"{source.choice(payloads.WORDS)} took {source.randint(1, 9999)} ms"
        for _ in range(characters // 50)
    )
    made = {
        "prose": "\n".join(topics.values()),
        "source code": code,
        "JSON": json.dumps(rows),
        "log lines": log,
        "Chinese": "".join(source.choices(CJK, k=characters)),
        "base64": base64.b64encode(source.randbytes(characters)).decode(),
        "one letter": "a" * characters,
        "spaces": " " * characters,
    }
    return {kind: (text * (characters // max(1, len(text)) + 1))[:characters] for kind, text in made.items()}


def _seconds(counter: TokenCounter, messages: list[str]) -> float:
    return timed(lambda: [counter.count(one) for one in messages])


def _each(times: Times, megabytes: float) -> float:
    return times.median / megabytes
