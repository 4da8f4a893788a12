"""Worlds of switches: closed forms against exact sums over all masks, sampling against both."""

from math import comb

import mpmath
import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor import masks
from limetutor.masks.draws import draw
from limetutor.masks.fits import LIMIT, SwitchRows, fit_form
from limetutor.masks.forms import (
    Counted,
    Enumerated,
    Group,
    Rule,
    Switched,
    additive,
    polynomial,
    rule,
    tree_rules,
)
from limetutor.masks.sampling import fit_sampled
from limetutor.masks.switches import (
    Line,
    all_masks,
    cosine_log_weight,
    counted_switches,
    image_switches,
    text_switches,
)
from limetutor.masks.twins import Smooth, coins_of, logistic_twin, smooth_twin

WORLDS = {"text": text_switches, "image": image_switches}
ROWS = {
    "limit": LIMIT,
    "lime": SwitchRows(1000, 1.0, True),
    "ridge alone": SwitchRows(50, 2.0, False),
}


# --- all masks, at many digits -----------------------------------------------------------------


def measure(kind, d, nu, mp):
    """Share times weight of k switches on, from what lime does and not from the package."""
    for k in range(d + 1):
        weight = mp.exp(-((1 - mp.sqrt(mp.mpf(k) / d)) ** 2) / (2 * mp.mpf(nu) ** 2))
        uniform = mp.mpf(1) / d if k < d else mp.mpf(0)
        yield weight * (mp.binomial(d, k) / mp.mpf(2) ** d if kind == "image" else uniform)


def solved(kind, d, nu, f, rows):
    """Intercept and coefficients from the normal equations, summed over all masks."""
    mp = mpmath.MPContext()
    mp.dps = 60 if nu >= 0.1 else 5000  # at small nu most levels weigh next to nothing
    z = all_masks(d)
    y, kept = f(z), z.sum(axis=1)
    design = np.column_stack([np.ones(len(z), int), z.astype(int)])
    others = 1 if rows.n is None else rows.n - rows.own_row
    gram, response = mp.zeros(d + 1), mp.zeros(d + 1, 1)
    for k, mass in enumerate(measure(kind, d, nu, mp)):
        part, values = design[kept == k], y[kept == k]
        products, each = part.T @ part, mass * others / comb(d, k)
        for i in range(d + 1):
            response[i] += each * mp.fsum(map(float, values[part[:, i] == 1]))
            for j in range(d + 1):
                gram[i, j] += each * int(products[i, j])
    if rows.n is not None:
        at_xi = float(f(np.ones((1, d), bool))[0])
        for i in range(d + 1):
            response[i] += at_xi * rows.own_row
            gram[i, i] += rows.ridge * (i > 0)
            for j in range(d + 1):
                gram[i, j] += int(rows.own_row)
    return np.array([float(v) for v in mp.lu_solve(gram, response)])


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


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(
    ("d", "nu"), [(2, 0.01), (2, 0.25), (5, 0.1), (5, 0.25), (7, 0.25), (7, 3)]
)
def test_a_fit_is_that_of_all_masks(kind, d, nu):
    world = WORLDS[kind](d, nu)
    for form in forms_of(d):
        for rows in ROWS.values():
            found = fit_form(form, world, rows)
            expected = solved(kind, d, nu, form, rows)
            # worst seen: 3e-15 of the largest
            scale = max(1, np.abs(expected).max())
            assert np.allclose(
                np.append(found.intercept, found.coef), expected, rtol=0, atol=1e-12 * scale
            )


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.05, 0.25, 10.0])
def test_closed_forms_are_what_enumeration_gives(kind, nu):
    d, rng = 12, np.random.default_rng(3)
    world = WORLDS[kind](d, nu)
    rules = (
        Rule(2.0, (Group.on(0), Group.on(1), Group.off(2))),
        Rule(-1.0, (Group((3, 4, 5), (1, 1, 3), frozenset((1, 4, 5))), Group.on(11))),
    )
    form = Switched(-1.0, rng.normal(size=d), rules)
    for rows in ROWS.values():
        one, other = fit_form(form, world, rows), fit_form(Enumerated(form, d), world, rows)
        assert np.allclose(one.coef, other.coef, rtol=0, atol=1e-12)
        assert one.intercept == pytest.approx(other.intercept, abs=1e-12)
        assert one.prediction == pytest.approx(other.prediction, abs=1e-14)


