"""Switches that are on or off: what LIME computes for text and images."""
