"""A transcript of sixty messages, written by hand: an agent that repairs a small web service, as chat messages."""
from __future__ import annotations

from typing import Final

from tests.ledger.dialects import Message, Turn, call, chat

_TODO: Final = ["Reproduce the double charge", "Fix the retry", "Write a regression test", "Update the changelog"]


def _todos(*statuses: str) -> Turn:
    listed = [{"content": text, "status": status} for text, status in zip(_TODO, statuses, strict=True)]
    return call("TodoWrite", "Todos have been modified", todos=listed)


TURNS: Final[tuple[Turn, ...]] = (
    (
        "user",
        "Customers are charged twice when the gateway times out (ticket PAY-2291). Find out why and fix it.\n\
Never call the live gateway. The sandbox is at https://sandbox.gateway.invalid/v3.",
    ),
    ("assistant", "I'll start with the code that talks to the gateway."),
    _todos("in_progress", "pending", "pending", "pending"),
    call("bash", "billing\nREADME.md\ntests\n[exit 0]", command="ls /srv/shop"),
    call("Grep", "billing/charge.py:41\nbilling/retry.py:12", pattern="def charge", path="/srv/shop/billing"),
    call("Read", "def charge(order):\n    return post(order)", file_path="/srv/shop/billing/charge.py"),
    call("Read", "def retry(call, attempts=3):\n    ...", file_path="/srv/shop/billing/retry.py"),
    call(
        "bash",
        "FAILED tests/test_retry.py::test_timeout_charges_once - AssertionError: 2 != 1\n1 failed in 2.1s\n[exit 1]",
        command="pytest -q tests/test_retry.py",
    ),
    ("assistant", "Root cause: `retry()` posts again after a timeout without an idempotency key."),
    ("user", "Which orders are affected?"),
    call("bash", '{"output": "417 rows\\n", "exit_code": 0}', command="python scripts/affected.py --since 2031-04-02"),
    ("assistant", "417 orders since 2031-04-02 are affected, all from batch b_77f01c9d.\n\nShould the fix refund them too?"),
    ("user", "No, only stop it. Refunds are done by finance. Use at most 3 attempts."),
    _todos("completed", "in_progress", "pending", "pending"),
    (
        "assistant",
        "I'll use an idempotency key instead of a lock because the gateway already honours the Idempotency-Key header.",
    ),
    call(
        "bash", "Switched to a new branch 'fix/double-charge'\n[exit 0]",
        command="cd /srv/shop && git checkout -b fix/double-charge",
    ),
    call(
        "Edit", "Error: old_string was not found in the file.",
        file_path="/srv/shop/billing/retry.py", old_string="a", new_string="b",
    ),
    call("Edit", "The file has been updated.", file_path="/srv/shop/billing/retry.py", old_string="def", new_string="def"),
    call("Edit", "The file has been updated.", file_path="/srv/shop/billing/charge.py", old_string="x", new_string="y"),
    call("bash", "15 passed in 2.04s\n[exit 0]", command="pytest -q tests/test_retry.py"),
    call("bash", "[fix/double-charge 9c41e7a] Send an idempotency key\n 2 files changed\n[exit 0]",
         command="git commit -qam 'Send an idempotency key'"),
    ("user", "The sandbox is now at https://sandbox2.gateway.invalid/v3."),
    _todos("completed", "completed", "in_progress", "pending"),
    call("Write", "File created.", file_path="/srv/shop/tests/test_double_charge.py", content="def test(): ..."),
    call("bash", "ModuleNotFoundError: No module named 'responses'\n[exit 2]", command="pytest -q tests/test_double_charge.py"),
    call("bash", "ERROR: Could not find a version that satisfies the requirement responses==0.25.3\n[exit 1]",
         command="pip install responses==0.25.3"),
    ("assistant", "The index is not reachable from here. Next: vendor the stub in tests/stubs.py, then update the changelog."),
    ("user", "Go on, and keep the stub under 40 lines."),
    call("Write", "File created.", file_path="/srv/shop/tests/stubs.py", content="class Stub: ..."),
    call("bash", "", command="sleep 1"),
    ("assistant", "Stub written."),
    ("user", "Thanks. Now run everything and update the changelog for version 2.4.1."),
)


def messages() -> list[Message]:
    """The messages in OpenAI's form."""
    return chat(TURNS)
