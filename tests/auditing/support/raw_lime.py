"""What `lime`'s own samples and raw calls of the model say of a row, without limetutor."""

import numpy as np


class Raw:
    """The neighbourhood that an explainer of `lime` draws around xi, many times as large as a run's.

    ``y`` and ``at_xi`` are raw calls of the model, ``z`` says which values lie in xi's boxes, ``w`` has the
    weights of lime's kernel.
    """

    def __init__(self, explainer, f, xi, n, many, seed):
        explainer.random_state = np.random.RandomState(seed)
        data, x = explainer._LimeTabularExplainer__data_inverse(xi, many + 1)
        self.explainer, self.f, self.xi, self.n, self.many = explainer, f, xi, n, many
        self.z, self.x = data[1:], x[1:]
        self.y, self.at_xi = f(self.x), float(f(xi[None])[0])
        self.w = explainer.base.kernel_fn(np.sqrt((1 - self.z).sum(1)))

    def fit(self, y=None, z=None, penalty=1.0, own_row=True, width=None):
        """lime's ridge as runs of n samples have it on average: coefficients, their covariance, intercept."""
        y, z = (self.y if y is None else y), (self.z if z is None else z)
        w = self.w if width is None else np.exp(-(1 - z).sum(1) / (2 * width**2))
        scale = (self.n - 1) / self.many
        Z = np.column_stack([np.ones(len(z)), z])
        gram, sides = scale * (Z.T * w) @ Z, scale * (Z.T * w) @ (y - self.at_xi)
        if own_row:
            gram = gram + 1.0  # ones everywhere, with a response of 0
        gram[range(1, len(gram)), range(1, len(gram))] += penalty + 1e-9
        beta = np.linalg.solve(gram, sides)
        r = (y - self.at_xi - Z @ beta) * w
        meat, bread = scale * (Z.T * r**2) @ Z, np.linalg.inv(gram)
        return beta[1:], (bread @ meat @ bread)[1:, 1:], beta[0] + self.at_xi

    def lost(self, z=None, w=None):
        """The share of each coefficient that lime's penalty of 1 takes off in runs of n samples, (d,)."""
        z, w = (self.z if z is None else z), (self.w if w is None else w)
        share = w @ z / w.sum()
        return 1 / (1 + self.n * w.mean() * share * (1 - share))

    def ess(self, many):
        """The effective size of so many samples."""
        return many * self.w.mean() ** 2 / np.mean(self.w**2)

    def mean_inside(self, count, seed):
        """The mean of the model over values from all of xi's boxes, and its standard error."""
        first = np.tile(self.explainer.discretizer.discretize(self.xi), (count, 1))
        self.explainer.discretizer.random_state = np.random.RandomState(seed)
        y = self.f(self.explainer.discretizer.undiscretize(first))
        return y.mean(), y.std() / np.sqrt(count)

    def weighted(self, values):
        return self.w @ values / self.w.sum()


def same_reasons(runs, k):
    """The k largest coefficients with their signs that most runs give, the share of these, and of each."""
    signs, last = np.sign(runs), np.argsort(-np.abs(runs), axis=1)[:, k:]
    np.put_along_axis(signs, last, 0.0, axis=1)
    kinds, count = np.unique(signs, axis=0, return_counts=True)
    most = kinds[np.argmax(count)]
    each = {int(j): np.mean(signs[:, j] == most[j]) for j in np.flatnonzero(most)}
    return each, count.max() / len(runs)


def near_contrast(f, X, labels, xi, inside, j):
    """The model near xi with all values of column j from its box, less with all from others.

    Also the standard errors for the choice of the 30 rows, and for that of 20 values of each side; this one
    also as 4 values of the box and 8 others may tell it, the lowest and the highest in 200 draws.
    """
    scale = X.std(0)
    apart = (X - xi) / np.where(scale > 0, scale, 1)
    apart[:, labels] = X[:, labels] != xi[labels]
    apart[:, scale == 0] = 0
    near = X[np.argsort((apart**2).sum(1), kind="stable")[:30]]
    rows, variances, told, chance = [], [], [], np.random.default_rng(0)
    for side in (X[inside, j], X[~inside, j]):
        values, count = np.unique(side, return_counts=True)
        asked = np.repeat(near, len(values), axis=0)
        asked[:, j] = np.tile(values, len(near))
        y = f(asked).reshape(len(near), len(values))
        rows.append(y @ count / count.sum())
        mean = np.repeat(y.mean(0), count)  # of the model, at each value that the side has
        variances.append(mean.var())
        few = (4, 8)[len(told)]
        all_asked = len(values) <= few
        told.append(mean.var() if all_asked else chance.choice(mean, (200, few)).var(axis=1))
    change, told = rows[0] - rows[1], np.sqrt(np.add(*told) / 20)
    picked = np.sqrt(np.add(*variances) / 20)
    return change.mean(), change.std(ddof=1) / 30**0.5, picked, (np.min(told), np.max(told))
