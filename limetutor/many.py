"""Many instances at once: :func:`limits` without sampling, :func:`explain_many` with it.

What the rows of a table share is done once: their encoding, the call of the model, its form, and
for trees the thresholds and leaves (:mod:`limetutor.forests`). Where nothing can be shared, rows go
one by one, each with a seed of its own that does not depend on the order they are done in.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import arguments as arg
from .algorithm import Explanation, progress_bar, run
from .closed_forms import OWN_ROW, SAMPLES, Limit, constant_note, limit_of, penalty_and_rows
from .families import features_of, form_in
from .kernels import Kernel, ProductKernel, kernel_of, product_kernel
from .models import Form, Linear, predictor
from .rows import Fitted, Regressors, Rows, fitted, rows
from .sampling import sampler_of
from .setting import Setting, output_in, without_model
from .stopping import Precision
from .stores import Store
from .tables import rows_of
from .theory import Tilt
from .travel import Copies
from .worlds import Boxes, BoxWorld, World, check_world

CHUNK = 2**23  # numbers in one chunk of rows, about 64 MB: memory does not grow with the table
TASKS = 64  # about so many pieces of work for other processes, each with a copy of the model
LONGEST = 16  # rows in one of them, so that little is lost where one is interrupted


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of every row of a table: as :class:`limetutor.setting.Setting`, for many xi."""

    f: Any
    table: np.ndarray  # (rows, d)
    world: World
    boxes: Boxes
    nu: float
    kernel: Kernel
    output: Any
    index: Any  # that of X where it has one

    @classmethod
    def of(
        cls, f: Any, X: Any, world: World, nu: Any, kernel: Any, output: Any, purpose: str | None
    ) -> Question:
        """Check what a caller passed; with a ``purpose`` the kernel must have a tilt for it."""
        check_world(world, boxes=purpose is None)
        nu = arg.bandwidth("nu", nu)
        weight = kernel_of(kernel) if purpose is None else product_kernel(kernel, purpose)
        if not world.indicators:
            weight = product_kernel(weight, "a world without boxes").without_boxes()
        d = world.d
        if d is None:
            d = None if purpose is None else features_of(f)
        boxes = world.boxes(rows_of("X", X, (), one=False).shape[1] if d is None else d)
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        output = output_in(world, f, output)
        return cls(f, boxes.encode_rows(X), world, boxes, nu, weight, output, index)

    @cached_property
    def predictions(self) -> np.ndarray:
        """f at every row, by one call."""
        return predictor(self.f, self.boxes, self.output)(self.table)

    @cached_property
    def form(self) -> Form | None:
        """The form of f, held to f itself at every row."""
        form = form_in(self.boxes, self.f, self.output)
        if form is None or form is self.f:
            return form
        formula = form(self.table)
        off = ~form.agrees(formula, self.predictions)
        if np.any(off):
            i = int(np.argmax(off))
            raise ValueError(
                f"f must be what its fitted attributes say, but it gives {self.predictions[i]:g} at "
                f"row {i} and they give {formula[i]:g}; pass a function such as f.predict to have "
                "it sampled."
            )
        return form

    def setting(self, i: int) -> Setting:
        """The question about row i."""
        xi = self.table[i]
        boxes = self.world.seen_from(xi) if isinstance(self.world, BoxWorld) else self.boxes
        return Setting(self.f, xi, self.world, boxes, self.nu, self.kernel, self.output)

    def at(self, nu: float | None = None, world: World | None = None) -> Question:
        """The same question at another bandwidth, or in another world with the same features."""
        changes: dict[str, Any] = {} if nu is None else {"nu": nu}
        if world is not None:
            changes |= {"world": world, "boxes": world.boxes(self.boxes.d)}
        return self._with(replace(self, **changes), slice(None))

    def rows(self, some: slice) -> Question:
        """The same question about some of the rows."""
        index = None if self.index is None else self.index[some]
        return self._with(replace(self, table=self.table[some], index=index), some)

    def _with(self, other: Question, some: slice) -> Question:
        """Take along what is known of f, which depends on neither bandwidth nor world."""
        if "predictions" in self.__dict__:
            other.__dict__["predictions"] = self.predictions[some]
        if "form" in self.__dict__:
            other.__dict__["form"] = self.form
        return other


