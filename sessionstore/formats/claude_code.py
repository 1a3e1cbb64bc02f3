"""Reading the session files of Claude Code: threaded records become conversations, compactions and side chains.

* A record with ``user`` or ``assistant`` type is a message: its ``message`` object, byte for byte. Pieces with one message id
  are one message. Slash commands, their output and other records that the tool wrote in the user's name were in the model's
  context and come in. Of the attachments only queued prompts do; the rest is counted in ``skipped``, as are notices.
* Each session is one conversation; a session whose first record continues another one belongs to that. Its log has every
  message in the order of the file, and going back to an earlier one is a rewind, so that a grown file only ever adds.
* A record that begins a conversation anew without a compaction, or whose parent is not in the file, follows what stands
  before it.
* Records of a side chain are conversations of their own: ``<session>.<agent id>``, or ``<session>.<number>`` by the order of
  their first records where there is no agent id.
* A compact boundary with its summary record is a compaction. A boundary at the very end that has no summary yet is left for
  the next import.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sessionstore.domain.messages import encode_json_text
from sessionstore.domain.transcript import view_message
from sessionstore.errors import InvalidMessageError
from sessionstore.formats.claude_conversations import ChainNode, Conversation, entitle
from sessionstore.formats.claude_records import ClaudeRecord, is_claude_record, read_claude_record
from sessionstore.formats.conversation_log import Place
from sessionstore.formats.damage import merge_damage
from sessionstore.formats.json_lines import read_json_lines
from sessionstore.formats.parent_order import order_by_parents
from sessionstore.formats.parsed import DamagedLine, LineNote, ParsedCompaction, ParsedTranscript


def read_claude_code(lines: Iterable[str]) -> ParsedTranscript:
    """Read a session file or the file of a sub-agent; what cannot be read is reported, and nothing is raised."""
    reader = _SessionFile()
    records: list[ClaudeRecord] = []
    for item in read_json_lines(lines, is_record=is_claude_record):
        if isinstance(item, DamagedLine):
            reader.damaged.append(item)
        else:
            records.append(read_claude_record(item))
    order, cyclic = order_by_parents([(record.uuid, record.parent) for record in records])
    reader.known = frozenset(record.uuid for record in records if record.uuid)
    for index in order:
        reader.take(records[index], is_cyclic=index in cyclic)
    return reader.result()


class _SessionFile:
    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()
        self.damaged: list[DamagedLine] = []
        self._notes: list[LineNote] = []
        self._skipped: Counter[str] = Counter()
        self._nodes: dict[str, ChainNode] = {}
        self._sessions: dict[str | None, Conversation] = {}
        self._mains: list[Conversation] = []
        self._sides: dict[tuple[str | None, str], Conversation] = {}
        self._latest_main: Conversation | None = None
        self._latest_side: dict[str | None, Conversation] = {}
        self._titles: list[ClaudeRecord] = []

    def take(self, record: ClaudeRecord, *, is_cyclic: bool) -> None:
        if record.kind in ("title", "notice"):
            self._skipped[record.label] += 1
        if record.kind == "title":
            self._titles.append(record)
            return
        if record.uuid is None and record.kind == "notice":
            return
        twin = self._nodes.get(record.uuid or "")
        if twin is not None and twin.digest == record.digest:
            self._skipped["the same record again"] += record.kind != "notice"
            return
        if twin is not None:
            self._notes.append(LineNote(record.line, f"another record has the id {record.uuid} too"))
        if is_cyclic:
            self._notes.append(LineNote(record.line, "it is its own ancestor, so it stands in the order of the file"))
        elif record.parent and record.parent not in self.known:
            self._notes.append(LineNote(record.line, f"its parent {record.parent} is not in the file"))
        conversation = self._conversation_of(record)
        conversation.origin = conversation.origin or record.origin
        conversation.model = record.model or conversation.model
        above = self._nodes.get(record.parent or "")
        after = above.place if above is not None and above.conversation is conversation else conversation.log.tip
        place = self._place(record, conversation, after)
        if record.uuid is not None and twin is None:
            is_message = record.kind == "message" and place is not None
            at = after if place is None else place
            self._nodes[record.uuid] = ChainNode(conversation, at, is_message, record.parent, record.digest)

    def _place(self, record: ClaudeRecord, conversation: Conversation, after: Place) -> Place | None:
        """Put the record into its conversation; None where it adds nothing."""
        if record.kind == "boundary":
            return self._compact(record, conversation)
        if record.kind == "notice":
            return None
        try:
            if record.message is None:
                raise InvalidMessageError(record.problem or "it has no message")
            encoded = encode_json_text(record.message)
        except InvalidMessageError as error:
            self.damaged.append(DamagedLine(record.line, f"the message cannot be stored: {error.reason}"))
            return None
        key = record.uuid or record.digest
        log = conversation.log
        if record.kind == "summary":
            text = view_message(encoded.message).text
            place = log.summarize(text)
            if place is None:
                place = log.compact(ParsedCompaction(key, 0, text, created_at=record.created_at, line=record.line), ())
            return place
        begun = conversation.open_messages.get(record.merge_key) if record.merge_key else None
        if begun is not None and (after == begun or log.is_current(begun)) and log.extend(begun, key, encoded):
            return max(begun, after)
        place = log.append(key, encoded, record.line, record.created_at, after=after, decisive=record.decisive)
        if record.merge_key:
            conversation.open_messages[record.merge_key] = place
        return place

    def _compact(self, record: ClaudeRecord, conversation: Conversation) -> Place:
        preserved = [
            node for uuid in self._preserved(record) if (node := self._nodes.get(uuid)) and node.conversation is conversation
        ]
        kept = {node.place for node in preserved if node.is_message}
        compaction = ParsedCompaction(
            key=record.uuid or record.digest,
            position=0,
            summary=None,
            trigger="manual" if record.fields.get("trigger") == "manual" else "auto",
            tokens_before=_count(record.fields.get("preTokens")),
            tokens_after=_count(record.fields.get("postTokens")),
            created_at=record.created_at,
            line=record.line,
        )
        place = conversation.log.compact(compaction, kept)
        for node in preserved:
            # What hangs on a notice that was kept goes on from the compaction, not from before it.
            if not node.is_message and node.place not in kept:
                node.place = place
        return place

    def _preserved(self, record: ClaudeRecord) -> list[str]:
        messages = record.fields.get("preservedMessages")
        if isinstance(messages, dict):
            named = [messages.get(key) for key in ("uuids", "allUuids")]
            return [uuid for names in named if isinstance(names, list) for uuid in names if isinstance(uuid, str)]
        segment = record.fields.get("preservedSegment")
        if not isinstance(segment, dict):
            return []
        walked: dict[str, None] = {}
        uuid = segment.get("tailUuid")
        while isinstance(uuid, str) and uuid in self._nodes and uuid not in walked:
            walked[uuid] = None
            if uuid == segment.get("headUuid"):
                return list(walked)
            uuid = self._nodes[uuid].parent
        # The segment is not whole in this file, so only its ends are certain.
        return [end for end in (segment.get("headUuid"), segment.get("tailUuid")) if isinstance(end, str)]

    def _conversation_of(self, record: ClaudeRecord) -> Conversation:
        above = self._nodes.get(record.parent or "")
        if record.is_sidechain:
            return self._side_of(record, above)
        session_id = record.session_id
        known = self._sessions.get(session_id)
        if known is None and session_id is None:
            known = self._latest_main
        if known is None and above is not None and above.conversation.branch is None:
            known = above.conversation
        if known is None:
            known = Conversation(session_id)
            self._mains.append(known)
        self._sessions[session_id] = self._latest_main = known
        if session_id is not None and session_id not in known.session_ids:
            known.session_ids.append(session_id)
        return known

    def _side_of(self, record: ClaudeRecord, above: ChainNode | None) -> Conversation:
        main = self._sessions.get(record.session_id)
        parent = main.session_id if main is not None else record.session_id
        if record.agent_id is not None:
            return self._side(parent, record.agent_id, main)
        if above is not None and above.conversation.branch is not None:
            return above.conversation
        latest = self._latest_side.get(parent)
        if latest is not None and above is None and record.parent is not None:
            return latest
        number = 1 + sum(1 for owner, _branch in self._sides if owner == parent)
        self._latest_side[parent] = side = self._side(parent, str(number), main)
        return side

    def _side(self, parent: str | None, branch: str, main: Conversation | None) -> Conversation:
        side = self._sides.get((parent, branch))
        if side is None:
            branched_after = len(main.log) - 1 if main is not None and len(main.log) else None
            session_id = f"{parent}.{branch}" if parent is not None else None
            side = self._sides[parent, branch] = Conversation(session_id, parent, branch, branched_after)
        return side

    def result(self) -> ParsedTranscript:
        for record in self._titles:
            node = self._nodes.get(record.fields.get("leaf") or "")
            of_leaf = node.conversation if node is not None else None
            entitle(self._sessions.get(record.session_id, self._latest_main) if record.is_name else of_leaf, record)
        everything = [*self._mains, *self._sides.values()]
        for conversation in everything:
            if conversation.log.drop_unfinished_compaction():
                self._skipped["system/compact_boundary without its summary yet"] += 1
        lineages = tuple(conversation.lineage() for conversation in everything)
        return ParsedTranscript(
            format="claude-code",
            lineages=tuple(lineage for lineage in lineages if lineage.messages or lineage.compactions),
            damaged=merge_damage(self.damaged),
            notes=tuple(sorted(self._notes, key=lambda note: note.line)),
            skipped=dict(+self._skipped),
        )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
