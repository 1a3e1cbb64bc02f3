"""What is left of planted facts after one compaction, and after ten."""
