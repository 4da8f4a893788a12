"""All frames of a figure: layers give what the whole would, and cannot hide what they depend on."""

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from pads import CONTROLS, curve, dots, label, pad, panels, strip
from waves import NU, wave

from limetutor.interactive import frame_table
from limetutor.interactive.controls import Choice, Slider
from limetutor.interactive.frame_table import FrameTable
from limetutor.interactive.layers import in_layers
from limetutor.plotting import svg
from limetutor.plotting.handles import handle
from limetutor.plotting.style import color

SIZE = (6.4, 3.6)


def shapes(*roots):
    """Everything that is drawn, in no order and without names and clips, which are a layer's own."""
    found = []
    for el in itertools.chain(*(root.iter() for root in roots)):
        if el.tag in ("path", "use", "text", "circle") and "clip" not in str(el.attrib.get("id")):
            kept = {k: v for k, v in el.attrib.items() if k not in ("id", "href", "clip-path")}
            found.append((el.tag, sorted(kept.items()), el.text))
    return sorted(map(str, found))


@pytest.fixture(scope="module")
def made():
    return FrameTable(pad, SIZE, CONTROLS, "p")


def test_a_negative_number_in_a_sentence_has_a_true_minus():
    said = "At ξ = -0.6 and (-1, -.5) it is -2%, 3-1 or x-1, up to 1e-05 (a)-2."
    meant = "At ξ = −0.6 and (−1, −.5) it is −2%, 3-1 or x-1, up to 1e-05 (a)-2."
    assert frame_table.clean_sentence(said) == meant


def test_layers_give_the_picture_that_the_whole_gives(made):
    assert [strip.controls for strip in made.layers] == [
        (), ("xi",), ("nu", "xi"), ("nu", "xi"), ("kind",),
    ]  # fmt: skip
    assert [len(strip.roots) for strip in made.layers] == [1, 9, 63, 63, 2]
    for nu, xi, kind in itertools.product(*(c.values[::4] for c in CONTROLS.values())):
        values = {"nu": nu, "xi": xi, "kind": kind}
        layers = [strip for strip in made.layers if not strip.handles]
        ours = [s.roots[made.index(s.controls, values)] for s in layers]
        _, whole, sentence = frame_table.draw_frame(pad, SIZE, values, {}, "p")
        drawn = [s for s in shapes(*ours) if "clip" not in s]
        # each layer defines its own clips: a rectangle for the axes, which is no shape
        wanted = [s for s in shapes(whole.root) if "clip" not in s]
        assert sorted(set(drawn)) == sorted(set(wanted))
        assert sentence == made.sentences[made.index(tuple(CONTROLS), values)]


def test_a_handle_stands_where_its_artist_does(made):
    (handles,) = [strip for strip in made.layers if strip.handles]
    for values in ({"nu": 0.1, "xi": -2}, {"nu": 10, "xi": 2}, {"nu": 1, "xi": 0.5}):
        point, dot = handles.roots[made.index(("nu", "xi"), values)]
        assert point.get("data-handle") == "xi nu" and dot.get("data-handle") == "nu"
        fig, *_ = frame_table.draw_frame(pad, SIZE, values | {"kind": "plain"}, {}, "p")
        for circle, ax, at in (
            (point, fig.axes[0], (values["xi"], values["nu"])),
            (dot, fig.axes[1], (values["nu"], values["nu"] * values["xi"] / 3)),
        ):
            x, y = ax.transData.transform(at) * 72 / fig.dpi
            assert float(circle.get("cx")) == pytest.approx(x, abs=0.06)
            assert float(circle.get("cy")) == pytest.approx(SIZE[1] * 72 - y, abs=0.06)


def test_a_picture_with_handles_is_a_group_and_its_drawing_is_silent(made):
    page = made.page("Two dots.")
    assert page.get("role") == "group" and page.get("aria-label") == "Two dots."
    *drawing, handles = page
    assert handles.get("class") == "lt-handles" and handles.get("aria-hidden") is None
    assert all(layer.get("aria-hidden") == "true" for layer in drawing)
    for circle in handles:
        assert circle.get("role") == "slider" and circle.get("tabindex") == "0"
        told = {key for key in circle.attrib if key.startswith("aria-")}
        assert told == {f"aria-{k}" for k in "label valuemin valuemax valuenow valuetext".split()}
    assert FrameTable(wave, SIZE, {"nu": NU}, "p").page("A wave.").get("role") == "img"


