"""Which summariser a command asks: its options, else the environment, else the user's configuration file, else none.

The file is ``config.toml`` in the user's config folder; its table ``[summarizer]`` has the fields of ``SummarizerSettings``,
and ``[summarizer.main]`` the same for the model that is asked when the first one fails. Keys are in neither: a field names the
environment variable that holds one.
"""
from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from sessionstore.summarizers.chain import SummarizerChain
    from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer

Function = TypeVar("Function", bound=Callable[..., Any])

KINDS: Final = ("extractive", "openai", "anthropic")
"""What a summariser can be; the first needs no model."""

CONFIG_VARIABLE: Final = "SESSIONSTORE_CONFIG"
"""Environment variable that names the configuration file in place of the one in the user's config folder."""

VARIABLES: Final = {
    "kind": "SESSIONSTORE_SUMMARIZER",
    "model": "SESSIONSTORE_SUMMARIZER_MODEL",
    "base_url": "SESSIONSTORE_SUMMARIZER_BASE_URL",
    "api_key_env": "SESSIONSTORE_SUMMARIZER_API_KEY_ENV",
}
"""Environment variables by the field they set."""

_TOKENS: Final = frozenset({"window", "input_tokens", "reasoning_tokens"})
_VARIABLE_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_MAIN: Final = "main"


@dataclass(frozen=True, slots=True)
class SummarizerSettings:
    """One model, as ``EndpointSummarizer`` takes it.

    ``kind`` is one of ``KINDS``, of which ``openai`` is anything that speaks chat completions; ``timeout`` is in seconds, the
    other numbers are tokens. None: the summariser's own default.
    """

    kind: str = KINDS[0]
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    timeout: float | None = None
    window: int | None = None
    input_tokens: int | None = None
    reasoning_tokens: int | None = None

    def summarizer(self) -> EndpointSummarizer | None:
        """The summariser, None for the one that needs no model. Raises ``click.UsageError`` when no model is named."""
        if self.kind == KINDS[0]:
            return None
        if self.model is None:
            raise click.UsageError(f"the summarizer {self.kind!r} needs a model: --model, or {VARIABLES['model']}")
        values = {name: value for name, value in asdict(self).items() if name != "kind" and value is not None}
        try:
            return _class_of(self.kind)(**values)
        except ValueError as error:
            raise click.UsageError(str(error)) from error


def chooses_a_summarizer(function: Function) -> Function:
    """Give a command ``summarizer``, ``model`` and ``base_url``, None where they are not given."""
    option = click.option("--base-url", metavar="URL", help="Address of the endpoint up to /v1. Default: the provider's own.")
    function = option(function)
    function = click.option("--model", metavar="MODEL", help="The provider's name of the model.")(function)
    kinds = click.Choice(KINDS)
    text = "extractive needs no model (the default); openai is any endpoint with chat completions."
    return click.option("--summarizer", type=kinds, help=text)(function)


def chosen_settings(kind: str | None, model: str | None, base_url: str | None) -> list[SummarizerSettings]:
    """The models to ask, in order: options over environment over file. What the file says counts for its own kind only.

    Raises ``click.UsageError`` that names the file or variable at fault.
    """
    main, backup = _from_file()
    surroundings = {field: value for field, name in VARIABLES.items() if (value := os.environ.get(name, "").strip())}
    options = {"kind": kind, "model": model, "base_url": base_url}
    given = {**surroundings, **{field: value for field, value in options.items() if value is not None}}
    if given.get("kind", main.kind) not in KINDS:
        raise click.UsageError(f"{VARIABLES['kind']} is one of {', '.join(KINDS)}, not {given['kind']!r}")
    if given.get("kind", main.kind) != main.kind:
        main, backup = SummarizerSettings(), None
    first = replace(
        main,
        kind=given.get("kind", main.kind),
        model=given.get("model", main.model),
        base_url=given.get("base_url", main.base_url),
        api_key_env=given.get("api_key_env", main.api_key_env),
    )
    return [first] if backup is None else [first, backup]


def chosen_summarizer(kind: str | None, model: str | None, base_url: str | None) -> EndpointSummarizer | SummarizerChain | None:
    """The summariser to give to a compaction; None for the one that needs no model.

    Raises ``click.UsageError`` where a model is named and nothing asks it.
    """
    chosen = chosen_settings(kind, model, base_url)
    if chosen[0].kind == KINDS[0] and (model is not None or base_url is not None):
        raise click.UsageError(f"--model and --base-url need --summarizer {' or '.join(KINDS[1:])}")
    made = [one for settings in chosen if (one := settings.summarizer()) is not None]
    if len(made) < 2:
        return made[0] if made else None
    from sessionstore.summarizers.chain import SummarizerChain

    return SummarizerChain(*made)


def config_path() -> Path:
    """Where the configuration file is, or would be."""
    named = os.environ.get(CONFIG_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_config_path("sessionstore") / "config.toml"


def _class_of(kind: str) -> Callable[..., EndpointSummarizer]:
    if kind == "openai":
        from sessionstore.summarizers.openai_compatible import OpenAICompatibleSummarizer

        return OpenAICompatibleSummarizer
    from sessionstore.summarizers.anthropic_messages import AnthropicSummarizer

    return AnthropicSummarizer


def _from_file() -> tuple[SummarizerSettings, SummarizerSettings | None]:
    path = config_path()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("summarizer", {})
    except FileNotFoundError:
        return SummarizerSettings(), None
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise click.UsageError(f"{path} is not valid TOML: {error}") from error
    try:
        backup = table.get(_MAIN) if isinstance(table, dict) else None
        without = {name: value for name, value in table.items() if name != _MAIN} if isinstance(table, dict) else table
        first = _settings(without, "summarizer")
        return first, None if backup is None else _settings(backup, f"summarizer.{_MAIN}")
    except ValueError as error:
        raise click.UsageError(f"{path}: {error}") from error


def _settings(table: Any, name: str) -> SummarizerSettings:
    """A table of the file. Raises ``ValueError`` that names the field at fault, and for a key in the file."""
    if not isinstance(table, dict):
        raise ValueError(f"[{name}] is a table, not {table!r}")  # noqa: TRY004 - the file has a wrong value
    known = [field.name for field in fields(SummarizerSettings)]
    for field, value in table.items():
        if field not in known:
            near = get_close_matches(field, known, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"[{name}] has no field {field!r}; {advice}")
        problem = _problem(field, value)
        if problem is not None:
            raise ValueError(f"{field!r} in [{name}] {problem}")
    return SummarizerSettings(**table)


def _problem(field: str, value: Any) -> str | None:
    """What is wrong with a field's value, without saying it: it may be a key that somebody put into the wrong place."""
    if field == "timeout" or field in _TOKENS:
        whole = field in _TOKENS
        is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        return None if is_number and 0 < value < float("inf") else f"is a {'whole ' if whole else ''}number above 0"
    if not isinstance(value, str):
        return "is a text"
    if field == "kind" and value not in KINDS:
        return f"is one of {', '.join(KINDS)}"
    if field == "api_key_env" and not _VARIABLE_NAME.fullmatch(value):
        return "is the name of an environment variable; the key itself has no place in a file"
    return None
