"""Both fronts have the same names, signatures and docstrings."""
from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from sessionstore import Session, SessionStore
from sessionstore.aio import AsyncBatch, AsyncReader, AsyncSession, AsyncSessionStore, AsyncTask
from sessionstore.reader import Batch, Reader
from sessionstore.task import Task

FRONTS: list[tuple[type, type]] = [
    (SessionStore, AsyncSessionStore),
    (Session, AsyncSession),
    (Reader, AsyncReader),
    (Batch, AsyncBatch),
    (Task, AsyncTask),
    (Task, AsyncTask),
]
PAIRS = [
    pytest.param(sync, other, name, id=f"{sync.__name__}.{name}")
    for sync, other in FRONTS
    for name in sorted(set(dir(sync)) | set(dir(other)))
    if not name.startswith("_")
]
WITHOUT_AWAIT = {"reader"}
"""Functions that read nothing: they only make a handle."""


def without_async(annotation: Any) -> str:
    """A written annotation as it stands in the sync front."""
    return re.sub(r"\bAsync(?=[A-Z])", "", str(annotation))


@pytest.mark.parametrize(("sync", "other"), FRONTS)
def test_the_fronts_have_the_same_public_names(sync: type, other: type) -> None:
    assert {name for name in dir(other) if not name.startswith("_")} == {name for name in dir(sync) if not name.startswith("_")}


@pytest.mark.parametrize(("sync", "other", "name"), PAIRS)
def test_a_name_has_the_same_signature_and_docstring_in_both(sync: type, other: type, name: str) -> None:
    ours, theirs = inspect.getattr_static(sync, name), inspect.getattr_static(other, name)
    assert type(ours) is type(theirs)
    assert getattr(sync, name).__doc__ == getattr(other, name).__doc__
    if not callable(getattr(sync, name)):
        return
    assert getattr(sync, name).__doc__
    expected, found = inspect.signature(getattr(sync, name)), inspect.signature(getattr(other, name))
    assert list(found.parameters) == list(expected.parameters)
    for parameter in expected.parameters.values():
        same = found.parameters[parameter.name]
        assert (same.kind, same.default) == (parameter.kind, parameter.default)
        assert without_async(same.annotation) == str(parameter.annotation)
    function = inspect.unwrap(getattr(other, name))
    if (sync, name) == (SessionStore, "open"):
        assert found.return_annotation == "Opening[Self]"  # to be awaited, or entered
        return
    assert without_async(found.return_annotation) == expected.return_annotation
    awaited = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    assert awaited is (name not in WITHOUT_AWAIT)
