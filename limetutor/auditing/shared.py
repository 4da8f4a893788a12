"""What the audits of many rows share: new examples, what the model says of them, exact answers.

New examples come from the world, not from the row explained, so that one draw of them, and one call
of the model, serves a whole table: only the boxes and weights differ from row to row. The exact
answers of models with a form are found for all rows together as well (:mod:`limetutor.many`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..closed_forms import limit_of
from ..kernels import ProductKernel
from ..lime_bridge import LimeWorld, repaired
from ..many import Question, blocks
from ..models import Form, Linear, predictor
from ..sampling import Bins, Source
from ..setting import Setting
from ..worlds import BoxWorld, World
from .surroundings import FEW_VALUES, Surroundings, whole_columns

SAMPLES = 5000  # new examples, where an explanation without any is looked at
FELT = 0.25  # of the deviation of the model: a change that is no rounding
LOOKED_AT = 1000  # of them, whose distance from the data is taken: shares to 1.6%


# what some of the rows take over from all of them, and what they do where draws move with the row
KEPT = ("form", "whole", "mended", "of_data")
DRAWN = ("pool", "legal", "felt", "unlike")


class Exact(NamedTuple):
    """Exact answers: of rows together (rows, d), or of one of them (d,)."""

    coef: np.ndarray  # after ridge and xi's own row
    beta: np.ndarray  # before
    error: Any  # f^(xi) - f(xi), before


@dataclass(frozen=True, eq=False)
class Replay(Bins):
    """Draws of the world's own law that were made before, handed out again to every row."""

    pool: Pool

    def __reduce__(self) -> Any:
        """What travels is how draws are made, not the draws."""
        return Bins, ()

    def sources(
        self, setting: Setting, rng: np.random.Generator, scrambles: int | None
    ) -> list[Source]:
        """From the first draw on."""
        used = 0

        def source(n: int) -> tuple[np.ndarray, np.ndarray]:
            nonlocal used
            here, used = slice(used, used + n), used + n
            return self.pool.x[here], self.pool.box[here] == setting.own

        return [source]


@dataclass(frozen=True, eq=False)
class Pool:
    """New examples x (n, d), the box of each value, and the model that is asked of them once."""

    x: np.ndarray = field(repr=False)
    box: np.ndarray = field(repr=False)
    predict: Callable[[np.ndarray], np.ndarray]

    @cached_property
    def y(self) -> np.ndarray:
        """What the model says of them."""
        return self.predict(self.x)

    def remembering(self, x: np.ndarray) -> np.ndarray:
        """The model, which is not asked again where rows end with the examples of the pool."""
        more = len(x) - len(self.x)
        if more < 0 or not np.array_equal(x[more:], self.x):
            return self.predict(x)
        return np.concatenate([self.predict(x[:more]), self.y]) if more else self.y

    def __getstate__(self) -> dict[str, Any]:
        """With the answers of the model and without the function, which other processes make."""
        return {"x": self.x, "box": self.box, "predict": None, "y": self.y}


