"""Algorithm 1 in batches, for options beyond it: memory does not grow with n, and draws may go on.

Chapters: surrogate, how many samples.
"""

from typing import Any

import numpy as np

from ..core.explainer import EXTENSIONS, NUMBERS_PER_BATCH, Options, weigh, xi_first
from ..core.problem import Problem
from ..core.surrogate import Fit, Sums, fit
from ..results.explanation import Samples
from . import sparse
from .progress import batches_with_progress


class Accumulator:
    """Running sums of samples, which are kept only where they are needed again."""

    def __init__(self, problem: Problem, rng: np.random.Generator, options: Options) -> None:
        self.problem, self.options = problem, options
        self.extra = 0 if options.variates is None else options.variates.size
        self.sources = options.draws.sources(problem, rng, options.scrambles)
        groups, are_indicators = len(self.sources), problem.world.regression is None
        self.sums: Sums = options.draws.sums(problem.d, self.extra, groups, are_indicators)
        self.drawn = 0
        self.kept: list[tuple[Samples, np.ndarray]] = []
        self.on_some_features = options.features is not None or options.lasso > 0

    def draw(self, n: int) -> None:
        """Take in n more samples; each source gives its share of every batch.

        xi itself is one of the n rows, or one more where a count of points that is not a power of
        two would spoil them.
        """
        groups, width = len(self.sources), self.problem.d + 1 + self.extra
        for_a_fit = min(10 * width, 4 * NUMBERS_PER_BATCH // width)  # where fitting costs more
        rows = max(NUMBERS_PER_BATCH // (self.problem.d + 1), for_a_fit, 2 * width) // groups
        draws, variates = self.options.draws, self.options.variates
        for start in batches_with_progress(range(0, n // groups, rows)):
            with_xi = self.options.own_row and self.drawn == 0
            size = min(rows, n // groups - start) - (with_xi and draws.independent)
            parts = [source(size) for source in self.sources]
            x, z = parts[0] if groups == 1 else map(np.concatenate, zip(*parts, strict=True))
            x, z = xi_first(self.problem, x, z) if with_xi else (x, z)
            y = self.problem.predict(x)
            log_w, columns = weigh(self.problem, draws, x, z, with_xi, variates)
            self.sums.add(columns, y, log_w)
            self.drawn += len(y)
            if self.options.keep or self.on_some_features:
                self.kept.append((Samples(x, z, log_w, y), columns))

    def samples(self) -> Samples:
        """The samples that were kept."""
        parts = [samples for samples, _ in self.kept]
        names = ("x", "z", "log_weights", "y")
        return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def fit(self) -> Fit:
        """The surrogate of what has been drawn."""
        if not self.on_some_features:
            return fit(self.sums, self.options.ridge)
        o = self.options
        result = sparse.fit_sparse(self.sums, o.ridge, o.lasso, o.features, o.select)
        if len(self.sources) > 1:
            return result
        samples, columns = self.samples(), np.concatenate([columns for _, columns in self.kept])
        return sparse.noise_of(result, columns, samples, o.ridge, self.extra)


def in_batches(problem: Problem, rng: np.random.Generator, options: Options) -> Any:
    """The surrogate, the sums that it solves, its samples if kept, and the precision it reached."""
    steps = Accumulator(problem, rng, options)
    if options.target is None:
        steps.draw(options.n)
        result, precision = steps.fit(), None
    else:
        result, precision = options.target.reach(steps, options.n)
    return result, steps.sums, steps.samples() if options.keep else None, precision


EXTENSIONS["batches"] = in_batches
