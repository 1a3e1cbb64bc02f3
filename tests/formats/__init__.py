"""Tests of the readers of foreign transcripts."""
