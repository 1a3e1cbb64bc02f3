"""Where and when a run was made, so that its numbers can be judged."""
from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.report import Table

PACKAGES = ("sessionstore", "sqlalchemy", "aiosqlite", "tiktoken", "click")
"""Packages whose versions a run states."""


def machine() -> Table:
    """Date, processor, load, kernel and versions."""
    rows = [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("processor", f"{os.cpu_count()} × {_processor()}"),
        ("load of 1, 5, 15 minutes", ", ".join(f"{load:.2f}" for load in os.getloadavg())),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        *((package, _version(package)) for package in PACKAGES),
    ]
    return Table("Machine", ("what", "value"), tuple(rows))


def load() -> str:
    """The load of the last minute and the processors that share it."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "in the source tree"
