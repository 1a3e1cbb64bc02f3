"""One file a group of measures; each gives tables."""
