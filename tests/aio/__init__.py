"""Tests of the async front."""
