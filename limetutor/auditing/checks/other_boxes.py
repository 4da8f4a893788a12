"""Do the reasons keep their signs with other boxes? Chapter: can it be shown?"""

from collections.abc import Iterator

import numpy as np

from ...core.boxes import World
from ...core.surrogate import fit
from ...lime.other_boxes import LIMES_OWN
from ..case import TRIAL, Case
from ..findings import DATA, Checked, Finding, check, not_checked, passed
from ..reasons import listed, severity_for
from .data import weighted_sums


@check
def other_boxes(case: Case) -> Iterator[Finding | Checked]:
    """Do the reasons keep their signs with other boxes?"""
    if not case.boxed:
        yield passed("The surrogate has no boxes.")
        return
    worlds = case.shared.other_worlds
    if worlds is None:
        yield not_checked("Other boxes are cut from the training data, which are not known.", DATA)
        return
    reasons, names = case.reasons, [case.names[j] for j in case.reasons]
    if not worlds or not len(reasons):
        yield not_checked("There are no other boxes of this kind.")
        return
    signs, kinds = np.sign(case.expected[reasons]), list(worlds)
    found = [coef_in_boxes(case, world) for world in worlds.values()]
    same = "" if case.form is not None else ", on the same samples"
    along = np.array([signs * coef[reasons] for coef, _ in found])
    noise = np.array([stderr[reasons] for _, stderr in found])
    noise *= TRIAL if case.is_trial else 1
    turned = along < noise  # not clear of the other sign by a standard error
    keeping = [name for at, name in enumerate(names) if not np.any(turned[:, at])]
    stays = f" {listed(keeping)} keep{'s' * (len(keeping) == 1)} the sign" if keeping else ""
    seen = case.visible(np.abs(case.expected[reasons]) - along)
    turned &= seen
    if not np.any(turned):
        small = [name for name in names if name not in keeping]
        yield passed(
            f"With {listed(kinds)}{same},{stays or ' no sign is sure'}."
            + f" That of {listed(small)} may turn, by less than can be seen." * bool(small)
        )
        return
    own = np.array([kind in LIMES_OWN for kind in kinds])
    harmed = np.any((along < -2 * noise)[own] & seen[own], axis=0)
    by_own = np.any(turned[own], axis=0)  # with boxes that `lime` has a name for
    features = np.flatnonzero(np.any(turned, axis=0))
    features = features[np.argsort(~by_own[features], kind="stable")]
    i = int(features[0])
    k = int(np.argmin(np.where(own | ~by_own[i], along[:, i], np.inf)))
    severity, remedy = severity_for(reasons, harmed), "Say where the boxes are cut."
    if np.any(by_own):
        severity = "warning" if severity == "note" else severity
        doubtful = listed([names[at] for at in np.flatnonzero(by_own)])
        remedy = f"Do not show {doubtful} as a reason; say what the model predicts when it changes."
    verb = "depends on" if along[k, i] < 0 else "may depend on"
    error = f" (standard error {noise[k, i]:.2g})" if noise[k, i] else ""
    which = tuple(names[at] for at in features)
    others = f" {listed(which[1:])} may turn as well." if len(which) > 1 else ""
    yield Finding(
        "other-boxes", severity, which,
        {
            "boxes": kinds, "coef": case.expected[reasons].tolist(), "reasons": names,
            "other_coef": [coef[reasons].tolist() for coef, _ in found], "noise": noise.tolist(),
        },
        f"The sign of {which[0]} {verb} the boxes that its values are cut into: its coefficient is "
        f"{case.expected[reasons[i]]:+.3g} with the boxes in use and {signs[i] * along[k, i]:+.3g}{error} with "
        f"{kinds[k]}{same}.{others}{stays}{'.' * bool(stays)}",
        remedy,
    )  # fmt: skip


def coef_in_boxes(case: Case, world: World) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients in another world and their noise: exact, or from the same draws."""
    if case.form is not None:
        return case.limit.exact(world=world).coef, np.zeros(len(case.xi))
    pool, boxes = case.shared.pool, world.boxes(len(case.xi))
    z = boxes.discretize(pool.x) == boxes.discretize(case.xi)
    found = fit(weighted_sums(case, pool.x, z, pool.y), case.ridge)
    return found.beta[1:], np.sqrt(np.clip(np.diag(found.covariance)[1:], 0, None))
