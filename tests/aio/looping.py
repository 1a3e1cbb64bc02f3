"""Running a test on an event loop, and what several of these tests look at."""
from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from typing import Any, ParamSpec

Parameters = ParamSpec("Parameters")


def on_a_loop(test: Callable[Parameters, Coroutine[Any, Any, None]]) -> Callable[Parameters, None]:
    """Run an async test from beginning to end on an event loop of its own."""

    @wraps(test)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


@contextmanager
def holding_the_lock(url: str) -> Iterator[sqlite3.Connection]:
    """A connection of another program that holds the write lock until it is closed, at the end at the latest."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def lock_is_free(path: str) -> bool:
    """Whether somebody who waits for nothing gets the file's write lock."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


async def turns_of_the_loop(count: int) -> None:
    """Let the event loop run so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, as other threads or tasks make it."""
    while not holds():
        await asyncio.sleep(0.001)
