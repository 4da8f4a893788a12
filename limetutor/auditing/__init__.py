"""Can this explanation be trusted? Cases, checks, words, tables."""
