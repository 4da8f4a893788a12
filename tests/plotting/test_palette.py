"""The palette: roles that can be told apart, and one CSS variable for each, in both shades."""

from itertools import combinations

import numpy as np
import pytest

from limetutor.plotting.palette import PALETTE, as_variables


@pytest.mark.parametrize("shade", [0, 1])
def test_every_role_is_a_variable(shade):
    found = dict(pair.split(":") for pair in as_variables(shade).rstrip(";").split(";"))
    assert found == {f"--lt-{role}": shades[shade] for role, shades in PALETTE.items()}


def oklab(hex_color):
    """Björn Ottosson's space, in which equal distances look about equally large."""
    srgb = np.array([int(hex_color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    rgb = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    opponents = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return opponents @ np.cbrt(cones @ rgb)


@pytest.mark.parametrize("shade", [0, 1])
def test_no_role_looks_like_another(shade):
    """A colour has one meaning: 0.09 is several times what can just be seen side by side, 0.02.

    An instance that stands beside an error needs more: both are red to a reader in a hurry.
    """
    for one, other in combinations(sorted(set(PALETTE) - {"grid"}), 2):
        away = oklab(PALETTE[one][shade]) - oklab(PALETTE[other][shade])
        enough = 0.16 if (one, other) == ("alarm", "xi") else 0.09
        assert np.linalg.norm(away) > enough, (one, other)