def test_data_are_stored_along_the_controls_they_depend_on(made):
    data = made.data()
    assert [layer["controls"] for layer in data["layers"]] == [[], [1], [0, 1], [2], [0, 1]]
    handles = data["layers"][-1]["groups"][0]["columns"]
    along = {(element, attribute): controls for element, attribute, controls, *_ in handles}
    # the point of the map: across by ξ, up by ν; the dot: across by ν, up by both
    assert along == {(1, "cx"): [1], (1, "cy"): [0], (2, "cx"): [0], (2, "cy"): [0, 1]}
    assert data["names"] == ["nu", "xi", "kind"]
    assert data["stops"][1] == ["-2", "-1.5", "-1", "-0.5", "0", "0.5", "1", "1.5", "2"]


secret = {"xi": 0.0}


def spy(axes, xi):
    secret["xi"] = xi
    axes[0].plot([xi], [1], "o", color=color.xi)


def teller(axes, nu):
    axes[1].plot([nu], [secret["xi"]], "o", color=color.xi)


def greedy(axes, nu):
    axes[0].set_xlim(-3, 3 * nu)
    axes[0].plot([nu], [1], "o", color=color.xi)


def careless(axes, nu):
    axes[0].plot([nu], [1], "o")  # in the next colour of matplotlib's cycle


@pytest.mark.parametrize(
    ("layers", "name"),
    [
        ((spy, teller), "teller"),
        ((strip, greedy), "strip|greedy|panels"),
        ((strip, careless), "careless"),
    ],
)
def test_a_layer_cannot_depend_on_what_it_does_not_take(layers, name):
    @in_layers(panels, *layers)
    def bad(nu, xi):
        return f"ν = {nu}, ξ = {xi}."

    controls = {name: CONTROLS[name] for name in ("nu", "xi")}
    with pytest.raises(ValueError, match=f"({name}).* looks otherwise when all layers are drawn"):
        FrameTable(bad, SIZE, controls, "p")


def test_bad_handles_are_refused():
    def often(fig, nu):
        (line,) = fig.subplots().plot([0, nu])
        if nu < 1:
            handle(line, "nu")
        return f"ν = {nu}."

    with pytest.raises(ValueError, match="in every frame, or in none"):
        FrameTable(often, SIZE, {"nu": NU}, "p")

    def of(name):
        def draw(fig, nu, kind):
            (line,) = fig.subplots().plot([0, nu], [0, len(kind)])
            handle(line, name)
            return f"ν = {nu}, {kind}."

        return draw

    kinds = Choice(["a", "bc"])
    for name in ("kind", "mu"):
        with pytest.raises(ValueError, match=f"must move sliders of the figure, not {name}"):
            FrameTable(of(name), SIZE, {"nu": NU, "kind": kinds}, "p")
    for names in ((), ("a", "a"), ("a", "b", "c")):
        with pytest.raises(ValueError, match="needs one or two different controls"):
            handle(None, *names)


def test_a_layer_has_its_own_bound_and_live_controls_stay_put():
    @in_layers(panels, strip, curve, label)
    def some(nu, xi, kind):
        return f"The {kind} one at ν = {nu} and ξ = {xi}."

    nu = Slider(0.1, 10, 1, stops=65, log=True, fmt="{:.3g}")
    xi, kind = Slider(-2, 2, 0.5, stops=41), CONTROLS["kind"]
    too_many = r"2665 combinations of stops are too many for a page \(at most 2600"
    with pytest.raises(ValueError, match=too_many):
        FrameTable(some, SIZE, {"nu": nu, "xi": xi, "kind": replace(kind, live=True)}, "p")
    live = {"nu": replace(nu, live=True), "xi": xi, "kind": kind}
    made = FrameTable(some, SIZE, live, "p")  # 41 strips and curves, two labels
    assert [len(strip.roots) for strip in made.layers] == [1, 41, 41, 2]

    @in_layers(panels, strip)
    def dead(nu, xi):
        return f"ν = {nu}, ξ = {xi}."

    with pytest.raises(ValueError, match="dead control: 'nu' does not change the picture"):
        FrameTable(dead, SIZE, {name: CONTROLS[name] for name in ("nu", "xi")}, "p")


def test_many_stops_cost_little():
    """What one control moves is drawn once for each of its stops, not once for each combination."""
    calls = []

    def counted(axes, xi):
        calls.append(xi)
        strip(axes, xi)

    @in_layers(panels, counted, dots)
    def cheap(nu, xi):
        return f"ν = {nu}, ξ = {xi}."

    controls = {
        "nu": Slider(0.1, 10, 1, stops=13, log=True, fmt="{:.3g}"),
        "xi": Slider(-2, 2, 0.5, stops=17),
    }
    made = FrameTable(cheap, SIZE, controls, "p")
    assert len(calls) == 17 + 3  # three combinations are drawn whole, to compare
    assert isinstance(made.page("Alt."), ET.Element)
    assert len(svg.markup(made.page("Alt."))) < 20_000
