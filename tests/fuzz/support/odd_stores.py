"""Folders of finished rows that another call began, or that something was done to.

A first call fills a store. Then something about the call, the folder or its files is changed, and a second
call must give what it gives without a store, or be refused.
"""

import shutil
import threading
from contextlib import suppress
from unittest import mock

import fuzz
import numpy as np
import pandas as pd
from fuzz import Case, damaged, kind
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt

RNG = np.random.default_rng(5)
TRAIN = RNG.normal(size=(60, 3))
FRAME = pd.DataFrame(TRAIN, columns=list("abc"))
Y = np.sin(2 * TRAIN[:, 0]) + TRAIN[:, 1]


def smooth(change=0.0):
    return lambda x: np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + change * x[:, 0] ** 2


def bell(change=0.0):
    def own(x, z, xi, nu):
        return np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2) - change * np.abs(x[:, 0]))

    return own


def first_call(chance):
    f = chance.choice([smooth(), lt.Linear([1, 2, -1]), LinearRegression(), DecisionTreeRegressor(max_depth=4)])  # fmt: skip
    return {
        "f": f.fit(TRAIN, Y) if hasattr(f, "fit") else f, "X": RNG.permutation(TRAIN)[: chance.randint(1, 4)],
        "world": chance.choice([lt.Gaussian(), lt.Empirical(TRAIN)]), "nu": 1.5, "n": 40, "seed": 3,
        "kernel": chance.choice(["gaussian", "mismatch", bell()]), "sampler": "bins",
    }  # fmt: skip


def changes(chance, X):
    """One argument that is another one, by much or by little."""
    tiny = chance.choice([1e-6, 1e-3, 1.0])
    return chance.choice([
        {"f": smooth(tiny)}, {"f": LinearRegression().fit(TRAIN, (1 + tiny) * Y)}, {"f": lt.Linear([1, 2, tiny])},
        {"world": lt.Gaussian(0, 1 + tiny)}, {"world": lt.Empirical(TRAIN + tiny)}, {"world": lt.Empirical(TRAIN, 3)},
        {"nu": 1.5 + tiny}, {"n": 41}, {"seed": 4}, {"kernel": bell(tiny)}, {"kernel": "laplace"}, {"ridge": tiny},
        {"sampler": "tilted", "kernel": "gaussian"}, {"X": X + tiny}, {"X": X[::-1]}, {"X": X[:1]}, {"lasso": tiny},
        {"X": np.vstack([X, X])}, {"features": 1}, {"adjust": True}, {"world": lt.Empirical(FRAME)},
    ])  # fmt: skip


def harm(chance, store, call):
    """Do something to a file of a store, and say what."""
    rows = sorted(store.glob("row-*"))
    path = chance.choice([*rows, *rows, store / "call.npz"])
    done = chance.choice("none damaged damaged folder link swapped foreign edited more".split())
    if done == "damaged":
        path.write_bytes(damaged(chance, path.read_bytes())[1])
    elif done in ("folder", "link"):
        path.unlink()
        path.mkdir() if done == "folder" else path.symlink_to(chance.choice([path, rows[0]]))
    elif done in ("swapped", "more"):
        name = chance.choice(["row-1.npz", "notes.txt", "row-000000009.npz"])
        name = f"row-{chance.randrange(5):09d}.npz" if done == "swapped" else name
        (store / name).write_bytes(chance.choice(rows).read_bytes())
    elif done == "foreign":
        other = store.with_name(f"{store.name}-other")
        lt.explain_many(**call | {"f": smooth(2.0), "kernel": "gaussian"}, store=other)
        shutil.copy(chance.choice(sorted(other.glob("*.npz"))), path)
    elif done == "edited":
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        name = chance.choice(sorted(arrays))
        other = chance.choice([np.zeros(7), np.array("{}"), arrays[name].astype(str)])
        np.savez(path, **arrays | {name: other})
    return f"{done} {path.name}"


@kind("stores", 40, 1200, around=fuzz.in_folder)
def odd_store(chance, index):
    """A call with the store of another one, harmed or not, beside the same call without a store."""
    first, store = first_call(chance), fuzz.FOLDER[0] / f"store-{index}"
    second = first | (changes(chance, first["X"]) if chance.random() < 0.5 else {})
    way, harmed = chance.choice(["after", "after", "after", "at once", "version"]), []

    def begin():
        with suppress(ValueError):  # the other one may have been first
            lt.explain_many(**first, store=store)

    def call():
        if way == "at once":
            other = threading.Thread(target=begin)
            other.start()
            try:
                return lt.explain_many(**second, store=store)
            finally:
                other.join()
        with mock.patch.object(lt, "__version__", "0.1.9" if way == "version" else lt.__version__):
            lt.explain_many(**first, store=store)
        if way == "after":
            harmed.append(harm(chance, store, first))
        return lt.explain_many(**second, store=store)

    def wrong(found, notes):
        plain = lt.explain_many(**second)
        near = np.allclose(found.coef, plain.coef, rtol=1e-6, atol=1e-9)
        near = near and np.allclose(found.stderr, plain.stderr, rtol=1e-5)
        if way == "version" or not near or (found[0].n, found.names) != (plain[0].n, plain.names):
            return f"coef is {found.coef}, not {plain.coef} ({harmed})"
        return None

    changed = {key: value for key, value in second.items() if first.get(key) is not value}
    return Case(f"{way}, {first} and {changed}", call, wrong)
