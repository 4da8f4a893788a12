"""What every result can do: order, lists, tables, dictionaries, pages, pickles without the model.

:class:`BaseResult` is the base of all results, :class:`Result` of those about one instance. Pages are
made by :mod:`limetutor.plotting.result_page`. Chapter: trust.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .printing import printed


def wing(name: str) -> Any:
    """A module of another folder that draws, writes or judges results, imported when asked for."""
    return import_module(f"limetutor.{name}")


class DroppedModel:
    """What stands where a model was: pickles leave it out."""

    def __init__(self, what: Any) -> None:
        name = getattr(what, "__name__", type(what).__name__)
        self.what = what if isinstance(what, str) else name

    def __call__(self, *_: Any) -> Any:
        """Refused, in a sentence."""
        raise ValueError(
            f"f must be at hand to be asked again, but this result comes from a pickle, which leaves "
            f"the model out (it was {self.what}); explain or audit anew with the model."
        )

    def __repr__(self) -> str:
        return f"<{self.what}, left out of the pickle>"


def model_in_pickle(f: Any) -> Any:
    """What a pickle keeps of a model: the few numbers of a small form, else its name."""
    return f if getattr(f, "is_pickled", False) or isinstance(f, DroppedModel) else DroppedModel(f)


class Fact(NamedTuple):
    """A number of a result: what it is called in code, in words and in symbols."""

    name: str
    words: str
    symbols: str
    value: Any


def plain(value: Any) -> Any:
    """The same in plain Python types, ready for JSON: what is no number (nan, infinity) is None.

    >>> plain({"a": np.array([1.0, np.nan]), "b": np.int64(3)})
    {'a': [1.0, None], 'b': 3}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


def fitted_with(ridge: float, n: int | None = None) -> str:
    """The penalty and the rows of a fit, for the headline of a result; nothing where there are none."""
    parts = [f"ridge {ridge:g}" * (ridge > 0), f"{n} rows" * (n is not None)]
    return "".join(f", {part}" for part in parts if part)


