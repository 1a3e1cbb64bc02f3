"""Transcripts of other tools, and this library's own export: reading and writing them."""
