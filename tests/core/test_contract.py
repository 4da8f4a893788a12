"""One contract for every kernel, world, sampler, kind of column and check that is registered.

Whoever registers a new one is held to it without writing a line here: the limit is the mean of
runs, the effective sample size and the covariance of the noise are those of the samples, and what
has no tilt is refused where one is needed.
"""

import inspect

import coded_worlds
import numpy as np
import pytest
from coded_worlds import CODES, ROW
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor.auditing.checks import CHECKS
from limetutor.core.boxes import World
from limetutor.core.kernels import KERNELS, ProductKernel, product_kernels
from limetutor.core.sampler import SAMPLERS
from limetutor.course.experiments import repeat
from limetutor.inputs.columns import KINDS
from limetutor.many.explain_many import explain_quietly
from limetutor.precision.effective_samples import effective_sample_size
from limetutor.precision.normal_limit import asymptotic_covariance


def lime_world() -> World:
    explainer = LimeTabularExplainer(
        CODES.to_numpy(), feature_names=list(CODES), categorical_features=[1, 2], mode="regression"
    )
    return lt.from_lime(explainer)


WORLDS = coded_worlds.WORLDS | {"lime": (lime_world(), ROW)}
LINEAR = lt.Linear([1.0, -2.0, 0.7], 0.3)
TREE = DecisionTreeRegressor(max_depth=4, random_state=0).fit(
    CODES.to_numpy(), CODES["size"] * (CODES["colour"] - 0.5) + CODES["tied"]
)
NU = 0.9


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("f", [LINEAR, TREE], ids=["linear", "tree"])
def test_the_limit_is_the_mean_of_runs(f, name, kernel, sampler):
    world, xi = WORLDS[name]
    if not SAMPLERS[sampler].follows(world.boxes(3)):
        pytest.skip("this sampler draws from another law, and says so")
    n = explain_quietly(f, xi, world, NU, n=1500, seed=5, kernel=kernel, sampler=sampler).n
    limit = lt.limit(f, xi, world, NU, kernel, n=n if world.own_row else None)
    assert limit.method == "exact"
    runs = repeat(f, xi, world, NU, n=1500, runs=24, seed=5, kernel=kernel, sampler=sampler)
    # a mean of ratios: the bias of weighted least squares is of order 1/n, within one error here
    bound = stats.t.isf(stats.norm.sf(4), 23)  # as rare as 4 standard errors that are known
    assert np.all(np.abs(runs.mean - limit.coef) < bound * runs.stderr + 1e-12)
    spread = runs.local_prediction.std(ddof=1) / np.sqrt(24)
    assert abs(runs.local_prediction.mean() - limit.local_prediction) < bound * spread + 1e-12


@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
def test_the_effective_sample_size_is_that_of_weights(name, kernel):
    world, xi = WORLDS[name]
    runs = repeat(LINEAR, xi, world, NU, n=2000, runs=20, seed=6, kernel=kernel)
    expected = effective_sample_size(xi, world, NU, 2000, kernel)
    # (sum w)^2 / sum w^2 is biased by the order of 1, which 20 runs cannot see
    assert abs(runs.ess.mean() - expected) < 4 * runs.ess.std(ddof=1) / np.sqrt(20) + 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
def test_the_noise_is_that_of_the_normal_limit(name, kernel, sampler):
    world, xi = WORLDS[name]
    if not SAMPLERS[sampler].follows(world.boxes(3)):
        pytest.skip("this sampler draws from another law, and says so")
    if not SAMPLERS[sampler].independent:
        with pytest.raises(ValueError, match="sampler must draw independent samples"):
            asymptotic_covariance(LINEAR, xi, world, NU, kernel, sampler=sampler)
        return
    runs = repeat(LINEAR, xi, world, NU, n=2000, runs=60, seed=7, kernel=kernel, sampler=sampler)
    V = asymptotic_covariance(LINEAR, xi, world, NU, kernel, sampler=sampler)
    ratio = runs.coef.var(axis=0, ddof=1) / (np.diag(V)[1:] / 2000)
    # a variance from 60 runs has a relative error of sqrt(2/59) = .18; 4 of them
    assert np.all(np.abs(ratio - 1) < 0.75)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
