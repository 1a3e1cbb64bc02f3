"""Secrets that are known by their shape, whatever they are called: one row a kind, with the reason why it is safe to match.

A row is looked for only when one of its ``markers`` occurs in the text, so a megabyte without secrets costs a few substring
searches. No pattern can go quadratic: a repeated class is either bounded, possessive, or cannot start again inside its own run.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Start of a word, after an underscore or a dash too, or right after an escaped line break, as in JSON inside JSON."""
_RUN_START: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""Start of a whole run of base64url characters, for a pattern that may read to the end of it and fail."""
_BREAK: Final = r"(?:\s|\\+[nrt])"
"""White space, plain or escaped."""

_LINE_BREAK: Final = r"(?:\r?\n|\\{1,8}n)"
_FIXED_LENGTHS: Final = (
    ("A[KS]IA", "[A-Z0-9]", 16), ("ghp_", "[A-Za-z0-9]", 36), ("AIza", "[A-Za-z0-9_-]", 35), ("npm_", "[A-Za-z0-9]", 36)
)  # fmt: skip
_SPLIT: Final = "|".join(
    rf"{prefix}{kind}{{{count}}}{_LINE_BREAK}{kind}{{{length - count}}}(?![A-Za-z0-9_-])"
    for prefix, kind, length in _FIXED_LENGTHS
    for count in range(4, length - 3)
)
"""Keys whose length is known, with a line break somewhere inside."""
_GIVEN: Final = r"(?P<secret>(?!-|\[REDACTED:|[$<{%])(?:(?<=')[^'\n]{1,200}|(?<=\")[^\"\\\n]{1,200}|[^\s\"'\\|;&]{1,200}))"
"""What a command is given as a password: no variable and no placeholder, up to its quote or to white space."""
_QUOTE: Final = r"\\{0,15}[\"']?"
_ARGUMENTS: Final = r"(?:[^\n|;&]|\\\n){0,400}?"
"""The rest of one command, which a backslash continues on the next line."""


@dataclass(frozen=True, slots=True)
class SecretShape:
    """A secret known by how it looks. What the group ``secret`` matched is replaced, else the whole match."""

    kind: str
    markers: tuple[str, ...]
    pattern: re.Pattern[str]
    reason: str


def _shape(kind: str, markers: tuple[str, ...], pattern: str, reason: str) -> SecretShape:
    return SecretShape(kind, markers, re.compile(pattern), reason)


_PEM_BEGIN: Final = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END: Final = r"-----END [A-Z0-9 ]{1,60}-----"

SHAPES: Final = (
    _shape(
        "pem",
        ("PRIVATE KEY",),
        _PEM_BEGIN + rf"(?:(?:[^-]++|-(?!----))*+{_PEM_END}"
        rf"|(?:{_BREAK}*+(?:[A-Za-z0-9+/=]{{16,}}|(?:Proc-Type|DEK-Info): [^\n\\]{{0,200}}))*+)",
        "the frame names it; an output that was cut off before END still loses its lines of base64",
    ),
    _shape("aws", ("AKIA", "ASIA"), _START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])", "fixed prefix and length"),
    _shape(
        "github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _START + r"(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}", "registered prefixes",
    ),
    _shape(
        "gitlab", ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"),
        _START + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_.-]{16,}", "registered prefixes",
    ),
    _shape("slack", ("xox", "xapp-"), _START + r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}", "registered prefixes"),
    _shape(
        "slack", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{16,})",
        "whoever knows the address of a web hook may post to it",
    ),
    _shape(
        "stripe", ("k_live_", "k_test_", "whsec_"),
        _START + r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}", "fixed prefixes",
    ),
    _shape("anthropic", ("sk-ant-",), _START + r"sk-ant-[A-Za-z0-9_-]{16,}", "fixed prefix"),
    _shape(
        "openai", ("sk-",), _START + r"sk-(?!ant-)(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{20,}",
        "prefix and length; a digit tells it from names such as sk-fading-circle-spinner. Other vendors use it too",
    ),
    _shape("google", ("AIza",), _START + r"AIza[A-Za-z0-9_-]{35}", "fixed prefix and length"),
    _shape("google", ("ya29.", "GOCSPX-"), _START + r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}", "OAuth tokens and secrets"),
    _shape("npm", ("npm_",), _START + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])", "fixed prefix and length"),
    _shape("pypi", ("pypi-",), _START + r"pypi-(?=[A-Za-z0-9_-]{0,16}[A-Z])[A-Za-z0-9_-]{50,}", "prefix and length"),
    _shape("huggingface", ("hf_",), _START + r"hf_[A-Za-z0-9]{30,}", "fixed prefix; the length tells it from function names"),
    _shape("sendgrid", ("SG.",), _START + r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}", "prefix and two long parts"),
    _shape("digitalocean", ("_v1_",), _START + r"do[opr]_v1_[a-f0-9]{64}", "fixed prefix and length"),
    _shape("docker", ("dckr_pat_",), _START + r"dckr_pat_[A-Za-z0-9_-]{20,}", "fixed prefix"),
    _shape("age", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20,}", "fixed prefix"),
    _shape(
        "putty", ("Private-Lines: ",),
        rf"Private-Lines: [0-9]{{1,4}}{_BREAK}{{1,3}}(?P<secret>[A-Za-z0-9+/=]{{4,100}}"
        rf"(?:{_BREAK}{{1,3}}[A-Za-z0-9+/=]{{4,100}}(?![A-Za-z0-9+/=-]))*+)",
        "the frame names it; the next name has a dash, which base64 has not",
    ),
    _shape(
        "telegram", (":AA",), r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
        "the number of a bot and a part of fixed length",
    ),
    _shape(
        "discord", ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,20}/(?P<secret>[A-Za-z0-9_-]{30,})",
        "whoever knows the address of a web hook may post to it",
    ),
    _shape("split", ("AKIA", "ASIA", "ghp_", "AIza", "npm_"), _START + f"(?:{_SPLIT})", "exactly as long as such keys are"),
    _shape(
        "jwt", ("eyJ",), _RUN_START + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
        "two parts that begin as base64 of a JSON object, with a dot between",
    ),
    _shape(
        "url", ("://",), r"://[^\s/@:\"'`\\<>]{0,256}:(?P<secret>(?!\[REDACTED:|[$<{]|%[(s])[^\s/?\"'`\\<>]{1,256})@",
        "what stands between the user's colon and the @ of an address is a password; a port has no @ after it",
    ),
    _shape(
        "url", ("://",), r"://(?P<secret>(?=[A-Za-z_-]{0,80}[0-9])(?=[0-9_-]{0,80}[A-Za-z])[A-Za-z0-9_-]{20,256})@",
        "a user without a password that is as long as a token, with figures among letters, is one",
    ),
    _shape(
        "signature", ("sig=", "ignature="),
        r"(?:[?&;]|\\u0026)(?:sig|X-(?:Amz|Goog)-Signature)=(?P<secret>[A-Za-z0-9%+/=_-]{20,})",
        "an address that is signed lets whoever has it in",
    ),
    _shape(
        "cookie", ("ookie:", "OOKIE:", "ookie\"", "ookie'", "ookie\\", "-cookie "),
        r"(?i:cookie)\\*[\"']?\s{0,4}[:=,\s]\s{0,4}\\*[\"']?(?:[\w.%-]{1,40}=[^;\n\\]{0,200};\s{0,4}){0,8}?"
        r"(?i:[\w.-]{0,32}(?:sess(?:ion)?(?:_?id)?|sid|auth|token|jwt))=(?P<secret>(?!(?i:deleted|expired|null|undefined)\b)"
        r"[A-Za-z0-9%._~+/=:-]{6,})",
        "the header that keeps a person logged in, by the names that such cookies have",
    ),
    _shape(
        "password", ("</", "<\\"),
        r"<(?P<tag>[\w.:-]{0,40}(?i:password|passwd|passphrase|pwd|secret|(?P<short>token)|api_?key)[0-9]?)(?:\s[^<>\n]{0,200})?>"
        r"(?P<secret>(?!\[REDACTED:|[$<{%*]|(?i:your[_-][\w-]{1,60}|string|true|false|null|none|\w*password|\w*secret|\w*token)<)"
        r"(?(short)(?=[^\s<>]{0,80}[0-9])(?=[^\s<>]{8}))[^\s<>]{3,256})<\\*/(?P=tag)>",
        "an element of one word that is named for what it holds; parsers have tokens too, which are short or words",
    ),
    _shape(
        "password", ("machine ", "machine\t", "default login"),
        rf"\b(?:machine{_BREAK}{{1,4}}[^\s\\]{{1,200}}|default){_BREAK}{{1,8}}login{_BREAK}{{1,4}}[^\s\\]{{1,200}}{_BREAK}{{1,8}}"
        rf"(?:account{_BREAK}{{1,4}}[^\s\\]{{1,200}}{_BREAK}{{1,8}})?password{_BREAK}{{1,4}}"
        r"(?P<secret>(?!\[REDACTED:|[$<{%]|(?i:is|was|and|or|for|to|the|reset|form|page|prompt|field)\b)[^\s\"'\\]{1,200})",
        "a line of .netrc, as its three words say",
    ),
    _shape(
        "authorization", ("uthorization", "UTHORIZATION"),
        r"(?i:authorization)\\*[\"']?\s{0,8}[:=]\s{0,8}\\*[\"']?(?i:(?:bearer|basic|token|digest|apikey|negotiate|bot)\s{1,8})?"
        r"(?P<secret>(?!\[REDACTED:|[$<{%*]|(?i:bearer|basic|token|digest|apikey|negotiate|bot|none|null|true|false|header|string|required|optional)\b)"
        r"[A-Za-z0-9._~+/=:-]{6,}+(?!\())",
        "the header exists to carry a credential; a scheme without one, a variable, a call or a type is left",
    ),
    _shape(
        "bearer", ("earer ", "EARER "),
        _START + r"(?i:bearer) {1,8}(?P<secret>(?=[A-Za-z._~+/=-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,})",
        "the scheme without the header's name; a long word with a digit, so not prose about bearer authentication",
    ),
    _shape(
        "login", ("curl",),
        r"\bcurl\b(?:[^\n]|\\\n){0,400}?\s(?:-u|--user)[ =]?\\*[\"']?[^\s:\"'\\]{1,100}:"
        r"(?P<secret>(?!\[REDACTED:|[$<{])[^\s\"'\\]{1,200})",
        "curl's option for user and password; the same letters mean user and group elsewhere, so curl must stand before",
    ),
    _shape(
        "login", ("mysql", "mariadb"),
        r"(?<![\w.-])(?:mysql(?:dump|admin|import|show|check)?|mariadb(?:-dump|-admin)?)(?=(?:\s|\\\n){1,40}-)"
        rf"{_ARGUMENTS}\s-p{_QUOTE}(?![0-9.]*:[0-9]|(?:assword|ort|rotocol)\b){_GIVEN}",
        "the password follows the letter without a blank; a port has a colon",
    ),
    _shape(
        "login", ("login",),
        rf"\b(?:docker|podman|nerdctl|buildah|skopeo|oras|registry|oc|az)\s{{1,4}}login\s{_ARGUMENTS}(?<=\s)-p(?:\s{{1,4}}|=){_QUOTE}{_GIVEN}",
        "what logs in to a registry takes a password there; the same letter means a port elsewhere",
    ),
    _shape(
        "login", ("pass:",), rf"\s-pass(?:in|out)?\s{{1,4}}{_QUOTE}pass:{_GIVEN}",
        "how openssl is given a password in a command line",
    ),
    _shape(
        "login", ("zip ",),
        rf"(?<![\w.-])(?:un)?zip(?=\s){_ARGUMENTS}\s-P\s{{1,4}}{_QUOTE}(?!(?:to|for|is|and|or|option|flag)\b){_GIVEN}",
        "the option has no other use there",
    ),
    _shape(
        "login", ("smbclient", "smbget", "rpcclient"),
        rf"\b(?:smbclient|smbget|rpcclient)\b{_ARGUMENTS}\s(?:-U\s{{0,4}}|--user[ =]){_QUOTE}[^\s%\"'\\]{{1,100}}%{_GIVEN}",
        "a percent sign parts the user from the password",
    ),
    _shape(
        "login", ("sshpass",),
        r"sshpass\s+-p\s?\\*[\"']?(?P<secret>(?!\[REDACTED:|[$<{])[^\s\"'\\]{1,200})", "its only use",
    ),
)
"""Every shape, in the order in which they are looked for; where two overlap, the one that begins first names the secret."""
