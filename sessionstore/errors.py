"""Every exception that sessionstore raises on purpose.

One family, one base class. Each message says what happened, to what, and what to do next; the facts in it are attributes
too, so that a program never has to parse a sentence.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "AmbiguousSessionError",
    "CommitUnknownError",
    "CompactionInProgressError",
    "CompactionStuckError",
    "CompactionVetoedError",
    "ConflictError",
    "ImportFormatError",
    "InvalidMessageError",
    "InvalidTargetError",
    "InvalidTaskError",
    "LeaseLostError",
    "LittleSavedError",
    "MessageTooLargeError",
    "SchemaError",
    "SessionEndedError",
    "SessionExistsError",
    "SessionNotFoundError",
    "SessionStoreError",
    "StaleCursorError",
    "StoreLockedError",
    "StoreUnavailableError",
    "SummarizerError",
    "TitleTakenError",
    "VocabularyError",
]


class SessionStoreError(Exception):
    """Base of every error that the store raises on purpose: catch this to catch them all."""


class SessionNotFoundError(SessionStoreError):
    """No session answers to the id, title or part of an id that was asked for.

    Attributes: ``reference`` (what was asked for), ``namespace`` (where it was looked for, None: everywhere).
    """

    def __init__(self, reference: str, *, namespace: str | None = None) -> None:
        where = "" if namespace is None else f" in namespace {namespace!r}"
        super().__init__(f"no session {reference!r}{where}; `sessionstore list` shows the ids and titles there are")
        self.reference = reference
        self.namespace = namespace


class AmbiguousSessionError(SessionStoreError):
    """Part of an id or a title answers to several lineages.

    Attributes: ``reference``, ``candidates`` (lineage ids, at most ten of them, in order).
    """

    def __init__(self, reference: str, candidates: Sequence[str]) -> None:
        listed = ", ".join(candidates)
        super().__init__(f"{reference!r} could mean any of {listed}; give more of the id, or a namespace")
        self.reference = reference
        self.candidates = tuple(candidates)


class SessionExistsError(SessionStoreError):
    """A session cannot be created because its id is taken. Attribute: ``session_id``."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id!r} exists already; resume it, or choose another id")
        self.session_id = session_id


class TitleTakenError(SessionStoreError):
    """A title that must be unique in its namespace belongs to another lineage.

    Attributes: ``title``, ``namespace``, ``holder`` (lineage id).
    """

    def __init__(self, title: str, *, namespace: str, holder: str) -> None:
        where = f" in namespace {namespace!r}" if namespace else ""
        super().__init__(f"the title {title!r} is taken{where} by session {holder!r}; choose another title")
        self.title = title
        self.namespace = namespace
        self.holder = holder


class SessionEndedError(SessionStoreError):
    """A write was meant for a session that has ended.

    Attributes: ``session_id``, ``end_reason``, ``continuation_id`` (the tip to go on with, None when there is none),
    ``flush_cursor`` (length of the tip's context), ``unsaved`` (the messages of the caller's list that are not stored).
    """

    def __init__(
        self,
        session_id: str,
        *,
        end_reason: str,
        continuation_id: str | None = None,
        flush_cursor: int | None = None,
        unsaved: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        if continuation_id is None:
            advice = "reopen() it, or create a new session"
        else:
            advice = f"go on in {continuation_id!r}: session.rebase(messages) carries {len(unsaved)} unsaved messages over"
        super().__init__(f"session {session_id!r} has ended ({end_reason}); {advice}")
        self.session_id = session_id
        self.end_reason = end_reason
        self.continuation_id = continuation_id
        self.flush_cursor = flush_cursor
        self.unsaved = list(unsaved)


class StaleCursorError(SessionStoreError):
    """A flushed list is not the session's context plus something new, so nothing of it was written.

    Attributes: ``session_id``, ``cursor`` (length of the stored context), ``length`` (of the flushed list, system prompt
    not counted), ``first_difference`` (index in that list from which it differs; equals ``length`` when it is too short).
    """

    def __init__(self, session_id: str, *, cursor: int, length: int, first_difference: int) -> None:
        if first_difference >= length:
            what = f"has {length} messages and the stored context has {cursor}"
        else:
            what = f"differs from the stored context of {cursor} messages at index {first_difference}"
        super().__init__(
            f"the list flushed to session {session_id!r} {what}; nothing was written. Start from session.context(), "
            "or append() what is new"
        )
        self.session_id = session_id
        self.cursor = cursor
        self.length = length
        self.first_difference = first_difference


class ConflictError(SessionStoreError):
    """Another writer changed the session meanwhile: it added what the caller's list does not hold, or changed pins or settings
    that a compaction was planned by, or went on in a session of its own.

    Attributes: ``session_id``, ``expected`` (the cursor the handle knew), ``found`` (the stored cursor).
    """

    def __init__(self, session_id: str, *, expected: int, found: int, reason: str | None = None) -> None:
        if reason is None and expected == found:
            reason = f"another writer went on from session {session_id!r}; nothing was written. Resume the tip and look"
        super().__init__(
            reason
            or f"another writer moved the cursor of session {session_id!r} from {expected} to {found}; nothing was written. "
            "Read session.context() and flush again, or append() what is new"
        )
        self.session_id = session_id
        self.expected = expected
        self.found = found


class CommitUnknownError(SessionStoreError):
    """The connection was lost while a transaction committed, so whether it was stored is unknown.

    Attribute: ``operation``. Repeat it only if its messages carry a ``client_id``; else look with ``last(n)`` first.
    """

    def __init__(self, operation: str) -> None:
        super().__init__(f"the connection was lost while {operation} committed; read the session before repeating it")
        self.operation = operation


class CompactionInProgressError(SessionStoreError):
    """Another compaction of the same session is running. Attributes: ``session_id``, ``job_id``, ``lease_owner``."""

    def __init__(self, session_id: str, *, job_id: str, lease_owner: str | None) -> None:
        by = f" by {lease_owner}" if lease_owner else ""
        super().__init__(f"session {session_id!r} is being compacted{by} (job {job_id}); wait for it, then resume the tip")
        self.session_id = session_id
        self.job_id = job_id
        self.lease_owner = lease_owner


class CompactionStuckError(SessionStoreError):
    """A context cannot get below its threshold because of parts that must stay.

    Attributes: ``session_id``, ``reason`` (names the irreducible parts).
    """

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"session {session_id!r} cannot be compacted: {reason}; start a new session or use a larger window")
        self.session_id = session_id
        self.reason = reason


