"""Says whether an answer is a summary, and if not, what it is instead.

Simple rules, each for one way in which models fail. A short answer in prose is a summary, also without our headings, and so is
a list of message references or the words of a single request. Rules that can err are kept apart, in ``answer_suspicions``.
"""
from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, Literal

from sessionstore.domain.answer_suspicions import AnswerSuspicion, suspect_answer
from sessionstore.domain.section_parsing import is_heading
from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.domain.summary import previous_body

AnswerFailure = Literal[
    "tool_call", "refused", "truncated", "reasoning_only", "empty", "blank", "error_text", "not_prose", "echo"
]
"""What an answer is when it is no summary."""

_TRUNCATED: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "model_context_window_exceeded"}
)
_REFUSED: Final = frozenset({"content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist"})
_THOUGHT: Final = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED: Final = re.compile(r"\s*```(?P<language>[\w+#-]*)[^\n]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)
_PROSE_LANGUAGES: Final = frozenset({"", "markdown", "md", "text", "txt"})
_REFERENCE: Final = re.compile(r"#\d")
_ERROR: Final = re.compile(
    r"(?:[\w.]*(?:error|exception)(?: code)?\s*:|traceback \(most recent|http(?:/\d\.\d)? ?[45]\d\d\b"
    r"|(?:[45]\d\d )?(?:bad request|unauthorized|forbidden|not found|internal server error|bad gateway|service unavailable"
    r"|too many requests|rate limit (?:exceeded|reached)|request timed? ?out)[\s.!:]*(?:$|\n))",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(r"\s*<(?:!doctype\b|html\b|\?xml\b)", re.IGNORECASE)
_CODE_LINE: Final = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|for|while|const|let|var|function|public|private|#include|package|using)\b.*[:;{(]?"
    r"|[}\])]+[;,]?|.*[;{}]|[\w.\[\]]+ = .+|[\w.]+\(.*\))\s*"
)
_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_BLOCK_HEADING: Final = re.compile(r"^#\d+ \w+(?: \(continued\))?$", re.MULTILINE)
_LONGEST_ERROR: Final = 600
_RUN: Final = 12
"""Words in a row that count as copied when the input has them too."""
_LEAST_COPIED: Final = 60
"""Runs from which an answer can be an echo: shorter ones are quotes."""
_ECHO_SHARE: Final = 0.8


def check_answer(
    answer: SummaryAnswer, *, history: str = "", requests: Sequence[str] = (), languages: frozenset[str] = frozenset()
) -> AnswerFailure | AnswerSuspicion | None:
    """What is wrong with an answer, or None when it can be used (its text is then ``clean_answer(answer.text)``).

    ``history`` is the text the summariser was given, ``requests`` what the user wrote in it, which may be quoted, and
    ``languages`` those that the user writes, found once for all answers: the whole conversation tells, not one piece of it.
    In this order: a call to a tool; a finish reason that says refused or cut off; thoughts only; nothing, or nothing but signs
    and headings; an error message or web page; JSON, code or numbers; four fifths of it copied from the input in runs of twelve
    words; and last what ``suspect_answer`` finds.
    """
    if answer.tool_calls:
        return "tool_call"
    reason = (answer.finish_reason or "").casefold()
    if reason in _REFUSED:
        return "refused"
    if reason in _TRUNCATED:
        return "truncated"
    text = clean_answer(answer.text)
    if not text:
        if (answer.reasoning or "").strip() or _THOUGHT.search(answer.text):
            return "reasoning_only"
        return "blank" if answer.text else "empty"
    return _check_text(text, history, requests, languages)


def clean_answer(text: str) -> str:
    """The answer without thoughts in ``<think>`` marks, a code fence round all of it, and a copy of our preface."""
    text = _THOUGHT.sub("", text)
    wrapped = _FENCED.fullmatch(text)
    if wrapped is not None and wrapped["language"].lower() in _PROSE_LANGUAGES:
        text = wrapped["inside"]
    return previous_body(text)


def _check_text(
    text: str, history: str, requests: Sequence[str], languages: frozenset[str]
) -> AnswerFailure | AnswerSuspicion | None:
    content = "\n".join(line for line in text.splitlines() if not is_heading(line) or ":" in line)
    if not any(character.isalnum() for character in content):
        return "blank"
    if _is_error(text):
        return "error_text"
    if not _is_prose(text):
        return "not_prose"
    if _is_echo(text, history, requests):
        return "echo"
    return suspect_answer(text, history=history, languages=languages)


def _is_error(text: str) -> bool:
    if _PAGE.match(text):
        return True
    value = _json_value(text)
    if isinstance(value, dict) and "error" in value:
        return True
    return len(text) <= _LONGEST_ERROR and _ERROR.match(text) is not None and not any(map(is_heading, text.splitlines()[1:]))


def _is_prose(text: str) -> bool:
    if isinstance(_json_value(text), dict | list):
        return False
    if not any(character.isalpha() for character in text) and not _REFERENCE.search(text):
        return False
    if _FENCED.sub("", text).strip() == "" and "```" in text:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    code = sum(1 for line in lines if _CODE_LINE.fullmatch(line))
    return len(lines) < 4 or code < 0.8 * len(lines) or any(map(is_heading, lines))


def _json_value(text: str) -> object:
    if text[:1] not in "{[":
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _is_echo(text: str, history: str, requests: Sequence[str]) -> bool:
    answered = _runs(text)
    if len(answered) < _LEAST_COPIED:
        return False
    copied = answered & _runs(history)
    if len(copied) < _ECHO_SHARE * _LEAST_COPIED:
        # Whatever is a quote, too little is copied.
        return False
    # A summary may quote one request however long; what is copied beyond the longest quote is looked at.
    quoted = max((answered & _runs(request) for request in requests), key=len, default=set())
    rest = answered - quoted
    return len(rest) >= _LEAST_COPIED and len(rest & copied) >= _ECHO_SHARE * len(rest)


def _runs(text: str) -> set[int]:
    words = _WORD.findall(_BLOCK_HEADING.sub("", text).casefold())
    return {hash(tuple(words[index : index + _RUN])) for index in range(len(words) - _RUN + 1)}
