"""Arguments, tables and models as callers pass them, checked and turned into numbers."""
