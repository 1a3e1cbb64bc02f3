"""Takes secrets out of text that leaves the log: for a summariser, a summary, a log line or an error.

Two ways to know a secret: by its shape (``secret_shapes``) and by the name it is given to, in shell, JSON (also JSON inside
JSON strings), YAML, code, options and connection strings. The patterns are our own, because the scanners that are packaged
look for secrets in files, line by line: they report commit hashes, miss keys of several lines and escaped quotes, and take
13 s a megabyte (detect-secrets 1.5) where this takes 0.2.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionstore.domain.secret_shapes import SHAPES

_STEM: Final = re.compile(r"[pPsSkKtT](?i:ass|wd|ecret|ey|oken)")
"""Where a name may begin that is looked at closely; it begins with a class of characters, which is forty times faster."""
_NAME: Final = re.compile(
    r"""(?<!REDACTED:)
    (?:(?P<password>passw(?:or)?d|passphrase)
    |(?P<short>(?<![a-z])pwd|(?<=[_-])pass)
    |(?P<secret>secret(?:[_-]?access)?(?:[_-]?key(?:[_-]?base)?)?)
    |(?P<key>key)
    |(?P<token>token))""",
    re.VERBOSE | re.IGNORECASE,
)
"""The last word of a name; what follows it decides whether it names a value."""
_WORDS: Final = re.compile(
    r"(?:(?!(?:the|and|for|with|you|your|that|this|from|must|should|will|use|used|not|are|has|have|can|when|enter|type|key)\b)"
    r"[a-z]{3,12}[ -]){3,11}[a-z]{3,12}(?=[ \t]*(?:[\r\n]|\Z|\\{1,15}[nr]|\\{0,15}[\"']))"
)
"""A pass phrase of plain words, to the end of its line."""
_KEY_OF: Final = re.compile(
    r"(?:api|access|private|auth|account|encryption|signing|master|shared|storage|subscription)[_-]?$", re.IGNORECASE
)
"""What makes a key a secret one."""
_OF_PARSER: Final = re.compile(r"(?:unexpected|illegal) $", re.IGNORECASE)
"""What makes a token one that a parser came upon."""
_WORD_ELSEWHERE: Final = (
    "passwort", "kennwort", "contraseña", "contrasena", "mot de passe", "senha", "wachtwoord", "hasło", "lösenord", "пароль",
    "пароля", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
)  # fmt: skip
"""The word for a password in other languages. A label says it as often, so only a value that is no word goes."""


def _or_escaped(word: str) -> str:
    """A pattern for a word, also where JSON wrote its characters as ASCII."""
    return "".join(
        character if character.isascii() else rf"(?:{character}|\\{{1,15}}u{ord(character):04x})" for character in word
    )


_FOREIGN_NAME: Final = re.compile(rf"(?i:(?<![a-z])(?:{'|'.join(map(_or_escaped, _WORD_ELSEWHERE))}))")
_FOREIGN_MARKERS: Final = (
    "asswort", "ASSWORT", "ennwort", "KENNWORT", "ontrase", "CONTRASE", "ot de passe", "MOT DE PASSE", "senha", "Senha",
    "SENHA", "achtwoord", "asło", "ösenord", "арол", "АРОЛ", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
    "u0142o", "u00f6senord", "u0430\\", "u5bc6\\", "u53e3\\", "u30d1\\", "ube44\\", "uc554\\",
)  # fmt: skip
_ASCII_MARKERS: Final = tuple(marker for marker in _FOREIGN_MARKERS if marker.isascii())
_WHOSE: Final = (
    "admin|root|user|db|database|prod|production|dev|test|staging|stage|local|master|main|app|api|web|mysql|postgres|pg|redis|smtp"
    "|mail|email|ftp|ssh|sudo|backup|service|old|new|default|primary|replica|read|write"
)
"""What may follow the last word of a name that still names a secret, as in ``PWD_ADMIN``; anything else is about one."""
_AFTER_NAME: Final = re.compile(
    rf"""(?:[_-](?i:{_WHOSE})){{0,2}}[0-9]{{0,3}}(?![A-Za-z0-9_-])
    (?P<close>\\{{0,15}}["'`]?\]?)
    (?P<separator>[ \t]{{0,8}}(?:=>|:=|={{1,2}}(?!=)|:(?!:)|{_or_escaped("：")}|{_or_escaped("＝")})[ \t]{{0,8}}
        |[ \t]{{1,4}}(?:is|was|ist|lautet|est|es|{_or_escaped("é")}|{_or_escaped("это")})[ \t]{{1,4}}
        |[ \t]{{0,4}}(?:{"|".join(map(_or_escaped, "是は은는"))})[ \t]{{0,4}}
        |[ \t]{{1,4}}(?=[^\s=:]))
    (?:(?<==)(?:\\\r?\n|(?:\\{{3}}|\\{{6}}|\\{{12}})n))?
    (?P<open>[bru]?\\{{0,15}}["'`])?""",
    re.VERBOSE,
)
"""How a value follows its name: in quotes or bare, behind a sign or a verb, after ``=\\`` also on the next line."""
_SIGNS: Final = frozenset({"=", "==", ":", "=>", ":="})
_BARE: Final = re.compile(r"(?:[^\s\"'`,;&|<>()\[\]{}\\]|\\(?![nrt\"'`\\])){1,512}+")
"""A value without quotes, up to white space, a bracket, a separator or an escaped line break; its first 512 characters."""
_MOST_BARE: Final = 512
_QUOTE: Final = re.compile(r"(\\*)([\"'`])|\n")
_REFERENCE: Final = re.compile(
    r"\[?REDACTED\b|\[REDACTED:|[$<]|\{\{?|%[(A-Za-z]|#\{|process\.env|os\.environ|env[.(:]|vault:|secretKeyRef|\*+$|x{3,}$|\.{3}|…"
)
"""What stands for a value without being it: a variable, a placeholder, stars."""
_NOT_A_VALUE: Final = re.compile(
    r"(?:none|null|nil|true|false|undefined|str|string|int|integer|number|bool|boolean|bytes|any|text|object|optional|required"
    r"|secretstr|uuid|varchar|char|redacted|hidden|masked|yes|no|is|was|the|an?|and|or|for|of|to|in|not|with|from)[.:!?]*",
    re.IGNORECASE,
)
"""Types, constants and the small words of prose."""
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+[;:]?")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*[.:!?]?")
_VARIABLE: Final = re.compile(r"[A-Za-z_]+[0-9]*[.:!?]?")
"""What may be the name of a variable rather than a value: figures at the end only."""

_PATH: Final = re.compile(
    r"(?:~|\.{1,2})/|/(?:home|etc|var|run|tmp|usr|opt|root|mnt|srv|dev|Users|app|work\w*)/|[A-Za-z]:[\\/]"
)
_LINE_END: Final = re.compile(r"[\r\n]|\Z|\\{1,15}[nr]|\\{0,15}[\"']")
_MARKERS: Final = [(marker, index) for index, shape in enumerate(SHAPES) for marker in shape.markers]
"""One flat list, since most texts are short and have none: what a text is asked costs more than the search itself."""
_MOST_PASSES: Final = 8


def redact(text: str) -> str:
    """Replace every secret in a text by ``[REDACTED:kind]``; redacting again changes nothing.

    Names, references (``$PASSWORD``, ``<token>``), empty values, paths, hashes, ids and counts (``max_tokens: 4096``) stay.
    Takes time in proportion to the text, whatever is in it.
    """
    for _ in range(_MOST_PASSES):
        spans = sorted(_spans(text))
        if not spans:
            break
        # Again, because a replacement can uncover a neighbour; each round leaves less text outside the marks.
        text = _replace(text, spans)
    return text


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    for index in sorted({index for marker, index in _MARKERS if marker in text}):
        shape = SHAPES[index]
        group = "secret" if "secret" in shape.pattern.groupindex else 0
        for match in shape.pattern.finditer(text):
            yield *match.span(group), shape.kind
    if any(marker in text for marker in (_ASCII_MARKERS if text.isascii() else _FOREIGN_MARKERS)):
        end = 0
        for word in _FOREIGN_NAME.finditer(text):
            if word.start() >= end and (span := _named_value(text, word, "foreign")) is not None:
                end = span[1]
                yield *span, "password"
    end = 0
    for stem in _STEM.finditer(text):
        name = _NAME.match(text, stem.start())
        if name is None or stem.start() < end:
            continue  # no name, or one inside a value that goes anyway
        kind = str(name.lastgroup)
        span = _named_value(text, name, kind)
        if span is not None:
            end = span[1]
            yield *span, "password" if kind == "short" else kind


def _replace(text: str, spans: list[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    end = 0
    for first, last, kind in spans:
        if first >= end:
            pieces += (text[end:first], f"[REDACTED:{kind}]")
        end = max(end, last)
    pieces.append(text[end:])
    return "".join(pieces)


def _named_value(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    after = _AFTER_NAME.match(text, name.end())
    if after is None or (kind == "key" and not _KEY_OF.search(text[max(0, name.start() - 16) : name.start()])):
        return None
    if kind == "token" and _OF_PARSER.search(text[max(0, name.start() - 12) : name.start()]):
        return None
    separator, start = after["separator"], after.end()
    if kind == "foreign" and not text[start : start + 1].isascii():
        return None
    # Only an option's value may follow its name without a sign between: `--password hunter2`.
    if not separator.strip() and (after["close"] or not _is_option(text, name.start())):
        return None
    if after["open"] is not None:
        end = _closing_quote(text, start, after["open"])
        if kind == "foreign" and not _has_odd_character(text[start:end]):
            return None
        right = ("`" in after["close"]) <= (after["open"][-1] == "`") and _is_quoted_secret(text[start:end], kind)
        return (start, end) if right else None
    if name.group().lower() == "passphrase" and (words := _WORDS.match(text, start)) is not None and separator.strip():
        return words.span()
    bare = _BARE.match(text, start)
    if bare is None or separator.strip() == "==" or text[bare.end() : bare.end() + 1] in ("(", "["):
        return None
    value = bare.group()
    if _REFERENCE.match(text, start) or not _is_plain_value(value, kind):
        return None
    if kind == "foreign" or (separator.strip() and separator.strip() not in _SIGNS):
        # A sentence: what follows is told from a word by what no word has.
        return (start, start + len(value.rstrip(".:!?"))) if _has_odd_character(value) and len(value) < _MOST_BARE else None
    assigned = separator == "=" and not (text[bare.end() : bare.end() + 1] in (")", ",") and _IDENTIFIER.fullmatch(value))
    if assigned or not separator.strip() or _has_odd_character(value) or _stands_alone(text, bare.end(), value, kind):
        return (start, start + len(value.rstrip(".:") or value) if len(value) < _MOST_BARE else _end_of_bare(text, bare.end()))
    return None


def _is_option(text: str, position: int) -> bool:
    before = text[max(0, position - 40) : position]
    return bool(re.search(r"(?:^|[\s\"'])--?[A-Za-z0-9_-]{0,36}$", before))


def _end_of_bare(text: str, end: int) -> int:
    while (more := _BARE.match(text, end)) is not None:
        end = more.end()
    return end


def _closing_quote(text: str, start: int, opening: str) -> int:
    """Where the string ends that was opened by a quote with so many backslashes: JSON in JSON doubles them a level."""
    quote, depth = opening[-1], opening.count("\\")
    for match in _QUOTE.finditer(text, start):
        if match.group() == "\n":
            return match.start()
        slashes = len(match[1])
        if match[2] == quote and (slashes < depth or slashes % (2 * depth + 2) == depth):
            return match.start() + max(0, slashes - depth)
    return len(text)


def _is_quoted_secret(value: str, kind: str) -> bool:
    if not value.strip() or _REFERENCE.match(value) or _NOT_A_VALUE.fullmatch(value):
        return False
    if kind == "token":
        # Parsers have tokens too: only a long one without blanks that is no plain word.
        return len(value) >= 8 and not re.search(r"\s", value) and not re.fullmatch(r"[a-z_-]+|[A-Z_-]+", value)
    if kind == "short":
        # Test reports have names that end in "pass"; the shell keeps a directory under PWD.
        return not re.match(r"[\[/\\]", value) and not re.search(r"\s", value) and not _PATH.match(value)
    return kind == "password" or not _PATH.match(value)


def _is_plain_value(value: str, kind: str) -> bool:
    if _NOT_A_VALUE.fullmatch(value) or _DOTTED.fullmatch(value) or _PATH.match(value):
        return False
    if kind == "short" and value.startswith("/"):
        return False
    if _VARIABLE.fullmatch(value) and any(word in value.lower() for word in ("pass", "secret", "token", "key", "pwd")):
        return False  # password=user_password
    if value.isdigit():
        return kind != "token" and len(value) >= 4
    return len(value) >= (8 if kind == "token" else 3)


def _has_odd_character(value: str) -> bool:
    """Whether it is more than a word or an identifier: six characters with a digit among letters, or a sign."""
    if len(value) < 6 or value.endswith("("):
        return False
    return bool(re.search(r"[0-9]", value)) or bool(re.search(r"[^\w.:/-]", value.rstrip(".:!?")))


def _stands_alone(text: str, end: int, value: str, kind: str) -> bool:
    """Whether the value is one word that ends its line, as in YAML and .ini files."""
    if kind == "token" or not value.isalpha() or len(value) < 6:
        return False
    return _LINE_END.match(text, end) is not None
