"""A model's endpoint in the test's own process: speaks chat completions and messages, and misbehaves on request."""
from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG_SECONDS = 1.5
"""How long a server that hangs does so: longer than any time-out of a test."""


@dataclass(frozen=True)
class Asked:
    """One request as the server got it."""

    path: str
    headers: Mapping[str, str]
    payload: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The text of its only message."""
        (message,) = self.payload["messages"]
        assert message["role"] == "user"
        text = message["content"]
        assert isinstance(text, str)
        return text

    @property
    def wants_schema(self) -> bool:
        """Whether it insists on a JSON schema."""
        return "response_format" in self.payload or "output_config" in self.payload


Behaviour = Callable[["Handler", Asked], None]


@dataclass
class ModelServer:
    """The endpoint: what it was asked, and what it does next. The last behaviour stays."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    behaviours: list[Behaviour] = field(default_factory=list)

    def will(self, *behaviours: Behaviour) -> None:
        """Behave so from now on, one after the other."""
        self.behaviours[:] = behaviours

    def next_behaviour(self) -> Behaviour:
        """What to do with this request."""
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, notes it, and behaves."""

    endpoint: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        payload = json.loads(self.rfile.read(length))
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, payload)
        self.endpoint.asked.append(asked)
        try:
            self.endpoint.next_behaviour()(self, asked)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def reply(
        self, body: bytes, *, status: int = 200, kind: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole reply."""
        self.start(len(body), status=status, kind=kind, headers=headers)
        self.wfile.write(body)

    def start(
        self, length: int, *, status: int = 200, kind: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        """The head of a reply of so many bytes."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server on a free port of this machine, until the block ends."""

    class Bound(Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Bound) as http:
        http.daemon_threads = True
        http.block_on_close = False
        endpoint = ModelServer(f"http://127.0.0.1:{http.server_address[1]}")
        Bound.endpoint = endpoint
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
        thread.start()
        try:
            yield endpoint
        finally:
            http.shutdown()
            thread.join()


def message_body(
    asked: Asked,
    text: str | None,
    *,
    finish: str | None = None,
    reasoning: str | None = None,
    tool: str | None = None,
) -> bytes:
    """A well-formed reply in the dialect of the request's path."""
    if asked.path.endswith("/messages"):
        blocks: list[dict[str, Any]] = []
        if reasoning is not None:
            blocks.append({"type": "thinking", "thinking": reasoning, "signature": "s"})
        if text is not None:
            blocks.append({"type": "text", "text": text})
        if tool is not None:
            blocks.append({"type": "tool_use", "id": "t1", "name": tool, "input": {}})
        stop = {"length": "max_tokens", "content_filter": "refusal", None: "end_turn"}.get(finish, finish)
        return json.dumps({
            "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": stop,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }).encode()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if tool is not None:
        message["tool_calls"] = [{"id": "t1", "type": "function", "function": {"name": tool, "arguments": "{}"}}]
    choice = {"index": 0, "message": message, "finish_reason": finish or "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "prompt_tokens_details": {"cached_tokens": 0}}
    return json.dumps({"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}).encode()


def says(text: str | None, **how: Any) -> Behaviour:
    """Answers with this text, schema or not."""
    return lambda handler, asked: handler.reply(message_body(asked, text, **how))


def refuses_schemas(then: Behaviour) -> Behaviour:
    """Refuses every request with a schema, and behaves otherwise."""

    def behave(handler: Handler, asked: Asked) -> None:
        if asked.wants_schema:
            handler.reply(b'{"error": {"message": "response_format is not supported"}}', status=400)
        else:
            then(handler, asked)

    return behave


def fails(status: int, message: str = "no", *, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answers with an error of the usual form."""
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return lambda handler, _asked: handler.reply(body, status=status, headers=headers)


def sends(body: bytes, *, status: int = 200, kind: str = "application/json") -> Behaviour:
    """Answers with these bytes."""
    return lambda handler, _asked: handler.reply(body, status=status, kind=kind)


def hangs(handler: Handler, _asked: Asked) -> None:
    """Says nothing for longer than anybody waits."""
    time.sleep(HANG_SECONDS)
    handler.close_connection = True


def resets_at_once(handler: Handler, _asked: Asked) -> None:
    """Drops the connection before a reply."""
    _reset(handler)


def resets_in_the_body(handler: Handler, asked: Asked) -> None:
    """Drops the connection in the middle of a good reply."""
    body = message_body(asked, "## Goal\nShip it.")
    handler.start(len(body))
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    _reset(handler)


def drips(handler: Handler, asked: Asked) -> None:
    """Sends a good reply a byte at a time, each in time, all of it too late."""
    body = message_body(asked, "## Goal\nShip it.")
    handler.start(len(body))
    for byte in body:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.02)


def drips_an_error(handler: Handler, _asked: Asked) -> None:
    """Sends an error, and its body a byte at a time."""
    handler.start(1_000, status=500)
    _drip(handler)


def drips_the_head(handler: Handler, _asked: Asked) -> None:
    """Sends a good status, and a header a byte at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    _drip(handler)


def _drip(handler: Handler) -> None:
    for _ in range(200):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.02)
    handler.close_connection = True


def floods(handler: Handler, _asked: Asked) -> None:
    """Sends without end."""
    _flood(handler, 200)


def floods_an_error(handler: Handler, _asked: Asked) -> None:
    """Sends an error without end."""
    _flood(handler, 500)


def _flood(handler: Handler, status: int) -> None:
    handler.start(100_000_000, status=status)
    while True:
        handler.wfile.write(b" " * 50_000)


def _reset(handler: Handler) -> None:
    # Lingering for no time makes the system send a reset in place of an orderly end.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
    handler.wfile = _Nowhere()  # type: ignore[assignment] # the base class flushes what nobody can receive any more


class _Nowhere:
    closed = False

    def flush(self) -> None:
        """Nothing is left to send."""

    def close(self) -> None:
        """Nothing is open."""