def largest_first(values: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """Positions by size of the values, the largest first; of those in ``among`` alone if given."""
    order = np.argsort(-np.abs(values), axis=-1, kind="stable")
    return order if among is None else order[among[order]]


def pairs(names: Sequence[Any], coef: np.ndarray, order: Iterable[int]) -> list[tuple[Any, float]]:
    """Pairs of name and coefficient in this order, as `lime` lists them."""
    return [(names[j], float(coef[j])) for j in order]


class BaseResult:
    """A result with coefficients and names, and all ways to show it.

    ``problem_fields`` names the fields that hold the question and its model: copies share them, and
    dictionaries leave them out.
    """

    problem_fields: ClassVar[tuple[str, ...]] = ()
    page_title = "The coefficients of LIME"
    frame_columns: ClassVar[tuple[str, ...]] = ("coef", "stderr")
    coef: np.ndarray
    names: Sequence[Any]

    def __copy__(self) -> Any:
        return self._copied(lambda value: value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._copied(lambda value: copy.deepcopy(value, memo))

    def _copied(self, copied: Any) -> Any:
        new = object.__new__(type(self))
        parts = {n: v if n in self.problem_fields else copied(v) for n, v in self.__dict__.items()}
        new.__dict__.update(parts)
        return new

    def order(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest; of many rows one row for each."""
        return largest_first(self.coef)

    def as_list(self) -> list[Any]:
        """Pairs of name and coefficient, largest first, as in `lime`; of many rows a list for each."""
        return pairs(self.names, self.coef, self.order())

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature, in the order of the features."""
        import pandas as pd

        columns = {name: getattr(self, name) for name in self.frame_columns}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="feature"))

    def to_dict(self) -> dict[str, Any]:
        """All numbers and names, in plain Python types, ready for JSON."""
        parts = [part.name for part in fields(self) if part.name not in self.problem_fields]  # type: ignore[arg-type]
        return plain({name: getattr(self, name) for name in parts} | {"names": self.names})

    def to_shap(self) -> Any:
        """A ``shap.Explanation`` for shap's pictures: coefficients from the intercept upwards.

        They are LIME's coefficients (times scaled numbers without boxes), no Shapley values. What is
        missing from the surrogate to the model at the instance is one more entry, so that all add up
        to the prediction. Of many rows a row for each, as for a beeswarm.
        """
        return wing("plotting.result_page").to_shap(self)

    def to_html(self, path: Any = None, *, title: str | None = None) -> str | None:
        """A page that stands alone, as text or into a file."""
        notes = getattr(self, "warnings", ())
        return wing("plotting.result_page").to_html(self, path, title, notes)

    def blocks(self) -> list[Any]:
        """The parts of that page."""
        return wing("plotting.result_page").frame_blocks(self.to_frame())

    def summary(self) -> str:
        """What the result is, in one line."""
        return str(self).partition("\n")[0]

    def _repr_html_(self) -> str:
        return wing("plotting.result_page").frame_in_notebook([self.summary()], self.to_frame())


class PicklesWithoutModel(BaseResult):
    """Something with a problem in ``setting`` whose pickles leave the model out."""

    problem_fields: ClassVar[tuple[str, ...]] = ("setting", "f")
    setting: Any

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model and the training table."""
        state = dict(self.__dict__)
        state["setting"] = state["setting"].without_model()
        if "f" in state:
            state["f"] = model_in_pickle(state["f"])
        return state

    world = property(attrgetter("setting.world"), doc="Where samples come from.")
    box_names = property(attrgetter("setting.box_names"), doc="The boxes of xi in words.")


class Result(PicklesWithoutModel):
    """Coefficients with names, their uncertainty, and all ways to show them."""

    coef: np.ndarray
    stderr: np.ndarray
    intercept: float
    prediction: float
    local_prediction: float
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    coefficient_heading = "coefficient"
    notes_in_repr = True
    _is_noisy = True  # whether standard errors are shown
    page_title = "What counts for this prediction, and what against it"

    facts: Callable[[], list[Fact]]  # the numbers beside the coefficients
    bounds: Callable[[], np.ndarray]  # 95% intervals of the coefficients, (d, 2)
    _headline: Callable[[], str]  # what the result is, for its repr
    _closing: Callable[[str], list[str]]  # sentences below them, with xi written that way

    def as_list(self) -> list[tuple[str, float]]:
        """Pairs of box description and coefficient, largest first, as in `lime`."""
        return pairs(self.box_names, self.coef, self.order())

    def as_map(self) -> dict[Any, list[tuple[int, float]]]:
        """Pairs of feature position and coefficient by output (1 for regression, as in `lime`)."""
        output = getattr(self, "output", None)
        label = 1 if output is None else output
        return {label: pairs(range(len(self.coef)), self.coef, self.order())}

    def __repr__(self) -> str:
        return printed(self)

    def _repr_html_(self) -> str:
        return wing("plotting.result_page").in_notebook(self)

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients with 95% intervals, as a matplotlib figure.

        On ``ax`` where one is given; ``top`` is how many features are drawn, 20 if left out.
        """
        return wing("plotting.results").coefficients(self, ax=ax, top=top, title=title)

    def values(self) -> dict[str, Any]:
        """The instance as the model sees it, by feature: a number, a text, None for what is missing."""
        boxes, xi = self.setting.boxes, self.setting.xi
        text, fed = boxes.decoded(xi[None]), boxes.fed(xi[None])[0]
        values = [text[j][0] if j in text else fed[j] for j in range(len(xi))]
        return dict(zip(self.names, map(plain, values), strict=True))

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature, in the order of the features.

        Columns: ``condition`` (the box of the instance, in words), ``value``, ``coef``, ``stderr``, and
        the ends ``lower`` and ``upper`` of the 95% interval.
        """
        lower, upper = self.bounds().T
        frame = super().to_frame().assign(lower=lower, upper=upper)
        frame.insert(0, "value", list(self.values().values()))
        frame.insert(0, "condition", list(self.box_names))
        return frame

    def to_dict(self) -> dict[str, Any]:
        """All numbers and names, in plain Python types, ready for JSON."""
        parts = {"names": self.names, "conditions": self.box_names, "values": self.values()}
        parts |= {"coef": self.coef, "stderr": self.stderr, "interval": self.bounds()}
        parts |= {n: getattr(self, n) for n in ("intercept", "output", "warnings", "ridge")}
        return plain(parts | {fact.name: fact.value for fact in self.facts()})

    def to_html(  # type: ignore[override]
        self, path: Any = None, *, title: str | None = None, top: int = 30, symbols: bool = False
    ) -> str | None:
        """A page that stands alone, as text or into a file; ``symbols`` for readers of the book."""
        return wing("plotting.result_page").to_html(
            self, path, title, self.warnings, top=top, symbols=symbols
        )

    def summary(self) -> str:
        """One sentence: the prediction, and the largest effect or why that says little."""
        return wing("plotting.result_page").summary(self)

    def blocks(self, top: int = 30, symbols: bool = False, picture: bool = True) -> list[Any]:
        """The parts of that page: numbers, a picture, the effects one by one, how to read them."""
        return wing("plotting.result_page").blocks(self, top, symbols, picture)
