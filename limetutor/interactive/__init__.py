"""Controls and pictures that answer, with a kernel and without."""
