"""LIME, Shapley values and Anchors as readings of one function."""
