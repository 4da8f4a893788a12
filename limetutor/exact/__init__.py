"""Exact limits of models that are not linear."""

# imported for what they register: kernels, and readers of models
from . import dataframes, kernels, margins, read_boosting, read_sklearn  # noqa: F401
