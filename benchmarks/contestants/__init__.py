"""One file a store that is measured. A file here may be run by another interpreter than the library's: it imports nothing of it."""
