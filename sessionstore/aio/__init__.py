"""The async front: the same names, signatures and docstrings as the sync front, with ``await``."""
from __future__ import annotations

from sessionstore.aio.async_reader import AsyncBatch, AsyncReader
from sessionstore.aio.async_session import AsyncSession
from sessionstore.aio.async_store import AsyncSessionStore
from sessionstore.aio.async_task import AsyncTask

__all__ = ["AsyncBatch", "AsyncReader", "AsyncSession", "AsyncSessionStore", "AsyncTask"]
