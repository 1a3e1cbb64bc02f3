"""What an import brought in, per conversation, and what it could not read."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionstore.domain.closed_sets import Relation
from sessionstore.formats.parsed import DamagedLine, LineNote


@dataclass(frozen=True, slots=True)
class ImportedLineage:
    """One conversation of an import: its tip, and how many messages came in and how many were there already.

    ``compactions`` are those of another tool that were brought in as compactions of the lineage. ``created`` is False when the
    import added to a conversation that the store had.
    """

    session_id: str
    lineage_id: str
    created: bool
    imported: int
    skipped: int
    compactions: int = 0
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The whole of an import.

    ``imported`` messages came in, ``skipped`` were there already. ``damaged`` has the lines (from 1) of which something could
    not be read, ``notes`` oddities of lines that came in whole, ``left_out`` counts records that carry no message, by type.
    """

    name: str
    format: str
    lineages: tuple[ImportedLineage, ...]
    damaged: tuple[DamagedLine, ...] = ()
    notes: tuple[LineNote, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def imported(self) -> int:
        """Messages that came in, in all conversations."""
        return sum(lineage.imported for lineage in self.lineages)

    @property
    def skipped(self) -> int:
        """Messages that were there already, in all conversations."""
        return sum(lineage.skipped for lineage in self.lineages)

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of ``sessionstore import --json``."""
        return {
            "name": self.name,
            "format": self.format,
            "imported": self.imported,
            "skipped": self.skipped,
            "sessions": [
                {
                    "session_id": lineage.session_id,
                    "lineage_id": lineage.lineage_id,
                    "created": lineage.created,
                    "imported": lineage.imported,
                    "skipped": lineage.skipped,
                    "compactions": lineage.compactions,
                    "relation": lineage.relation,
                }
                for lineage in self.lineages
            ],
            "damaged": [{"line": line.line, "reason": line.reason} for line in self.damaged],
            "notes": [{"line": note.line, "note": note.note} for note in self.notes],
            "left_out": dict(self.left_out),
        }
