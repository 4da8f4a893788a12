"""What a model of normalised word counts may be given."""

from contextlib import nullcontext

import numpy as np
import pytest

from limetutor import switches


@pytest.mark.parametrize(("excess", "refused"), [(0.9e-9, False), (1.1e-9, True), (-1.1e-9, True)])
def test_a_normalised_text_has_length_1_to_nine_digits(excess, refused):
    h = np.full(4, 0.5) * np.sqrt(1 + excess)
    with pytest.raises(ValueError, match="length 1") if refused else nullcontext():
        switches.long_text(np.ones(4), h, switches.text_switches(4))
