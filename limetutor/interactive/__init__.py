"""Figures with controls, with a kernel and without."""
