"""No sentence of an audit is false: random audits, each number and comparison from raw calls of the model."""

import numpy as np
import pytest
from drawn_audits import drawn
from recomputed import Claims

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.verify
def test_no_sentence_of_an_audit_is_false(verified, verifying):
    wrong, found = [], set()
    for seed in range(2000) if verifying else range(5000, 5020):
        case = drawn(seed)
        try:
            audit = case.audit()
        except ValueError as error:  # no training row is in the row's box
            if str(error).startswith("xi must lie in a box"):
                continue
            raise
        found.update(audit.codes)
        wrong += [f"{seed} {words}" for words in Claims(case, audit, seed).check()]
    verified("claims of random audits that raw calls contradict", len(wrong), 0)
    assert not wrong and len(found) > (20 if verifying else 8), "\n".join(wrong)


def false_reference(claims):
    """The same reference with a model that says a tenth more."""
    claims.coef, claims.raw.at_xi = 1.1 * claims.coef, 1.1 * claims.raw.at_xi
    return claims


def test_the_reference_notices_numbers_that_are_a_tenth_off():
    case = drawn(5003)
    assert false_reference(Claims(case, case.audit(), 0)).check()


@pytest.mark.verify
def test_data_in_other_units_and_shuffled_columns_are_noticed(verified, verifying):
    noticed = {"units": [], "shuffled": []}
    for seed in range(200) if verifying else range(6):
        case = drawn(seed)
        rng, d = np.random.default_rng(seed), case.X.shape[1]
        numbers = [j for j in range(d) if j not in case.labels and np.ptp(case.X[:, j]) > 0]
        if len(numbers) < 2:
            continue
        units, shuffled = case.X.copy(), case.X.copy()
        units[:, numbers] *= 2.54
        shuffled[:, numbers] = case.X[:, np.roll(numbers, int(rng.integers(1, len(numbers))))]
        for kind, data in (("units", units), ("shuffled", shuffled)):
            audit = case._replace(data=data).audit()
            unknown = audit.verdict.startswith("Cannot be judged") or "other-data" in audit
            noticed[kind].append(unknown or audit.verdict == "Do not show it.")
    for kind, rows in noticed.items():
        verified(
            f"audits with data that are not those ({kind}) noticed",
            np.mean(rows),
            (0.95, 1),
        )


@pytest.mark.parametrize(
    ("kind", "code"), [("flat", "constant-model"), ("dice", "not-deterministic")]
)
def test_constant_and_random_models_are_noticed(kind, code):
    dice = np.random.default_rng(0)
    models = {"flat": lambda x: np.full(len(x), 2.5), "dice": lambda x: dice.normal(size=len(x))}
    for seed in range(3):
        case = drawn(seed)._replace(f=models[kind])
        if case.explainer.mode == "regression":
            audit = case.audit()
            assert audit.codes == (code,) and audit.verdict == "Do not show it."
