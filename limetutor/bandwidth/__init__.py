"""Which bandwidth, and what changing it does."""
