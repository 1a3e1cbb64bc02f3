"""Tests of the text side of a summary: redaction, prompt, composing, checking, asking."""
