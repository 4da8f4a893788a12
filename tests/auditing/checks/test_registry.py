"""All checks, and the order in which findings of one severity are reported."""

import ast
import subprocess
import sys

import pytest

from limetutor.auditing.checks import CHECKS, MASK_CHECKS

ROWS = {
    "data": "wrong_kernel undeclared_category off_data outside_range",
    "noise": "noise no_fit many_features unstable_set order few_samples",
    "boxes_and_bandwidth": "collapsed constant near_singular bandwidth hidden",
    "fit": "local_error penalty own_row irrelevant_bandwidth",  # the last is one of the bandwidth
}
MASKS = """noise unstable_set own_row few_samples cannot_matter repeated_words hidden_rule same_as_fill
    shifted_labels"""


def test_which_checks_there_are():
    names = [check.__name__ for check in CHECKS]
    assert names == " ".join(ROWS.values()).split()
    assert [check.__name__ for check in MASK_CHECKS] == MASKS.split()


@pytest.mark.parametrize("first", ["noise", "data", "boxes_and_bandwidth", "fit", "switches"])
def test_the_order_of_checks_is_not_that_of_imports(first):
    """Whichever module of checks is imported first, what is wrong with the data is told first."""
    code = (
        f"import limetutor.auditing.checks.{first}\n"
        "from limetutor.auditing.checks import CHECKS\n"
        "print([c.__module__.rpartition('.')[2] for c in CHECKS])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert list(dict.fromkeys(ast.literal_eval(done.stdout))) == list(ROWS)
