"""Properties of pruning over random transcripts in all dialects."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.pruning import Rendition, prune
from sessionstore.domain.transcript import Entry, pair_calls
from tests.counters import PieceCounter
from tests.transcripts import contexts

COUNTER = PieceCounter()
POLICIES = st.builds(
    CompactionPolicy,
    keep_tool_results=st.sampled_from([0, 1, 3]),
    max_tool_chars=st.sampled_from([0, 20, 200]),
    prune_args_over=st.sampled_from([30, 500]),
    cut_args_to=st.sampled_from([10, 200]),
    protected_tools=st.sampled_from([frozenset(), frozenset({"bash"})]),
    protected_arg_keys=st.sampled_from([frozenset(), frozenset({"command"})]),
)
OVERSIZED = st.sampled_from([None, 5, 60])


def pruned(entries: Sequence[Entry], renditions: Sequence[Rendition]) -> list[Entry]:
    """The context with the renditions in the places of the rows they stand for."""
    by_seq = {rendition.source_seq: rendition for rendition in renditions}
    return [
        Entry(entry.seq + 10_000, "rendition", by_seq[entry.seq].message, by_seq[entry.seq].origin_seq)
        if entry.seq in by_seq
        else entry
        for entry in entries
    ]


def tokens(entry: Entry) -> int:
    """What a message's calls and results cost, images at the price of the policy."""
    view = entry.view
    arguments = sum(COUNTER.count(call.arguments) for call in view.calls)
    return arguments + sum(COUNTER.count(result.text) + result.images * 1_000 for result in view.results)


@given(entries=contexts(), policy=POLICIES, oversized=OVERSIZED)
@settings(max_examples=250, deadline=None)
def test_pruning_twice_is_pruning_once(entries: list[Entry], policy: CompactionPolicy, oversized: int | None) -> None:
    """SHRINK-1: repeating it without new work does nothing."""
    stop = len(entries)
    first = prune(entries, start=0, stop=stop, policy=policy, oversized_tokens=oversized, counter=COUNTER)
    context = pruned(entries, first)
    assert prune(context, start=0, stop=stop, policy=policy, oversized_tokens=oversized, counter=COUNTER) == ()


def test_an_output_is_pruned_at_once_where_its_line_is_only_short_with_the_arguments_cut() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": json.dumps({"command": "y" * 900})}
    output = {"type": "function_call_output", "call_id": "c1", "output": "x" * 260}
    entries = [Entry(0, "message", call), Entry(1, "message", output)]
    policy = CompactionPolicy(keep_tool_results=0, max_tool_chars=0, prune_args_over=30, cut_args_to=10)
    first = prune(entries, start=0, stop=2, policy=policy, oversized_tokens=None, counter=COUNTER)
    assert [rendition.reason for rendition in first] == ["arguments", "output"]
    assert prune(pruned(entries, first), start=0, stop=2, policy=policy, oversized_tokens=None, counter=COUNTER) == ()


@given(entries=contexts(), policy=POLICIES, oversized=OVERSIZED)
@settings(max_examples=250, deadline=None)
def test_no_message_grows_and_all_keep_their_shape(
    entries: list[Entry], policy: CompactionPolicy, oversized: int | None
) -> None:
    """SHRINK-1, PRUNE-1, LOG-4: ids, roles, error flags and the pairing stay; arguments stay JSON; the input stays."""
    before = copy.deepcopy([entry.message for entry in entries])
    renditions = prune(entries, start=0, stop=len(entries), policy=policy, oversized_tokens=oversized, counter=COUNTER)
    assert [entry.message for entry in entries] == before
    context = pruned(entries, renditions)
    for old, new in zip(entries, context, strict=True):
        if old is new:
            continue
        assert tokens(new) < tokens(old)
        assert list(new.message) == list(old.message)
        assert [call.call_id for call in new.view.calls] == [call.call_id for call in old.view.calls]
        assert [result.call_id for result in new.view.results] == [result.call_id for result in old.view.results]
        assert [result.is_error for result in new.view.results] == [result.is_error for result in old.view.results]
        assert new.view.text == old.view.text or "\ud83d" in json.dumps(old.message, ensure_ascii=False)
        for call in new.view.calls:
            assert isinstance(json.loads(call.arguments), dict)
        json.dumps(new.message, ensure_ascii=False).encode("utf-8")
    old_pairs, new_pairs = pair_calls(entries), pair_calls(context)
    assert [(pair.call_index, pair.result_index) for pair in old_pairs.calls] == [
        (pair.call_index, pair.result_index) for pair in new_pairs.calls
    ]


@given(entries=contexts(), policy=POLICIES, bounds=st.tuples(st.integers(0, 20), st.integers(0, 20)))
@settings(max_examples=150, deadline=None)
def test_head_and_tail_are_not_touched(entries: list[Entry], policy: CompactionPolicy, bounds: tuple[int, int]) -> None:
    """PRUNE-1."""
    start, stop = sorted(min(bound, len(entries)) for bound in bounds)
    renditions = prune(entries, start=start, stop=stop, policy=policy, oversized_tokens=None, counter=COUNTER)
    inside = {entry.seq for entry in entries[start:stop]}
    assert {rendition.source_seq for rendition in renditions} <= inside


@given(entries=contexts(), policy=POLICIES)
@settings(max_examples=150, deadline=None)
def test_back_references_name_a_row_that_holds_the_full_text(entries: list[Entry], policy: CompactionPolicy) -> None:
    """PRUNE-1."""
    context = pruned(
        entries,
        prune(entries, start=0, stop=len(entries), policy=policy, oversized_tokens=None, counter=COUNTER),
    )
    whole = {entry.seq: {result.text for result in entry.view.results} for entry in context if entry.kind != "rendition"}
    for old, new in zip(entries, context, strict=True):
        for before, after in zip(old.view.results, new.view.results, strict=True):
            if after.text.startswith("[same output as #") and after.text != before.text:
                named = int(after.text.removeprefix("[same output as #").split("]")[0])
                assert before.text in whole[named]
