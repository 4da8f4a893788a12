"""What an audit asks of every row (:class:`AuditPlan`), and the work that rows share (:class:`SharedWork`).

Samples come from the world, not from the row explained, so that one draw of them, and one call
of the model, serves a whole table: only the boxes and weights differ from row to row. The exact
answers of models with a form are computed for all rows together as well (:mod:`limetutor.many.limits`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.boxes import Boxes, Gaussian, World
from ..core.kernels import ProductKernel, kernel_of
from ..core.models import Form, Linear
from ..core.problem import Problem, knowing
from ..core.sampler import Bins, Source
from ..core.theory import limit_of
from ..inputs import arguments as arg
from ..inputs.lime_defaults import NUM_SAMPLES
from ..inputs.predictors import agreed_names, predictor
from ..lime.empirical import Empirical
from ..lime.other_boxes import recut
from ..lime.read_explainer import LimeWorld, repaired
from ..many.problems import Problems, surrogate_blocks
from .findings import Terms
from .training_data import TrainingData

MIN_RESPONSE = 0.25  # of the deviation of the model: a change below it may be rounding
COMPARED_SAMPLES = 1000  # whose distance from the data is computed: shares to 1.6%
FEW_VALUES = 10  # a column of more whole numbers than these may well measure something ...
MAX_VALUES = 100  # ... and one of more than these surely does
ASKED_AGAIN = 50  # rows on which the model is called twice

# cached properties that a part of the rows takes over, and those that it takes over unless draws
# depend on the row
_OF_ALL_ROWS = (
    "form", "whole", "repaired_world", "responses_on_data", "other_worlds", "asked_again",
)  # fmt: skip
_OF_SAMPLES = ("pool", "rounded_responses", "sensitive", "unlike_data")


class ExactFits(NamedTuple):
    """Exact answers: of rows together (rows, d), or of one of them (d,)."""

    coef: np.ndarray  # after ridge and xi's own row
    beta: np.ndarray  # before
    error: Any  # f^(xi) - f(xi), before


@dataclass(frozen=True, eq=False)
class Replay(Bins):
    """A sampler that hands out the draws of a pool, to every row the same."""

    pool: Pool

    def __reduce__(self) -> Any:
        """Pickle how draws are made, without the draws."""
        return Bins, ()

    def draw(
        self, problem: Problem, rng: np.random.Generator, n: int, start: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The n draws of the pool from ``start`` on."""
        batch = slice(start, start + n)
        return self.pool.x[batch], self.pool.box[batch] == problem.box_of_xi

    def sources(
        self, problem: Problem, rng: np.random.Generator, scrambles: int | None
    ) -> list[Source]:
        """One source, from the first draw on."""
        used = 0

        def source(n: int) -> tuple[np.ndarray, np.ndarray]:
            nonlocal used
            start, used = used, used + n
            return self.draw(problem, rng, n, start)

        return [source]


@dataclass(frozen=True, eq=False)
class Pool:
    """Samples x (n, d), the box of each value, and the model, called on them once."""

    x: np.ndarray = field(repr=False)
    box: np.ndarray = field(repr=False)
    predict: Callable[[np.ndarray], np.ndarray]

    @cached_property
    def y(self) -> np.ndarray:
        """The responses of the model."""
        return self.predict(self.x)

    def cached_predict(self, x: np.ndarray) -> np.ndarray:
        """Call the model, but not again on the pool where rows x end with it."""
        more = len(x) - len(self.x)
        if more < 0 or not np.array_equal(x[more:], self.x):
            return self.predict(x)
        return np.concatenate([self.predict(x[:more]), self.y]) if more else self.y

    def __getstate__(self) -> dict[str, Any]:
        """The responses without the function, which another process makes again."""
        return {"x": self.x, "box": self.box, "predict": None, "y": self.y}


