"""Worlds, fits and functions of switches that several tests share."""

import numpy as np

from limetutor.switches.fits import LIMIT, SwitchRows
from limetutor.switches.forms import Enumerated, Group, Rule, Switched, additive, rule
from limetutor.switches.switches import image_switches, text_switches

WORLDS = {"text": text_switches, "image": image_switches}


ROWS = {
    "limit": LIMIT,
    "lime": SwitchRows(1000, 1.0, True),
    "ridge alone": SwitchRows(50, 2.0, False),
}


def measure(kind, d, nu, mp):
    """Share times weight of k switches on, from what lime does and not from the package."""
    for k in range(d + 1):
        weight = mp.exp(-((1 - mp.sqrt(mp.mpf(k) / d)) ** 2) / (2 * mp.mpf(nu) ** 2))
        uniform = mp.mpf(1) / d if k < d else mp.mpf(0)
        yield weight * (mp.binomial(d, k) / mp.mpf(2) ** d if kind == "image" else uniform)


def forms_of(d):
    rng = np.random.default_rng(d)
    yield additive(rng.normal(size=d), 0.7)
    yield rule(d, [0, 1])
    yield rule(d, [0], [1], -2.0)
    if d >= 7:
        twice = Group((0, 2, 4), (1, 2, 1), frozenset((0, 2)))
        rules = (
            Rule(1.5, (twice, Group.on(1), Group.off(5))),
            Rule(-0.5, (Group((3, 6), (1, 1), frozenset((1,))),)),
        )
        yield Switched(0.3, rng.normal(size=d), rules)
        values = rng.normal(size=2**d)
        yield Enumerated(lambda _: values, d)


def logistic(d, seed=1):
    a = np.random.default_rng(seed).normal(size=d)
    return lambda z: 1 / (1 + np.exp(-(z @ a - a.sum() / 2)))
