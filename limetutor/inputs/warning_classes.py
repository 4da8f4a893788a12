"""The warnings of the package."""


class LimetutorWarning(UserWarning):
    """A valid result, with something about it that the reader should know."""


class FitWarning(LimetutorWarning):
    """A sampled fit with few effective samples, or with a (nearly) singular design."""


class PrecisionWarning(LimetutorWarning):
    """A quantity lies outside what a double can hold."""
