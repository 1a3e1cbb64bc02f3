"""Flushes, appends and compactions in any order, against a plain list."""
from __future__ import annotations

import tempfile
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sessionstore import ConflictError, Session, SessionEndedError, SessionStore, StaleCursorError
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, WINDOW, Message, talk

SAID = st.sampled_from(["continue", "ok", "yes", "no"])


class FlushMachine(RuleBasedStateMachine):
    """One lineage, several handles, and lists that callers keep in memory, some of them long stale."""

    def __init__(self) -> None:
        super().__init__()
        # A file of its own: the fixtures of a test function live for all examples of a state machine.
        self.folder = tempfile.TemporaryDirectory()
        self.store = SessionStore.open(f"sqlite:///{self.folder.name}/store.db", durability="normal", counter=PieceCounter())
        self.log: list[Message] = []
        self.model: list[Message] = []
        self.stale: list[list[Message]] = [[]]
        self.handles: list[Session] = []
        self.compactions = 0

    @initialize()
    def begin(self) -> None:
        self.handles = [self.store.create_session("a", context_window=WINDOW)]
        self.grow(talk(24))

    def grow(self, new: list[Message]) -> None:
        self.handles[-1].flush([*self.model, *new])
        self.model = [*self.model, *new]
        self.log += new

    @rule(said=st.lists(SAID, min_size=0, max_size=3), fresh=st.booleans())
    def flush_more(self, said: list[str], fresh: bool) -> None:
        new: list[Message] = [{"role": "user", "content": text} for text in said]
        handle = self.store.resume("a") if fresh else self.handles[-1]
        before = len(self.log)
        self.stale.append(self.model)
        assert handle.flush([*self.model, *new]) == list(range(before, before + len(new)))
        self.model = [*self.model, *new]
        self.log += new
        if fresh:
            self.handles.append(handle)

    @rule(said=SAID, data=st.data())
    def append_through_any_handle(self, said: str, data: st.DataObject) -> None:
        message = {"role": "user", "content": said}
        handle = data.draw(st.sampled_from(self.handles))
        assert handle.append(message) == [len(self.log)]
        self.stale.append(self.model)
        self.model = [*self.model, message]
        self.log.append(message)

    @rule(count=st.integers(12, 20))
    def compact(self, count: int) -> None:
        self.grow(talk(count, start=len(self.log)))
        old = self.handles[-1]
        self.stale.append(self.model)
        result = old.compact(policy=SMALL)
        if result.status != "committed":
            assert result.messages == self.model
            return
        self.compactions += 1
        self.log += [row.message for row in old.history(len(self.log), 10**6)]
        self.model = result.messages
        self.handles.append(result.session)
        assert result.session.flush(self.model) == []

    @rule()
    def undo(self) -> None:
        if not self.compactions:
            return
        session = self.handles[-1].undo_compaction()
        self.compactions -= 1
        self.stale.append(self.model)
        self.model = session.context()
        self.handles.append(session)

    @rule(data=st.data())
    def flush_what_is_no_continuation(self, data: st.DataObject) -> None:
        messages = data.draw(st.sampled_from(self.stale))
        handle: Session = data.draw(st.sampled_from([self.store.resume("a"), *self.handles]))
        ended = handle.record().end_reason is not None
        begins_with_context = messages[: len(self.model)] == self.model
        before: dict[str, Any] = {"rows": len(self.log), "context": self.model}
        if begins_with_context and not ended:
            return
        try:
            handle.flush(messages)
        except SessionEndedError:
            assert ended
        except (StaleCursorError, ConflictError):
            assert not ended
        else:
            raise AssertionError(f"a stale list of {len(messages)} passed for {before}")

    @invariant()
    def the_store_agrees_with_the_lists(self) -> None:
        if not self.handles:
            return
        tip = self.store.resume("a")
        assert tip.context() == self.model
        assert tip.record().flush_cursor == len(self.model)
        assert tip.record().next_seq == len(self.log)
        assert [row.message for row in tip.history(0, 10**6)] == self.log

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


FlushMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestFlushAgainstAList = FlushMachine.TestCase
TestFlushAgainstAList.__doc__ = "FLUSH-1, FLUSH-2, FLUSH-3, LIN-9: any order of flushes, appends, compactions and undos."
