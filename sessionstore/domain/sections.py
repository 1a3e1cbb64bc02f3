"""The sections of a summary, in the order in which they always appear: thirteen, or the same under five headings."""
from __future__ import annotations

from typing import Final

ACTIVE_TASK: Final = "Active Task"
GOAL: Final = "Goal"
CONSTRAINTS: Final = "Constraints & Preferences"
COMPLETED_ACTIONS: Final = "Completed Actions"
ACTIVE_STATE: Final = "Active State"
IN_PROGRESS: Final = "In Progress"
BLOCKED: Final = "Blocked"
KEY_DECISIONS: Final = "Key Decisions"
RESOLVED_QUESTIONS: Final = "Resolved Questions"
PENDING_ASKS: Final = "Pending User Asks"
RELEVANT_FILES: Final = "Relevant Files"
REMAINING_WORK: Final = "Remaining Work"
CRITICAL_CONTEXT: Final = "Critical Context"

SECTIONS: Final = (
    ACTIVE_TASK,
    GOAL,
    CONSTRAINTS,
    COMPLETED_ACTIONS,
    ACTIVE_STATE,
    IN_PROGRESS,
    BLOCKED,
    KEY_DECISIONS,
    RESOLVED_QUESTIONS,
    PENDING_ASKS,
    RELEVANT_FILES,
    REMAINING_WORK,
    CRITICAL_CONTEXT,
)
"""Every heading; a stored summary has all of them in this order."""

FIVE_HEADINGS: Final = {
    "Goal": (GOAL, CONSTRAINTS),
    "Progress": (COMPLETED_ACTIONS, ACTIVE_STATE, IN_PROGRESS, BLOCKED, RESOLVED_QUESTIONS, CRITICAL_CONTEXT),
    "Key Decisions": (KEY_DECISIONS,),
    "Files Modified": (RELEVANT_FILES,),
    "Next Steps": (REMAINING_WORK, ACTIVE_TASK, PENDING_ASKS),
}
"""The short form of a summary: which of the thirteen sections stand under each heading; all but the first say their name."""