def test_the_standard_errors_are_those_of_runs(name, kernel, sampler):
    """Whatever the sampler, and whether its draws are independent or not."""
    world, xi = WORLDS[name]
    f = TREE.predict if name != "gaussian" else LINEAR
    runs = repeat(f, xi, world, NU, n=1000, runs=40, seed=8, kernel=kernel, sampler=sampler)
    said = np.sqrt(np.mean(runs.coef_stderr**2, axis=0))
    # 40 runs know a deviation to 11%; the spread of two scrambles is drawn together across features
    limits = (0.6, 1.5) if SAMPLERS[sampler].independent else (0.5, 2.5)
    spread = runs.coef.std(axis=0, ddof=1)
    assert np.all((said > limits[0] * spread) & (said < limits[1] * spread + 1e-12))


@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("nu", [0.3, 1.0, 4.0])
def test_a_kernel_is_its_own_square_at_another_bandwidth(kernel, nu):
    weight = KERNELS[kernel]
    assert isinstance(weight, ProductKernel)
    boxes = WORLDS["empirical"][0].boxes(3)
    xi = boxes.encode(ROW)
    x, drawn = boxes.law.sample(np.random.default_rng(0), 200)
    z = drawn == boxes.discretize(xi)
    once = weight.log_weights(x, z, xi, nu, boxes)
    np.testing.assert_allclose(
        2 * once, weight.log_weights(x, z, xi, weight.square(nu), boxes), rtol=1e-12
    )


@pytest.mark.parametrize("kernel", [k for k in product_kernels() if KERNELS[k].measures_x])
@pytest.mark.parametrize("nu", [0.3, 1.0, 4.0])
def test_the_weights_of_numbers_are_log_concave(kernel, nu):
    """On which ``sides`` relies, and lt.risk with it."""
    weight = KERNELS[kernel]
    assert isinstance(weight, ProductKernel)
    x, xi = np.linspace(-3.0, 3.0, 401), np.array([0.37])
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = np.diff(weight.log_factors(x[:, None], xi, nu)[:, 0], 2)
    assert np.all(np.nan_to_num(bends, nan=0.0) <= 1e-12)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name not in product_kernels()])
def test_a_kernel_without_a_tilt_is_refused_where_one_is_needed(kernel):
    world, xi = WORLDS["gaussian"]
    lt.explain(LINEAR, xi, world, NU, kernel=kernel, seed=0)
    for call in (
        lambda: lt.limit(LINEAR, xi, world, NU, kernel),
        lambda: lt.explain(LINEAR, xi, world, NU, kernel=kernel, sampler="tilted"),
        lambda: lt.risk([xi], world, [1.0], kernel),
        lambda: effective_sample_size(xi, world, NU, 100, kernel),
    ):
        with pytest.raises(ValueError, match="factor"):
            call()


def test_a_function_of_ones_own_is_never_mistaken_for_a_kernel_of_that_name():
    def gaussian(x, z, xi, nu):
        assert z.dtype == bool
        return np.exp(-np.abs(x - xi).sum(axis=1) / nu)

    ex = lt.explain(LINEAR, [0.3, 0.3, 0.3], lt.Gaussian(), 1.0, kernel=gaussian, seed=0, n=20_000)
    own = lt.explain(LINEAR, [0.3] * 3, lt.Gaussian(), 1.0, kernel="laplace", seed=0, n=20_000)
    np.testing.assert_allclose([ex.coef, ex.stderr], [own.coef, own.stderr], rtol=1e-9)
    assert ex.kernel == "gaussian"
    codes = lt.audit(ex).codes  # nothing of the Gaussian kernel's theory is told of it
    assert not {"critical-bandwidth", "sign-flips", "hidden", "near-singular"} & set(codes)
    with pytest.raises(ValueError, match="factor"):
        lt.limit(LINEAR, [0.3, 0.3, 0.3], lt.Gaussian(), 1.0, kernel=gaussian)


def test_registered_members_say_what_they_are():
    assert all(KERNELS[name].name == name for name in KERNELS)
    assert all(SAMPLERS[name].name == name for name in SAMPLERS)
    for member in (*KERNELS.values(), *SAMPLERS.values(), *(kind() for kind in KINDS.values())):
        assert inspect.getdoc(type(member))
    assert all(inspect.getdoc(check) for check in CHECKS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_cuts_describes_and_reads_back(kind):
    values = np.array([1.0, 2.0, 2.0, 3.0, 5.0, 8.0] * 10)
    world = lt.Empirical(values[:, None], p=3, kinds={0: KINDS[kind]()})
    boxes = world.boxes()
    assert boxes.count[0] >= 2
    names = [boxes.describe(0, k) for k in range(boxes.count[0])]
    assert len(set(names)) == len(names) and all("x1" in name for name in names)
    for value in np.unique(values):
        xi = boxes.encode([value])
        assert xi.shape == (1,)
        assert lt.limit(lt.Linear([1.0]), [value], world, 1.0).method == "exact"
