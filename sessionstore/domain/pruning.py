"""Old tool traffic made smaller without a model: repeats, old outputs, long arguments, and what is too large for any place.

The log keeps the originals. What comes out of here are renditions: the same message, same ids and role, in a shorter form.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sessionstore.domain.messages import Message
from sessionstore.domain.outputs import describe_output, is_described, placeholder_for
from sessionstore.domain.outputs.content import read_output
from sessionstore.domain.outputs.cutting import cut_arguments, cut_arguments_text, cut_to_tokens
from sessionstore.domain.outputs.repeats import Output, find_repeats, list_outputs, reference_to, referenced_seq
from sessionstore.domain.outputs.rewriting import storable, with_arguments, with_results, without_reasoning
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.rules.pairs import in_flight_index
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry, pair_calls

_IMAGE_REMARK: Final = "[{count} left out]"
_FILE_REMARK: Final = "[file content left out]"
_SHORTEST_CUT: Final = 400
"""Characters below which an output is not worth cutting, however low the limit."""


@dataclass(frozen=True, slots=True)
class Rendition:
    """A message in a shorter form, to stand in the context for the row ``source_seq``.

    ``origin_seq`` is the row that was written, also when ``source_seq`` is a rendition itself. ``reason`` says what was done:
    ``duplicate``, ``output``, ``oversized``, ``image``, ``payload``, ``arguments``, ``reasoning``, several of them with commas.
    """

    origin_seq: int
    source_seq: int
    message: Message
    reason: str


def prune(
    entries: Sequence[Entry],
    *,
    start: int,
    stop: int,
    policy: CompactionPolicy,
    oversized_tokens: int | None,
    counter: TokenCounter,
) -> tuple[Rendition, ...]:
    """The renditions that make a context smaller, in its order; none of them is larger than what it stands for.

    ``entries[start:stop]`` is what may be pruned: between the protected head and tail. Outputs over ``oversized_tokens`` are
    cut wherever they stand (None: nowhere). Pruning what was pruned changes nothing.
    """
    return _Pruning(entries, range(start, stop), policy, oversized_tokens, counter).renditions()


class _Pruning:
    def __init__(
        self,
        entries: Sequence[Entry],
        inside: range,
        policy: CompactionPolicy,
        oversized: int | None,
        counter: TokenCounter,
    ) -> None:
        self._entries = entries
        self._inside = inside
        self._policy = policy
        self._oversized = oversized
        self._counter = counter
        self._outputs = list_outputs(entries, pair_calls(entries))
        self._flight = in_flight_index(entries)
        newest = self._outputs[len(self._outputs) - policy.keep_tool_results :] if policy.keep_tool_results else []
        self._newest = {output.place for output in newest}
        self._tools = {output.place: output.tool for output in self._outputs}
        self._counted: dict[tuple[int, int], int] = {}
        self._copies = self._choose_copies()
        # A row that back-references name stays as it is: it is where the full text can be read.
        self._named = {copy.index for copy in self._copies.values()} | self._already_named()

    def renditions(self) -> tuple[Rendition, ...]:
        by_entry: dict[int, list[Output]] = {}
        for output in self._outputs:
            by_entry.setdefault(output.index, []).append(output)
        shorter = {output.place: self._shorter_output(output) for output in self._outputs}
        touched = {id(output.call) for output in self._outputs if shorter[output.place] is not None}
        found = []
        for index, entry in enumerate(self._entries):
            if entry.kind == "summary":
                continue
            outputs = {output.number: shorter[output.place] for output in by_entry.get(index, ())}
            message, reasons = self._shorten(index, entry.message, outputs)
            if self._policy.drop_reasoning and self._is_free(index):
                is_touched = "arguments" in reasons or any(id(call) in touched for call in entry.view.calls)
                thoughtless = without_reasoning(message) if is_touched else message
                if thoughtless is not message:
                    message = thoughtless
                    reasons.append("reasoning")
            if reasons and message != entry.message:
                origin = entry.written_seq
                found.append(Rendition(origin, entry.seq, storable(message), ", ".join(dict.fromkeys(reasons))))
        return tuple(found)

    def _shorten(
        self, index: int, message: Message, outputs: Mapping[int, tuple[str, str] | None]
    ) -> tuple[Message, list[str]]:
        replaced = {number: shorter for number, shorter in outputs.items() if shorter is not None}
        reasons = [reason for _, reason in replaced.values()]
        if replaced:
            message = with_results(message, {number: text for number, (text, _) in replaced.items()})
        if self._is_free(index):
            with_less = with_arguments(message, lambda number, arguments: self._shorter_arguments(index, number, arguments))
            if with_less is not message:
                message = with_less
                reasons.append("arguments")
        return message, reasons

    def _shorter_output(self, output: Output) -> tuple[str, str] | None:
        """What an output becomes, with the reason; None when it stays."""
        text = output.result.text
        if output.tool in self._policy.protected_tools:
            return None
        if self._may_go(output):
            copy = self._copies.get(output.place)
            if copy is not None:
                reference = reference_to(self._entries[copy.index].seq, failure=read_output(output.result).failure)
                if self._is_smaller(reference, output):
                    return reference, "duplicate"
            elif not is_described(text) and referenced_seq(text) is None and (line := self._described(output)) is not None:
                return line
        return self._cut(output)

    def _described(self, output: Output) -> tuple[str, str] | None:
        text = output.result.text
        if len(text) > self._policy.max_tool_chars:
            line = next((line for line in self._lines(output) if self._is_smaller(line, output)), None)
            if line is not None:
                return line, "output"
        number = output.result.images
        if number or output.result.payload_tokens:
            remark = _IMAGE_REMARK.format(count=f"{number} image" + ("s" if number > 1 else "")) if number else _FILE_REMARK
            shorter = f"{text}\n{remark}" if text else remark
            if self._is_smaller(shorter, output):
                return shorter, "image" if number else "payload"
        return None

    def _lines(self, output: Output) -> Iterator[str]:
        """What may stand for an output, the best first."""
        call = output.call
        if self._policy.old_outputs != "line":
            yield placeholder_for(output.result)
            return
        yield describe_output(call, output.result)
        if call is not None:
            # As the next pruning would say it, which finds the arguments cut.
            yield describe_output(replace(call, arguments=cut_arguments_text(call.arguments, self._policy)), output.result)

    def _cut(self, output: Output) -> tuple[str, str] | None:
        text = output.result.text
        limit = self._oversized
        # A token is at least a byte, so a text of fewer bytes than the limit need not be counted.
        if limit is None or len(text) * 4 <= limit or len(text) < _SHORTEST_CUT or is_described(text):
            return None
        tokens = self._tokens(output)
        if tokens <= limit:
            return None
        entry = self._entries[output.index]
        seq = entry.written_seq
        shorter = cut_to_tokens(text, max(limit // 2, 1), self._counter, tokens=tokens, seq=seq)
        return (shorter, "oversized") if self._is_smaller(shorter, output) else None

    def _shorter_arguments(self, index: int, number: int, arguments: Any) -> Any:
        call = self._entries[index].view.calls[number]
        if call.name in self._policy.protected_tools:
            return arguments
        if isinstance(arguments, str):
            shorter = cut_arguments_text(arguments, self._policy)
            return shorter if self._counter.count(shorter) < self._counter.count(arguments) else arguments
        return self._shorter_object(arguments)

    def _shorter_object(self, arguments: Any) -> Any:
        shorter = cut_arguments(arguments, self._policy)
        if shorter == arguments:
            return arguments
        before = sum(self._counter.count(leaf) for leaf in _strings(arguments))
        return shorter if sum(self._counter.count(leaf) for leaf in _strings(shorter)) < before else arguments

    def _choose_copies(self) -> dict[tuple[int, int], Output]:
        """For each output to be replaced, the later copy that stays whole."""
        found: dict[tuple[int, int], Output] = {}
        for place, copy in find_repeats(self._outputs, minimum=24).items():
            is_whole = self._oversized is None or self._tokens(copy) <= self._oversized
            is_free = place[0] in self._inside and place not in self._newest
            if is_whole and is_free and self._tools[place] not in self._policy.protected_tools:
                found[place] = copy
        return found

    def _tokens(self, output: Output) -> int:
        if output.place not in self._counted:
            self._counted[output.place] = self._counter.count(output.result.text)
        return self._counted[output.place]

    def _is_free(self, index: int) -> bool:
        return index in self._inside and index != self._flight and index not in self._named

    def _may_go(self, output: Output) -> bool:
        return output.index in self._inside and output.place not in self._newest and output.index not in self._named

    def _already_named(self) -> set[int]:
        named = {referenced_seq(output.result.text) for output in self._outputs}
        return {index for index, entry in enumerate(self._entries) if entry.seq in named or entry.origin_seq in named - {None}}

    def _is_smaller(self, text: str, output: Output) -> bool:
        beside = output.result.images * self._policy.image_tokens + output.result.payload_tokens
        return self._counter.count(text) < self._tokens(output) + beside


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _strings(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _strings(item)]
    return []
