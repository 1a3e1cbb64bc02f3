"""Tests of the ledger: what is read from messages, how it is merged, and how it is shown."""
