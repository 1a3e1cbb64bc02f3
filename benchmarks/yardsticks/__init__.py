"""Other people's yardsticks for compactions, run on this library through one adapter on its public API."""
