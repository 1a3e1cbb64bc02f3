"""Made-up conversations of any size, the same for everybody; nothing here needs more than the standard library."""
from __future__ import annotations

import json
import random
from typing import Any

Message = dict[str, Any]

WORDS = (
    "account", "address", "amount", "answer", "archive", "article", "balance", "basket", "branch", "budget", "buffer",
    "button", "cache", "calendar", "catalogue", "channel", "chapter", "client", "column", "command", "contract", "copy",
    "counter", "currency", "customer", "delivery", "department", "detail", "device", "directory", "document", "domain",
    "draft", "editor", "engine", "entry", "error", "estimate", "event", "example", "export", "factor", "failure",
    "feature", "field", "figure", "filter", "folder", "format", "function", "gateway", "group", "handler", "header",
    "history", "image", "import", "index", "inventory", "invoice", "journal", "kernel", "label", "language", "layer",
    "ledger", "letter", "limit", "list", "loader", "machine", "margin", "market", "measure", "member", "memory",
    "message", "method", "minute", "model", "module", "monitor", "network", "notice", "number", "object", "office",
    "option", "order", "package", "page", "parser", "partner", "password", "pattern", "payment", "period", "picture",
    "pipeline", "plan", "point", "policy", "position", "price", "process", "product", "profile", "project", "queue",
    "quota", "range", "reader", "reason", "record", "region", "release", "report", "request", "result", "route", "sample",
    "schema", "screen", "section", "segment", "sender", "server", "service", "session", "signal", "size", "source",
    "stage", "state", "station", "status", "step", "storage", "stream", "string", "summary", "supplier", "support",
    "surface", "switch", "symbol", "system", "table", "target", "task", "template", "tenant", "test", "text", "thread",
    "ticket", "title", "token", "tool", "total", "track", "trade", "transfer", "tree", "trigger", "type", "unit",
    "update", "upload", "user", "value", "vendor", "version", "view", "volume", "warehouse", "warning", "window",
    "worker", "writer",
)


def prose(source: random.Random, characters: int) -> str:
    """Words in sentences, about so many characters of them."""
    parts: list[str] = []
    length = 0
    while length < characters:
        sentence = " ".join(source.choices(WORDS, k=source.randint(6, 14))).capitalize() + "."
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)[:characters]


def turn(number: int, body_bytes: int) -> list[Message]:
    """A turn: what the user says, the assistant with a call, and the call's result, each about ``body_bytes`` of JSON."""
    source = random.Random(number)
    text = prose(source, 3 * body_bytes)
    call = f"call_{number}"
    arguments = json.dumps({"path": f"src/{source.choice(WORDS)}_{number}.py", "pattern": source.choice(WORDS)})
    room = max(8, body_bytes - 35)
    spoken = max(8, body_bytes - 190 - len(arguments))
    function = {"name": "search_files", "arguments": arguments}
    return [
        {"role": "user", "content": text[:room]},
        {
            "role": "assistant",
            "content": text[room : room + spoken],
            "tool_calls": [{"id": call, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call, "content": text[-max(8, body_bytes - 65) :]},
    ]


def messages(count: int, body_bytes: int, first_turn: int = 0) -> list[Message]:
    """So many messages, in turns."""
    found: list[Message] = []
    number = first_turn
    while len(found) < count:
        found += turn(number, body_bytes)
        number += 1
    return found[:count]


def payload_bytes(listed: list[Message]) -> int:
    """Bytes of the messages as JSON, written as short as it can be."""
    return sum(len(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()) for one in listed)
