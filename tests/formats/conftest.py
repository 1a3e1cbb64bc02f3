"""Where real transcripts may lie: a folder beside the repository, of which nothing belongs to the project."""
from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"

collect_ignore = [] if CORPUS.is_dir() else ["test_real_files.py"]
