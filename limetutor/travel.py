"""Results that travel: as a table, as plain values, as a page, as a pickle without the model.

:class:`Travels` is what an explanation and a limit share of it. Words are those of somebody who has
never seen the book; its symbols come on request. Chapter: trust.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import arguments as arg
from . import report

ROWS = 30  # effects that a page lists


class Forgotten:
    """What stands where a model was: pickles leave it out."""

    def __init__(self, what: Any) -> None:
        self.what = (
            what if isinstance(what, str) else getattr(what, "__name__", type(what).__name__)
        )

    def __call__(self, *_: Any) -> Any:
        """Refused, in a sentence."""
        raise ValueError(
            f"f must be at hand to be asked again, but this result comes from a pickle, which leaves "
            f"the model out (it was {self.what}); explain or audit anew with the model."
        )

    def __repr__(self) -> str:
        return f"<{self.what}, left out of the pickle>"


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


class Copies:
    """Something whose pickles do without the model; a copy stays here, and shares it.

    ``asked`` names the parts that hold the model and what was asked of it.
    """

    asked: ClassVar[tuple[str, ...]] = ()

    def __copy__(self) -> Any:
        return self._copied(lambda value: value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._copied(lambda value: copy.deepcopy(value, memo))

    def _copied(self, part: Any) -> Any:
        new = object.__new__(type(self))
        parts = {n: v if n in self.asked else part(v) for n, v in self.__dict__.items()}
        new.__dict__.update(parts)
        return new


class Model(Copies):
    """The same of something that has a ``setting``."""

    asked = ("setting", "f")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model and the training table; what was computed on the way is left."""
        state = dict(self.__dict__)
        state["setting"] = state["setting"].without_model()
        if "f" in state:
            state["f"] = kept(state["f"])
        return state


def kept(f: Any) -> Any:
    """What a pickle keeps of a model: the few numbers of a form of the book, else its name."""
    return f if getattr(f, "travels", False) or isinstance(f, Forgotten) else Forgotten(f)


def predictions(result: Any) -> list[Fact]:
    """What the model says at xi, and what the surrogate says."""
    local = result.local_prediction
    return [
        Fact("prediction", "the model's prediction", "f(ξ)", result.prediction),
        Fact("local_prediction", "what the explanation adds up to", "f^(ξ)", local),
    ]


