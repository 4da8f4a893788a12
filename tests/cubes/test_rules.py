"""Rules against draws and against all rules, one by one."""

import re
from itertools import combinations

import numpy as np
import pytest
import scipy
from cubes import diabetes, labels_alone, tree_of_wine

import limetutor as lt
from limetutor.cubes import rules
from limetutor.cubes.rules import by_coverage


def all_rules(d):
    return [rule for size in range(d + 1) for rule in combinations(range(d), size)]


def precisions_of_leaves(f, xi, world, asked):
    """The share of the class of xi in each rule: sums over leaves of products over their sides."""
    tree, boxes = f.tree_, world.boxes()
    box, law, d = boxes.discretize(xi), boxes.law, len(xi)
    target, total = f.predict(xi[None])[0], dict.fromkeys(asked, 0.0)
    stack = [(0, np.full(d, -np.inf), np.full(d, np.inf))]
    while stack:
        node, lo, hi = stack.pop()
        if tree.children_left[node] < 0:
            if f.classes_[np.argmax(tree.value[node][0])] == target:
                sides = [
                    [mass(law, j, box[j], lo[j], hi[j], held) for held in (0, 1)] for j in range(d)
                ]
                for rule in asked:
                    total[rule] += np.prod([sides[j][j in rule] for j in range(d)])
            continue
        j, cut = tree.feature[node], tree.threshold[node]
        left, right = hi.copy(), lo.copy()
        left[j], right[j] = min(hi[j], cut), max(lo[j], cut)
        stack += [(tree.children_left[node], lo, left), (tree.children_right[node], right, hi)]
    return total


def mass(law, j, own, lo, hi, held):
    """P(lo < x_j <= hi), in xi's box alone where it is held."""
    if lo == -np.inf and hi == np.inf:
        return 1.0
    parts = [own] if held else np.flatnonzero(law.log_prob[j] > -np.inf)
    shares = np.exp(law.log_prob[j, parts])
    inside = []
    for k in parts:
        mean, sd = law.mean[j, k], law.sd[j, k]
        cdf = scipy.stats.truncnorm(
            (law.lo[j, k] - mean) / sd, (law.hi[j, k] - mean) / sd, mean, sd
        ).cdf
        inside.append(cdf(hi) - cdf(lo))
    return float(shares @ inside / shares.sum())


@pytest.fixture(scope="module")
def wine():
    f, X, world = tree_of_wine()
    xi = X.to_numpy()[60]
    cube = lt.cube(f, X.iloc[60], world, output=1)
    true = precisions_of_leaves(f, xi, world, all_rules(X.shape[1]))
    return cube, true


def test_rules_of_a_tree_are_exact(wine):
    cube, true = wine
    for rule in list(true)[::9]:
        found = cube.rule(list(rule))
        assert found.precision == pytest.approx(
            true[rule], abs=1e-6
        )  # thresholds in single precision
        assert found.coverage == pytest.approx(np.prod(cube.mass[list(rule)]))
        assert found.method == "exact" and found.interval == (found.precision,) * 2
    named = cube.rule(["flavanoids", "alcohol"])
    assert named.features == (0, 6) and named.names == ("alcohol", "flavanoids")
    assert named.text == " and ".join(cube.box_names[j] for j in (0, 6)) == cube.rule([6, 0]).text


def best_of(true, mass, target):
    """The largest coverage of a rule that reaches the target, and the largest precision at it."""
    reach = [rule for rule, value in true.items() if value >= target - 1e-9]
    coverage = max((np.prod(mass[list(rule)]) for rule in reach), default=0.0)
    same = [r for r in reach if np.prod(mass[list(r)]) > coverage * (1 - 1e-9)]
    return coverage, max((true[rule] for rule in same), default=max(true.values()))


@pytest.mark.parametrize("target", [0.3, 0.55, 0.7, 0.8, 0.9, 0.95, 1.0])
@pytest.mark.parametrize("most", [2**14, 40, 5])
def test_the_anchor_is_the_best_of_all_rules_or_says_how_far_it_may_be(
    wine, target, most, monkeypatch
):
    monkeypatch.setattr(rules, "MAX_RULES", most)
    monkeypatch.setattr(rules, "RULES_PER_CALL", min(most, 256))
    cube, true = wine
    coverage, precision = best_of(true, cube.mass, target)
    found = cube.anchor(target)
    assert found.precision == pytest.approx(true[found.features], abs=1e-6)
    if not coverage:
        assert not found.found
        return
    assert found.bound >= coverage * (1 - 1e-9) and found.target == target
    if found.found:
        assert found.precision >= target - 1e-6 and found.coverage <= coverage * (1 + 1e-9)
    if most > len(true):
        assert found.found and "the best" in found.certificate
        assert found.coverage == pytest.approx(coverage) == pytest.approx(found.bound)
        assert found.precision == pytest.approx(precision, abs=1e-6)
    elif found.bound > found.coverage * 1.001:
        by_size = sorted((np.prod(cube.mass[list(rule)]) for rule in true), reverse=True)
        assert found.bound == pytest.approx(by_size[most - 1])
        assert f"{found.bound / found.coverage:.3g} times as much" in found.certificate


