"""A small figure in layers with handles of one control and of two, for several tests."""

from pathlib import Path

import pytest

from limetutor.interactive import explorer
from limetutor.interactive.controls import Choice, Slider
from limetutor.interactive.layers import in_layers
from limetutor.plotting.handles import handle
from limetutor.plotting.style import color

ALT = "Two dots."
CONTROLS = {
    "nu": Slider(0.1, 10, 1.0, stops=7, log=True, label="bandwidth ν"),
    "xi": Slider(-2, 2, 0.5, stops=9, label="position of ξ"),
    "kind": Choice(["plain", "fancy one"], label="kind"),
}


def panels(fig):
    left, right = fig.subplots(1, 2)
    left.set(xlim=(-2.2, 2.2), ylim=(0.08, 12), yscale="log")
    right.set(xlim=(0.08, 12), xscale="log", ylim=(-9, 9))
    return left, right


def strip(axes, xi):
    axes[0].axvspan(xi - 0.2, xi + 0.2, color=color.box, lw=0)


def curve(axes, nu, xi):
    axes[1].plot([0.1, 1, 10], [0, xi, xi * nu / 2], color=color.truth)
    if xi > 1:  # another shape of frame
        axes[1].plot([1], [xi], "s", color=color.xi)


def dots(axes, nu, xi):
    (point,) = axes[0].plot(xi, nu, "o", color=color.xi)
    handle(point, "xi", "nu")
    (dot,) = axes[1].plot(nu, nu * xi / 3, "o", color=color.truth)
    handle(dot, "nu")


def label(axes, kind):
    axes[1].text(0.1, 7, kind)


@in_layers(panels, strip, curve, dots, label)
def pad(nu, xi, kind):
    """Two dots and a curve."""
    return f"The {kind} dots are at ν = {nu:.2f}, ξ = {xi:.2f}."


LINK = "#fig-one&nu=4.64&xi=-1"


def page_of_two(path: Path) -> Path:
    """A page with two figures, some text to scroll and links."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIMETUTOR_MODE", "static")
        patch.setattr(explorer, "_display", lambda text, **kw: shown.append(kw["html"]))
        for alt in (ALT, "The same once more."):
            explorer.explore(pad, alt=alt, **CONTROLS)
    figures = "".join(
        f"<figure id=fig-{name}>{html}</figure><div style='height:70vh'>…</div>"
        for name, html in zip(("one", "two"), shown, strict=True)
    )
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Two figures</title>"
        "<meta name=viewport content='width=device-width'>"
        f"<style>{explorer.page_css()}</style><main><h1>Two figures</h1>"
        f"<p><a href='{LINK.replace('&', '&amp;')}'>show me</a> <a href='#end'>to the end</a></p>"
        f"{figures}<h2 id=end>The end</h2></main><script>{explorer.page_js()}</script>",
        encoding="utf-8",
    )
    return path
