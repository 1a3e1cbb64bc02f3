"""The exact facts of a transcript, kept beside every summary so that nothing blurs however often it is compacted."""
from sessionstore.domain.ledger.entry import EMPTY_LEDGER, FactKind, Ledger, LedgerEntry
from sessionstore.domain.ledger.extraction import extract_ledger
from sessionstore.domain.ledger.facts import render_facts
from sessionstore.domain.ledger.notes import notes_beyond

__all__ = ["EMPTY_LEDGER", "FactKind", "Ledger", "LedgerEntry", "extract_ledger", "notes_beyond", "render_facts"]
