"""What a line of a Claude Code session file is: a message, a mark of a compaction, a title, or a notice."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sessionstore.domain.messages import encode_message, message_digest
from sessionstore.domain.transcript import view_message
from sessionstore.errors import InvalidMessageError
from sessionstore.formats.json_lines import JsonRecord
from sessionstore.formats.json_text import member_spans
from sessionstore.formats.record_time import seconds_of

RecordKind = Literal["message", "summary", "boundary", "title", "notice"]
"""``summary`` is the text of a compaction, ``boundary`` its mark; a ``notice`` has no message but may be a parent of one."""

_RECORD_KEYS: Final = ("uuid", "sessionId", "leafUuid", "snapshot", "parentUuid")
_NOT_TYPED: Final = (
    "<command-", "<local-command-", "<bash-", "<task-notification>", "<teammate-message", "Caveat: The messages below",
    "[Request interrupted by user",
)
"""How user records begin that no person typed as a prompt: slash commands, their output, notifications."""


@dataclass(frozen=True, slots=True)
class ClaudeRecord:
    """One record, without what the model never saw.

    ``label`` names its type for counting; ``digest`` is equal for two records that say the same. ``message`` is the JSON text
    of its message, or ``problem`` says why there is none.
    ``decisive`` says that a person or the model wrote it. ``fields`` holds what only a boundary or title has.
    """

    line: int
    kind: RecordKind
    label: str
    digest: str
    uuid: str | None
    parent: str | None
    session_id: str | None
    agent_id: str | None
    is_sidechain: bool
    created_at: float | None
    message: str | None = None
    problem: str | None = None
    merge_key: tuple[str, str] | None = None
    model: str | None = None
    decisive: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_name(self) -> bool:
        """Whether it is a title that the user chose, not one that the tool made up."""
        return self.label == "custom-title"


def is_claude_record(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a record of a session file, not a block or message inside one."""
    return isinstance(value.get("type"), str) and any(key in value for key in _RECORD_KEYS)


def read_claude_record(record: JsonRecord) -> ClaudeRecord:
    """Classify a record and cut out what an import needs. Raises nothing: what is wrong stands in ``problem``."""
    value = record.value
    kind, label = _classify(value)
    message, problem = _message_text(record, kind, label)
    inner = value.get("message")
    inner = inner if isinstance(inner, dict) else {}
    model, message_id = _text(inner, "model"), _text(inner, "id")
    return ClaudeRecord(
        line=record.line,
        kind=kind,
        label=label,
        digest=label if kind == "notice" else message_digest(_said(value, inner)),
        uuid=_text(value, "uuid"),
        parent=_text(value, "parentUuid"),
        session_id=_text(value, "sessionId"),
        agent_id=_text(value, "agentId"),
        is_sidechain=value.get("isSidechain") is True,
        created_at=seconds_of(value.get("timestamp")),
        message=message,
        problem=problem,
        merge_key=(message_id, _text(value, "requestId") or "") if message_id else None,
        model=model if model != "<synthetic>" else None,
        decisive=kind == "message" and _is_decisive(value, inner),
        fields=_fields(value, kind),
        origin={key: value[key] for key in ("cwd", "gitBranch", "version") if _text(value, key)},
    )


def _said(value: Mapping[str, Any], message: Mapping[str, Any]) -> Mapping[str, Any]:
    # A record that is written again may have a newer envelope (version, branch, usage); what it says is the same.
    return {"role": message.get("role"), "content": message.get("content")} if message else value


def _classify(value: Mapping[str, Any]) -> tuple[RecordKind, str]:
    record_type = _text(value, "type")
    if record_type is None:
        return "notice", "without type"
    if record_type in ("user", "assistant"):
        if value.get("isCompactSummary") is True:
            return "summary", record_type
        if value.get("isVisibleInTranscriptOnly") is True:
            return "notice", f"{record_type}/not sent to the model"
        return "message", record_type
    if record_type in ("summary", "custom-title"):
        return "title", record_type
    detail = value.get("subtype")
    for key in ("attachment", "data"):
        if isinstance(value.get(key), dict):
            detail = value[key].get("type")
    label = f"{record_type}/{detail}" if isinstance(detail, str) else record_type
    if label == "attachment/queued_command":
        # A prompt typed while the model worked: the only attachment that holds what somebody said. The others are context
        # that the tool injects and renews by itself (reminders, lists of tools, files, output of hooks).
        return "message", label
    return ("boundary" if label == "system/compact_boundary" else "notice"), label


def _message_text(record: JsonRecord, kind: RecordKind, label: str) -> tuple[str | None, str | None]:
    if kind not in ("message", "summary"):
        return None, None
    if label == "attachment/queued_command":
        prompt = record.value["attachment"].get("prompt")
        if not isinstance(prompt, str | list):
            return None, "a queued command without a prompt"
        try:
            return encode_message({"role": "user", "content": prompt}).body, None
        except InvalidMessageError as error:
            return None, error.reason
    message = record.value.get("message")
    if not isinstance(message, dict):
        return None, "a record without a message object"
    start, end = member_spans(record.text)["message"]
    return record.text[start:end], None


def _is_decisive(value: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    if value.get("type") == "assistant":
        return True
    view = view_message(message)
    if value.get("isMeta") is True or value.get("type") != "user":
        return False
    if view.text.strip():
        return not view.text.lstrip().startswith(_NOT_TYPED)
    return view.images > 0 and not view.results


def _fields(value: Mapping[str, Any], kind: RecordKind) -> Mapping[str, Any]:
    if kind == "boundary":
        metadata = value.get("compactMetadata")
        return metadata if isinstance(metadata, dict) else {}
    if kind == "title":
        return {"title": _text(value, "summary") or _text(value, "customTitle"), "leaf": _text(value, "leafUuid")}
    return {}


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
