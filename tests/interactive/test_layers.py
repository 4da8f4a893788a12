"""Drawings in layers: what each depends on, and the whole of them."""

import inspect

import pytest
from pads import curve, pad, panels, strip

from limetutor.interactive.layers import add, in_layers, needs
from limetutor.plotting.style import new_figure, styled


def test_a_layer_says_by_its_arguments_what_it_depends_on():
    assert needs(strip) == ("xi",) and needs(curve) == ("nu", "xi")
    assert [[layer.__name__ for layer in run] for run in pad.runs] == [
        ["strip"],
        ["curve", "dots"],  # they depend on the same, and are drawn together
        ["label"],
    ]
    assert pad.__name__ == "pad" and pad.__doc__ == "Two dots and a curve."
    assert list(inspect.signature(pad).parameters) == ["fig", "nu", "xi", "kind"]


@styled
def test_the_whole_is_drawn_as_any_other_figure():
    fig = new_figure()
    assert pad(fig, 1.0, xi=0.5, kind="plain") == "The plain dots are at ν = 1.00, ξ = 0.50."
    left, right = fig.axes
    assert len(left.patches) == 1 and len(right.texts) == 1
    assert [dot.get_gid() for dot in (*left.lines, *right.lines)] == [
        "handle:xi nu",
        None,
        "handle:nu",
    ]
    with pytest.raises(TypeError, match="missing a required argument: 'kind'"):
        pad(new_figure(), nu=1.0, xi=0.5)


@styled
def test_what_layers_added_is_in_the_order_of_painting():
    def two(axes, nu):
        axes[0].plot([0, 1], [1, nu], zorder=5)
        axes[0].plot([0, 1], [1, nu], zorder=1)

    fig = new_figure()
    added = add(fig, panels(fig), [two, strip], {"nu": 2, "xi": 0.5})
    assert [artist.get_zorder() for artist in added[:2]] == [1, 5]
    assert added[2] is fig.axes[0].patches[0]


def test_the_sentence_takes_all_that_the_layers_take():
    with pytest.raises(TypeError, match=r"all that its layers take: \['xi'\] too"):

        @in_layers(panels, curve)
        def short(nu):
            return f"{nu}"
