"""Each call is followed by exactly its results (PAIR-1, PAIR-2, PAIR-3), whatever order the log has them in.

How it is repaired: results go directly behind the message that asked for them; a dead call gets a stub; a result without its
call is left out; a call at the very end is in flight and stays open.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.parts import Draft, Key, Member, Part, read_parts, voice_of
from sessionstore.domain.rendering.repairs import UNANSWERED_STUB, Repair, covered_stub
from sessionstore.domain.rendering.turns import Turn, goes_on_since, leave_servers_calls_open
from sessionstore.domain.transcript import Entry, Pairing, ToolResult, pair_calls


def lay_out(
    entries: Sequence[Entry], *, profile: Profile, covered: Sequence[tuple[int, int]]
) -> tuple[list[Draft], list[Repair]]:
    """The drafts of a context in the order to send them, with every call beside its results."""
    layout = _Layout(entries, profile)
    for index in range(len(entries)):
        layout.place(index)
    drafts: list[Draft] = []
    if profile == "anthropic":
        leave_servers_calls_open(layout.turns)
    for position, turn in enumerate(layout.turns):
        drafts.append(turn.draft)
        drafts.extend(turn.answers)
        if position + 1 < len(layout.turns):
            drafts.extend(layout.stubs(turn, covered))
    return drafts, layout.repairs


class _Layout:
    def __init__(self, entries: Sequence[Entry], profile: Profile) -> None:
        self._entries = entries
        self._profile = profile
        self._pairing: Pairing = pair_calls(entries)
        self._call_of_result: dict[int, Key] = {}
        self._last_answer: dict[Key, int] = {}
        self._owner: dict[Key, Turn] = {}
        self.turns: list[Turn] = []
        self.repairs: list[Repair] = []
        made: dict[int, int] = {}
        for paired in self._pairing.calls:
            key = (paired.call_index, made.get(paired.call_index, 0))
            made[paired.call_index] = key[1] + 1
            if paired.result is not None and paired.result_index is not None:
                self._call_of_result[id(paired.result)] = key
                self._last_answer[key] = paired.result_index

    def place(self, index: int) -> None:
        """Put the parts of one entry where they belong."""
        entry = self._entries[index]
        parts = tuple(self._with_key(part) for part in read_parts(entry, index))
        if voice_of(entry) == "assistant":
            self._place_assistant(entry, parts)
        else:
            self._place_user(entry, parts, index)

    def stubs(self, turn: Turn, covered: Sequence[tuple[int, int]]) -> list[Draft]:
        """A stub for each call of a turn that will not be answered any more."""
        found = []
        for part in turn.calls:
            if part.inline or part.key in turn.answered or part.key is None:
                continue
            span = _covering(self._entries, part.key[0], covered)
            text = UNANSWERED_STUB if span is None else covered_stub(*span)
            self.repairs.append(
                Repair(
                    "unanswered_call" if span is None else "covered_result",
                    part.given_id,
                    part.seq,
                    f"call {part.given_id!r} of #{part.seq} has no result in the context; a stub stands in its place",
                )
            )
            name = None if part.call is None else part.call.name
            stub = ToolResult(part.given_id, name, text, None, 0)
            answer = Part("result", {"content": text}, -1, result=stub, call_id=part.call_id, key=part.key)
            found.append(Draft("user", (Member({}, (answer,), complete=False),)))
        return found

    def _with_key(self, part: Part) -> Part:
        if part.result is None:
            return part
        return replace(part, key=self._call_of_result.get(id(part.result)))

    def _place_assistant(self, entry: Entry, parts: tuple[Part, ...]) -> None:
        start = 0
        for position, part in enumerate(parts):
            if part.kind != "result":
                continue
            turn = self._owner.get(part.key) if part.key is not None else None
            if turn is None:
                # Its call may stand in this very message, in the parts that are not placed yet.
                self._speak(entry, parts[start:position], complete=False)
                start = position
                turn = self._owner.get(part.key) if part.key is not None else None
            if turn is None:
                self._orphan(entry, part)
                start = position + 1
            elif self._stays_inline(turn, entry, part):
                self._speak(entry, parts[start:position], complete=False, joins=not turn.answers and turn is self.turns[-1])
                self._inline(turn, entry, part)
                start = position + 1
            else:
                self._speak(entry, parts[start:position], complete=False)
                self._answer(turn, Draft("user", (Member(entry.message, (part,), complete=False),)), moved=False)
                start = position + 1
        if start == 0 or start < len(parts):
            self._speak(entry, parts[start:], complete=start == 0, joins=start > 0 and self._continues_inline())
        if start > 0 and self._continues_inline(entry):
            self._rejoin(entry, len(parts))

    def _place_user(self, entry: Entry, parts: tuple[Part, ...], index: int) -> None:
        results = [part for part in parts if part.kind == "result"]
        rest = tuple(part for part in parts if part.kind != "result")
        owners = {id(owner): owner for part in results if (owner := self._owner.get(part.key or (-1, -1))) is not None}
        known = [part for part in results if part.key in self._owner]
        for part in results:
            if part.key not in self._owner:
                self._orphan(entry, part)
        if len(known) == len(parts) and len(owners) == 1:
            turn = next(iter(owners.values()))
            self._answer(turn, Draft("user", (Member(entry.message, parts),), entry.kind), moved=turn is not self.turns[-1])
            return
        if len(known) == len(results) and len(owners) == 1 and self._may_stay_mixed(next(iter(owners.values())), parts, index):
            self._answer(next(iter(owners.values())), Draft("user", (Member(entry.message, parts),), entry.kind), moved=False)
            return
        for turn in owners.values():
            own = tuple(part for part in known if self._owner[part.key or (-1, -1)] is turn)
            answer = Draft("user", (Member(entry.message, own, complete=False),), entry.kind)
            self._answer(turn, answer, moved=turn is not self.turns[-1])
        if rest or not parts:
            self.turns.append(Turn(Draft("user", (Member(entry.message, rest, complete=not results),), entry.kind)))

    def _may_stay_mixed(self, turn: Turn, parts: tuple[Part, ...], index: int) -> bool:
        """Whether results and a person's words may stay in one message: nothing else of this turn comes after them."""
        in_order = all(part.kind == "result" for part in parts[: sum(part.kind == "result" for part in parts)])
        fully = all(part.key is not None and self._last_answer.get(part.key) == index for part in turn.calls if not part.inline)
        return turn is self.turns[-1] and not turn.answers and in_order and fully

    def _speak(self, entry: Entry, parts: tuple[Part, ...], *, complete: bool, joins: bool = False) -> None:
        if not parts and not complete:
            return
        member = Member(entry.message, parts, complete)
        previous = self.turns[-1] if self.turns else None
        if previous is not None and (joins or self._is_one_answer(previous, entry, parts)):
            turn = previous
            turn.draft = replace(turn.draft, members=(*turn.draft.members, member))
        else:
            turn = Turn(Draft("assistant", (member,), entry.kind))
            self.turns.append(turn)
        for part in parts:
            if part.kind == "call" and part.key is not None:
                self._owner[part.key] = turn

    def _is_one_answer(self, turn: Turn, entry: Entry, parts: tuple[Part, ...]) -> bool:
        """Whether a message is a further piece of the answer before it, and not an answer of its own."""
        draft = turn.draft
        if draft.voice != "assistant" or turn.answers or "summary" in (draft.kind, entry.kind) or not parts:
            return False
        if self._continues_inline():
            return True
        if not any(part.is_visible for part in draft.parts):
            return any(part.kind == "reasoning" for part in draft.parts)
        identity = draft.members[-1].envelope.get("id")
        if isinstance(identity, str) and identity and identity == entry.message.get("id"):
            return True
        is_item = "role" not in entry.message
        return is_item and all(part.kind == "call" for part in parts) and "tool_calls" not in draft.members[-1].envelope

    def _stays_inline(self, turn: Turn, entry: Entry, part: Part) -> bool:
        """Whether a provider ran the tool itself, so that call and result are parts of one answer of the assistant."""
        raw = part.raw
        if self._profile != "anthropic" or not isinstance(raw, dict) or "role" in raw or raw.get("type") == "tool_result":
            return False
        if turn is self.turns[-1] and not turn.answers:
            return True
        begun = any(member.envelope is entry.message for member in self.turns[-1].draft.members)
        before = self.turns[:-1] if begun else self.turns
        return turn.makes_servers_call(part.key) and goes_on_since(turn, before)

    def _continues_inline(self, entry: Entry | None = None) -> bool:
        if not self.turns or self.turns[-1].answers:
            return False
        parts = self.turns[-1].draft.parts
        return any(part.inline for part in (parts if entry is not None else parts[-1:]))

    def _rejoin(self, entry: Entry, total: int) -> None:
        """Make one member again of what was walked in pieces, so that a message that needs no repair is handed on whole."""
        turn = self.turns[-1]
        own = tuple(part for member in turn.draft.members if member.envelope is entry.message for part in member.parts)
        others = tuple(member for member in turn.draft.members if member.envelope is not entry.message)
        turn.draft = replace(turn.draft, members=(*others, Member(entry.message, own, len(own) == total)))

    def _inline(self, turn: Turn, entry: Entry, part: Part) -> None:
        turn.keep_inline(part.key)
        answer = Member(entry.message, (replace(part, inline=True),), complete=False)
        latest = self.turns[-1]
        if latest.answers or not (latest is turn or any(member.envelope is entry.message for member in latest.draft.members)):
            self.turns.append(Turn(Draft("assistant", (answer,), entry.kind)))
        else:
            latest.draft = replace(latest.draft, members=(*latest.draft.members, answer))
        if part.key is not None:
            turn.answered.add(part.key)

    def _answer(self, turn: Turn, answer: Draft, *, moved: bool) -> None:
        turn.answers.append(answer)
        for part in answer.parts:
            if part.key is None or part.kind != "result":
                continue
            turn.answered.add(part.key)
            if moved:
                text = f"the result of #{part.seq} was put behind its call {part.given_id!r}"
                self.repairs.append(Repair("moved_result", part.given_id, part.seq, text))

    def _orphan(self, entry: Entry, part: Part) -> None:
        text = f"the result of #{entry.seq} answers {part.given_id!r}, which no open call before it has; it was left out"
        self.repairs.append(Repair("orphan_result", part.given_id, entry.seq, text))


def _covering(entries: Sequence[Entry], index: int, covered: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The summarised range that the results of a call would have been in: it begins where the call's results end."""
    after = entries[index].seq + 1
    for entry in entries[index + 1 :]:
        if entry.seq != after or not entry.view.results:
            break
        after += 1
    return next(((first, last) for first, last in covered if first <= after <= last), None)
