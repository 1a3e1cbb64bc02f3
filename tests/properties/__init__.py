"""What holds after compactions of any transcript: tried through the store, on random transcripts in every dialect."""