@dataclass(frozen=True, eq=False)
class SharedWork:
    """The question about all rows, and what is computed once for them.

    ``n`` samples and a penalty ``ridge`` are those of the explanations; n is None for limits.
    """

    question: Problems
    n: int | None
    ridge: float
    seed: int | None = 0
    data: TrainingData | None = None
    unlike: str = ""  # why data that were passed were left aside
    exact_fits: dict[Any, ExactFits] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, problem: Problem, n: int | None, ridge: float, data: Any = None) -> SharedWork:
        """For an explanation of one row that was made elsewhere; ``data`` as the caller passed it."""
        p = problem
        question = Problems(p.f, p.xi[None], p.world, p.boxes, p.nu, p.kernel, p.output, None)
        computed = {"predictions": np.array([p.prediction])} if "prediction" in p.__dict__ else {}
        knowing(question, p, "form", **computed)
        return cls(question, n, ridge, 0, *_training_data(data, question))

    def rows(self, some: slice) -> SharedWork:
        """The same for some of the rows: draws and data stay shared, exact answers do not."""
        part = replace(self, question=self.question.rows(some), exact_fits={})
        for name in _OF_ALL_ROWS if self.moves else _OF_ALL_ROWS + _OF_SAMPLES:
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name]
        return part

    @cached_property
    def form(self) -> Form | None:
        """The form of f whose answers are exact and quick, or None."""
        try:
            form = self.question.form
        except ValueError:  # a model of a known family that has no form
            return None
        # without boxes the rows of a table share no work, and a third of a second each is too long
        slow = self.question.world.regression is not None and len(self.question.table) > 1
        if form is None or not form.closed or (slow and not isinstance(form, Linear)):
            return None
        return form

    @property
    def moves(self) -> bool:
        """Whether samples are drawn around each row, so that rows cannot share them."""
        return self.question.world.moves

    @cached_property
    def question_predict(self) -> Callable[[np.ndarray], np.ndarray]:
        """The model, as a function of rows of numbers."""
        return self._predictor()

    def _predictor(self) -> Callable[[np.ndarray], np.ndarray]:
        return predictor(self.question.f, self.question.boxes, self.question.output)

    @cached_property
    def pool(self) -> Pool:
        """The samples, as many as an explanation draws; around the first row where they move."""
        q, n = self.question, self.n or NUM_SAMPLES
        boxes = q.problem(0).boxes if self.moves else q.boxes
        x, box = boxes.law.sample(np.random.default_rng(self.seed), n - q.world.own_row)
        return Pool(x, box, self._predictor())

    @cached_property
    def whole(self) -> dict[int, np.ndarray]:
        """Columns taken for numbers of which the data hold at most a hundred whole ones, and these."""
        boxes, law, columns = self.question.boxes, self.question.boxes.law, {}
        for j in map(int, np.flatnonzero(boxes.ordered)) if self.data is not None else ():
            values = np.unique(self.data.all_rows[:, j])  # type: ignore[union-attr]
            if not 1 < len(values) <= MAX_VALUES or np.any(values != np.rint(values)):
                continue
            present = law.prob[j] > 0
            if np.any((law.sd[j][present] != 0) | ~np.isin(law.mean[j][present], values)):
                columns[j] = values  # samples have other values than these
        return columns

    @cached_property
    def rounded_responses(self) -> np.ndarray:
        """The responses for the pool with such columns moved to the nearest value of the data."""
        return self._rounded(list(self.whole))

    @cached_property
    def sensitive(self) -> set[int]:
        """Columns of many whole numbers whose rounding, each alone, changes what the model says.

        That of codes before an encoder does; that of ages does not.
        """
        many = [j for j, values in self.whole.items() if len(values) > FEW_VALUES]
        if not many or not self._differs(self.rounded_responses):
            return set()
        return {j for j in many if self._differs(self._rounded([j]))}

    def _rounded(self, columns: list[int]) -> np.ndarray:
        x = self.pool.x.copy()
        for j in columns:
            values = self.whole[j]
            x[:, j] = values[np.argmin(np.abs(x[:, [j]] - values), axis=1)]
        return self._predictor()(x)

    def _differs(self, y: np.ndarray) -> bool:
        """Whether responses differ from those of the pool, beside how much those vary."""
        return bool(np.std(y - self.pool.y) > MIN_RESPONSE * np.std(self.pool.y))

    @cached_property
    def unlike_data(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of the first samples of the pool lie far from the data, and which cannot exist."""
        assert self.data is not None
        x = self.pool.x[:COMPARED_SAMPLES]
        return self.data.far(x), self.data.impossible(x)

    @cached_property
    def responses_on_data(self) -> np.ndarray | None:
        """The responses of the model for the data; None where some of them are no numbers."""
        assert self.data is not None
        try:
            return self._predictor()(self.data.table)
        except ValueError:
            return None

    @cached_property
    def asked_again(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What the model says of the same few rows, twice; None where it cannot be called."""
        q = self.question
        boxes = q.problem(0).boxes if self.moves else q.boxes
        x = boxes.law.sample(np.random.default_rng(1), ASKED_AGAIN)[0]
        try:
            return self._predictor()(x), self._predictor()(x)
        except ValueError:  # it was not pickled, or has no answer for some of them
            return None

    @cached_property
    def other_worlds(self) -> dict[str, World] | None:
        """The world with other boxes of `lime`'s own and with shifted ones; None without data for them."""
        labels = None
        if self.data is not None and self.question.output is not None:
            labels = self.responses_on_data
        data = self.data
        return recut(self.question.world, data and data.all_rows, labels, data and data.table)

    def row_name(self, i: int) -> str:
        """What the caller's table calls row i; empty where it has no names."""
        index = self.question.index
        return "" if index is None or index[i] is None else str(index[i])

    @cached_property
    def repaired_world(self) -> LimeWorld:
        """The world without the collapsed bins of `lime`."""
        assert isinstance(self.question.world, LimeWorld)
        return repaired(self.question.world)

    def prepare(self) -> None:
        """Compute what is shared before rows go to other processes."""
        self.asked_again  # noqa: B018
        if self.data is not None:
            self.other_worlds  # noqa: B018
            self.responses_on_data  # noqa: B018
        if not self.moves:
            self.pool.y  # noqa: B018
            if self.data is not None:
                self.unlike_data  # noqa: B018
            if self.whole:
                self.rounded_responses, self.sensitive  # noqa: B018
        if isinstance(self.question.kernel, ProductKernel):
            self.form  # noqa: B018

    def problem(self, i: int) -> Problem:
        """The problem of row i, with a model that is not called on the pool again."""
        known: dict[str, Any] = {
            "prediction": float(self.question.predictions[i]),
            "form": self.form,
        }
        if self.n is not None:
            if self.pool.predict is None:  # it comes from another process
                object.__setattr__(self.pool, "predict", self._predictor())
            known["predict"] = self.pool.cached_predict
        return self.question.problem(i, **known)

    def exact(self, i: int, nu: float, world: World | None = None) -> ExactFits:
        """The exact answer for row i, computed for all rows at once when first asked for."""
        key = (nu, world)
        if key not in self.exact_fits:
            self.exact_fits[key] = self._fit_exactly(self.question, nu, world)
        return ExactFits(*(part[i] for part in self.exact_fits[key]))

    def exact_alone(self, i: int, nu: float) -> ExactFits:
        """The same for a bandwidth that only this row needs."""
        if (nu, None) in self.exact_fits:
            return self.exact(i, nu)
        only = self.question.rows(slice(i, i + 1))
        return ExactFits(*(part[0] for part in self._fit_exactly(only, nu, None)))

    def _fit_exactly(self, question: Problems, nu: float, world: World | None) -> ExactFits:
        question = question.at(nu, world)
        own_row = question.world.own_row
        n = self.n if self.ridge or own_row else None
        ridge = self.ridge if n else 0.0
        parts: list[tuple[Any, ...]] = []
        for block in surrogate_blocks(question):
            if block is None:  # a form whose rows share no work
                parts = []
                for i in range(len(question.table)):
                    limit = limit_of(question.problem(i, form=question.form), ridge, n)
                    surrogate = limit.surrogate
                    parts.append((limit.coef[None], surrogate.beta[None], [surrogate.error]))
                break
            fit, _ = block.fitted(ridge, n, own_row)
            parts.append((fit.coef, block.beta, block.error))
        return ExactFits(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _training_data(data: Any, question: Problems) -> tuple[TrainingData | None, str]:
    """The data of a caller, else those of an empirical world of at least two rows.

    Data that are not at all like those that the boxes were made from are left aside, with the reason.
    """
    world, boxes = question.world, question.boxes
    if data is not None:
        agreed_names(question.f, "data", data, boxes.names)
        found = TrainingData.of(data, boxes)
        centre = getattr(world.regression, "centre", None)
        unlike = "" if isinstance(world, Gaussian) else found.unlike(centre)
        return (None, unlike) if unlike else (found, "")
    if isinstance(world, Empirical) and len(world.table) > 1:  # type: ignore[attr-defined]
        return TrainingData.thinned(world.table, boxes), ""  # type: ignore[attr-defined]
    return None, ""


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """What is asked of every row."""

    f: Any
    world: World
    nu: Any
    kernel: Any
    ridge: float
    output: Any
    n: Any
    seed: int | None
    data: Any
    shown: int
    terms: Terms
    is_lime: bool

    def work(self, boxes: Boxes, table: np.ndarray, index: Any = None) -> SharedWork:
        """The work for rows that are encoded as numbers."""
        n = arg.whole("n", self.n, boxes.d + 2, because=f" to fit {boxes.d + 1} coefficients")
        nu = arg.bandwidth("nu", self.nu)
        kernel = self.world.weighted_by(kernel_of(self.kernel))
        question = Problems(self.f, table, self.world, boxes, nu, kernel, self.output, index)
        return SharedWork(question, n, self.ridge, self.seed, *_training_data(self.data, question))
