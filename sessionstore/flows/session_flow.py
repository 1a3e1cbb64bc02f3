"""What a handle on a session can do, each as a flow of steps; the fronts document them for their users.

What isn't done every turn imports its modules when it is, so that a program starts fast.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sessionstore.domain.closed_sets import TRIGGERS
from sessionstore.domain.messages import clean_text
from sessionstore.domain.policy import CompactionPolicy, checked_count, checked_window
from sessionstore.domain.session_ids import checked_lineage_id
from sessionstore.domain.system_prompt import prompt_from_parts, prompt_from_text
from sessionstore.flows.log_flow import LogFlow
from sessionstore.operations import adjusting, branching, ending, forking, pinning, prompting
from sessionstore.operations.pressing import pressure_of, warning_pressure_of
from sessionstore.operations.steps import Steps, read, write

if TYPE_CHECKING:
    from sessionstore.compaction.outcome import CompactionOutcome
    from sessionstore.domain.closed_sets import EndReason, Profile, Trigger
    from sessionstore.domain.metering import Pressure
    from sessionstore.domain.summarizing import Summarizer
    from sessionstore.flows.task_flow import TaskFlow


class SessionFlow(LogFlow):
    """The flows of one session."""

    def system_prompt(self) -> Steps[str | None]:
        """Read the stored system prompt."""
        prompt = yield from read(lambda c: prompting.prompt_of(c, self._session(c)))
        return None if prompt is None else prompt.text

    def set_system_prompt(self, text: str | None, parts: Mapping[str, str] | None) -> Steps[None]:
        """Replace the system prompt."""
        prompt = prompt_from_parts(parts) if parts is not None else prompt_from_text(text or "")
        return write(lambda c: adjusting.set_system_prompt(c, self._session(c), prompt), repeatable=True)

    def set_model(self, model: str, context_window: int | None, profile: Profile | None) -> Steps[None]:
        """Change the model, its window and its profile."""
        window = checked_window(context_window)
        return write(
            lambda c: adjusting.set_model(
                c, self._session(c), model=model, context_window=window, profile=profile
            ),
            repeatable=True,
        )

    def record_usage(self, prompt: int, completion: int) -> Steps[None]:
        """Store what the provider measured. Raises ``ValueError`` for what is no number of tokens."""
        checked_count("prompt", prompt)
        checked_count("completion", completion)
        return write(lambda c: adjusting.record_usage(c, self._session(c), prompt=prompt, completion=completion))

    def pressure(self, policy: CompactionPolicy | None, *, peek: bool = False) -> Steps[Pressure]:
        """Measure the context."""
        measure = pressure_of if peek else warning_pressure_of
        return measure(self.environment, self.lineage_id, self.generation, policy or CompactionPolicy())

    def compact(
        self,
        messages: Sequence[Mapping[str, Any]] | None,
        *,
        focus: str | None,
        summarizer: Summarizer | None,
        policy: CompactionPolicy | None,
        force: bool,
        dry_run: bool,
        trigger: Trigger,
        context_window: int | None = None,
    ) -> Steps[CompactionOutcome]:
        """Flush, then run a compaction job. A focus goes to models and stays on the record, so no secret may be in it."""
        from sessionstore.compaction.deciding import CompactionRequest
        from sessionstore.compaction.job import compact_session
        from sessionstore.domain.redaction import redact

        if trigger not in TRIGGERS:
            raise ValueError(f"trigger is {trigger!r}; it is one of {', '.join(TRIGGERS)}")
        if messages is not None and not dry_run:
            yield from self.flush(messages)
        request = CompactionRequest(
            lineage_id=self.lineage_id,
            generation=self.generation,
            trigger=trigger,
            policy=policy or CompactionPolicy(),
            focus=None if focus is None else redact(clean_text(focus)),
            summarizer=summarizer,
            force=force,
            dry_run=dry_run,
            context_window=checked_window(context_window),
        )
        return (yield from compact_session(self.environment, request))

    def compact_if_due(
        self, *, summarizer: Summarizer | None, policy: CompactionPolicy | None, trigger: Trigger
    ) -> Steps[CompactionOutcome]:
        """Measure, and compact when the context is over its threshold; ``noop`` with the figures when it isn't."""
        from sessionstore.compaction.outcome import CompactionOutcome
        from sessionstore.domain.metering import tier_warning

        found = yield from self.pressure(policy)
        if found.due:
            return (
                yield from self.compact(
                    None, focus=None, summarizer=summarizer, policy=policy, force=False, dry_run=False, trigger=trigger
                )
            )
        messages = yield from self.context()
        prompt = yield from self.system_prompt()
        limit = "the model's window is unknown" if found.threshold is None else f"the threshold is {found.threshold:,}"
        return CompactionOutcome(
            status="noop",
            reason=f"the context has {found.tokens:,} tokens and {limit}",
            session_id=self.id,
            opened_generation=None,
            continuation_id=None,
            job_id=None,
            messages=messages,
            system_prompt=prompt,
            tokens_before=found.tokens,
            tokens_after=found.tokens,
            messages_before=len(messages),
            messages_after=len(messages),
            plan=None,
            warnings=(tier_warning(found),) if found.is_new_tier else (),
        )

    def undo_compaction(self) -> Steps[SessionFlow]:
        """Take back the newest compaction in force."""
        child = yield from write(
            lambda c: branching.undo_compaction(c, self.lineage_id, now=self.environment.now())
        )
        return self.at(child.generation)

    def rewind(self, seq: int) -> Steps[SessionFlow]:
        """Go back to a message."""
        child = yield from write(lambda c: branching.rewind(c, self.lineage_id, seq, now=self.environment.now()))
        return self.at(child.generation)

    def fork(self, new_id: str | None, *, at_seq: int | None, title: str | None) -> Steps[SessionFlow]:
        """Copy the lineage up to a row; the copy is indexed for search when it is there."""
        from sessionstore.flows.search_flow import index_some

        target = checked_lineage_id(self.environment.ids() if new_id is None else new_id)
        now = self.environment.now()
        tip = yield from write(
            lambda c: forking.fork(c, self.lineage_id, target, at_seq=at_seq, title=title, now=now)
        )
        while (yield from index_some(target)):
            pass
        return SessionFlow(self.environment, tip.lineage_id, tip.generation)

    def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> Steps[str]:
        """Do what a model asked for with one of the agent tools."""
        from sessionstore.flows.tool_flow import run_agent_tool

        return run_agent_tool(self.environment, self.lineage_id, name, arguments)

    def task(self) -> TaskFlow:
        """The flows of the lineage's task."""
        from sessionstore.flows.task_flow import TaskFlow

        return TaskFlow(self.environment, self.lineage_id)

    def pin(self, seqs: Sequence[int]) -> Steps[None]:
        """Pin messages of the log."""
        return write(lambda c: pinning.pin(c, self.lineage_id, self.generation, seqs), repeatable=True)

    def unpin(self, seqs: Sequence[int]) -> Steps[None]:
        """Take pins away."""
        return write(lambda c: pinning.unpin(c, self.lineage_id, self.generation, seqs), repeatable=True)

    def end(self, reason: EndReason) -> Steps[None]:
        """End the session."""
        now = self.environment.now()
        return write(lambda c: ending.end(c, self.lineage_id, self.generation, reason=reason, now=now), repeatable=True)

    def reopen(self) -> Steps[None]:
        """Open the session again."""
        return write(lambda c: ending.reopen(c, self.lineage_id, self.generation), repeatable=True)
