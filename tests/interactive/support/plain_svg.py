"""A picture the long way round: matplotlib's own axes, its own SVG as text, read and tidied.

What :mod:`limetutor.plotting.svg` and :mod:`limetutor.interactive.lazy_ticks` make in a quarter of
the time must be the same, element by element.
"""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from matplotlib.backends import backend_svg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from limetutor.interactive import explorer
from limetutor.interactive.frame_table import clean_sentence
from limetutor.plotting import svg
from limetutor.plotting.style import new_figure, styled

_REFERENCE = re.compile(r"(url\(#|^#)([^),]+)")


@styled
def plain_svg(fig: Figure) -> ET.Element:
    """What matplotlib writes, without namespaces."""
    buffer = io.StringIO()
    canvas = FigureCanvasSVG(fig)
    fig.dpi = svg.DPI
    with pytest.MonkeyPatch.context() as patch:  # markers are looked at in tests/plotting
        patch.setattr(backend_svg, "RendererSVG", svg.FewElements)
        canvas.print_svg(buffer, metadata={"Date": None})
    root = ET.fromstring(buffer.getvalue())
    for el in root.iter():
        el.tag = el.tag.rpartition("}")[2]
        el.attrib = {key.rpartition("}")[2]: value for key, value in el.attrib.items()}
    return root


def plain_picture(fig: Figure, alt: str) -> ET.Element:
    """A figure as it stands on a page."""
    root = plain_svg(fig)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
    in_defs = {el for defs in root.iter("defs") for el in defs.iter()}
    for el in root.iter():
        if el.get("transform", "").startswith("rotate(-0 "):
            del el.attrib["transform"]
        unmarked = {"class": "nohighlight"} if el.tag in ("text", "tspan") else {}
        el.attrib = unmarked | {k: svg._tidy(k, v, el in in_defs) for k, v in el.attrib.items()}
        el.text = el.text if (el.text or "").strip() else None
        el.tail = None
    view = root.attrib["viewBox"]
    root.attrib = {"class": "lt-svg", "viewBox": view, "role": "img", "aria-label": alt}
    return root


def normal(picture: ET.Element) -> str:
    """Markup in which ids are numbers in the order of use; unused ones and empty lists are gone."""
    root = ET.fromstring(svg.markup(picture))
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag == "defs" and not len(child)]:
            parent.remove(child)
    names: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        return found[1] + names.setdefault(found[2], f"id{len(names)}")

    for el in root.iter():
        for key, value in el.attrib.items():
            if key != "id" and "#" in value:
                el.set(key, _REFERENCE.sub(new, value))
    for el in root.iter():
        if "id" in el.attrib:
            if el.attrib["id"] in names:
                el.set("id", names[el.attrib["id"]])
            else:
                del el.attrib["id"]
    return svg.markup(root)


def differs(
    draw: Callable[..., str], size: Sequence[float], values: dict[str, Any], memo: svg.Memo
) -> str:
    """The first element in which the page's picture differs from matplotlib's own, if there is one."""
    ours, said = explorer._frame(draw, "Alt.", size, values, memo)
    fig = new_figure(size)
    words = styled(draw)(fig, **values)
    theirs = plain_picture(fig, "Alt.")
    if said != clean_sentence(words):
        return f"{said} / {words}"
    pairs = zip(*(normal(root).split("><") for root in (ours, theirs)), strict=False)
    found = next((f"{one} / {other}" for one, other in pairs if one != other), "")
    return found or ("" if normal(ours) == normal(theirs) else "one has more elements")
