"""Records the transcript that the demo command ships; see record.py for how and why."""
