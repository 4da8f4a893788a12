"""Algorithm 1 and its limit: the small module."""