def test_rules_come_in_the_order_of_their_coverage():
    p = np.array([0.3, 0.25, 0.9, 0.25, 0.5])
    found = list(by_coverage(p))
    assert sorted(rule for _, rule in found) == sorted(all_rules(5))
    assert np.all(np.diff([coverage for coverage, _ in found]) <= 1e-12)
    assert all(coverage == pytest.approx(np.prod(p[list(rule)])) for coverage, rule in found)


def test_rules_about_labels_are_sums_over_the_table():
    f, table, world = labels_alone()
    cube = lt.cube(f, table.iloc[0], world, tolerance=1.0)
    grid = np.stack(np.meshgrid(*[sorted(set(table[c])) for c in table], indexing="ij"), -1)
    cells, here = grid.reshape(-1, 4), f(table.iloc[[0]])[0]
    shares = [table[c].value_counts(normalize=True) for c in table]
    weight = np.prod([[s[v] for v in cells[:, j]] for j, s in enumerate(shares)], axis=0)
    same = np.abs(f(cells) - here) <= 1.0
    for rule in all_rules(4):
        inside = np.all(cells[:, rule] == table.iloc[0].to_numpy()[list(rule)], axis=1)
        found = cube.rule(rule)
        assert found.precision == pytest.approx(
            np.sum((weight * same)[inside]) / np.sum(weight[inside])
        )
        assert found.coverage == pytest.approx(np.sum(weight[inside]))
    coverage, _ = best_of({r: cube.rule(r).precision for r in all_rules(4)}, cube.mass, 0.9)
    assert cube.anchor(0.9).coverage == pytest.approx(coverage) and cube.method == "exact"