@pytest.mark.parametrize(
    ("kind", "d", "p", "expected"),
    [
        ("image", 12, 2, (-0.3258, 0.5634, 0.0008)),
        ("image", 20, 3, (-0.3162, 0.2891, 0.0003)),
        ("text", 12, 2, (-0.3698, 0.6524, -0.0050)),
        ("text", 20, 3, (-0.4940, 0.4442, -0.0033)),
    ],
)
def test_a_rule_gives_its_words_a_share_and_the_others_next_to_nothing(kind, d, p, expected):
    """Numbers of an independent computation, four digits."""
    found = fit_form(rule(d, range(p)), WORLDS[kind](d))
    shown = (found.intercept, found.coef[0], found.coef[-1])
    assert shown == pytest.approx(expected, abs=5.1e-5)
    assert np.ptp(found.coef[:p]) < 1e-14 and np.ptp(found.coef[p:]) < 1e-14


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 30, 2000])
def test_a_sum_comes_out_as_it_is_at_every_width(kind, nu, d):
    a = np.random.default_rng(0).normal(size=d)
    found = fit_form(additive(a, 4.0), WORLDS[kind](d, nu))
    assert np.allclose(found.coef, a, rtol=0, atol=1e-11)  # of sums with up to 2000 terms
    assert found.intercept == pytest.approx(4.0, abs=1e-9)
    assert found.local_prediction == pytest.approx(4.0 + a.sum(), abs=1e-9)


# --- precise for many switches and any width ----------------------------------------------------


