"""lime's width as a path through a multilinear function, against limits, samples and brute force."""

from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.course.research.multilinear import BoxGame, turning_model

RNG = np.random.default_rng(11)
X = RNG.normal([0, -0.2, 1, 0], size=(300, 4))
FOREST = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
MODELS = {
    "linear": lt.Linear([1.0, -2, 0, 3]),
    "quadratic": lt.Quadratic(RNG.normal(size=(4, 4)), [1, 0, 2, -1]),
    "forest": FOREST,
}
WIDTHS = np.array([0.2, 0.5, 0.9, 1.5, 6.0])


def brute_force(game: BoxGame, t: np.ndarray) -> float:
    """F(t) from its definition."""
    chance = lambda z: np.prod(np.where(z, t, 1 - t))  # noqa: E731
    cells = (np.array(z, bool) for z in product((0, 1), repeat=game.d))
    return sum(chance(z) * game.values[tuple(z.astype(int))] for z in cells)


def random_game(d: int, order: int, frequency: np.ndarray, rng) -> BoxGame:
    """Random interactions of at most this order."""
    values = np.zeros((2,) * d)
    for S in product((0, 1), repeat=d):
        if sum(S) <= order:
            part = rng.normal()
            for z in product((0, 1), repeat=d):
                values[z] += part * all(b or not a for a, b in zip(S, z, strict=True))
    return BoxGame(values, frequency)


@pytest.mark.parametrize("name", MODELS)
def test_the_path_is_the_limit(name: str):
    world, xi = lt.Empirical(X), X[7]
    game = BoxGame.of(MODELS[name], xi, world)
    expected = [lt.limit(MODELS[name], xi, world, nu, "mismatch").coef for nu in WIDTHS]
    np.testing.assert_allclose(game.path(WIDTHS), expected, rtol=1e-8, atol=1e-8)


def test_the_values_are_means_in_boxes():
    """v(S) against samples: the features of S redrawn inside, the others outside."""
    world, xi, n = lt.Empirical(X), X[7], 100_000
    game = BoxGame.of(MODELS["quadratic"], xi, world)
    views = lt.limit(MODELS["linear"], xi, world, 1.0, "mismatch").tilt.views
    inside, outside = (views.given(k).sample(np.random.default_rng(k), n)[0] for k in (1, 2))
    for z in ((1, 1, 1, 1), (0, 0, 0, 0), (1, 0, 1, 0)):
        y = MODELS["quadratic"](np.where(z, inside, outside))
        assert abs(game.values[z] - y.mean()) < 4 * y.std() / np.sqrt(n)


def test_the_extension_and_its_gradient_follow_their_definitions():
    game = random_game(4, 4, np.array([0.2, 0.3, 0.5, 0.7]), np.random.default_rng(0))
    t = np.array([0.1, 0.6, 0.9, 0.4])
    assert game.extension(t) == pytest.approx(brute_force(game, t), rel=1e-12)
    for j, step in enumerate(1e-3 * np.eye(4)):  # linear in each argument: no error of truncation
        slope = (brute_force(game, t + step) - brute_force(game, t - step)) / 2e-3
        assert game.gradient(t)[j] == pytest.approx(slope, rel=1e-9)


def test_the_polynomial_has_the_sign_of_the_coefficient():
    game = random_game(4, 3, np.array([0.2, 0.3, 0.5, 0.7]), np.random.default_rng(2))
    odds = game.frequency / (1 - game.frequency)
    for nu, beta in zip(WIDTHS, game.path(WIDTHS), strict=True):
        r = np.exp(0.5 / nu**2)
        for j in range(4):
            value = np.polynomial.polynomial.polyval(r, game.width_polynomial(j))
            assert value == pytest.approx(beta[j] * np.prod(1 + r * np.delete(odds, j)), rel=1e-9)


