"""Is there a model to explain? It should vary over the samples, and say the same when asked again."""

from collections.abc import Iterator

import numpy as np

from ..case import Case
from ..findings import Checked, Finding, check, not_checked, passed

DUST = 1e-12  # of the prediction: smaller coefficients are rounding
SAME = 1e-4  # of the spread of the responses: two answers for one row differ by less where they are one


@check
def constant_model(case: Case) -> Iterator[Finding | Checked]:
    """Does the model vary over the samples?"""
    if not np.any(case.used) or case.top > DUST * abs(case.prediction):
        return
    yield Finding(
        "constant-model", "serious", (),
        {"largest_coef": case.top, "prediction": case.prediction},
        f"The model does not vary over the samples: it says {case.prediction:.4g}, and no coefficient is "
        "more than rounding.",
        "There is nothing to explain here.",
    )  # fmt: skip


@check
def not_deterministic(case: Case) -> Iterator[Finding | Checked]:
    """Does the model give the same answer when it is asked again?"""
    if case.sampled is None and case.form is not None:
        yield passed("The limit is computed from the model's form.")
        return
    asked = case.shared.asked_again
    if asked is None:
        yield not_checked("The model is not at hand.", "the model")
        return
    first, second = asked
    apart, spread = float(np.max(np.abs(first - second))), float(np.ptp(first))
    if apart <= SAME * spread:
        yield passed(f"Two calls agree on {len(first)} rows.")
        return
    yield Finding(
        "not-deterministic", "serious", (), {"apart": apart, "spread": spread, "rows": len(first)},
        f"Two calls of the model on the same {len(first)} rows differ by up to {apart:.3g}, where its "
        f"answers for these rows spread over {spread:.3g}.",
        "Switch off what is random in it (dropout, sampling), or fix its seed, before it is explained.",
    )  # fmt: skip
