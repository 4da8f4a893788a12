"""Many rows at once."""
