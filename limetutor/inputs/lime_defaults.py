"""Defaults of the `lime` package, version 0.2.0.1: the one place where its numbers stand."""

FORWARD_SELECTION_MAX = 6  # features up to which `feature_selection="auto"` selects forward
NUM_SAMPLES = 5000  # rows of one explanation of a table or a text
RIDGE = 1.0  # penalty `alpha` of the Ridge regression it fits
KERNEL_WIDTH_FACTOR = 0.75  # of a table: the width is this times the root of the number of columns