def in_digits(kind, d, nu, p, rows):
    """Intercept, coefficients in and out of a rule on p of d switches, at 60 digits and more.

    By symmetry three unknowns are left; their equations are those of all d + 1.
    """
    mp = mpmath.MPContext()
    mp.dps = 60 if nu > 0.1 else 2500
    mass = list(measure(kind, d, nu, mp))

    def alpha(on):
        ratio = lambda k: mp.fprod(mp.mpf(max(k - i, 0)) / (d - i) for i in range(on))  # noqa: E731
        return mp.fsum(m * ratio(k) for k, m in enumerate(mass))

    others = 1 if rows.n is None else rows.n - rows.own_row
    own, ridge = (int(rows.own_row), rows.ridge) if rows.n else (0, 0)
    a0, a1, a2 = (others * alpha(on) + own for on in range(3))
    within, beyond = others * alpha(p) + own, others * alpha(p + 1) + own
    gram = mp.matrix(
        [
            [a0, p * a1, (d - p) * a1],
            [a1, a1 + (p - 1) * a2 + ridge, (d - p) * a2],
            [a1, p * a2, a1 + (d - p - 1) * a2 + ridge],
        ]
    )
    return np.array([float(v) for v in mp.lu_solve(gram, mp.matrix([within, within, beyond]))])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(
    ("d", "p", "nu"),
    [(3, 2, 0.01), (3, 2, 100.0), (40, 3, 0.01), (40, 3, 0.25), (2000, 2, 0.25), (2000, 2, 100.0)],
)
@pytest.mark.parametrize("rows", [ROWS["limit"], ROWS["lime"]], ids=["limit", "lime"])
def test_rules_keep_their_digits(kind, d, p, nu, rows):
    found = fit_form(rule(d, range(p)), WORLDS[kind](d, nu), rows)
    expected = in_digits(kind, d, nu, p, rows)
    shown = np.array([found.intercept, found.coef[0], found.coef[-1]])
    # seen: 2e-11 for 2000 switches, whose coefficients are sums of as many shares
    assert np.allclose(shown, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(("d", "m"), [(90, 70), (1200, 1100)])  # more settings than a double holds
def test_conditions_on_many_switches_keep_their_digits(kind, d, m):
    """ "About half of these are on", against hypergeometric chances and three equations."""
    c, world = np.arange(m // 2 - 8, m // 2 + 8), WORLDS[kind](d)
    group = Group(tuple(range(m)), (1,) * m, frozenset(c.tolist()))
    form = Switched(0.0, np.zeros(d), (Rule(2.0, (group,)),))
    k = np.arange(d + 1)[:, None]
    chance = 2.0 * stats.hypergeom(d, m, k).pmf(c)
    assert np.allclose(form.by_level(), chance.sum(axis=1), rtol=0, atol=1e-10)
    mass = np.exp(world.log_measure)
    rhs = [mass @ (chance * part).sum(axis=1) for part in (1, c / m, (k - c) / (d - m))]
    a0, a1, a2 = (world.alpha(p) for p in range(3))
    gram = [
        [a0, m * a1, (d - m) * a1],
        [a1, a1 + (m - 1) * a2, (d - m) * a2],
        [a1, m * a2, a1 + (d - m - 1) * a2],
    ]
    found = fit_form(form, world)
    expected = np.linalg.solve(gram, rhs)
    shown = [found.intercept, found.coef[0], found.coef[-1]]
    assert np.allclose(shown, expected, rtol=1e-6, atol=1e-9)  # scipy's chances have ten digits
    assert np.ptp(found.coef[:m]) < 1e-14 and np.ptp(found.coef[m:]) < 1e-14


# --- one call, two faces ------------------------------------------------------------------------


def test_one_call_for_every_function():
    world = lt.text_switches(6)
    exact = lt.switch_limit(rule(6, [0, 1]), world)
    listed = lt.switch_limit(lambda z: z[:, 0] & z[:, 1], world)
    sampled = lt.switch_limit(lambda z: z[:, 0] & z[:, 1], world, calls=50)
    assert exact.method == listed.method == "exact" and sampled.method == "monte carlo"
    assert np.allclose(exact.coef, listed.coef, rtol=0, atol=1e-13) and sampled.calls == 51
    assert np.all(np.abs(sampled.coef - exact.coef) <= 5 * sampled.stderr + 0.2)
    many = lt.switch_limit(lambda z: z.mean(axis=1), lt.image_switches(30))
    assert many.method == "monte carlo" and np.allclose(many.coef, 1 / 30, atol=1e-12)
    lime = lt.switch_limit(rule(6, [0, 1]), world, n=5000, ridge=1.0, own_row=True)
    assert np.allclose(
        lime.coef, fit_form(rule(6, [0, 1]), world, SwitchRows(5000, 1.0, True)).coef
    )


@pytest.mark.parametrize(
    "world", [text_switches(7, 0.3), image_switches(7), masks.coin_flips(7, 0.8)]
)
def test_coefficients_are_differences_of_means_mixed_over_the_number(world):
    for form in forms_of(7):
        found = masks.contrasts(form, world)
        assert np.allclose(found.coef, fit_form(form, world).coef, rtol=0, atol=1e-12)
        assert found.share.sum() == pytest.approx(1.0) and found.share[0] == found.share[-1] == 0
        z, y = all_masks(7), form(all_masks(7))
        for j, k in ((0, 3), (6, 1)):
            on, off = ((z.sum(axis=1) == k) & (z[:, j] == side) for side in (True, False))
            assert found.difference[j, k] == pytest.approx(y[on].mean() - y[off].mean(), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.97])
def test_independent_switches_tilt(alpha):
    """One difference of means, which is also the mixture of the exchangeable face."""
    z = all_masks(7)
    p = np.prod(np.where(z, alpha, 1 - alpha), axis=1)
    for form in forms_of(7):
        means = [
            np.average(form(z)[z[:, j]], weights=p[z[:, j]])
            - np.average(form(z)[~z[:, j]], weights=p[~z[:, j]])
            for j in range(7)
        ]
        assert np.allclose(masks.tilted(form, alpha), means, rtol=0, atol=1e-12)
        mixed = masks.contrasts(form, masks.coin_flips(7, alpha)).coef
        assert np.allclose(mixed, means, rtol=0, atol=1e-12)
    flips = np.exp(masks.coin_flips(9, alpha).log_share)
    assert np.allclose(flips, stats.binom(9, alpha).pmf(np.arange(10)), rtol=1e-13)


def test_models_of_presence_are_forms():
    rng = np.random.default_rng(8)
    X = rng.random((300, 6)) < 0.5
    y = np.where(X[:, 0] & X[:, 1], 2, X[:, 3].astype(int))
    z = all_masks(6)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    for output in (0, 2, None):
        column = 2 if output is None else output
        form = masks.presence(forest, output)
        assert np.allclose(form(z), forest.predict_proba(z)[:, column], rtol=0, atol=1e-12)
    bayes, logistic = BernoulliNB().fit(X, y), LogisticRegression().fit(X, y == 2)
    joint = bayes.predict_joint_log_proba(z)[:, 1]
    assert np.allclose(masks.presence(bayes, 1)(z), joint, rtol=0, atol=1e-12)
    score = logistic.decision_function(z)
    assert np.allclose(masks.presence(logistic)(z), score, rtol=0, atol=1e-12)
    assert np.allclose(masks.presence(logistic, 0)(z), -score, rtol=0, atol=1e-12)
    tree = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert np.allclose(masks.presence(tree)(z), tree.predict(z), rtol=0, atol=1e-12)


# --- the covariance ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_covariance_is_the_mean_of_products_over_all_masks(kind, d):
    world = WORLDS[kind](d, 0.4)
    z = np.column_stack([np.ones(2**d), all_masks(d)])
    kept = all_masks(d).sum(axis=1)
    mass = np.array([float(m) for m in measure(kind, d, 0.4, mpmath.mp)])
    weight = (mass / [comb(d, k) for k in range(d + 1)])[kept]
    assert np.allclose(world.covariance(), (z * weight[:, None]).T @ z, rtol=1e-13, atol=0)
    assert np.exp(world.log_C) == pytest.approx(mass.sum(), rel=1e-13)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.25, 3.0])
