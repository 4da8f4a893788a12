"""How an audit speaks: in words that anybody reads, or with the symbols of the book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Speech:
    """Words for what has a symbol in the book; the symbols themselves on request."""

    symbols: bool = False

    def _either(self, words: str, symbols: str) -> str:
        return symbols if self.symbols else words

    @property
    def row(self) -> str:
        """The instance explained."""
        return self._either("this row", "ξ")

    @property
    def rows(self) -> str:
        """What belongs to it."""
        return self._either("this row's", "ξ's")

    @property
    def width(self) -> str:
        """The bandwidth, named."""
        return self._either("bandwidth", "ν")

    @property
    def around(self) -> str:
        """Bandwidths near the one in use."""
        return self._either("from half to twice the one in use", "from ν/2 to 2ν")

    def at_width(self, nu: Any) -> str:
        """A bandwidth with its value."""
        return self._either(f"bandwidth {nu:.4g}", f"ν = {nu:.4g}")

    def samples(self, n: Any) -> str:
        """So many samples."""
        return self._either(f"{n:,} samples", f"n = {n:,} samples")

    def prediction(self, value: float) -> str:
        """What the model says of the instance."""
        return self._either(f"a prediction of {value:.4g}", f"f(ξ) = {value:.4g}")

    @property
    def explained(self) -> str:
        """The share of the model's variation that the surrogate explains."""
        return self._either("share of the variation explained", "R²")


PLAIN, SYMBOLS = Speech(), Speech(symbols=True)
