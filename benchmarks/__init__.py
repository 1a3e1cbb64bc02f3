"""Measures this library beside raw SQL and beside the stores and compactors that people use today: ``python -m benchmarks``."""
