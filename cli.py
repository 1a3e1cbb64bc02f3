"""Runs the command line from a checkout: ``python cli.py --help``."""
from sessionstore.cli import main

main()
