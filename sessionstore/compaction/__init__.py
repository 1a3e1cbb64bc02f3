"""The compaction job: its steps told once, as a generator that the sync and the async front drive."""
