"""Makes JSON, logs and base64 of a realistic kind, the same ones every time."""

from __future__ import annotations

import base64
import json
import random
import uuid

_SERVICES = ("gateway", "billing", "search-indexer", "thumbnailer", "mailer", "auth", "scheduler", "inventory")
_PLACES = ("Lisbon", "Kraków", "Osaka", "Montréal", "Nairobi", "Valparaíso", "Tromsø", "Wellington")
_NAMES = ("Ines Duarte", "Marek Zielony", "Haruka Mori", "Luc Tremblay", "Wanjiru Kamau", "Tomás Rojas")
_STATES = ("paid", "shipped", "cancelled", "awaiting_payment")
_NOTES = (None, "", "please leave at the back door", "gift, do not include the invoice")
_PROBLEMS = (
    "connection reset by peer",
    "deadline exceeded while reading body",
    "duplicate key value in index orders_pkey",
    "no space left on device",
    "certificate has expired",
    "permission denied: /var/lib/thumbs/cache",
)


def json_text(seed: int, characters: int) -> str:
    """An array of orders, indented for every second seed and on one line for the others."""
    source = random.Random(seed)
    orders: list[dict[str, object]] = []
    text = ""
    while len(text) < characters:
        orders.append(_order(source))
        text = json.dumps(orders, indent=2 if seed % 2 else None, ensure_ascii=False)
    return text[:characters]


def log_text(seed: int, characters: int) -> str:
    """Lines of a service's log, of a web server's access log, of a test run and of a build, mixed."""
    source = random.Random(seed)
    text = ""
    while len(text) < characters:
        text += _log_line(source) + "\n"
    return text[:characters]


def base64_text(seed: int, characters: int) -> str:
    """Base64 of random bytes: on one line, in lines of 76, or of the kind that is safe in an address."""
    content = random.Random(seed).randbytes(characters)
    encoded = (base64.b64encode(content), base64.encodebytes(content), base64.urlsafe_b64encode(content))[seed % 3]
    return encoded.decode()[:characters]


def _order(source: random.Random) -> dict[str, object]:
    return {
        "id": str(uuid.UUID(bytes=source.randbytes(16))),
        "createdAt": _stamp(source).replace(" ", "T") + "Z",
        "customer": {
            "name": source.choice(_NAMES),
            "city": source.choice(_PLACES),
            "vip": source.random() < 0.2,
        },
        "lines": [
            {
                "sku": f"BK-{source.randint(1000, 99999)}",
                "quantity": source.randint(1, 9),
                "unit_price": source.randint(199, 9999) / 100,
            }
            for _ in range(source.randint(1, 4))
        ],
        "status": source.choice(_STATES),
        "note": source.choice(_NOTES),
    }


def _log_line(source: random.Random) -> str:
    stamp, service, number = _stamp(source), source.choice(_SERVICES), source.randint(1, 999)
    address = ".".join(str(source.randint(1, 254)) for _ in range(4))
    outcome = source.choice(("PASSED", "FAILED"))
    lines = (
        f"{stamp},{number:03} INFO  [{service}] request {source.randbytes(6).hex()} finished in {number} ms",
        f"{stamp},{number:03} ERROR [{service}] {source.choice(_PROBLEMS)} (attempt {number % 5 + 1} of 5)",
        f'{address} - - [{stamp}] "GET /api/v2/{service}/items?page={number} HTTP/1.1" 200 {number * 37}',
        f"tests/{service.replace('-', '_')}/test_retry.py::test_gives_up[{number % 9}] {outcome} [{number % 100:3}%]",
        f"  Compiling {service} v{number % 4}.{number % 41}.{number % 10} (/srv/build/{service})",
        f'level=warn ts={stamp} caller=worker.go:{number} msg="slow flush" shard={number % 64} took={number / 100}s',
    )
    return source.choice(lines)


def _stamp(source: random.Random) -> str:
    month, day, hour = source.randint(1, 12), source.randint(1, 28), source.randint(0, 23)
    return f"2024-{month:02}-{day:02} {hour:02}:{source.randint(0, 59):02}:{source.randint(0, 59):02}"
