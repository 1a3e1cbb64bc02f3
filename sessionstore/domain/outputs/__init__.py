"""One informative line for a tool's output: what ran, on what, how it ended, how much there was."""
from sessionstore.domain.outputs.lines import describe_output, is_described, placeholder_for

__all__ = ["describe_output", "is_described", "placeholder_for"]
