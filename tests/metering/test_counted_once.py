"""A message is counted once in its life, whoever asks and however often: counting is the slowest part of a plan."""
from __future__ import annotations

from collections import Counter

from sessionstore import SessionStore


class RecordingCounter:
    """Counts four characters a token, and keeps every text that it was asked for."""

    method = "recording"

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def count(self, text: str) -> int:
        self.asked[text] += 1
        return max(1, len(text) // 4)


def spoken(said: list[str]) -> list[dict[str, str]]:
    """The texts as messages of user and assistant in turn."""
    return [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(said)]


def test_a_plan_of_2000_messages_encodes_no_message_twice(database_url: str) -> None:
    """METER-1: by pressure, by a dry run, by the compaction and by what comes after it, through two handles."""
    counter = RecordingCounter()
    said = [f"message {number:04d}: " + "words that were said " * 10 for number in range(2_000)]
    with SessionStore.open(database_url, counter=counter) as store:
        session = store.create_session("a", context_window=64_000)
        session.append(spoken(said))
        assert session.pressure().due
        session.compact(dry_run=True)
        result = store.session("a").compact()
        assert result.status == "committed"
        result.session.pressure()
        result.session.undo_compaction().pressure()
    assert [text for text in said if counter.asked[text] != 1] == []


def test_a_dry_run_of_what_was_never_counted_counts_each_message_once(database_url: str) -> None:
    """A dry run writes nothing, not even counts, so only it and what follows may each count."""
    counter = RecordingCounter()
    said = [f"message {number:03d}: " + "words that were said " * 10 for number in range(200)]
    with SessionStore.open(database_url, counter=counter) as store:
        session = store.create_session("a", context_window=8_000)
        session.append(spoken(said))
        session.compact(dry_run=True)
    assert [text for text in said if counter.asked[text] != 1] == []
