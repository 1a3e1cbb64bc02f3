"""The command line. ``main`` is a click group whose commands are loaded when they are asked for."""
from sessionstore.cli.program import main

__all__ = ["main"]
