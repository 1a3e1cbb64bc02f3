"""Reading OpenAI chat transcripts: a JSON document with messages, or JSON Lines with a message each.

* A message may carry ``id`` and ``parent``, which thread it. Its log keeps the order of the file, parents first; going on from
  an earlier message is a rewind. A message without a parent, or whose parent is not there, follows what stands before it.
* Messages with ``sidechain: true`` are conversations of their own, numbered by the order in which they begin.
* System and developer messages before the first other one are the system prompt, not messages.
* The body is the text of the record byte for byte, with all its keys; only line breaks within it are taken out.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionstore.domain.messages import encode_json_text, message_digest
from sessionstore.domain.transcript import view_message
from sessionstore.errors import ImportFormatError, InvalidMessageError
from sessionstore.formats.conversation_log import START, ConversationLog, Place
from sessionstore.formats.damage import merge_damage
from sessionstore.formats.json_lines import JsonRecord, read_json_lines
from sessionstore.formats.json_text import decode_at, element_texts, member_spans, single_line
from sessionstore.formats.parent_order import order_by_parents
from sessionstore.formats.parsed import DamagedLine, LineNote, ParsedLineage, ParsedTranscript
from sessionstore.formats.record_time import seconds_of


def read_openai_lines(lines: Iterable[str]) -> ParsedTranscript:
    """Read JSON Lines of messages; what cannot be read is reported, and nothing is raised."""
    records: list[JsonRecord] = []
    damaged: list[DamagedLine] = []
    for item in read_json_lines(lines, is_record=lambda value: isinstance(value.get("role"), str)):
        if isinstance(item, DamagedLine):
            damaged.append(item)
        elif isinstance(item.value.get("messages"), list):
            found, torn = _document_records(item.text, item.value, item.line)
            records += found
            damaged += torn
        else:
            records.append(item)
    return _thread(records, damaged)


def read_openai_document(text: str, *, name: str = "the document") -> ParsedTranscript:
    """Read one JSON document: a list of messages, or an object with ``messages``.

    In the log of one request the answer (``response.choices[0].message``) is the last message. Lines are counted in the
    document. Raises ``ImportFormatError`` for any other document.
    """
    start = len(text) - len(text.lstrip("\ufeff \t\r\n\x00"))
    try:
        value, end = decode_at(text, start)
    except (ValueError, RecursionError) as error:
        raise ImportFormatError(name, f"it is not one JSON document: {error}") from error
    records, damaged = _document_records(text[start:end], value, 1 + text.count("\n", 0, start))
    if text[end:].strip("\ufeff \t\r\n\x00"):
        damaged.append(DamagedLine(1 + text.count("\n", 0, end), "text after the end of the document"))
    return _thread(records, damaged)


def _document_records(text: str, value: Any, first_line: int) -> tuple[list[JsonRecord], list[DamagedLine]]:
    """The messages of a document with the line on which each begins."""
    start = 0
    if isinstance(value, dict):
        start = member_spans(text)["messages"][0] if isinstance(value.get("messages"), list) else len(text)
    records: list[JsonRecord] = []
    damaged: list[DamagedLine] = []
    line, position = first_line + text.count("\n", 0, start), start
    for element in element_texts(text, start) if start < len(text) else []:
        begin = text.index(element, position)
        line += text.count("\n", position, begin)
        message, _end = decode_at(element, 0)
        if isinstance(message, dict):
            records.append(JsonRecord(line, single_line(element), message))
        else:
            damaged.append(DamagedLine(line, f"a JSON {type(message).__name__} where a message should be"))
        line += text.count("\n", begin, begin + len(element))
        position = begin + len(element)
    answer = _answer_text(text, value)
    if answer is not None:
        message, _end = decode_at(answer, 0)
        records.append(JsonRecord(first_line + text.count("\n", 0, text.rindex(answer)), single_line(answer), message))
    return records, damaged


def _answer_text(text: str, value: Any) -> str | None:
    try:
        if not isinstance(value["response"]["choices"][0]["message"]["role"], str):
            return None
    except (KeyError, IndexError, TypeError):
        return None
    for key in ("response", "choices"):
        start, end = member_spans(text)[key]
        text = text[start:end]
    choice = element_texts(text)[0]
    start, end = member_spans(choice)["message"]
    return choice[start:end]


@dataclass(slots=True)
class _Conversation:
    log: ConversationLog = field(default_factory=ConversationLog)
    branch: str | None = None
    branched_after: Place | None = None
    prompt: list[str] = field(default_factory=list)

    def lineage(self) -> ParsedLineage:
        return ParsedLineage(
            session_id=None,
            messages=self.log.messages(),
            rewinds=self.log.rewinds(),
            system_prompt="\n\n".join(self.prompt) if self.prompt else None,
            relation="subagent" if self.branch else None,
            branch=self.branch,
            branched_after=self.branched_after,
        )


def _thread(records: list[JsonRecord], damaged: list[DamagedLine]) -> ParsedTranscript:
    links = [(_identifier(record.value, "id"), _identifier(record.value, "parent")) for record in records]
    order, cyclic = order_by_parents(links)
    known = {own for own, _parent in links if own is not None}
    main = _Conversation()
    sides: list[_Conversation] = []
    nodes: dict[str, tuple[_Conversation, Place]] = {}
    notes: list[LineNote] = []
    for index in order:
        record, (own, parent) = records[index], links[index]
        if index in cyclic:
            notes.append(LineNote(record.line, "it is its own ancestor, so it stands in the order of the file"))
        elif parent is not None and parent not in known:
            notes.append(LineNote(record.line, f"its parent {parent} is not in the file"))
        above = nodes.get(parent) if parent is not None else None
        if record.value.get("sidechain") is True:
            conversation = _side(sides, above, main, has_parent=parent is not None)
        else:
            conversation = main
        after = above[1] if above is not None and above[0] is conversation else conversation.log.tip
        try:
            place = _add(conversation, record, own, after)
        except InvalidMessageError as error:
            damaged.append(DamagedLine(record.line, f"the message cannot be stored: {error.reason}"))
            place = after
        if own is not None and own in nodes:
            notes.append(LineNote(record.line, f"another record has the id {own} too"))
        elif own is not None:
            nodes[own] = (conversation, place)
    return ParsedTranscript(
        format="openai",
        lineages=tuple(one.lineage() for one in (main, *sides) if len(one.log) or one.prompt),
        damaged=merge_damage(damaged),
        notes=tuple(sorted(notes, key=lambda note: note.line)),
    )


def _side(
    sides: list[_Conversation], above: tuple[_Conversation, Place] | None, main: _Conversation, *, has_parent: bool
) -> _Conversation:
    if above is not None and above[0] is not main:
        return above[0]
    if above is None and sides and (not has_parent or len(sides) == 1):
        return sides[-1]
    begun_at = above[1] if above is not None else main.log.tip
    side = _Conversation(branch=str(len(sides) + 1), branched_after=begun_at if begun_at >= 0 else None)
    sides.append(side)
    return side


def _add(conversation: _Conversation, record: JsonRecord, own: str | None, after: Place) -> Place:
    encoded = encode_json_text(record.text)
    role = encoded.role
    if role in ("system", "developer") and not len(conversation.log):
        conversation.prompt.append(view_message(encoded.message).text)
        return START
    key = own or message_digest(encoded.message)
    moment = next((record.value[name] for name in ("created_at", "timestamp") if record.value.get(name) is not None), None)
    decisive = role in ("user", "assistant")
    return conversation.log.append(key, encoded, record.line, seconds_of(moment), after=after, decisive=decisive)


def _identifier(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found else None
