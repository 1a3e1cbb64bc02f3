"""What is a secret, and what only looks like one."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.domain.redaction import redact
from sessionstore.domain.secret_shapes import SHAPES

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAmadeup0000\nHunter2Hunter2Hunter2==\n-----END RSA PRIVATE KEY-----"
ALNUM = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6dE9f"

SECRETS = {
    "shell assignment": ("API_KEY=sk-test-000000000000000000000000FAKE\nHOME=/home/u", "sk-test-0000"),
    "export": ("export DB_PASSWORD=swordfish", "swordfish"),
    "quoted in shell": ("DB_PASSWORD='two words'", "two words"),
    "JSON": ('{"password": "Hunter2"}', "Hunter2"),
    "escaped quote in JSON": ('{"password": "Hun\\"ter2", "a": 1}', "ter2"),
    "YAML": ("db:\n  password: Hunter2!\n", "Hunter2"),
    "YAML word": ("db:\n  password: swordfish\n", "swordfish"),
    "INI": ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPx", "wJalr"),
    "Python": ("client_secret = 'Hunter2'", "Hunter2"),
    "Python item": ('os.environ["API_KEY"] = "Hunter2"', "Hunter2"),
    "option": ("mysql --password Hunter2 -u root", "Hunter2"),
    "option with sign": ("mysql --password=Hunter2", "Hunter2"),
    "connection string": ("Server=db;Uid=sa;Pwd=S3cr+t;Database=x", "S3cr"),
    "account key": ("AccountKey=abcd+/ABCD1234==;EndpointSuffix=x", "ABCD1234"),
    "a value with a name in it": ("the password=hunter2secret must stay", "hunter2secret"),
    "a sentence": ("My password is hunter2secret, keep it.", "hunter2secret"),
    "query": ("https://x.test/?token=abcdef123456&b=1", "abcdef123456"),
    "URL": ("postgres://user:p@ss:w0rd@host:5432/db", "w0rd"),
    "URL without user": ("redis://:Hunter2@cache:6379/0", "Hunter2"),
    "header": ("Authorization: Bearer abc.def-123", "abc.def"),
    "basic header": ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "dXNlcj"),
    "bearer alone": ("sent Bearer abcdefghijklmnop1234", "abcdefgh"),
    "curl login": ("curl -s -u admin:Hunter2 https://x.test", "Hunter2"),
    "private key": (f"cat id_rsa\n{PEM}\nok", "Hunter2"),
    "private key cut off": (PEM[:80] + "\n… more", "MIIE"),
    "AWS": ("id AKIAABCDEFGHIJKLMNOP", "AKIAABC"),
    "after an escaped line break": ('"A=1\\nAKIAABCDEFGHIJKLMNOP"', "AKIAABC"),
    "GitHub": (f"ghp_{ALNUM}", ALNUM),
    "GitHub fine-grained": (f"github_pat_{ALNUM}", ALNUM),
    "GitLab": ("glpat-aB3dE6gH9jK2mN5pQ8rS", "aB3dE6"),
    "Slack": ("xoxb-123456789012-aB3dE6gH9jK2", "aB3dE6"),
    "Slack hook": ("https://hooks.slack.com/services/T0000/B0000/aB3dE6gH9jK2", "aB3dE6"),
    "Stripe": ("sk_live_aB3dE6gH9jK2mN5p", "aB3dE6"),
    "OpenAI": (f"sk-proj-{ALNUM}", ALNUM),
    "Anthropic": (f"sk-ant-api03-{ALNUM}", ALNUM),
    "Google": ("AIza" + ALNUM[:35], ALNUM[:35]),
    "npm": (f"npm_{ALNUM[:36]}", ALNUM[:36]),
    "PyPI": (f"pypi-AgEIcHlwaS5vcmc{ALNUM}", ALNUM),
    "pass phrase of words": ("passphrase: correct horse battery staple\nuser: ana", "correct horse"),
    "netrc": ("machine x.test login ana password swordfish\n", "swordfish"),
    "netrc in lines": ("machine x.test\n  login ana\n  password swordfish\n", "swordfish"),
    "whose password": ("PWD_ADMIN=swordfish\nDB_PASS_PROD='fishsword'", "swordfish"),
    "where a key is for": ("export API_KEY_PROD=swordfish", "swordfish"),
    "XML": ("<db><password>swordfish</password></db>", "swordfish"),
    "XML with attributes": ("<userPassword scope='a'>swordfish</userPassword>", "swordfish"),
    "German": ("Das Passwort ist hunter2geheim.", "hunter2geheim"),
    "German label": ("Kennwort: Geheim!23", "Geheim!23"),
    "Spanish": ("contrase\u00f1a: hunter2secreto", "hunter2secreto"),
    "French": ("Mot de passe : hunter2secret", "hunter2secret"),
    "Portuguese": ("senha=hunter2segredo", "hunter2segredo"),
    "Russian": ("\u043f\u0430\u0440\u043e\u043b\u044c: hunter2secret", "hunter2secret"),
    "Chinese": ("\u5bc6\u7801\uff1ahunter2secret", "hunter2secret"),
    "Chinese sentence": ("\u5bc6\u7801\u662fhunter2secret", "hunter2secret"),
    "Japanese": ("\u30d1\u30b9\u30ef\u30fc\u30c9\u306f hunter2secret", "hunter2secret"),
    "mysql": ("mysql -u root -phunter2 db", "hunter2"),
    "mysqldump quoted": ("mysqldump -uroot -p'hunter2;x' db > a.sql", "hunter2"),
    "docker login": ("docker login -u me -p swordfish reg.test", "swordfish"),
    "podman login": ("podman login reg.test -u me -p 'swordfish'", "swordfish"),
    "curl login on the next line": ("curl -s \\\n  -u admin:swordfish https://x.test", "swordfish"),
    "value on the next line": ("API_KEY=\\\nabcdef123456 run", "abcdef123456"),
    "session cookie": ("Set-Cookie: session=abcdef0123456789; Path=/", "abcdef0123"),
    "later cookie": ("Cookie: theme=dark; sessionid=abcdef0123456789; auth_token=0123456789abcdef", "0123456789"),
    "token as user": (f"git clone https://{ALNUM}@github.com/a/b", ALNUM),
    "signed address": (f"https://x.test/c?sv=2020&sig={ALNUM}%3D", ALNUM),
    "Telegram": ("https://api.telegram.org/bot123456789:AA" + ALNUM[:33] + "/getMe", ALNUM[:33]),
    "Discord hook": (f"https://discord.com/api/webhooks/123456789012345678/{ALNUM}", ALNUM),
    "openssl": ("openssl rsa -in a.pem -passin pass:foobar123 -out b.pem", "foobar123"),
    "openssl enc": ("openssl enc -aes-256-cbc -pass pass:foobar123 -in a", "foobar123"),
    "zip": ("zip -r -P s3cretzip out.zip dir", "s3cretzip"),
    "unzip": ("cd /tmp && unzip -P s3cretzip out.zip", "s3cretzip"),
    "smbclient": ("smbclient //host/share -U user%pw1 -c ls", "pw1"),
    "smbclient with a long option": ("smbclient --user=DOM/user%pw1 //host/share", "pw1"),
    "element of a token": ("<accessToken type='a'>a1b2c3d4e5</accessToken>", "a1b2c3d4e5"),
    "age": ("AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE", "QPZRY9"),
    "PuTTY": ("Private-Lines: 2\nAAABAQDmadeup0000\nbbbbHunter2bb==\nPrivate-MAC: 00aa11", "Hunter2"),
    "AWS in two lines": ("id AKIAABCDEFGH\nIJKLMNOP\nok", "IJKLMNOP"),
    "JWT": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123", "eyJzdWI"),
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_replaced(text: str, secret: str) -> None:
    """SEC-1"""
    assert secret not in redact(text)
    assert "[REDACTED:" in redact(text)


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_secret_is_replaced_inside_json_inside_json(text: str, secret: str, depth: int) -> None:
    """SEC-1"""
    for _ in range(depth):
        text = json.dumps({"output": text, "exit": 0})
        secret = json.dumps(secret)[1:-1]
    redacted = redact(text)
    assert secret not in redacted
    value = json.loads(redacted)  # the quotes that close each string are still there
    assert value["exit"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "src/auth/password_reset.py:12",
        "token_count=12",
        "max_tokens: 4096",
        "total_tokens=1234567",
        "tokenizer: o200k_base",
        "password=",
        'password: ""',
        "password=$PASSWORD",
        "password: ${DB_PASSWORD}",
        '"password": "<your password>"',
        "def login(user: str, password: str) -> None:",
        "login(user, password=password)",
        "token = tokens[i]",
        'if token == "identifier":',
        '{"token": "hello", "position": 3}',
        'pad_token="<pad>"',
        "secret = config.secret",
        "password = getpass(prompt)",
        'api_key=os.environ["API_KEY"]',
        "secret: bool = False",
        "password: string;",
        "password: required",
        "PWD=/home/u/project",
        "private_key=/home/u/.ssh/id_rsa",
        '"FAIL_TO_PASS": "[test_a, test_b]"',
        "docker run -u 1000:1000 image",
        "The password is required.",
        "A password is case-sensitive.",
        "The secret: the cake is a lie",
        "kubectl get secret my-secret -o yaml",
        "http://localhost:8080/a@b",
        "git@github.com:a/b.git",
        "class sk-fading-circle-spinner-large",
        "task-0123456789012345678901",
        "the password field is empty",
        "reset your password, then log in",
        "docker run -p 8080:80 mysql",
        "docker run --name mysql -p3306:3306 -d mysql",
        "ssh -p 22 host; mkdir -p mysql/data",
        "mysql -u root -p",
        "docker login -u me --password-stdin",
        "useradd -p x",
        "passphrase: the thing that you type to unlock the key",
        "passphrase: string",
        "PASSWORD_RESET_TIMEOUT=3600",
        "password_min_length: 8",
        "SECRET_KEY_FILE=/run/secrets/a",
        '<input type="password" name="password">',
        "<password></password><password>${PW}</password><password>string</password>",
        "<label>Password</label>",
        "Das Passwort ist falsch.",
        "Passwort: erforderlich",
        '{"password": {"label": "Passwort", "hint": "Mindestens 8 Zeichen"}}',
        "la contrase\u00f1a debe tener 8 caracteres",
        "\u5bc6\u7801\u9519\u8bef",
        "\u5bc6\u7801\uff1a8\u4f4d\u4ee5\u4e0a",
        "\u30d1\u30b9\u30ef\u30fc\u30c9\u3092\u5165\u529b\u3057\u3066\u304f\u3060\u3055\u3044",
        "the login user enters a password twice",
        "Set-Cookie: theme=dark; Path=/",
        "Cookie: session expired",
        "https://user@github.com/a/b",
        "https://x.test/?design=1&sig=abc",
        "AKIA is how such ids begin\nABCDEFGH",
        "input[type=password] { color: red; }",
        "API_KEY=\\",
        "Authorization: Bearer $TOKEN",
        "bearer authentication is described below",
        "authorization = Authorization(user)",
        "authorization = self.authorize(user, 'x')",
        "Unexpected token: 'export123abc'",
        "unexpected token: keyword_if2",
        "<token>abc</token>",
        "<token kind='a'>identifier</token>",
        "<api_key>YOUR_API_KEY</api_key>",
        "<Token>your-token-1234</Token>",
        "gzip -P 4 a.txt",
        "zip -r out.zip dir",
        "openssl rsa -passin env:PASS",
        "openssl rsa -passin pass:$PASS",
        "smbclient //host/share -U user",
    ],
)
def test_an_ordinary_thing_is_left_alone(text: str) -> None:
    assert redact(text) == text


PIECES = [*(text for text, _ in SECRETS.values()), "=", ": ", '"', "\\", "\n", " ", "x", "[", "]", "://", "@"]


@given(st.lists(st.sampled_from(PIECES)))
def test_redacting_again_changes_nothing(parts: list[str]) -> None:
    once = redact("".join(parts))
    assert redact(once) == once


@given(st.text(alphabet="pasworkeytn=:\"'\\ \n[]{}@/-_1A"))
def test_redacting_any_text_is_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "unit",
    ["password=", 'password="', "password:\\", "eyJaaaaaaaa-", "-----BEGIN PRIVATE KEY-----", "://a:", "sk-", "Bearer ",
     "authorization: ", "curl -u ", "--token ", "a", "\\", " ", "xoxb-", "SG.aaaaaaaaaaaaaaaa",
     "curl \\\n", "mysql -u ", "docker login ", "machine a login ", "<password>", "<",
     "cookie: a=1;", "Set-Cookie: session", "://aaaa1", "Private-Lines: 1\nAAAA\n", "AKIAAAAA\n", "passphrase: aaa ",
     "\u5bc6\u7801\u662f", "senha: "],
)
def test_a_megabyte_in_one_line_is_read_to_its_end(unit: str) -> None:
    """A pattern that backtracks would run for hours here, into the time limit of the suite."""
    text = unit * (1_000_000 // len(unit)) + " GITHUB_TOKEN=Hunter2Hunter2"
    assert "Hunter2" not in redact(text)


def test_every_shape_says_why() -> None:
    assert all(shape.reason and shape.markers for shape in SHAPES)
