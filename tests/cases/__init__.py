"""Runs the cases of a folder: small transcripts with one kind of fault each, what is done to them, and what must hold."""