class Travels(Model):
    """What explanations and limits share: coefficients with names, on their way to somebody."""

    def facts(self) -> list[Fact]:
        """The numbers beside the coefficients."""
        raise NotImplementedError

    def bounds(self) -> np.ndarray:
        """95% intervals of the coefficients, (d, 2)."""
        raise NotImplementedError

    def values(self: Any) -> dict[str, Any]:
        """The instance as the model sees it, by feature: a number, a text, None for what is missing."""
        boxes, xi = self.setting.boxes, self.setting.xi
        text, fed = boxes.decoded(xi[None]), boxes.fed(xi[None])[0]
        found = [text[j][0] if j in text else fed[j] for j in range(len(xi))]
        return dict(zip(self.names, map(plain, found), strict=True))

    def to_frame(self: Any) -> Any:
        """A DataFrame with a row for each feature, in the order of the features.

        Columns: ``condition`` (the box of the instance, in words), ``value``, ``coef``, ``stderr``, and
        the ends ``lower`` and ``upper`` of the 95% interval.
        """
        import pandas as pd

        lower, upper = self.bounds().T
        columns = {
            "condition": list(self.box_names),
            "value": list(self.values().values()),
            "coef": self.coef,
            "stderr": self.stderr,
            "lower": lower,
            "upper": upper,
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="feature"))

    def to_dict(self: Any) -> dict[str, Any]:
        """Everything that was found, in plain Python types, ready for JSON."""
        alone = ("intercept", "output", "warnings", "ridge")
        return plain(
            {
                "names": self.names,
                "conditions": self.box_names,
                "values": self.values(),
                "coef": self.coef,
                "stderr": self.stderr,
                "interval": self.bounds(),
                **{name: getattr(self, name) for name in alone},
                **{fact.name: fact.value for fact in self.facts()},
            }
        )

    def to_shap(self: Any) -> Any:
        """A ``shap.Explanation`` for shap's pictures: coefficients from the intercept upwards.

        They add up to the surrogate at the instance, which is the model there less the local error;
        they are LIME's coefficients, no Shapley values.
        """
        try:
            import shap
        except ImportError:
            raise ImportError("to_shap needs shap; install it with `pip install shap`.") from None
        return shap.Explanation(
            values=self.coef.copy(),
            base_values=float(self.intercept),
            data=np.array(list(self.values().values()), dtype=object),
            feature_names=list(self.names),
        )

    def to_html(
        self: Any,
        path: Any = None,
        *,
        title: str | None = None,
        top: int = ROWS,
        symbols: bool = False,
    ) -> str | None:
        """A page that stands alone, as text or into a file; ``symbols`` for readers of the book."""
        words = arg.text("title", title, "What speaks for this prediction, and what against it")
        top, symbols = arg.whole("top", top, 1), arg.truth("symbols", symbols)
        blocks = [*self.blocks(top, symbols), *notes(self.warnings)]
        return report.written(report.page(words, *blocks, lead=self.summary()), path)

    def summary(self: Any) -> str:
        """One sentence: the prediction, and the effect that moves it most."""
        start = f"The model predicts {report.number(self.prediction)}"
        order = self.order()
        if not len(order) or self.coef[order[0]] == 0:
            return f"{start}, and no feature moves that."
        j = int(order[0])
        verb = "raises" if self.coef[j] > 0 else "lowers"
        return (
            f"{start}; what {verb} it most is “{self.box_names[j]}”, "
            f"by {report.number(abs(self.coef[j]), 3)} against other values."
        )

    def blocks(
        self: Any, top: int = ROWS, symbols: bool = False, picture: bool = True
    ) -> list[report.Markup]:
        """The parts of that page: numbers, a picture, the effects one by one, how to read them."""
        found = [report.facts(_named(self.facts(), symbols))]
        order = self.order()[:top]
        if picture and report.can_draw() and len(order):
            drawn = self.plot(top=min(top, 20))
            found.append(report.picture(drawn, self._alt()))
        bounds = self.bounds()
        rows = [
            (
                self.box_names[j],
                float(self.coef[j]),
                float(bounds[j, 0]),
                float(bounds[j, 1]),
                reading(self.coef[j], *bounds[j]),
            )
            for j in order
        ]
        more = len(self.order()) - len(order)
        caption = "Effects, the largest first" + (f"; {more} more are not listed" if more else "")
        columns = ["what is true of this row", "effect", "at least", "at most", "in words"]
        if symbols:
            columns = ["box of ξ", "β", "lower", "upper", "in words"]
        return [*found, report.table(caption, columns, rows), report.paragraph(self._how())]

    def _alt(self: Any) -> str:
        listed = [f"{self.box_names[j]} {report.number(self.coef[j], 3)}" for j in self.order()[:6]]
        return f"Bars for the effects with their 95% intervals, the largest on top: {'; '.join(listed)}."

    def _how(self: Any) -> str:
        if not self.setting.world.indicators:
            return (
                "An effect is by how much the prediction rises, on average near this row, when the "
                "feature rises by one standard deviation."
            )
        return (
            "An effect is the average prediction of made-up rows like this one for which the condition "
            "holds, less the average of those for which it does not. It compares; it does not say that "
            "changing the feature would cause the change."
        )


def reading(coef: float, lower: float, upper: float) -> str:
    """An effect in words."""
    if coef == 0 and lower == upper:
        return "no effect"
    if lower < 0 < upper:
        return "not told from no effect: more samples would"
    return "raises the prediction" if coef > 0 else "lowers the prediction"


def notes(texts: Iterable[str]) -> list[report.Markup]:
    """Technical notes, under a heading of their own where there are any."""
    listed = report.items(texts)
    return [report.heading("Technical notes"), listed] if listed else []


def _named(facts: list[Fact], symbols: bool) -> list[tuple[str, Any]]:
    return [(fact.symbols if symbols else fact.words, fact.value) for fact in facts]
