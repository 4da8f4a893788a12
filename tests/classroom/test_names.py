"""Which names an answer uses, read from its code."""

import pytest

from limetutor.classroom.names import reached, statements

CELLS = [
    "import numpy as np\ncuts = [0.1]\ndef edges(p):\n    return np.array(cuts)",
    "%matplotlib inline\nfiles = !ls\nnp.mean?\ndef boxes(x, q):\n    %time y = 1\n    return edges(q)",
    "def indicators(x):\n    def inner():\n        return boxes(x, 4)\n    return inner()",
    "unused = boxes",
    "edges = lambda p: other",
    "def loop(x):\n    return loop(x)",
]


@pytest.mark.parametrize(
    ("name", "needed", "not_needed"),
    [
        ("edges", {"np", "cuts", "other"}, {"boxes", "indicators"}),
        ("indicators", {"boxes", "edges", "cuts"}, {"unused", "loop"}),
        ("loop", {"loop"}, {"edges"}),
        ("nowhere", set(), {"edges"}),
    ],
)
def test_names_are_followed_through_all_cells(name, needed, not_needed):
    found = reached(CELLS, name)
    assert needed <= found and not needed & not_needed and not found & not_needed


@pytest.mark.parametrize("code", ["def (", "x = 1\x00", "(" * 500, "-" * 100_000 + "1"])
def test_what_cannot_be_read_has_no_names(code):
    assert statements(code) == []