@dataclass(frozen=True, eq=False)
class Shared:
    """The question about all rows, and what is found once for them.

    ``n`` samples and a penalty ``ridge`` are those of the explanations; n is None for limits.
    """

    question: Question
    n: int | None
    ridge: float
    seed: int | None = 0
    data: Surroundings | None = None
    found: dict[Any, Exact] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, setting: Setting, n: int | None, ridge: float, data: Any = None) -> Shared:
        """For an explanation of one row that was made elsewhere."""
        s = setting
        question = Question(s.f, s.xi[None], s.world, s.boxes, s.nu, s.kernel, s.output, None)
        if "prediction" in s.__dict__:
            question.__dict__["predictions"] = np.array([s.prediction])
        if "form" in s.__dict__:
            question.__dict__["form"] = s.form
        return cls(question, n, ridge, 0, data)

    def rows(self, some: slice) -> Shared:
        """The same for some of the rows: draws and data stay shared, exact answers are their own."""
        other = replace(self, question=self.question.rows(some), found={})
        for name in KEPT if self.moves else KEPT + DRAWN:
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def form(self) -> Form | None:
        """The form of f whose answers are exact and quick, or None."""
        try:
            form = self.question.form
        except ValueError:  # a model of a known family that has no form
            return None
        if form is None or not form.closed or (self._slow and not isinstance(form, Linear)):
            return None
        return form

    @property
    def _slow(self) -> bool:
        """Without boxes the rows of a table share no work, and a third of a second each is too long."""
        return not self.question.world.indicators and len(self.question.table) > 1

    @property
    def moves(self) -> bool:
        """Whether new examples are drawn around each row, so that rows cannot share them."""
        return isinstance(self.question.world, BoxWorld) and self.question.world.moves

    @cached_property
    def pool(self) -> Pool:
        """The new examples, as many as an explanation draws; around the first row where they move."""
        q, n = self.question, self.n or SAMPLES
        boxes = q.setting(0).boxes if self.moves else q.boxes
        x, box = boxes.law.sample(np.random.default_rng(self.seed), n - q.world.own_row)
        return Pool(x, box, predictor(q.f, q.boxes, q.output))

    @cached_property
    def whole(self) -> dict[int, np.ndarray]:
        """Numbers that are few and whole in the data, undeclared: a feature, and its values."""
        return whole_columns(self.question.boxes, self.data)

    @cached_property
    def legal(self) -> np.ndarray:
        """What the model says of the pool with such columns moved to values that there are."""
        return self._moved(list(self.whole))

    @cached_property
    def felt(self) -> set[int]:
        """Columns of many whole numbers whose moving, each alone, moves what the model says.

        Codes before an encoder do; ages do not.
        """
        many = [j for j, values in self.whole.items() if len(values) > FEW_VALUES]
        if not many or not self._differs(self.legal):
            return set()
        return {j for j in many if self._differs(self._moved([j]))}

    def _moved(self, columns: list[int]) -> np.ndarray:
        x = self.pool.x.copy()
        for j in columns:
            values = self.whole[j]
            x[:, j] = values[np.argmin(np.abs(x[:, [j]] - values), axis=1)]
        return predictor(self.question.f, self.question.boxes, self.question.output)(x)

    def _differs(self, y: np.ndarray) -> bool:
        """Whether responses are not those of the pool, as seen beside how much those vary."""
        return bool(np.std(y - self.pool.y) > FELT * np.std(self.pool.y))

    @cached_property
    def unlike(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of the first samples of the pool lie far from the data, and which cannot exist."""
        assert self.data is not None
        some = self.pool.x[:LOOKED_AT]
        return self.data.far(some), self.data.impossible(some)

    @cached_property
    def of_data(self) -> np.ndarray | None:
        """What the model says of the data; None where it has no number for some of them."""
        assert self.data is not None
        q = self.question
        try:
            return predictor(q.f, q.boxes, q.output)(self.data.table)
        except ValueError:
            return None

    @cached_property
    def mended(self) -> LimeWorld:
        """The world as `lime` should have it."""
        assert isinstance(self.question.world, LimeWorld)
        return repaired(self.question.world)

    def prepare(self) -> None:
        """Do what is done once, before rows are handed out."""
        if self.data is not None:
            self.of_data  # noqa: B018
        if not self.moves:
            self.pool.y  # noqa: B018
        if self.data is not None and not self.moves:
            self.unlike  # noqa: B018
        if self.whole and not self.moves:
            self.legal, self.felt  # noqa: B018
        if isinstance(self.question.kernel, ProductKernel):
            self.form  # noqa: B018

    def setting(self, i: int) -> Setting:
        """The question about row i, of a model that remembers the pool."""
        setting = self.question.setting(i)
        if self.n is not None:
            pool = self.pool
            if pool.predict is None:  # it comes from another process
                object.__setattr__(pool, "predict", setting.predict)
            setting.__dict__["predict"] = pool.remembering
        setting.__dict__["prediction"] = float(self.question.predictions[i])
        setting.__dict__["form"] = self.form
        return setting

    def exact(self, i: int, nu: float, world: World | None = None) -> Exact:
        """The exact answer for row i, found for all rows at once when it is first asked for."""
        key = (nu, world)
        if key not in self.found:
            self.found[key] = self._exactly(self.question, nu, world)
        return Exact(*(part[i] for part in self.found[key]))

    def exact_alone(self, i: int, nu: float) -> Exact:
        """The same for a bandwidth that only this row needs."""
        if (nu, None) in self.found:
            return self.exact(i, nu)
        only = self.question.rows(slice(i, i + 1))
        return Exact(*(part[0] for part in self._exactly(only, nu, None)))

    def _exactly(self, question: Question, nu: float, world: World | None) -> Exact:
        question = question.at(nu, world)
        own_row = question.world.own_row
        n = self.n if self.ridge or own_row else None
        ridge = self.ridge if n else 0.0
        parts: list[tuple[Any, ...]] = []
        for block in blocks(question):
            if block is None:
                parts = [self._one(question, i, ridge, n) for i in range(len(question.table))]
                return Exact(*(np.array(part) for part in zip(*parts, strict=True)))
            fit, _ = block.fitted(ridge, n, own_row)
            parts.append((fit.coef, block.beta, block.error))
        return Exact(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @staticmethod
    def _one(question: Question, i: int, ridge: float, n: int | None) -> tuple[Any, ...]:
        """For a form whose rows share no work."""
        setting = question.setting(i)
        setting.__dict__["form"] = question.form
        limit = limit_of(setting, ridge, n)
        return limit.coef, limit.surrogate.beta, limit.surrogate.error
