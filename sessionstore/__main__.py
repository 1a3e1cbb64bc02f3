"""Runs the command line as a module: ``python -m sessionstore --help``."""
from sessionstore.cli import main

main(prog_name="sessionstore")
