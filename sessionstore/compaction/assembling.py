"""From a plan, a summary and renditions to a draft: the new context in order, and what it costs."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.snapshot import Metering, Snapshot
from sessionstore.domain.assembly import summary_role
from sessionstore.domain.messages import encode_message
from sessionstore.domain.metering import message_tokens, prompt_tokens
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.pruning import Rendition
from sessionstore.domain.records import SystemPrompt
from sessionstore.domain.spans import seqs_of
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry
from sessionstore.operations.continuing import DerivedRow


@dataclass(frozen=True, slots=True)
class Shortened:
    """Renditions by the seq of the row in the context that each takes the place of, with their tokens."""

    renditions: Mapping[int, Rendition]
    tokens: Mapping[int, int]

    def apply(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """The entries with the shorter forms in place; seqs stay those of the rows that are replaced."""
        return tuple(
            entry
            if (rendition := self.renditions.get(entry.seq)) is None
            else Entry(entry.seq, entry.kind, rendition.message, rendition.origin_seq, self.tokens[entry.seq])
            for entry in entries
        )


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a draft is assembled from, apart from the summary."""

    snapshot: Snapshot
    metering: Metering
    plan: CompactionPlan
    policy: CompactionPolicy
    prompt: SystemPrompt | None
    shortened: Shortened
    counter: TokenCounter

    @property
    def fixed_after(self) -> int:
        """Tokens of the rebuilt system prompt and the tool schemas."""
        text = None if self.prompt is None else self.prompt.text
        return self.snapshot.session.tool_schema_tokens + prompt_tokens(text, self.counter)


def shorten(renditions: Sequence[Rendition], counter: TokenCounter, policy: CompactionPolicy) -> Shortened:
    """Count renditions, and find them by the row that each stands for."""
    return Shortened(
        renditions={rendition.source_seq: rendition for rendition in renditions},
        tokens={
            rendition.source_seq: message_tokens(rendition.message, counter, image_tokens=policy.image_tokens)
            for rendition in renditions
        },
    )


def draft_with_summary(given: Assembly, summary: str) -> Draft:
    """The context as head, pins, summary, last requests that stand apart, and tail."""
    plan = given.plan
    entries = {entry.seq: entry for entry in given.shortened.apply(given.metering.entries)}
    before = [*seqs_of(plan.head), *seqs_of(plan.pins)]
    after = [*seqs_of(plan.apart), *seqs_of(plan.tail)]
    role = summary_role(
        [entries[seq] for seq in before], [entries[seq] for seq in after], given.snapshot.session.profile
    )
    message = {"role": role, "content": summary}
    row = DerivedRow(encode_message(message), "summary")
    tokens = message_tokens(message, given.counter, image_tokens=given.policy.image_tokens)
    return _draft(given, [*before, row, *after], summary_tokens=tokens)


def draft_of_renditions(given: Assembly) -> Draft:
    """The context as it was, with renditions in place of the rows that were pruned."""
    return _draft(given, [entry.seq for entry in given.metering.entries], summary_tokens=0)


def _draft(given: Assembly, context: Sequence[int | DerivedRow], *, summary_tokens: int) -> Draft:
    kept = {entry.seq: entry.tokens for entry in given.metering.entries}
    layout: list[int] = []
    derived: list[DerivedRow] = []
    derived_tokens: list[int] = []
    history = 0
    for place in context:
        if isinstance(place, DerivedRow):
            row, tokens = place, summary_tokens
        elif (rendition := given.shortened.renditions.get(place)) is not None:
            row = DerivedRow(encode_message(rendition.message), "rendition", rendition.origin_seq)
            tokens = given.shortened.tokens[place]
        else:
            layout.append(place)
            history += kept[place]
            continue
        derived.append(row)
        derived_tokens.append(tokens)
        layout.append(-len(derived))
        history += tokens
    return Draft(
        plan=given.plan,
        layout=tuple(layout),
        derived=tuple(derived),
        derived_tokens=tuple(derived_tokens),
        prompt=given.prompt,
        tokens_before=given.metering.fixed_tokens + given.metering.history_tokens,
        tokens_after=given.fixed_after + history,
        history_tokens=history,
        method=given.metering.method,
    )
