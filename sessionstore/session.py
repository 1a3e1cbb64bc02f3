"""A handle on one session: what an agent framework holds while a conversation goes on."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sessionstore.operations.steps import Steps, drive

if TYPE_CHECKING:
    from sessionstore.compaction.outcome import CompactionOutcome, CompactionResult
    from sessionstore.domain.closed_sets import EndReason, Profile, TaskPlace, Trigger
    from sessionstore.domain.messages import Message
    from sessionstore.domain.metering import Pressure
    from sessionstore.domain.policy import CompactionPolicy
    from sessionstore.domain.records import LogRow, SessionRecord
    from sessionstore.domain.summarizing import Summarizer
    from sessionstore.flows.session_flow import SessionFlow
    from sessionstore.reader import Reader
    from sessionstore.task import Task

T = TypeVar("T")


class Session:
    """One generation of a lineage, with what its holder knows of it.

    A handle is cheap and holds no connection. It may be used by several threads; two handles on one session are two writers.
    Appends through a handle whose session was compacted go to the tip; a flush through it raises ``SessionEndedError``.
    """

    def __init__(self, flow: SessionFlow) -> None:
        self._flow = flow

    def __repr__(self) -> str:
        return f"<Session {self.id!r} of {self._flow.environment.database.url}>"

    @property
    def id(self) -> str:
        """The id of this very generation: ``fix-auth``, ``fix-auth~2``."""
        return self._flow.id

    @property
    def lineage_id(self) -> str:
        """The id of the conversation, which is its first session's id."""
        return self._flow.lineage_id

    @property
    def generation(self) -> int:
        """Which generation of the conversation this is, from 1."""
        return self._flow.generation

    def record(self) -> SessionRecord:
        """The session's row as it is now: settings, counters, ends."""
        return self._drive(self._flow.record())

    def append(
        self,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        client_id: str | Sequence[str | None] | None = None,
    ) -> list[int]:
        """Add one message or several to the log, in one transaction, and give their seqs.

        ``client_id`` (one a message) makes a retry safe: the second write of an id gives the first one's seq and stores
        nothing. Equal messages without one are stored again. The lineage's tip takes them, whatever generation this handle has.
        Raises ``InvalidMessageError``, ``MessageTooLargeError``, ``SessionEndedError`` (ended on purpose),
        ``StoreLockedError``.
        """
        return self._drive(self._flow.append(messages, client_id))

    def append_json(self, text: str, *, client_id: str | None = None) -> int:
        """Add one message given as JSON text, which is kept byte for byte, and give its seq; see ``append``."""
        return self._drive(self._flow.append_json(text, client_id))[0]

    def flush(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store what a whole in-memory list has beyond the session's context, and give the seqs of what was written.

        The list must begin with the context: flushing it again writes nothing, a list that shrank or differs is refused with
        ``StaleCursorError``. System and developer messages at its head are the system prompt, and are no rows. Raises
        ``ConflictError`` when another writer added something that the list doesn't hold, and ``SessionEndedError`` with the
        unsaved messages when the session was compacted or ended meanwhile (see ``rebase``).
        """
        return self._drive(self._flow.flush(messages))

    def rebase(self, messages: Sequence[Mapping[str, Any]]) -> tuple[Session, list[Message]]:
        """Move to the lineage's tip, carrying over what a list has that was never stored; gives the tip and its messages.

        For a writer whose ``flush`` met ``SessionEndedError``: its unsaved messages are appended to the tip. Raises
        ``StaleCursorError`` when the list differs from what is stored before them.
        """
        tip = Session(self._drive(self._flow.rebase(messages)))
        return tip, tip.context()

    def context(self) -> list[Message]:
        """The messages of the session's context, in order: exactly what ``flush`` compares a list with."""
        return self._drive(self._flow.context())

    def context_rows(self) -> list[LogRow]:
        """The rows of the session's context, in order: the messages with their seqs and kinds."""
        return self._drive(self._flow.context_rows())

    def last(self, count: int) -> list[Message]:
        """The last messages of the context, in order; it costs as much as they are, however long the session is."""
        return self._drive(self._flow.last(count))

    def history(self, first: int, last: int) -> list[LogRow]:
        """Rows ``first`` to ``last`` of the lineage's log, both included, whatever any compaction did to the context."""
        return self._drive(self._flow.history(first, last))

    def expand(self, seq: int) -> list[LogRow]:
        """The messages that a summary stands for, or the original of a rendition, in order.

        Raises ``InvalidTargetError`` when the row is neither.
        """
        return self._drive(self._flow.expand(seq))

    def render(self, profile: Profile | None = None, *, task_state_in: TaskPlace = "system") -> list[Message]:
        """What goes to a model: the system prompt as first message, then the context with the repairs that the provider needs.

        ``profile`` defaults to the session's. The goal and all todos of the task stand behind the system prompt; with
        ``task_state_in="message"`` the open todos stand in one message at the end instead, so that the prompt stays the same
        (while a call still waits for its result there, they are in the prompt). Repairs are computed and never stored; a
        rendered list is not to be flushed.
        """
        return self._drive(self._flow.render(profile, task_state_in))

    def system_prompt(self) -> str | None:
        """The stored system prompt of this session, None when it has none."""
        return self._drive(self._flow.system_prompt())

    def set_system_prompt(self, text: str | None = None, *, parts: Mapping[str, str] | None = None) -> None:
        """Replace the session's system prompt, by a text or by named parts in order (a part ``current date`` goes last)."""
        self._drive(self._flow.set_system_prompt(text, parts))

    def set_model(self, model: str, context_window: int | None = None, *, profile: Profile | None = None) -> None:
        """Say which model the session goes on with, and its window in tokens; the thresholds follow."""
        self._drive(self._flow.set_model(model, context_window, profile))

    def record_usage(self, *, prompt: int, completion: int) -> None:
        """Store what the provider measured for the context as it is now, in tokens; an estimate of what comes later is added.

        Raises ``ValueError`` for what is no count: a negative number, a fraction, a bool.
        """
        self._drive(self._flow.record_usage(prompt, completion))

    def pressure(self, policy: CompactionPolicy | None = None, *, peek: bool = False) -> Pressure:
        """How full the context is: tokens by part, how they were counted, the threshold, the tier, and whether it is due.

        Rows are counted once and remembered; only what is new is read and counted. A tier is new for who asks first; with
        ``peek`` it stays new for the next one, since somebody only looks.
        """
        return self._drive(self._flow.pressure(policy, peek=peek))

    def compact(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        *,
        focus: str | None = None,
        summarizer: Summarizer | None = None,
        policy: CompactionPolicy | None = None,
        force: bool = False,
        dry_run: bool = False,
        trigger: Trigger = "manual",
        context_window: int | None = None,
    ) -> CompactionResult[Session]:
        """Close this session and go on in a continuation whose context is a summary and the recent tail, in one transaction.

        ``messages`` are flushed first, in this session. ``focus`` gets most of the summary. The default summariser needs no
        model. ``dry_run`` makes the plan and changes nothing. ``context_window`` stands in for the model's, this time only.
        Nothing is written unless at least ``policy.min_saving`` is saved. Raises ``CompactionInProgressError`` while another
        one runs, ``SessionEndedError`` or ``SessionNotFoundError`` when it was ended or deleted meanwhile, ``LeaseLostError``
        when it took longer than its lease, ``ConflictError`` when its pins or settings changed, and ``LittleSavedError`` where
        the policy asks for it; how it ended otherwise is the result's ``status``.
        """
        flow = self._flow.compact(
            messages,
            focus=focus,
            summarizer=summarizer,
            policy=policy,
            force=force,
            dry_run=dry_run,
            trigger=trigger,
            context_window=context_window,
        )
        return self._result(self._drive(flow))

    def maintain(
        self, *, summarizer: Summarizer | None = None, policy: CompactionPolicy | None = None
    ) -> CompactionResult[Session]:
        """Compact if it is time, after a turn; ``noop`` when it isn't, ``deferred`` while an earlier failure makes it wait."""
        flow = self._flow.compact_if_due(summarizer=summarizer, policy=policy, trigger="auto")
        return self._result(self._drive(flow))

    def preflight(
        self, *, summarizer: Summarizer | None = None, policy: CompactionPolicy | None = None
    ) -> CompactionResult[Session]:
        """The same before the first model call of a turn: a resumed session may go on with a smaller model."""
        flow = self._flow.compact_if_due(summarizer=summarizer, policy=policy, trigger="preflight")
        return self._result(self._drive(flow))

    def undo_compaction(self) -> Session:
        """Take back the newest compaction in force; gives the session to go on with. Undoing again goes further back."""
        return Session(self._drive(self._flow.undo_compaction()))

    def rewind(self, seq: int) -> Session:
        """Go back to a message of the log, which stays, also across compactions; gives the session to go on with."""
        return Session(self._drive(self._flow.rewind(seq)))

    def fork(
        self,
        id: str | None = None,  # noqa: A002 - the contract's name
        *,
        at_seq: int | None = None,
        title: str | None = None,
    ) -> Session:
        """Copy the conversation up to message ``at_seq`` (by default all of it) under a new id; gives the copy's tip, open.

        Numbers stay what they are, so pins and references hold. The copy is complete by itself: either can be deleted. It has
        the same owner, settings, task and memories; its title, unless given, is this one's with a free number. ``id`` is a
        UUIDv7 by default. Nothing here changes, and the handle stays where it is. Raises ``InvalidTargetError`` when no context
        holds the row, ``SessionExistsError``, ``TitleTakenError``, ``ValueError`` for an id that cannot be one.
        """
        return Session(self._drive(self._flow.fork(id, at_seq=at_seq, title=title)))

    @property
    def task(self) -> Task:
        """The goal and the todos of the conversation."""
        from sessionstore.task import Task

        return Task(self._flow.task())

    def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Do what a model asked for with one of the tools of ``sessionstore.agent_tools``, and give the result as JSON text.

        ``arguments`` are as the model wrote them. Whatever is wrong with them is told in the result under ``error``.
        """
        return self._drive(self._flow.run_tool(name, arguments))

    def pin(self, *seqs: int) -> None:
        """Keep these messages of the log verbatim in every later context of the lineage.

        One that a compaction took out of the context comes back with the next compaction or undo. Raises
        ``InvalidTargetError`` for what is no message.
        """
        self._drive(self._flow.pin(seqs))

    def unpin(self, *seqs: int) -> None:
        """Let these messages go at the next compaction; unpinning what is not pinned changes nothing."""
        self._drive(self._flow.unpin(seqs))

    def end(self, reason: EndReason = "user") -> None:
        """End the session: ``user``, ``reset``, ``finished`` are final, ``idle`` and ``shutdown`` are undone by an append."""
        self._drive(self._flow.end(reason))

    def reopen(self) -> None:
        """Open the session again after any end but one that a later generation took over."""
        self._drive(self._flow.reopen())

    def reader(self, name: str) -> Reader:
        """A reader of this conversation by its name, whose place is durable."""
        from sessionstore.reader import Reader

        return Reader(self._flow.environment, self.lineage_id, name)

    def _drive(self, steps: Steps[T]) -> T:
        return drive(steps, self._flow.environment.database)

    def _result(self, outcome: CompactionOutcome) -> CompactionResult[Session]:
        from sessionstore.compaction.outcome import CompactionResult

        opened = outcome.opened_generation
        return CompactionResult(outcome, self if opened is None else Session(self._flow.at(opened)))
