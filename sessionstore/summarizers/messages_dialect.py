"""The dialect of Anthropic's Messages API."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessionstore.domain.answer_forms import AnswerForm
from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.chat_completions import numbers_of
from sessionstore.summarizers.endpoint import Question
from sessionstore.summarizers.endpoint_failures import reported_error


@dataclass(frozen=True, slots=True)
class MessagesDialect:
    """One user message out, content blocks back; no tools, nothing streamed."""

    def payload(
        self,
        model: str,
        question: Question,
        form: AnswerForm | None,
        *,
        older_limit: bool,  # noqa: ARG002 - the longest answer has one name here
    ) -> dict[str, Any]:
        """The request; a schema goes as ``output_config``."""
        prompt = question.prompt if form is None else f"{question.prompt}\n\n{form.words}"
        payload: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": question.max_tokens,
        }
        if form is not None:
            payload["output_config"] = {"format": {"type": "json_schema", "schema": dict(form.schema)}}
        return payload

    def read(self, value: Mapping[str, Any]) -> SummaryAnswer:
        """The content blocks as an answer: text, thoughts, calls."""
        blocks = value.get("content")
        if not isinstance(blocks, list):
            if value.get("error"):
                raise reported_error(value["error"])
            raise SummarizerError("its reply has no content", kind="invalid_reply")
        reason = value.get("stop_reason")
        return SummaryAnswer(
            text=_joined(blocks, "text", "text"),
            finish_reason=reason if isinstance(reason, str) else None,
            reasoning=_joined(blocks, "thinking", "thinking") or None,
            tool_calls=tuple(block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"),
            usage=numbers_of(value.get("usage")),
        )


def _joined(blocks: list[Any], kind: str, field: str) -> str:
    texts = (block.get(field) for block in blocks if isinstance(block, dict) and block.get("type") == kind)
    return "".join(text for text in texts if isinstance(text, str))
