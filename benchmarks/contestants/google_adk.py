"""``DatabaseSessionService`` of google-adk; it commits every event by itself."""
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.contestants.contestant import AsyncContestant
from benchmarks.payloads import Message


class GoogleAdk(AsyncContestant):
    """An event a message."""

    def open(self, path: str) -> None:
        """Open a service on a new file and begin a session."""
        sessions = import_module("google.adk.sessions")
        self._service: Any = sessions.DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{path}")
        self._event: Any = import_module("google.adk.events").Event
        self._types: Any = import_module("google.genai.types")
        self._session: Any = self.run(self._service.create_session(app_name="app", user_id="user", session_id="session"))

    async def append_async(self, turn: Sequence[Message]) -> None:
        """Append the events of a turn, one after another."""
        for message in turn:
            await self._service.append_event(self._session, self._made(message))

    def load(self) -> int:
        """Get the session with its events."""
        return len(self.run(self._service.get_session(app_name="app", user_id="user", session_id="session")).events)

    def last(self, count: int) -> int:
        """Get the session with its last events."""
        config = import_module("google.adk.sessions.base_session_service").GetSessionConfig(num_recent_events=count)
        found = self.run(
            self._service.get_session(app_name="app", user_id="user", session_id="session", config=config)
        )
        return len(found.events)

    def make_sessions(self, count: int) -> None:
        """A session each."""

        async def all_of_them() -> None:
            for number in range(count):
                await self._service.create_session(app_name="app", user_id="user", session_id=f"session-{number}")

        self.run(all_of_them())

    def list_sessions(self, count: int) -> int:
        """List the user's sessions; it has no pages."""
        return min(count, len(self.run(self._service.list_sessions(app_name="app", user_id="user")).sessions))

    def _made(self, message: Message) -> Any:
        types = self._types
        parts = [types.Part(text=message["content"])]
        author = "user" if message["role"] == "user" else "agent"
        for call in message.get("tool_calls", ()):
            arguments = {"arguments": call["function"]["arguments"]}
            made = types.FunctionCall(id=call["id"], name=call["function"]["name"], args=arguments)
            parts.append(types.Part(function_call=made))
        if message["role"] == "tool":
            answer = {"result": message["content"]}
            result = types.FunctionResponse(id=message["tool_call_id"], name="search_files", response=answer)
            parts = [types.Part(function_response=result)]
        return self._event(author=author, content=types.Content(role="user" if author == "user" else "model", parts=parts))
