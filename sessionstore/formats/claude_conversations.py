"""The conversations of a Claude Code session file, and where its records stand in them."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionstore.formats.claude_records import ClaudeRecord
from sessionstore.formats.conversation_log import ConversationLog, Place
from sessionstore.formats.parsed import ParsedLineage


@dataclass(slots=True)
class Conversation:
    """A conversation of a session file while it is read: its log, and what is known about it so far."""

    session_id: str | None
    parent: str | None = None
    branch: str | None = None
    branched_after: Place | None = None
    log: ConversationLog = field(default_factory=ConversationLog)
    open_messages: dict[tuple[str, str], Place] = field(default_factory=dict)
    session_ids: list[str] = field(default_factory=list)
    origin: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None
    named: bool = False
    model: str | None = None

    def lineage(self) -> ParsedLineage:
        """The conversation as it stands now."""
        metadata: dict[str, Any] = dict(self.origin)
        if len(self.session_ids) > 1:
            metadata["sessionIds"] = list(self.session_ids)
        return ParsedLineage(
            session_id=self.session_id,
            messages=self.log.messages(),
            compactions=self.log.compactions(),
            rewinds=self.log.rewinds(),
            title=self.title,
            model=self.model,
            parent=self.parent,
            relation="subagent" if self.branch else None,
            branch=self.branch,
            branched_after=self.branched_after,
            metadata=metadata,
        )


@dataclass(slots=True)
class ChainNode:
    """A record of a chain: its conversation, its place there, and whether it is a message itself."""

    conversation: Conversation
    place: Place
    is_message: bool
    parent: str | None
    digest: str


def entitle(conversation: Conversation | None, record: ClaudeRecord) -> None:
    """Give a conversation the title of a record: the last one wins, and a name that the user gave beats the tool's own."""
    title = record.fields.get("title")
    if conversation is None or title is None or (conversation.named and not record.is_name):
        return
    conversation.title = title
    conversation.named = record.is_name