def test_the_inverse_at_five_hundred_switches(kind, nu):
    """The step of one refinement, its residual taken at 50 digits, is the error of the inverse."""
    d, mp = 500, mpmath.MPContext()
    mp.dps = 50
    mass = list(measure(kind, d, nu, mp))
    first, one = mp.fsum(mass), mp.fsum(m * k / d for k, m in enumerate(mass))
    two = mp.fsum(m * k * (k - 1) / (d * (d - 1)) for k, m in enumerate(mass))
    inverse = WORLDS[kind](d, nu).inverse_covariance()
    for column in (0, 1):
        x = [mp.mpf(float(v)) for v in inverse[:, column]]
        total = mp.fsum(x[1:])
        residual = [-(first * x[0] + one * total) + (column == 0)]
        residual += [
            -(one * x[0] + (one - two) * x[j] + two * total) + (column == j)
            for j in range(1, d + 1)
        ]
        step = inverse @ np.array([float(r) for r in residual])
        assert np.max(np.abs(step)) < 1e-10 * np.max(np.abs(inverse[:, column]))


def test_means_keep_their_digits_when_one_level_has_all_the_weight():
    line = Line.through([0.0, 1.0, 2.0], np.array([0.0, -2000.0, -5000.0]))
    assert line.slope(np.array([1.0, 4.0, 100.0])) == pytest.approx(3.0, rel=1e-14)
    assert line.mean == 0.0 and line.average(np.array([1.0, 4.0, 100.0])) == 1.0
    assert line.log_variance == pytest.approx(-2000.0)


# --- trees -------------------------------------------------------------------------------------


