"""Keeps the transcripts of LLM agents, compacts those that outgrew their model, and never loses a message.

Everything public is here. A name is imported when it is first used, so ``import sessionstore`` costs next to nothing.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessionstore.aio import AsyncSession, AsyncSessionStore
    from sessionstore.compaction.memory_flush import ModelMemoryFlush
    from sessionstore.compaction.outcome import CompactionResult
    from sessionstore.domain.health.finding import DoctorReport, Finding
    from sessionstore.domain.keeping import BackupReport, PrunedLineage, StoreStats
    from sessionstore.domain.plan import CompactionPlan
    from sessionstore.domain.policy import CompactionPolicy
    from sessionstore.domain.search_hit import SearchHit
    from sessionstore.domain.summarizing import SummaryAnswer, SummaryRequest
    from sessionstore.domain.task_state import TaskState, Todo
    from sessionstore.errors import (
        AmbiguousSessionError,
        CommitUnknownError,
        CompactionInProgressError,
        CompactionStuckError,
        CompactionVetoedError,
        ConflictError,
        ImportFormatError,
        InvalidMessageError,
        InvalidTargetError,
        InvalidTaskError,
        LeaseLostError,
        LittleSavedError,
        MessageTooLargeError,
        SchemaError,
        SessionEndedError,
        SessionExistsError,
        SessionNotFoundError,
        SessionStoreError,
        StaleCursorError,
        StoreLockedError,
        StoreUnavailableError,
        SummarizerError,
        TitleTakenError,
        VocabularyError,
    )
    from sessionstore.operations.environment import CompactionHooks, PromptContext
    from sessionstore.session import Session
    from sessionstore.store import SessionStore
    from sessionstore.summarizers.anthropic_messages import AnthropicSummarizer
    from sessionstore.summarizers.chain import SummarizerChain
    from sessionstore.summarizers.extractive import ExtractiveSummarizer
    from sessionstore.summarizers.from_callable import CallableSummarizer
    from sessionstore.summarizers.openai_compatible import OpenAICompatibleSummarizer
    from sessionstore.task import Task

__version__ = "0.1.0"

__all__ = [
    "AmbiguousSessionError",
    "AnthropicSummarizer",
    "AsyncSession",
    "AsyncSessionStore",
    "BackupReport",
    "CallableSummarizer",
    "CommitUnknownError",
    "CompactionHooks",
    "CompactionInProgressError",
    "CompactionPlan",
    "CompactionPolicy",
    "CompactionResult",
    "CompactionStuckError",
    "CompactionVetoedError",
    "ConflictError",
    "DoctorReport",
    "ExtractiveSummarizer",
    "Finding",
    "ImportFormatError",
    "InvalidMessageError",
    "InvalidTargetError",
    "InvalidTaskError",
    "LeaseLostError",
    "LittleSavedError",
    "MessageTooLargeError",
    "ModelMemoryFlush",
    "OpenAICompatibleSummarizer",
    "PromptContext",
    "PrunedLineage",
    "SchemaError",
    "SearchHit",
    "Session",
    "SessionEndedError",
    "SessionExistsError",
    "SessionNotFoundError",
    "SessionStore",
    "SessionStoreError",
    "StaleCursorError",
    "StoreLockedError",
    "StoreStats",
    "StoreUnavailableError",
    "SummarizerChain",
    "SummarizerError",
    "SummaryAnswer",
    "SummaryRequest",
    "Task",
    "TaskState",
    "TitleTakenError",
    "Todo",
    "VocabularyError",
    "__version__",
]

_HOMES = {
    "StoreStats": "sessionstore.domain.keeping",
    "PrunedLineage": "sessionstore.domain.keeping",
    "BackupReport": "sessionstore.domain.keeping",
    "AnthropicSummarizer": "sessionstore.summarizers.anthropic_messages",
    "AsyncSession": "sessionstore.aio",
    "AsyncSessionStore": "sessionstore.aio",
    "CallableSummarizer": "sessionstore.summarizers.from_callable",
    "CompactionHooks": "sessionstore.operations.environment",
    "DoctorReport": "sessionstore.domain.health.finding",
    "Finding": "sessionstore.domain.health.finding",
    "CompactionPlan": "sessionstore.domain.plan",
    "CompactionPolicy": "sessionstore.domain.policy",
    "CompactionResult": "sessionstore.compaction.outcome",
    "ExtractiveSummarizer": "sessionstore.summarizers.extractive",
    "ModelMemoryFlush": "sessionstore.compaction.memory_flush",
    "OpenAICompatibleSummarizer": "sessionstore.summarizers.openai_compatible",
    "PromptContext": "sessionstore.operations.environment",
    "SearchHit": "sessionstore.domain.search_hit",
    "Session": "sessionstore.session",
    "SessionStore": "sessionstore.store",
    "SummarizerChain": "sessionstore.summarizers.chain",
    "SummaryAnswer": "sessionstore.domain.summarizing",
    "SummaryRequest": "sessionstore.domain.summarizing",
    "Task": "sessionstore.task",
    "TaskState": "sessionstore.domain.task_state",
    "Todo": "sessionstore.domain.task_state",
}
"""Where public names are that are no errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "sessionstore.errors")), name)
    globals()[name] = value
    return value