def row_seed(seed: int | None, i: int) -> np.random.SeedSequence | None:
    """The seed of row i: the same whatever is done before it."""
    return None if seed is None else np.random.SeedSequence([seed, i])


def _first_seed(seed: Any) -> int | None:
    return None if seed is None else arg.whole("seed", seed, 0)


@dataclass(frozen=True, eq=False)
class Table(Copies):
    """Results of many rows: arrays with one entry, or one row of d entries, for each.

    Pickles leave the model and the training table out, as those of one row do.
    """

    asked: ClassVar[tuple[str, ...]] = ("question", "rows")

    coef: np.ndarray
    intercept: np.ndarray
    prediction: np.ndarray
    local_prediction: np.ndarray
    stderr: np.ndarray
    method: np.ndarray
    warnings: tuple[str, ...]
    question: Question = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model."""
        return self.__dict__ | {"question": without_model(self.question, "predictions")}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.question.boxes.names

    def __len__(self) -> int:
        return len(self.coef)

    def to_frame(self) -> Any:
        """The coefficients as a DataFrame: X's index, a column a feature."""
        import pandas as pd

        return pd.DataFrame(self.coef, index=self.question.index, columns=list(self.names))

    def _position(self, i: Any) -> int:
        """A row counted from the front, or from the back."""
        if not arg.is_integer(i):
            raise TypeError(f"a row must be given by its position, got {arg.shorten(i)}.")
        if not -len(self) <= i < len(self):
            raise IndexError(f"a row must lie between 0 and {len(self) - 1}, got {int(i)}.")
        return int(i) % len(self)

    def __repr__(self) -> str:
        ways = ", ".join(str(way) for way in np.unique(self.method))
        return (
            f"{type(self).__name__} of {len(self)} rows, {len(self.names)} features, "
            f"nu = {self.question.nu:g}, {self.question.kernel.name} kernel ({ways})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Limits(Table):
    """The limits of many rows: ``limits[i]`` is the :class:`Limit` of row i.

    ``coef`` and ``stderr`` (rows, d); ``intercept``, ``prediction``, ``local_prediction`` and
    ``method`` (rows,), the last one "exact", "quadrature" or "monte carlo".
    """

    ridge: float
    n: int | None
    samples: int
    seed: int | None

    def __getitem__(self, i: Any) -> Limit:
        return _one(self.question, self._position(i), self.ridge, self.n, self.samples, self.seed)

    def __iter__(self) -> Iterator[Limit]:
        return (self[i] for i in range(len(self)))


def limits(
    f: Any, X: Any, world: World, nu: float, kernel: Any = "gaussian", *,
    ridge: float = 0.0, n: int | None = None, output: Any = None,
    samples: int = SAMPLES, seed: int | None = 0,
) -> Limits:  # fmt: skip
    """:func:`limit` of every row of a table, the work that rows share done once.

    Parameters are those of :func:`limit`, with a table X (an array or a DataFrame) for xi. Linear
    and quadratic models, kernel machines and trees are done for all rows together; other forms, and
    models that have to be sampled, row by row, row i with the seed
    ``np.random.SeedSequence([seed, i])``.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> limits(Linear([10, -10]), [[0.961, 0.432], [0, 1]], Gaussian(), nu=1.0).coef.round(2)
    array([[ 11.4 ,  -1.76],
           [  4.66, -11.38]])
    """
    question = Question.of(f, X, world, nu, kernel, output, "its limit")
    ridge, n = penalty_and_rows(ridge, n)
    samples = arg.whole("samples", samples, min(question.boxes.d + 2, SAMPLES))
    seed = _first_seed(seed)
    found = _together(question, ridge, n)
    if found is None:
        found = _one_by_one(question, ridge, n, samples, seed)
    for text in found["warnings"]:
        warnings.warn(text, arg.FitWarning, stacklevel=2)
    return Limits(**found, question=question, ridge=ridge, n=n, samples=samples, seed=seed)


def _one(
    question: Question, i: int, ridge: float, n: int | None, samples: int, seed: int | None
) -> Limit:
    setting = question.setting(i)
    setting.__dict__["prediction"] = float(question.predictions[i])
    setting.__dict__["form"] = question.form
    return limit_of(setting, ridge, n, samples, row_seed(seed, i))


class Block(NamedTuple):
    """The exact surrogates of some rows under their tilted laws, before ridge and xi's own row."""

    law: Tilt
    prediction: np.ndarray  # f(xi), (rows,)
    centre: np.ndarray  # E~[f], (rows,)
    beta: np.ndarray  # (rows, d)
    error: np.ndarray  # f^(xi) - f(xi), (rows,)

    @classmethod
    def of(cls, form: Form, law: Tilt, prediction: Any) -> Block | None:
        """The surrogates of a form under the laws of many rows; None where they share no work."""
        surrogate = _surrogates(form, law)
        if surrogate is None:
            return None
        centre, beta = surrogate
        if isinstance(form, Linear):  # keeps its digits where the sum below would cancel
            error = law.inside @ form.a
        else:
            error = centre + np.sum(law.rest * beta, axis=-1) - prediction
        return cls(law, prediction, centre, beta, error)

    def fitted(self, ridge: float, n: int | None, own_row: bool) -> tuple[Fitted, Rows]:
        """What n rows, a penalty and xi's own row make of them."""
        r = Regressors.indicators(self.law)
        found = rows(r, self.law.log_mass.sum(axis=-1), ridge, n, own_row)
        return fitted(r, found, self.centre, self.beta, self.error), found


def blocks(question: Question) -> Iterator[Block | None]:
    """The rows in blocks that fit into memory; None where f has no form whose rows share work."""
    form, weight = question.form, question.kernel
    if form is None or not question.world.indicators:
        yield None
        return
    assert isinstance(weight, ProductKernel)
    size = question.boxes.law.mean.size * 96  # the nodes by which variances of boxes are found
    step = min(max(CHUNK // size, 1), 512)
    for start in range(0, len(question.table), step):
        here = slice(start, start + step)
        law = weight.tilt(question.boxes, question.table[here], question.nu * question.boxes.unit)
        block = Block.of(form, law, question.predictions[here])
        yield block
        if block is None:
            return


def _together(question: Question, ridge: float, n: int | None) -> dict[str, Any] | None:
    """All rows at once, or None where f has no form whose rows share work."""
    parts, few, constant = [], 0, np.zeros(question.boxes.d, bool)
    for block in blocks(question):
        if block is None:
            return None
        fit, found = block.fitted(ridge, n, question.world.own_row)
        parts.append((fit.coef, fit.intercept, block.prediction + fit.local_error))
        few += int(np.sum(found.weight < OWN_ROW)) if found.own_row else 0
        constant |= np.any(block.law.constant, axis=0)
    coef, intercept, local = (np.concatenate(part) for part in zip(*parts, strict=True))
    return {
        "coef": coef,
        "intercept": intercept,
        "prediction": question.predictions,
        "local_prediction": local,
        "stderr": np.zeros_like(coef),
        "method": np.full(len(coef), "exact", dtype=object),
        "warnings": (*_own_row_note(few, len(coef)), *constant_note(constant, question.boxes)),
    }


def _surrogates(form: Form, law: Tilt) -> tuple[np.ndarray, np.ndarray] | None:
    """E~[f] (rows,) and beta (rows, d) of a form, or None where rows share no work."""
    if isinstance(form, Linear):
        return form(law.mu_tilde), form.a * law.gap
    return form.contrasts(law.views) if form.closed else None


def _own_row_note(few: int, rows: int) -> tuple[str, ...]:
    if not few:
        return ()
    return (
        f"xi's own row decides in {few} of {rows} rows of X: it has weight 1, and all others of the "
        f"n rows together are expected to have less than {OWN_ROW:g}; runs with another seed differ "
        "widely, and these numbers are no limit. Raise nu.",
    )


def _one_by_one(
    question: Question, ridge: float, n: int | None, samples: int, seed: int | None
) -> dict[str, Any]:
    """Row by row, by a closed form, a series or samples."""
    found = []
    for i in with_progress(range(len(question.table)), len(question.table)):
        one = _one(question, i, ridge, n, samples, seed)
        numbers = (one.coef, one.intercept, one.local_prediction, one.stderr)
        found.append((*numbers, one.method, one.warnings))
    coef, intercept, local, stderr, method, notes = zip(*found, strict=True)
    return {
        "coef": np.stack(coef),
        "intercept": np.array(intercept),
        "prediction": question.predictions,
        "local_prediction": np.array(local),
        "stderr": np.stack(stderr),
        "method": np.array(method, dtype=object),
        "warnings": _gathered(notes),
    }


def _gathered(notes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The first note of all, and in how many rows there are any."""
    notes = list(notes)
    noted = [i for i, texts in enumerate(notes) if texts]
    if not noted:
        return ()
    rest = f" ({len(noted)} of {len(notes)} rows have notes.)"
    return (f"Row {noted[0]}: {notes[noted[0]][0]}{rest}",)


def with_progress(items: Iterable[Any], total: int) -> Any:
    """The items, with a bar if they take long."""
    bar = progress_bar(items, total=total, unit="row")
    return items if bar is None else bar


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Table):
    """The explanations of many rows: ``explanations[i]`` is the :class:`Explanation` of row i.

    The arrays of :class:`Limits`, and ``score``, ``ess`` (rows,). ``method`` is "monte carlo".
    """

    score: np.ndarray
    ess: np.ndarray
    rows: tuple[Explanation, ...] = field(repr=False)

    def __getitem__(self, i: Any) -> Explanation:
        return self.rows[self._position(i)]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rows)


# what an explanation holds of the question; the rest is what was found, and is sent and stored
ASKED = {"setting", "draws", "samples", "names", "output", "xi", "kernel", "sampler", "nu"}


def explain_many(
    f: Any,
    X: Any,
    world: World,
    nu: float,
    n: int = 5000,
    seed: int = 0,
    kernel: Any = "gaussian",
    sampler: Any = "bins",
    ridge: float = 0.0,
    *,
    lasso: float = 0.0,
    features: int | None = None,
    select: str = "auto",
    output: Any = None,
    scrambles: int | None = None,
    adjust: bool = False,
    tol: float | None = None,
    rtol: float | None = None,
    keep: bool = False,
    n_jobs: int | None = None,
    store: Any = None,
) -> Explanations:
    """:func:`explain` every row of a table, here or on other processes and machines.

    Parameters
    ----------
    f, world, nu, n, kernel, sampler, ridge, lasso, features, select, output, scrambles, adjust, tol, rtol
        As in :func:`explain`; samples are not kept.
    X
        A table of instances: an array or a DataFrame.
    seed
        Row i is explained with the seed ``np.random.SeedSequence([seed, i])``, and is bit-identical
        to ``explain`` with it, in whatever order and wherever the rows are done.
    n_jobs
        How many processes, by joblib: None for one (or what ``joblib.parallel_config`` says, as in
        ``parallel_config(backend="dask")`` for a cluster), -1 for one per core.
    store
        A folder in which each row is put as soon as it is done. The same call goes on where it was
        interrupted; a call with other settings, another table or another model is refused.
    """
    question = Question.of(f, X, world, nu, kernel, output, None)
    if keep:
        raise ValueError("keep must be left out for many rows; explain a row of interest again.")
    seed = arg.whole("seed", seed, 0)
    n_jobs = arg.jobs(n_jobs)
    draws = sampler_of(sampler)
    ridge, lasso = arg.not_negative("ridge", ridge), arg.not_negative("lasso", lasso)
    asked = {
        "n": n, "sampler": draws, "ridge": ridge, "lasso": lasso, "features": features,
        "select": select, "scrambles": scrambles, "adjust": adjust, "tol": tol, "rtol": rtol,
    }  # fmt: skip
    done: dict[int, dict[str, Any]] = {}
    folder = None
    if store is not None:
        folder = Store.opened(store, _settings(question, asked, seed), _evidence(question))
        done = folder.rows()
    todo = [i for i in range(len(question.table)) if i not in done]
    for i, found in with_progress(_results(question, todo, asked, seed, n_jobs), len(todo)):
        if folder is not None:
            folder.write(i, found)
        done[i] = found
    made = tuple(_rebuilt(question, i, draws, done[i]) for i in range(len(question.table)))
    result = _gather(question, made)
    for text in result.warnings:
        warnings.warn(text, arg.FitWarning, stacklevel=2)
    return result


def _results(
    question: Question, todo: list[int], asked: dict[str, Any], seed: int, n_jobs: int | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows as they are done, in any order."""
    size = min(max(len(todo) // TASKS, 1), LONGEST)
    pieces = [todo[start : start + size] for start in range(0, len(todo), size)]
    try:
        from joblib import Parallel, delayed
    except ImportError:
        if n_jobs not in (None, 1):
            raise ImportError("n_jobs needs joblib; install it, or leave n_jobs out.") from None
        for piece in pieces:
            yield from _explained([question.setting(i) for i in piece], piece, asked, seed)
        return
    calls = (
        delayed(_explained)([question.setting(i) for i in piece], piece, asked, seed)
        for piece in pieces
    )
    for found in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        yield from found


def _explained(
    settings: list[Setting], rows: list[int], asked: dict[str, Any], seed: int
) -> list[tuple[int, dict[str, Any]]]:
    """What is found for some rows, without what was asked: it goes back to whoever asked."""
    results = []
    for setting, i in zip(settings, rows, strict=True):
        try:
            found = run(setting, seed=row_seed(seed, i), **asked)
        except Exception as error:
            error.add_note(f"(This was row {i} of X, counted from 0.)")
            raise
        parts = {
            part.name: getattr(found, part.name) for part in fields(found) if part.name not in ASKED
        }
        results.append((i, parts))
    return results


def _rebuilt(question: Question, i: int, draws: Any, found: dict[str, Any]) -> Explanation:
    setting, precision = question.setting(i), found["precision"]
    if isinstance(precision, dict):  # from a file
        precision = Precision(**precision)
    return Explanation(
        **found | {"precision": precision},
        setting=setting,
        draws=draws,
        names=setting.boxes.names,
        output=setting.output,
        xi=setting.xi,
        kernel=setting.kernel.name,
        sampler=draws.name,
        nu=setting.nu,
    )


def _gather(question: Question, made: tuple[Explanation, ...]) -> Explanations:
    names = ("coef", "intercept", "prediction", "local_prediction", "stderr", "score", "ess")
    arrays = {name: np.array([getattr(one, name) for one in made]) for name in names}
    return Explanations(
        **arrays,
        method=np.full(len(made), "monte carlo", dtype=object),
        warnings=_gathered(one.warnings for one in made),
        question=question,
        rows=made,
    )


def _settings(question: Question, asked: dict[str, Any], seed: int) -> dict[str, Any]:
    """The settings of a call in plain words, to tell one store from another."""
    plain = {key: str(getattr(value, "name", value)) for key, value in asked.items()}
    return plain | {
        "seed": str(seed),
        "nu": repr(question.nu),
        "kernel": question.kernel.name,
        "output": repr(question.output),
        "world": type(question.world).__name__,
        "names": ", ".join(question.boxes.names),
    }


def _evidence(question: Question) -> dict[str, np.ndarray]:
    """The table, the law of the world, the model and the kernel as numbers to compare."""
    boxes, table = question.boxes, question.table
    law = boxes.law
    own = boxes.discretize(table)
    weights = question.kernel.log_weights(table, own == own[0], table[0], question.nu, boxes)
    return {
        "X": table,
        "world": np.stack([law.prob, law.mean, law.sd, law.lo, law.hi]),
        "f": question.predictions,
        "kernel": weights,
    }