def test_trees_on_counts_are_rules():
    """Words that occur twice, words in two spellings, words the text does not have."""
    rng = np.random.default_rng(5)
    columns = {
        0: Counted((0,), (2,), {0: 0.0, 2: 2.0}),
        1: Counted((1, 2), (1, 3), {0: 0.0, 1: 1.0, 3: 3.0, 4: 4.0}),
        2: Counted((3, 4, 5), (1, 1, 1), {t: 0.37 * t for t in range(4)}),
        4: Counted((6,), (1,), {0: 0.0, 1: 1.0}),
    }
    d = 8  # switch 7 is read by no column, column 3 by no switch

    def read(z):
        x = np.zeros((len(z), 5))
        for c, column in columns.items():
            totals = z[:, column.members] @ np.array(column.sizes)
            x[:, c] = [column.values[t] for t in totals]
        return x

    train = rng.poisson(1.5, (400, 5)) * np.array([1, 1, 0.37, 1, 1])
    y = train[:, 0] * (train[:, 1] > 1) - train[:, 2] + rng.normal(size=400)
    for model in (
        DecisionTreeRegressor(max_depth=6, random_state=0),
        RandomForestRegressor(7, max_depth=5, random_state=0),
    ):
        trees = getattr(model.fit(train, y), "estimators_", [model])
        rules = [
            Rule(r.value / len(trees), r.groups)
            for t in trees
            for r in tree_rules(t.tree_, columns, t.tree_.value[:, 0, 0])
        ]
        form = Switched(0.0, np.zeros(d), tuple(rules))
        z = all_masks(d)
        assert np.allclose(form(z), model.predict(read(z)), rtol=0, atol=1e-12)
        world = text_switches(d)
        answers = model.predict(read(z))
        exact = fit_form(Enumerated(lambda _, y=answers: y, d), world)
        assert np.allclose(fit_form(form, world).coef, exact.coef, rtol=0, atol=1e-12)
        assert abs(exact.coef[7]) < 0.2 * np.abs(exact.coef).max()


def test_a_polynomial_is_a_sum_of_rules():
    form = polynomial(3, {(): 1.0, (0,): 2.0, (0, 2, 2): -3.0})
    z = all_masks(3)
    assert np.array_equal(form(z), 1 + 2 * z[:, 0] - 3.0 * (z[:, 0] & z[:, 2]))


# --- sampling ----------------------------------------------------------------------------------


def logistic(d, seed=1):
    a = np.random.default_rng(seed).normal(size=d)
    return lambda z: 1 / (1 + np.exp(-(z @ a - a.sum() / 2)))


@pytest.mark.parametrize("kind", WORLDS)
def test_every_number_of_switches_has_its_share(kind):
    world = WORLDS[kind](9, 0.3)
    z = draw(world, 4000, np.random.default_rng(0))
    share = np.exp(world.log_measure - world.log_C)
    assert np.all(np.abs(np.bincount(z.sum(axis=1), minlength=10) - 4000 * share) <= 1)
    # given the number, every switch is on equally often: 4000 draws, 5 standard errors
    assert np.ptp(z.mean(axis=0)) < 2 * 5 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("n", [24, 25, 8], ids=["pairs", "pairs and one", "too few for pairs"])
def test_every_mask_by_itself_follows_the_law(n):
    """Whatever its place: the mean count of each mask of four switches, 2000 draws of n."""
    world, rng = counted_switches([0.1, 0.2, 0.4, 0.2, 0.1], 0.5), np.random.default_rng(0)
    share = np.exp(world.log_measure - world.log_C) / [comb(4, k) for k in range(5)]
    z = np.array([draw(world, n, rng) for _ in range(2000)])
    for place in (0, 1, n - 1):
        found = np.bincount(z[:, place] @ [1, 2, 4, 8], minlength=16)
        expected = 2000 * share[[int(i).bit_count() for i in range(16)]]
        assert stats.chisquare(found, expected).pvalue > 1e-4