@pytest.fixture(scope="module")
def forest():
    """A forest of a class, whose rules have to be sampled, and 10^6 draws of the world."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = diabetes()
    f = RandomForestClassifier(8, max_depth=4, random_state=0).fit(X.to_numpy(), y > 140)
    world = lt.Empirical(X.to_numpy())
    cube = lt.cube(f, X.iloc[2].to_numpy(), world, output=True)
    x, box = world.boxes().law.sample(np.random.default_rng(77), 10**6)
    same = f.predict(x) == f.predict(X.iloc[[2]].to_numpy())[0]
    return cube, box == world.boxes().discretize(X.iloc[2].to_numpy()), same


def test_sampled_precisions_are_those_of_a_million_draws(forest):
    cube, z, same = forest
    for rule in [(), (0,), (2, 3), (0, 2, 3), (1, 2, 3, 5)]:
        found, inside = cube.rule(rule), z[:, rule].all(axis=1)
        true, count = same[inside].mean(), inside.sum()
        error = np.hypot(found.stderr, np.sqrt(true * (1 - true) / count))
        assert abs(found.precision - true) < 4 * error and found.n >= 2048
        assert found.interval[0] < found.precision < found.interval[1]
        assert found.stderr == pytest.approx(
            np.sqrt(found.precision * (1 - found.precision) / found.n)
        )
        assert cube.rule(rule).precision == found.precision


@pytest.mark.parametrize("target", [0.6, 0.75, 0.85, 0.95])
def test_a_sampled_anchor_reaches_its_target_and_its_bound_holds(forest, target):
    cube, z, same = forest
    found = cube.anchor(target)
    inside = z[:, found.features].all(axis=1)
    true, count = same[inside].mean(), inside.sum()
    assert found.found == (found.precision >= target) == (target < 0.88)
    assert not found.found or true > target - 4 * np.hypot(
        found.stderr, np.sqrt(true * (1 - true) / count)
    )
    clearly = {}
    for rule in all_rules(6):
        inside = z[:, rule].all(axis=1)
        if inside.sum() > 200:
            value = same[inside].mean()
            clearly[rule] = value - 4 * np.sqrt(value * (1 - value) / inside.sum())
    coverage, _ = best_of(clearly, cube.mass, target)
    assert found.bound >= coverage * (1 - 1e-9)
    assert "four standard errors" in found.certificate


def test_a_search_makes_a_bounded_number_of_calls(forest, monkeypatch):
    cube, _, _ = forest
    precisions = cube.both.precisions()
    found = rules.best_rule(precisions, cube.mass, 0.999999)
    assert precisions.calls < 2 * cube.both.n + 4096
    assert not found.reaches or found.bound >= np.prod(cube.mass[list(found.rule)])


def test_intervals_are_clopper_and_pearsons():
    for hits, n in ((0, 10), (3, 10), (10, 10), (950, 1000)):
        expected = scipy.stats.binomtest(hits, n).proportion_ci(0.95, "exact")
        found = rules.Precision(hits / n, n, hits).interval()
        assert found == pytest.approx((expected.low, expected.high))


def test_rules_without_a_draw_are_drawn_in_and_no_draw_counts_twice():
    """The class is a corner of five boxes, which none of a hundred draws of the world hits."""
    world, xi, seen = lt.Gaussian(), np.full(5, 1.0), []

    def f(x):
        seen.append(x)
        return np.all(x > 0.6744897501960817, axis=1) * 1.0

    cube = lt.cube(f, xi, world, tolerance=0.5, n=200)
    found = cube.anchor()
    assert found.features == (0, 1, 2, 3, 4) and found.found and found.precision == 1
    seen.clear()
    assert cube.rule([]).n == 100 + sum(map(len, seen)) >= 2048
    assert len(np.unique(np.vstack(seen), axis=0)) == sum(map(len, seen))


def test_draws_in_a_rule_count_for_longer_rules_alone(forest):
    cube, _, _ = forest
    precisions = cube.both.precisions()
    before = precisions.sketched([(0,), (1,), (0, 1)])
    precisions.draw_in([(0,)])
    after = precisions.sketched([(0,), (1,), (0, 1)])
    assert before[0].n == after[0].n >= 512  # enough of the world's
    precisions._draw((0,))
    drawn = precisions.sketched([(0,), (1,), (0, 1)])
    assert drawn[0].n == before[0].n + 128 and drawn[1] == before[1]
    assert before[2].n < drawn[2].n < before[2].n + 128
    few, many = (rules.Precision(1.0, n, n) for n in (100, 4096))
    assert not precisions.reaches(few, 0.9) and precisions.reaches(many, 0.9)
    assert not precisions.reaches(many._replace(own=False), 0.9)


def made_up(**methods):
    return type("MadeUp", (rules.ExactPrecisions,), {"__init__": lambda self: None, **methods})()


def shares(some, other):
    """A method that gives some rules these precisions, and all others one."""
    return lambda self, asked, _=0: [rules.Precision(some.get(rule, other)) for rule in asked]


def test_a_rule_that_is_not_decided_widens_the_bound():
    precisions = made_up(
        of=shares({(0,): 0.5, (1,): 0.9, (0, 1): 1.0}, 0.1),
        rules_out=lambda self, precision, target: precision.value < 0.4,
        reaches=lambda self, precision, target: precision.value >= target,
    )
    p = np.array([0.5, 0.4, 0.3])
    assert rules.best_rule(precisions, p, 0.95)[:3] == ((0, 1), True, pytest.approx(0.5))
    assert rules.best_rule(precisions, p, 0.9)[:3] == ((1,), True, pytest.approx(0.5))


@pytest.mark.parametrize("most", [2**14, 10])
def test_a_search_that_finds_none_claims_no_more_than_it_compared(forest, wine, most, monkeypatch):
    monkeypatch.setattr(rules, "MAX_RULES", most)
    monkeypatch.setattr(rules, "RULES_PER_CALL", min(most, 256))
    cube, z, same = forest
    found = cube.anchor(0.999999)
    assert not found.found and "most precise of them" not in found.certificate
    assert "the most precise by these draws of 32 that were compared" in found.certificate
    clearly = max(
        same[inside].mean()
        for rule in all_rules(6)
        if (inside := z[:, rule].all(axis=1)).sum() > 2000
    )
    assert found.precision > clearly - 0.05 and found.n >= 2048
    cube, true = wine
    monkeypatch.setattr(rules.ExactPrecisions, "reaches", lambda *_: False)
    found = cube.anchor(1.0)
    assert "this is the most precise of them" in found.certificate
    assert most < 2**14 or found.precision == pytest.approx(max(true.values()), abs=1e-6)


def test_of_those_compared_the_one_of_the_highest_final_precision_is_taken():
    """Half of them are left out each time, while draws double."""
    asked, final = [], shares({(0,): 0.3, (0, 1): 0.9}, 0.2)

    def noted(self, some, draws):
        asked.append((len(some), draws))
        return final(self, some)

    precisions = made_up(of=shares({(0,): 1.0}, 0.5), final=noted, reaches=lambda *_: False)
    found = rules.best_rule(precisions, np.array([0.5, 0.4]), 0.95)
    assert found.rule == (0, 1) and not found.reaches and found.compared == 4
    assert asked == [(4, 1024), (2, 2048)]


def test_no_more_rules_are_counted_than_there_are():
    """A beam search after all rules of four features looks at them again."""
    f = lambda x: np.sin(3 * x[:, 0] * x[:, 1]) + x[:, 2] + 0.2 * (x[:, 3] > 0.4)  # noqa: E731
    cube = lt.cube(f, [0.2, 0.3, 0.5, 0.5], lt.Gaussian(), tolerance=0.1, n=200)
    counts = re.findall(r"([\d,]+) rules", cube.anchor(precision=0.999).certificate)
    assert counts and all(int(count.replace(",", "")) <= 2**4 for count in counts)
