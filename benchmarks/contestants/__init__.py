"""One file a store that is measured; what other interpreters run imports nothing of the library."""
