"""What a framework does around a compaction."""