def test_masks_come_with_their_opposites_and_switches_balance():
    world, d = masks.coin_flips(63), 63
    z = draw(world, 1280, np.random.default_rng(1))
    first, second = z[::2], z[1::2]
    sum_to_d = first.sum(axis=1) + second.sum(axis=1) == d
    assert np.mean(sum_to_d) > 0.9 and np.array_equal(second[sum_to_d], ~first[sum_to_d])
    signs = 2.0 * first - 1
    by_chance = 1 / np.sqrt(640)
    beside = (signs.T @ signs / 640)[~np.eye(d, dtype=bool)]
    assert np.sqrt(np.mean(beside**2)) < 0.5 * by_chance


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("rows", [ROWS["limit"], ROWS["lime"]], ids=["limit", "lime"])
@pytest.mark.parametrize("shape", ["probability", "number"])
def test_sampled_fits_are_right_within_their_errors(kind, rows, shape):
    d = 10
    f = logistic(d) if shape == "probability" else lambda z: np.exp(z @ np.linspace(-1, 1, d))
    world = WORLDS[kind](d)
    exact = fit_form(Enumerated(f, d), world, rows)
    found = [fit_sampled(f, world, 400, seed, rows) for seed in range(12)]
    z = np.array(
        [
            np.append(
                (r.coef - exact.coef) / r.stderr,
                (r.intercept - exact.intercept) / r.intercept_stderr,
            )
            for r in found
        ]
    )
    assert 0.75 < np.sqrt(np.mean(z**2)) < 1.3  # 12 runs of 11 dependent numbers
    assert np.max(np.abs(z)) < 5
    assert found[0].calls == 401 and found[0].method == "monte carlo"


def test_a_seed_gives_the_same_numbers():
    world, f = text_switches(6), logistic(6)
    one, other = (fit_sampled(f, world, 300, 7) for _ in range(2))
    assert np.array_equal(one.coef, other.coef) and np.array_equal(one.stderr, other.stderr)


def test_the_twin_of_a_logistic_function_is_the_function():
    z, f = draw(text_switches(10), 600, np.random.default_rng(2)), logistic(10)
    assert np.max(np.abs(logistic_twin(z, f(z))(z) - f(z))) < 1e-3


@pytest.mark.parametrize("world", [text_switches(9), image_switches(9, 0.1), text_switches(2, 3)])
def test_the_limit_of_a_smooth_twin_is_that_of_all_masks(world):
    rng, d = np.random.default_rng(3), world.d
    twin = Smooth(rng.random((20, d)) < 0.6, rng.normal(size=20), rng.uniform(0, 2, d))
    z = all_masks(d)
    expected = [
        sum(
            height * np.exp(-(reach * (mask != centre)).sum())
            for height, centre, reach in zip(
                twin.heights, twin.centres, [twin.reach] * 20, strict=True
            )
        )
        for mask in z
    ]
    assert np.allclose(twin(z), expected, rtol=0, atol=1e-12)
    exact = fit_form(Enumerated(twin, d), world)
    found = twin.limit(world, coins_of(world))
    assert np.allclose(found, np.append(exact.intercept, exact.coef), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.05, 0.25, 10.0])
@pytest.mark.parametrize("d", [5, 100, 600])
def test_laws_are_mixtures_of_coins(kind, nu, d):
    world = WORLDS[kind](d, nu)
    coins = coins_of(world)
    if coins is None:  # few of the switches are ever off, or only one
        assert nu == 0.05
        return
    law = np.exp(world.log_measure - world.log_C)
    found = stats.binom(d, coins.chance).pmf(np.arange(d + 1)[:, None]) @ coins.share
    assert np.abs(found - law).sum() < 1e-6


def test_a_law_that_is_no_mixture_is_sampled_without_a_smooth_twin():
    d, n = 40, 400
    shares = np.zeros(d + 1)
    shares[[10, 11, 30]] = 0.3, 0.3, 0.4
    world = counted_switches(shares, 10.0)
    assert coins_of(world) is None
    f = polynomial(d, {(0, 1): 1.0, (2,): -0.5})
    exact = fit_form(f, world)
    z = [
        (found.coef - exact.coef) / found.stderr
        for found in (fit_sampled(f, world, n, seed) for seed in range(8))
    ]
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2 and np.max(np.abs(z)) < 5


def test_a_smooth_twin_learns_rules_from_some_answers():
    rng, d = np.random.default_rng(4), 30
    f = Switched(0.0, np.zeros(d), (Rule(1.0, (Group.on(0), Group.on(1), Group.off(2))),))
    world = image_switches(d)
    z, new = draw(world, 400, rng), draw(world, 2000, rng)
    line = np.linalg.lstsq(np.column_stack([np.ones(2000), new]), f(new), rcond=None)
    missed = f(new) - f(z).mean() - smooth_twin(z, f(z))(new)
    assert np.mean(missed**2) < 0.2 * line[1][0] / 2000  # of what a line leaves


