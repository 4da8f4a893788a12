"""The result of :func:`limetutor.predict_lime`. Chapter: the real lime."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
import scipy

from ..inputs import arguments as arg
from ..plotting import page
from ..plotting.result_page import notebook_table
from ..results.result import BaseResult, pairs, wing

MAX_LISTED = 20  # features
MIN_SHOWN = 0.01  # probability of being chosen from which a feature is shown


@dataclass(frozen=True, eq=False)
class LimePrediction(BaseResult):
    """What ``explain_instance`` will print for one instance and one label.

    ``coef`` (d,) is the mean of what `lime` prints for a feature when it is chosen and ``sd`` (d,)
    how that differs from run to run: the standard deviation that 20 runs show (where few samples
    have all the weight runs have long tails, and 20 of them rarely show the whole of it).
    ``selection`` (d,) are the probabilities that a run chooses a feature; ``sets`` are the chosen
    sets with their probabilities, the likeliest first. ``intercept``, ``local_pred`` and ``score``
    are means over runs. ``names`` are as `lime` prints them.

    ``method`` says where the coefficients come from, as in :class:`limetutor.Limit`; ``stderr`` (d,)
    is the error of ``coef`` itself: that of the ``runs`` it was averaged over, and where the method is
    "monte carlo" that of the ``calls`` of the model, at most. ``warnings`` says what to beware of.

    Examples
    --------
    >>> import limetutor as lt
    >>> from lime.lime_tabular import LimeTabularExplainer
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> explainer = LimeTabularExplainer(rows, mode="regression", random_state=0)
    >>> printed = lt.predict_lime(explainer, lt.Linear([1, 2]), rows[0])
    >>> printed.method, len(printed.as_list())
    ('exact', 2)
    """

    coef: np.ndarray
    sd: np.ndarray
    stderr: np.ndarray = field(repr=False)
    intercept: float
    local_pred: float
    score: float
    names: tuple[Any, ...]
    selection: np.ndarray
    sets: list[tuple[tuple[int, ...], float]] = field(repr=False)
    method: str
    prediction: float
    label: int | None
    class_name: str | None
    num_features: int
    num_samples: int
    calls: int
    runs: int
    warnings: tuple[str, ...] = ()
    law: Any = field(default=None, repr=False)  # mean and covariance of runs that show all features

    problem_fields = ("law",)
    box_names = property(attrgetter("names"), doc="What `lime` prints for each feature.")
    frame_columns = ("coef", "sd", "stderr", "selection")
    page_title = "What lime will print"
    table_columns = ("feature", "coefficient", "from run to run", "chosen")

    def as_list(self) -> list[tuple[Any, float]]:
        """The likeliest set as `lime` prints it: pairs of name and coefficient, largest first."""
        return pairs(self.names, self.coef, self._by_size(self.sets[0][0]))

    def as_map(self) -> dict[int, list[tuple[int, float]]]:
        """The same with positions, by label (1 for a regression, as in `lime`)."""
        chosen = pairs(range(len(self.coef)), self.coef, self._by_size(self.sets[0][0]))
        return {1 if self.label is None else self.label: chosen}

    def order(self) -> np.ndarray:
        """The features that runs choose: the likeliest set, then those that may come instead."""
        return np.array(self._shown(), int)

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Between which ends runs print each coefficient with probability ``level``, (d, 2)."""
        reach = scipy.special.ndtri(0.5 + arg.probability("level", level) / 2) * self.sd
        return self.coef[:, None] + np.outer(reach, [-1.0, 1.0])

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature; nan for coefficients that no run printed."""
        frame, chosen = super().to_frame(), [j for features, _ in self.sets for j in features]
        frame.loc[~np.isin(np.arange(len(frame)), chosen), ["coef", "sd", "stderr"]] = np.nan
        return frame

    def ranking(self) -> Any:
        """How often runs put the features in this order of size, with all of them on display.

        With num_features below their number `lime` chooses before it ranks: ``sets`` has what it then
        shows. See :class:`limetutor.precision.rankings.Ranking`.
        """
        return wing("precision.rankings").of_prediction(self)

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """What runs print, with the range of 95% of them, as a matplotlib figure."""
        return wing("plotting.results").coefficients(self, ax=ax, top=top, title=title)

    def blocks(self, top: int = 20, symbols: bool = False, picture: bool = True) -> list[Any]:
        """The parts of a page: what is predicted, feature by feature."""
        rows = [
            (str(self.names[j]), float(self.coef[j]), float(self.sd[j]), float(self.selection[j]))
            for j in self._shown()[:top]
        ]
        table = page.table(self._title(), self.table_columns, rows)
        return [table, page.paragraph(self._summary() + ".")]

    def _by_size(self, features: Iterable[int]) -> list[int]:
        return sorted(map(int, features), key=lambda j: -abs(self.coef[j]))

    def _shown(self) -> list[int]:
        """The features to show: those of the likeliest set, then those that may come instead."""
        first = self._by_size(self.sets[0][0])
        others = {j for features, _ in self.sets for j in features} - set(first)
        others = {j for j in others if self.selection[j] >= MIN_SHOWN}
        return first + sorted(others, key=lambda j: -self.selection[j])

    def _more(self) -> list[str]:
        """How many features are not listed, if any."""
        more = len(self._shown()) - MAX_LISTED
        return [f"  ... and {more} more"] if more > 0 else []

    def _title(self) -> str:
        called = "" if self.class_name is None else f" ({self.class_name})"
        which = "" if self.label is None else f" for label {self.label}{called}"
        return (
            f"What lime will print{which}: {min(self.num_features, len(self.coef))} features, "
            f"{self.num_samples} samples"
        )

    def _summary(self) -> str:
        often = f"{self.sets[0][1]:.0%} of runs choose the first {len(self.sets[0][0])}"
        return (
            f"{often}; intercept {self.intercept:.4g}, local prediction {self.local_pred:.4g}, "
            f"R² {self.score:.3f}; {self.method}, {self.calls} model calls"
        )

    def __repr__(self) -> str:
        lines = [self._title()]
        lines += [
            f"  {self.coef[j]:+10.4g} ± {self.sd[j]:<8.2g} {self.selection[j]:>4.0%}  {self.names[j]}"
            for j in self._shown()[:MAX_LISTED]
        ]
        lines += self._more()
        warnings = (f"  warning: {text}" for text in self.warnings)
        return "\n".join([*lines, "  " + self._summary(), *warnings])

    def _repr_html_(self) -> str:
        rows = [
            (str(self.names[j]), f"{self.coef[j]:+.4g}", f"± {self.sd[j]:.2g}", f"{self.selection[j]:.0%}")
            for j in self._shown()[:MAX_LISTED]
        ]  # fmt: skip
        sentence = ". ".join([*map(str.strip, self._more()), f"{self._summary()}."])
        return notebook_table(self.table_columns, rows, [sentence], self.warnings, self._title())
