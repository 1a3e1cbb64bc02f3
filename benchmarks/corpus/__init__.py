"""Real transcripts from a folder beside the repository, and what compactions do to them. None of their text is kept here."""
