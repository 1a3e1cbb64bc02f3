"""The dialect of chat completions, as OpenAI has it and nearly every server speaks it."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessionstore.domain.answer_forms import AnswerForm
from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.endpoint import Question
from sessionstore.summarizers.endpoint_failures import reported_error


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """One user message out, one choice back; no tools, nothing streamed."""

    def payload(self, model: str, question: Question, form: AnswerForm | None, *, older_limit: bool) -> dict[str, Any]:
        """The request; a schema goes as ``response_format``."""
        prompt = question.prompt if form is None else f"{question.prompt}\n\n{form.words}"
        payload: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": prompt}],
            "stream": False,
            "max_tokens" if older_limit else "max_completion_tokens": question.max_tokens,
        }
        if form is not None:
            schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
            payload["response_format"] = {"type": "json_schema", "json_schema": schema}
        return payload

    def read(self, value: Mapping[str, Any]) -> SummaryAnswer:
        """The first choice as an answer."""
        choices = value.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            if value.get("error"):
                raise reported_error(value["error"])
            raise SummarizerError("its reply has no choices", kind="invalid_reply")
        choice = choices[0]
        message = choice.get("message")
        if not isinstance(message, dict):
            raise SummarizerError("its reply has no message", kind="invalid_reply")
        if message.get("refusal"):
            raise SummarizerError("the model refused", kind="refused")
        calls = message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])
        thoughts = (message.get(name) for name in ("reasoning_content", "reasoning"))
        return SummaryAnswer(
            text=_text_of(message.get("content")),
            finish_reason=_word(choice.get("finish_reason")),
            reasoning=next((text for text in thoughts if isinstance(text, str)), None),
            tool_calls=tuple(calls) if isinstance(calls, list) else (calls,),
            usage=numbers_of(value.get("usage")),
        )


def numbers_of(usage: object) -> Mapping[str, int] | None:
    """The provider's token counts, those that are plain numbers; None when there are none."""
    if not isinstance(usage, dict):
        return None
    counts = {
        name: number for name, number in usage.items() if isinstance(number, int) and not isinstance(number, bool)
    }
    return counts or None


def _text_of(content: object) -> str:
    if isinstance(content, list):
        # Some servers answer with parts, as they are asked.
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _word(reason: object) -> str | None:
    return reason if isinstance(reason, str) else None
