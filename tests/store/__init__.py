"""The log and its views, through the public front only."""
