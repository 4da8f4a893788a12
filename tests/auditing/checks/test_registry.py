"""All checks, and the order in which findings of one severity are reported."""

import subprocess
import sys

import pytest

from limetutor.auditing.checks import CHECKS, MASK_CHECKS

ROWS = """constant_model not_deterministic wrong_kernel training_data undeclared_category other_boxes
    off_data outside_range noise no_fit many_features
    unstable_set order few_samples collapsed constant near_singular bandwidth hidden local_error
    penalty own_row"""
MASKS = """noise unstable_set own_row few_samples cannot_matter repeated_words hidden_rule same_as_fill
    shifted_labels"""
FILES = ["boxes_and_bandwidth", "data", "fit", "model", "noise", "other_boxes"]


def test_which_checks_there_are():
    assert [check.__name__ for check in CHECKS] == ROWS.split()
    assert sorted({check.__module__.rpartition(".")[2] for check in CHECKS}) == FILES
    assert [check.__name__ for check in MASK_CHECKS] == MASKS.split()


@pytest.mark.parametrize("first", [*FILES, "texts_and_images"])
def test_the_order_of_checks_is_not_that_of_imports(first):
    """Whichever module of checks is imported first, what is wrong with the data is told first."""
    code = f"import limetutor.auditing.checks.{first}; from limetutor.auditing import checks; "
    code += "print(*[check.__name__ for check in checks.CHECKS])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ROWS.split()
