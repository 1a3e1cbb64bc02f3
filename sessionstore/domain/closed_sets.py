"""The closed sets of words that the tables, the API and the JSON output use, each written once."""
from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal["message", "summary", "rendition"]
"""What a row of the log is: something said, a compaction's summary, or an older row in a shorter form."""

Edge = Literal["root", "compaction", "undo", "rewind"]
"""How a generation came to be."""

EndReason = Literal["user", "reset", "finished", "idle", "shutdown", "compaction", "undo", "rewind"]
"""Why a generation ended."""

Trigger = Literal["manual", "auto", "preflight", "hygiene", "offline"]
"""What asked for a compaction."""

JobStatus = Literal["queued", "running", "committed", "noop", "deferred", "aborted", "stuck", "interrupted"]
"""Where a compaction job stands."""

Outcome = Literal["committed", "noop", "deferred", "aborted", "stuck"]
"""How a compaction that was asked for ended."""

TodoStatus = Literal["pending", "in_progress", "completed", "cancelled"]
"""Where an entry of the todo list stands."""

TaskPlace = Literal["system", "message"]
"""Where a rendering shows the task: whole in the system prompt, or its open todos in a message at the end."""

Relation = Literal["fork", "subagent", "reset"]
"""How a lineage that names another one branched off from it."""

Headings = Literal["thirteen", "five"]
"""Which headings a summary has."""

Profile = Literal["openai", "anthropic", "responses", "strict"]
"""The provider whose rules a rendering follows."""

Tier = Literal["ok", "notice", "high", "due"]
"""How near a context is to its compaction threshold."""

KINDS: Final = get_args(Kind)
EDGES: Final = get_args(Edge)
END_REASONS: Final = get_args(EndReason)
TRIGGERS: Final = get_args(Trigger)
JOB_STATUSES: Final = get_args(JobStatus)
TODO_STATUSES: Final = get_args(TodoStatus)
RELATIONS: Final = get_args(Relation)
PROFILES: Final = get_args(Profile)
TIERS: Final = get_args(Tier)

DELIBERATE_ENDS: Final = frozenset({"user", "reset", "finished"})
"""End reasons that somebody chose: an append does not reopen such a session."""

AUTOMATIC_ENDS: Final = frozenset({"idle", "shutdown"})
"""End reasons that nobody chose: the next append reopens such a session."""

SUPERSEDED_ENDS: Final = frozenset({"compaction", "undo", "rewind"})
"""End reasons that mean a later generation exists."""
