"""What can be taken hold of."""

from matplotlib.lines import Line2D

from limetutor.plotting.handles import controls_of, handle


def test_a_handle_carries_the_names_of_its_controls():
    line = Line2D([0], [0])
    assert handle(line, "xi") is line and controls_of(line.get_gid()) == ("xi",)
    assert controls_of(handle(line, "xi", "nu").get_gid()) == ("xi", "nu")


def test_other_names_are_no_handles():
    for gid in (None, "", "mine", "a handle:xi"):
        assert controls_of(gid) == ()
