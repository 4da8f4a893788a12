"""Tables of people and patients, and a forest that `lime` is quick with."""

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier


def people(n=1500):
    """Numbers, categories and three classes: what adults earn, made up."""
    rng = np.random.default_rng(3)
    age, income = rng.normal(45, 12, n), rng.lognormal(10, 0.6, n)
    hours = np.where(rng.random(n) < 0.5, 40, rng.normal(38, 12, n))
    gain = np.where(rng.random(n) < 0.85, 0, rng.gamma(2, 3000, n))
    school, job = rng.choice(5, n, p=[0.1, 0.3, 0.35, 0.2, 0.05]), rng.choice(4, n)
    home, sex = rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.choice(2, n)
    score = 0.03 * (age - 45) + 0.8 * (np.log(income) - 10) + 0.03 * (hours - 40) + 0.0002 * gain
    score += 0.4 * school - 0.5 * (job == 2) + 0.6 * (home == 0) * (sex == 1)
    score += 0.7 * rng.logistic(size=n)
    X = np.column_stack([age, income, hours, gain, school, job, home, sex]).astype(float)
    return X, np.digitize(score, np.quantile(score, [0.35, 0.75])), [4, 5, 6, 7]


@cache
def table(name):
    if name == "people":
        return people()
    load = {"diabetes": load_diabetes, "wine": load_wine, "breast cancer": load_breast_cancer}[name]
    return load().data, load().target, None


@cache
def small_forest():
    """One that `lime` is quick with."""
    X, y, _ = table("people")
    return RandomForestClassifier(8, max_depth=5, random_state=0).fit(X, y)
