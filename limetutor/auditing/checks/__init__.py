"""What an audit looks for: one function a check, each yields the findings it has.

A check gets a :class:`~limetutor.auditing.case.Case` and yields findings, with their words. How severe a
finding is, :data:`limetutor.auditing.findings.MEANING` says. Chapter: the real lime.
"""

from ..findings import CHECKS, MASK_CHECKS
from . import boxes_and_bandwidth, data, fit, model, noise, other_boxes, texts_and_images  # noqa: F401

__all__ = ["CHECKS", "MASK_CHECKS"]

# the order in which findings of one severity are reported
ORDER = """
    constant_model not_deterministic
    wrong_kernel training_data undeclared_category other_boxes off_data outside_range
    noise no_fit many_features unstable_set order few_samples
    collapsed constant near_singular bandwidth hidden
    local_error penalty own_row
""".split()
CHECKS.sort(key=lambda check: ORDER.index(check.__name__))
