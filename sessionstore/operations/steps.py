"""The steps that a job asks its driver for, so that the flow is written once and no transaction outlives a step."""
from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from sessionstore.storage.engines import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """Run a unit of work that only reads; ``one_query`` says that it asks the database once."""

    work: Callable[[Connection], T]
    one_query: bool = False


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """Run a unit of work in a write transaction, committed when the step is over.

    It must be a function of the connection alone, since a server may have it run again; ``repeatable`` says that running it
    again is right also after it was committed.
    """

    work: Callable[[Connection], T]
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """Call something that may take long (a model, a hook, a prompt builder) while no transaction is open.

    What it gives may be an awaitable for the result, which only the async front can wait for.
    """

    work: Callable[[], T | Awaitable[T]]


Step = Read[Any] | Write[Any] | Call[Any]
Steps = Generator[Step, Any, T]
"""A flow: it yields steps, is sent their results, has their exceptions thrown in, and returns its own result."""


def read(work: Callable[[Connection], T], *, one_query: bool = False) -> Generator[Step, Any, T]:
    """Ask the driver to read; ``yield from`` it for the result."""
    result: T = yield Read(work, one_query)
    return result


def write(work: Callable[[Connection], T], *, repeatable: bool = False) -> Generator[Step, Any, T]:
    """Ask the driver to write; ``yield from`` it for the result."""
    result: T = yield Write(work, repeatable)
    return result


def call(work: Callable[[], T]) -> Generator[Step, Any, T]:
    """Ask the driver to call; ``yield from`` it for the result."""
    result: T = yield Call(work)
    return result


def call_stranger(work: Callable[[], T | Awaitable[T]]) -> Generator[Step, Any, T]:
    """``call`` for a model or a hook, which is somebody else's code and may be async."""
    result: T = yield Call(work)
    return result


def drive(steps: Steps[T], database: Database) -> T:
    """Carry out a flow's steps one after the other, and give its result."""
    try:
        step = next(steps)
        while True:
            try:
                result = _carry_out(step, database)
            except BaseException as error:  # noqa: BLE001 - the flow decides what it means: it settles its job, then raises
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _carry_out(step: Step, database: Database) -> Any:
    match step:
        case Read(work, one_query):
            return database.read(work, one_query=one_query)
        case Write(work, repeatable):
            return database.write(work, repeatable=repeatable)
        case Call(work):
            result = work()
            if isawaitable(result):
                discard(result)
                raise TypeError(
                    f"an async function was given to the sync front: it gave a {type(result).__name__}; use AsyncSessionStore"
                )
            return result


def discard(result: object) -> None:
    """Close what nobody will await, so that it doesn't warn about it later."""
    if isinstance(result, Coroutine):
        result.close()
