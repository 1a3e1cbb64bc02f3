"""How a compaction decides, as one frozen object with every number in it."""
from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, Self

from sessionstore.domain.closed_sets import Headings, Tier

UNKNOWN_WINDOW: Final = 128_000
"""Tokens of window that a manual or offline compaction assumes when nobody told the model's."""

DEFAULT_IMAGE_TOKENS: Final = 1_000
"""Flat price of an image: between OpenAI's 765 for a 1024×1024 picture in high detail and Anthropic's 1,590 for its largest."""


def checked_window(context_window: int | None) -> int | None:
    """The window of a model as it is. Raises ``ValueError`` for one without a token in it."""
    if context_window is not None and context_window <= 0:
        raise ValueError(f"context_window is {context_window!r}; it is the model's window in tokens, None where it is unknown")
    return context_window


def checked_count(name: str, value: object, *, least: int = 0) -> None:
    """Raise ``ValueError`` for what is no whole number, or less than ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        fewer = "negative" if least == 0 else f"less than {least}"
        raise ValueError(f"{name} is {value!r}; it is a whole number, and may not be {fewer}")


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """Every number that a compaction decides by; the defaults suit a coding agent with a window of 32,000 tokens or more.

    Ratios are of what their name says, sizes are tokens unless the name says otherwise.
    """

    trigger_ratio: float = 0.50
    """Part of the context window that is the threshold of a compaction."""
    notice_ratio: float = 0.85
    """Part of the threshold from which the tier is ``notice``."""
    high_ratio: float = 0.95
    """Part of the threshold from which the tier is ``high``."""
    hygiene_ratio: float = 0.85
    """Part of the window above which a worker compacts a session at once."""
    head_messages: int = 3
    """Messages at the start of the first context that stay verbatim; none once the context holds a summary."""
    tail_ratio: float = 0.20
    """Part of the threshold that the recent tail may take."""
    tail_tokens: int | None = None
    """Tokens of the tail, in place of ``tail_ratio``."""
    tail_messages: int | None = None
    """Plain number of messages in the tail, in place of a token budget."""
    min_tail_messages: int = 3
    """Messages that the tail has at least."""
    keep_user_turns: int = 1
    """Last requests of the user that stay verbatim: at least one."""
    tail_ceiling: float = 1.5
    """How far the tail may go over its budget so that a call is not parted from its results."""
    summary_ratio: float = 0.20
    """Part of the compacted middle that the summary may take."""
    summary_min_tokens: int = 2_000
    """Smallest summary budget, as long as it still saves ``min_saving``."""
    summary_max_tokens: int = 8_000
    """Largest summary budget."""
    active_task_tokens: int = 1_000
    """Tokens of the latest request that the summary quotes."""
    focus_ratio: float = 0.65
    """Part of the summary that goes to a focus when one is given."""
    min_saving: float = 0.10
    """Part of the whole context that a compaction must save to be written."""
    stuck_ratio: float = 0.90
    """Part of the context above which what must stay makes the session stuck."""
    keep_tool_results: int = 3
    """Newest tool outputs that pruning leaves whole."""
    max_tool_chars: int = 200
    """Characters above which an old tool output becomes one line."""
    prune_args_over: int = 500
    """Characters above which a string in the arguments of an old call is cut."""
    cut_args_to: int = 200
    """Characters that are left of such a string."""
    protected_tools: frozenset[str] = frozenset()
    """Tools whose outputs pruning never touches."""
    protected_arg_keys: frozenset[str] = frozenset()
    """Argument names whose values pruning never touches."""
    old_outputs: Literal["line", "placeholder"] = "line"
    """What an old tool output becomes: one informative line, or the same few words for all of them."""
    drop_reasoning: bool = False
    """True takes the reasoning beside a call out of the context where pruning shortens the call or its output."""
    headings: Headings = "thirteen"
    """The headings of a summary: the full thirteen, or Goal, Progress, Key Decisions, Files Modified and Next Steps."""
    image_tokens: int = DEFAULT_IMAGE_TOKENS
    """Flat price of an image, whatever the size of its base64."""
    summarize: bool = True
    """False prunes and no more: no summary is written."""
    on_little_saving: Literal["report", "raise"] = "report"
    """What an attempt leads to that would save less than ``min_saving``: a result that says so, or ``LittleSavedError``."""
    on_failure: Literal["fallback", "abort"] = "fallback"
    """What a failed summary leads to: the extractive one, or nothing."""
    cooldown_seconds: float = 60.0
    """How long automatic compaction waits after a transient failure."""
    max_strikes: int = 2
    """Ineffective attempts in a row after which automatic compaction stops."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a number that makes no sense: a negative one, a fraction of a message or token, a trigger
        outside the window, or no request of the user that stays."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "float" and (isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0):
                raise ValueError(f"{field.name} is {value!r}; it is a number, and may not be negative")
            if field.type == "int" or (field.type == "int | None" and value is not None):
                checked_count(field.name, value, least=1 if field.name == "keep_user_turns" else 0)
        if not 0 < self.trigger_ratio <= 1:
            raise ValueError(f"trigger_ratio is {self.trigger_ratio!r}; it is a part of the window, above 0 and at most 1")

    @classmethod
    def classic(cls) -> Self:
        """The rules of older compactors: a placeholder for old outputs, five headings, a tail of 20,000 tokens whatever the
        window, and an exception at once where too little was saved."""
        return cls(
            tail_tokens=20_000, old_outputs="placeholder", keep_tool_results=3, headings="five", on_little_saving="raise"
        )

    def threshold(self, window: int) -> int:
        """Tokens from which a context of this window is due: ``trigger_ratio × window``."""
        return int(self.trigger_ratio * window)

    def tail_budget(self, window: int) -> int:
        """Tokens that the tail may take: ``tail_tokens``, else ``tail_ratio × threshold``."""
        if self.tail_tokens is not None:
            return self.tail_tokens
        return int(self.tail_ratio * self.threshold(window))

    def tier(self, tokens: int, window: int) -> Tier:
        """How near a context of so many tokens is to its threshold."""
        threshold = self.threshold(window)
        if tokens >= threshold:
            return "due"
        if tokens >= self.high_ratio * threshold:
            return "high"
        if tokens >= self.notice_ratio * threshold:
            return "notice"
        return "ok"