class CompactionVetoedError(SessionStoreError):
    """A hook refused the compaction. A hook raises it itself; attribute ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the compaction was vetoed: {reason}")
        self.reason = reason


class SummarizerError(SessionStoreError):
    """A summary could not be had, or was not one, so nothing was changed. Attributes: ``kind`` and ``reason``."""

    def __init__(self, reason: str, *, kind: str = "failed") -> None:
        super().__init__(f"no usable summary ({kind}): {reason}; the session is unchanged, compact it again later")
        self.kind = kind
        self.reason = reason


class LittleSavedError(SessionStoreError):
    """A compaction would have saved too little under a policy that wants that raised; only a strike was written.

    Attributes: ``session_id``, ``reason`` (with the figures), ``job_id``.
    """

    def __init__(self, session_id: str, reason: str, *, job_id: str) -> None:
        super().__init__(f"session {session_id!r} was not compacted: {reason}; go on with it, or start a new session")
        self.session_id = session_id
        self.reason = reason
        self.job_id = job_id


class LeaseLostError(SessionStoreError):
    """A compaction outlived its lease and another one took over, so its result was not written. Attribute: ``job_id``."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"the lease of compaction job {job_id} was lost before its commit; resume the tip and look")
        self.job_id = job_id


class InvalidMessageError(SessionStoreError):
    """A message cannot be stored because it is not a JSON object with a role (or a Responses item with a type).

    Attributes: ``reason``, ``index`` (in the list that was given, None for a single message).
    """

    def __init__(self, reason: str, *, index: int | None = None) -> None:
        where = "the message" if index is None else f"message {index} of the list"
        super().__init__(f"{where} cannot be stored: {reason}")
        self.reason = reason
        self.index = index


class MessageTooLargeError(InvalidMessageError):
    """A message is larger than the store accepts. Attributes: ``size`` and ``limit`` in bytes of JSON, ``index``."""

    def __init__(self, *, size: int, limit: int, index: int | None = None) -> None:
        super().__init__(
            f"it has {size:,} bytes and this store accepts {limit:,} (SessionStore.open(max_message_bytes=…))", index=index
        )
        self.size = size
        self.limit = limit


class InvalidTargetError(SessionStoreError):
    """An undo, rewind, fork or pin names something that cannot be its target. Attributes: ``session_id``, ``seq``,
    ``reason``."""

    def __init__(self, session_id: str, reason: str, *, seq: int | None = None) -> None:
        super().__init__(f"session {session_id!r}: {reason}")
        self.session_id = session_id
        self.seq = seq
        self.reason = reason


class InvalidTaskError(SessionStoreError):
    """A goal or a list of todos cannot be stored as it is. Attribute: ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the task was not changed: {reason}")
        self.reason = reason


class StoreLockedError(SessionStoreError):
    """The database stayed locked by another writer for the whole busy time-out. Attributes: ``url``, ``waited`` (seconds)."""

    def __init__(self, url: str, *, waited: float) -> None:
        super().__init__(f"{url} stayed locked by another writer for {waited:g} s; nothing was written, try again")
        self.url = url
        self.waited = waited


class StoreUnavailableError(SessionStoreError):
    """The database cannot be used: read-only, full, damaged, replaced, or unreachable. Attributes: ``url``, ``reason``."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} cannot be used: {reason}")
        self.url = url
        self.reason = reason


class SchemaError(SessionStoreError):
    """The database has a schema that this version cannot work with. Attributes: ``found`` and ``expected`` revisions."""

    def __init__(self, reason: str, *, found: str | None = None, expected: str | None = None) -> None:
        super().__init__(reason)
        self.found = found
        self.expected = expected


class ImportFormatError(SessionStoreError):
    """A file is in no format that can be imported. Attributes: ``name`` and ``reason``."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be imported: {reason}")
        self.name = name
        self.reason = reason


class VocabularyError(SessionStoreError):
    """A token vocabulary could not be downloaded or is not the one it claims to be. Attributes: ``name`` and ``reason``."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"vocabulary {name}: {reason}")
        self.name = name
        self.reason = reason
