"""Todo lists in the ledger: given whole, or todo by todo under the ids that the tool gives them."""
from __future__ import annotations

from sessionstore.domain.ledger.collector import FactCollector, fact_key
from sessionstore.domain.ledger.entry import LedgerEntry
from sessionstore.domain.ledger.todo_items import TodoItem, listed_in, made_identity
from sessionstore.domain.ledger.tool_uses import ToolUse
from sessionstore.domain.redaction import redact

_OPEN: tuple[str, ...] = ("pending", "in_progress")


class TodoReader:
    """Reads what calls say of todos; knows which todo has which id, also of those that an earlier ledger has."""

    def __init__(self, collector: FactCollector) -> None:
        self._collector = collector
        self._given: dict[str, dict[str, int]] = {}
        for todo in collector.of_kind("todo"):
            for identity in todo.about.split("\n"):
                self._given.setdefault(identity, {})[todo.key] = todo.last_seq

    def read(self, use: ToolUse, text: str, seq: int, *, failed: bool) -> None:
        """Note the todos of one call, whose result is ``text``."""
        if failed:
            return
        if not use.changes_todos:
            self._whole(use, seq)
        else:
            for item in use.todos:
                self._change(item, text, seq)
            for item in () if use.todos else listed_in(text):
                if self._known(item, seq) is None:
                    self._change(item, "", seq)
                else:
                    # A list may show a todo with more than its text.
                    self._change(TodoItem(item.identity, "", item.status), "", seq)

    def _whole(self, use: ToolUse, seq: int) -> None:
        listed = set()
        for item in use.todos:
            todo = self._put(item.content, item.status, seq)
            self._give_id(todo, item.identity, seq)
            listed.add(todo.key)
        for todo in self._collector.of_kind("todo"):
            if todo.key not in listed and todo.last_seq < seq and todo.outcome in _OPEN:
                self._collector.add("todo", todo.key, todo.text, seq, source="call", outcome="taken off the list")

    def _change(self, item: TodoItem, result: str, seq: int) -> None:
        known = self._known(item, seq)
        if known is None:
            identity = item.identity or made_identity(result)
            todo = self._put(item.content or f"todo {identity}", item.status or "pending", seq)
            self._give_id(todo, identity, seq)
        elif item.content and fact_key(redact(item.content)) != known.key:
            self._collector.add("todo", known.key, known.text, seq, source="call", outcome="worded anew")
            self._give_id(self._put(item.content, item.status or known.outcome, seq), item.identity, seq)
        else:
            self._collector.add("todo", known.key, known.text, seq, source="call", outcome=item.status)

    def _known(self, item: TodoItem, seq: int) -> LedgerEntry | None:
        """The todo that has an id at ``seq``: one that was seen there, else the one that got it last before."""
        given = self._given.get(item.identity, {}) if item.identity else {}
        found = [todo for key in given if (todo := self._collector.get("todo", key)) is not None and todo.seqs[0] <= seq]
        found = [todo for todo in found if seq in todo.seqs] or [todo for todo in found if given[todo.key] <= seq] or found
        return max(found, key=lambda todo: (given[todo.key], todo.seqs[0]), default=None)

    def _put(self, content: str, status: str, seq: int) -> LedgerEntry:
        return self._collector.add("todo", redact(content), redact(content), seq, source="call", outcome=status)

    def _give_id(self, todo: LedgerEntry, identity: str, seq: int) -> None:
        if identity:
            self._collector.name(todo, identity)
            given = self._given.setdefault(identity, {})
            given[todo.key] = max(seq, given.get(todo.key, seq))