def sign_changes(game: BoxGame, j: int) -> int:
    """Along a fine grid of widths."""
    signs = np.sign(game.path(1 / np.sqrt(2 * np.linspace(1e-4, 12, 800)))[:, j])
    return int(np.sum(signs[1:] != signs[:-1]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(6))
def test_critical_widths_are_where_the_sign_turns(seed: int):
    rng = np.random.default_rng(seed)
    game = random_game(4, 3, rng.uniform(0.1, 0.8, size=4), rng)
    for j in range(4):
        widths = game.critical_widths(j)
        seen = widths[(widths > 1 / np.sqrt(24)) & (widths < 1 / np.sqrt(2e-4))]
        assert len(seen) == sign_changes(game, j)
        for nu in widths:
            below, above = game.path([0.999 * nu, 1.001 * nu])[:, j]
            assert below * above < 0


def turning_game(widths, frequency) -> BoxGame:
    """The game of the model that turns at these widths."""
    z = np.indices((2,) * (1 + len(widths)))
    total = 1 + np.tensordot(turning_model(widths, frequency), z[1:], axes=1)
    return BoxGame(z[0] * total, [0.5, *frequency])


def test_two_zeros_from_interactions_of_order_two():
    """Unequal frequencies: f = z1 (1 + 1.529 z2 - 2.059 z3), p = .2 and .6."""
    c = turning_model([0.6, 1.2], [0.2, 0.6])
    np.testing.assert_allclose(c, [1.52865418, -2.05877602], rtol=1e-8)
    game = turning_game([0.6, 1.2], [0.2, 0.6])
    np.testing.assert_allclose(game.critical_widths(0), [0.6, 1.2], rtol=1e-6)
    assert [len(game.critical_widths(j)) for j in (1, 2)] == [0, 0]
    # as many zeros as features to interact with
    widths = [0.45, 0.7, 1.1, 2.0]
    game = turning_game(widths, [0.05, 0.2, 0.5, 0.8])
    np.testing.assert_allclose(game.critical_widths(0), widths, rtol=1e-6)


def test_degenerate_games():
    constant = BoxGame(np.ones((2, 2)), [0.3, 0.3])
    assert constant.critical_widths(0).size == 0 and not np.any(constant.path(1.0))
    alone = BoxGame([1.0, 3.0], [0.3])
    assert alone.critical_widths(0).size == 0 and alone.path(0.4)[0] == 2


def test_what_is_no_game_is_refused():
    with pytest.raises(ValueError, match=r"frequency must lie between 0 and 1"):
        BoxGame(np.zeros((2, 2)), [0.3, 1.0])
    with pytest.raises(ValueError, match=r"values must have shape \(2, 2\)"):
        BoxGame(np.zeros((2, 3)), [0.3, 0.4])
    with pytest.raises(ValueError, match=r"xi must have at most 14 entries, got 15\."):
        BoxGame.of(lt.Linear(np.ones(15)), np.zeros(15), lt.Gaussian())
    with pytest.raises(ValueError, match="f must have a form for its box game"):
        BoxGame.of(lambda x: x[:, 0], [0.1], lt.Gaussian())
    with pytest.raises(ValueError, match=r"j must be at most 1, got 2\."):
        BoxGame(np.zeros((2, 2)), [0.3, 0.4]).critical_widths(2)
    with pytest.raises(ValueError, match="frequency must be as many different numbers"):
        turning_model([0.5, 1.0], [0.3, 0.3])
    with pytest.raises(ValueError, match=r"widths must be above 0, got -1\."):
        turning_model([-1.0], [0.3])
    with pytest.raises(ValueError, match=r"nu must be above 0, got 0\."):
        BoxGame(np.zeros((2, 2)), [0.3, 0.4]).path([1.0, 0.0])
    constant = np.column_stack([X[:, 0], np.full(len(X), 3.0)])
    with pytest.raises(ValueError, match=r"world must have values outside .* got none of 'x2'\."):
        BoxGame.of(lt.Linear([1, 1]), constant[0], lt.Empirical(constant))
