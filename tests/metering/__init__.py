"""How full a context is, and who is told."""
