"""The work that facts are planted in: made-up turns of a coding agent, or turns of real transcripts."""
from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.corpus.readers import conversations, corpus_files
from benchmarks.payloads import WORDS, Message, prose
from benchmarks.retention.facts import KINDS, Fact, plant
from sessionstore.domain.token_counter import TokenCounter

LEG_TOKENS = 40_000
EACH_KIND = 5
LONGEST_TURN = 8_000
"""Tokens of a real turn above which it is left out: one such would be a fifth of a leg."""


@dataclass(frozen=True, slots=True)
class Leg:
    """Forty thousand tokens of work with the facts in it."""

    messages: list[Message]
    facts: list[Fact]


def legs(kind: str, counter: TokenCounter, seed: int) -> Iterator[Leg]:
    """Legs without end, the same for a seed; ``kind`` is ``synthetic`` or ``real``."""
    source = random.Random(f"{kind} {seed}")
    turns = _real_turns(counter, source) if kind == "real" else _made_turns(source)
    number = 0
    while True:
        planted = [plant(fact_kind, source, 100 + (number := number + 1)) for fact_kind in KINDS for _ in range(EACH_KIND)]
        source.shuffle(planted)
        left = LEG_TOKENS - sum(tokens_of(one.turn, counter) for one in planted)
        work: list[list[Message]] = []
        while left > 0:
            work.append(next(turns))
            left -= tokens_of(work[-1], counter)
        places = sorted(source.randrange(len(work) + 1) for _ in planted)
        messages: list[Message] = []
        for index in range(len(work) + 1):
            for place, one in zip(places, planted, strict=True):
                if place == index:
                    messages += one.turn
            if index < len(work):
                messages += work[index]
        yield Leg(messages, [one.fact for one in planted])


def tokens_of(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Tokens of texts and call arguments."""
    return sum(counter.count(text_of(message)) for message in messages)


def text_of(message: Message) -> str:
    """Everything that a message says, its calls' arguments included, with white space made single."""
    parts: list[str] = []
    content: Any = message.get("content")
    if isinstance(content, str):
        parts.append(content)
    elif isinstance(content, list):
        parts += [block if isinstance(block, str) else _block_text(block) for block in content]
    for call in message.get("tool_calls") or ():
        parts += [call["function"]["name"], call["function"]["arguments"]]
    return " ".join(" ".join(parts).split())


def _block_text(block: dict[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else json.dumps(block, ensure_ascii=False)


def _made_turns(source: random.Random) -> Iterator[list[Message]]:
    number = 0
    while True:
        number += 1
        path = f"src/{source.choice(WORDS)}/{source.choice(WORDS)}.py"
        lines = [
            f"def {source.choice(WORDS)}_{source.choice(WORDS)}({source.choice(WORDS)}: int) -> int:\n"
            f"    return {source.choice(WORDS)} * {source.randint(2, 99)}\n"
            for _ in range(source.randint(5, 50))
        ]
        call = {"id": f"call_w{number}", "type": "function"}
        function = {"name": "read_file", "arguments": json.dumps({"path": path})}
        yield [
            {"role": "user", "content": prose(source, source.randint(80, 600))},
            {"role": "assistant", "content": prose(source, 120), "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": f"call_w{number}", "content": "\n".join(lines)},
            {"role": "assistant", "content": prose(source, source.randint(100, 900))},
        ]


def _real_turns(counter: TokenCounter, source: random.Random) -> Iterator[list[Message]]:
    turns: list[list[Message]] = []
    for file in corpus_files():
        for conversation in conversations(file, profile="openai"):
            turns += _split(conversation)
    fitting = [turn for turn in turns if len(turn) > 1 and tokens_of(turn, counter) <= LONGEST_TURN]
    if not fitting:
        raise LookupError("there is no corpus of real transcripts; SESSIONSTORE_CORPUS names its folder")
    while True:
        yield source.choice(fitting)


def _split(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.get("role") == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
