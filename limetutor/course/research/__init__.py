"""Results beyond the paper that chapters show."""