@pytest.mark.parametrize("answers", [np.zeros(200), np.full(200, 1e90), np.arange(200) * 1e97])
def test_answers_of_any_size_are_fitted(answers):
    world = text_switches(12)
    f = lambda z: answers[: len(z)] if len(z) == 200 else answers[:1]  # noqa: E731
    found = fit_sampled(f, world, 200, 0)
    assert np.all(np.isfinite(found.coef)) and np.all(np.isfinite(found.stderr))
    if np.ptp(answers) == 0:
        assert np.all(found.coef == 0) and found.intercept == answers[0]


# --- at the door -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: text_switches(0), "d must be 1 or more"),
        (lambda: image_switches(3, -1), "nu must be above 0"),
        (lambda: counted_switches([0.5, 0.6]), "shares must be the probabilities"),
        (
            lambda: counted_switches([0, 1, 0]).inverse_covariance(),
            "at least two numbers of switches",
        ),
        (lambda: fit_form(additive([1.0]), text_switches(1)), "at least two numbers"),
        (lambda: fit_form(additive([1.0]), text_switches(2)), "the 2 switches of its world, got 1"),
        (lambda: rule(3, [0], [0]), "different switches from 0 to 2"),
        (lambda: rule(3, [3]), "different switches from 0 to 2"),
        (lambda: Enumerated(logistic(20), 20), "at most 16"),
        (lambda: fit_sampled(logistic(5), text_switches(5), 10), "n must be 14 or more"),
        (lambda: fit_sampled(lambda z: z, text_switches(5), 99), "one number per mask"),
        (lambda: SwitchRows(1), "n must be 2 or more"),
        (lambda: Enumerated(lambda z: z, 3), "one number per mask"),
        (lambda: Enumerated(lambda z: np.nan * z[:, 0], 3), "answers must be finite, got 8"),
        (lambda: polynomial(3, {0: 1.0}), "terms must map tuples of switches"),
        (lambda: masks.coin_flips(3, 1.0), "alpha must lie between 0 and 1"),
        (lambda: masks.tilted(logistic(20), 0.5, 20), "f must be a form for 20 switches"),
        (lambda: masks.contrasts(logistic(20), text_switches(20)), "f must be a form for 20"),
        (
            lambda: lt.switch_limit(logistic(5), text_switches(5), calls=1),
            "calls must be 2 or more",
        ),
        (lambda: masks.score_of(BernoulliNB(), "predict_joint"), "method must be one that"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lt.switch_limit(7, text_switches(5)), "f must be a form of limetutor.masks"),
        (lambda: lt.switch_limit(logistic(5), 5), "world must be made by"),
        (lambda: masks.presence(lambda z: z), "model must be a fitted scikit-learn"),
        (lambda: masks.presence(RandomForestRegressor()), "model must be a fitted scikit-learn"),
    ],
)
def test_what_is_something_else_is_refused(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_one_word_is_explained_with_its_own_row():
    """lime removes the only word in every sample; the text itself is its one other row."""
    found = fit_form(additive([2.0], 1.0), text_switches(1), SwitchRows(5000, 1e-9, True))
    assert found.coef[0] == pytest.approx(2.0, rel=1e-6)


def test_weights_are_those_of_the_cosine_distance():
    for d in (1, 4, 9):
        z = np.tril(np.ones((d, d)))  # 1..d switches on
        cosine = z.sum(axis=1) / np.sqrt(z.sum(axis=1)) / np.sqrt(d)
        assert np.allclose(cosine_log_weight(d, 0.3)[1:], -((1 - cosine) ** 2) / 0.18, atol=1e-13)
        assert cosine_log_weight(d, 0.3)[0] == pytest.approx(-1 / 0.18)


@pytest.mark.parametrize("d", [5, 20])
def test_a_function_cannot_move_the_masks_it_gets(d):
    def plain(z):
        return z[:, 0] + 2.0 * z[:, 1]

    def moving(z):
        found = plain(z)
        z[:] = True
        return found

    ours, theirs = (lt.switch_limit(f, text_switches(d)).coef for f in (plain, moving))
    np.testing.assert_array_equal(ours, theirs)
