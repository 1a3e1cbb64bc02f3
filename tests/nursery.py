"""Where processes come from that are to be killed: forked from one that has loaded everything and holds no thread or file."""
from __future__ import annotations

import multiprocessing

NURSERY = multiprocessing.get_context("forkserver")
"""The context that starts them; a killed process then lived for what it did, and not for its imports."""

# A process has one such server, whoever starts it, so the list is the same for everybody.
NURSERY.set_forkserver_preload(["tests.store.killed_writer", "tests.postgres.killed_action"])
