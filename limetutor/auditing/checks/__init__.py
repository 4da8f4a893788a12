"""What an audit looks for: one function a check, each yields the findings it has.

A check gets a :class:`~limetutor.auditing.case.Case` and yields findings, with their words. The order of
these imports is the order of the checks, in which findings of one severity are reported. How severe a
finding is, :data:`limetutor.auditing.findings.MEANING` says. Chapter: the real lime.
"""

# isort: off
from . import data  # noqa: F401
from . import noise  # noqa: F401
from . import boxes_and_bandwidth
from . import fit  # noqa: F401
from . import switches  # noqa: F401
from ..findings import CHECKS, MASK_CHECKS

CHECKS.remove(boxes_and_bandwidth.irrelevant_bandwidth)
CHECKS.append(boxes_and_bandwidth.irrelevant_bandwidth)  # the last

__all__ = ["CHECKS", "MASK_CHECKS"]
