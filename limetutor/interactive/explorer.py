"""Figures with controls, :func:`explore`, and without, :func:`show`.

The environment variable ``LIMETUTOR_MODE`` chooses one of two ways for the whole run:

``live`` (default)
    ipywidgets; every move of a control calls ``draw`` and replaces the picture in place.
``static``
    for the built book: every combination of stops is drawn now; the page holds the default
    picture as inline SVG and the differences of the others (:mod:`limetutor.interactive.frames`),
    which the scripts of ``player/`` insert.  A control that changes nothing is an error here, so that the
    book cannot be built with one.  The local Sphinx extension sets this mode.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import keyword
import os
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

from matplotlib.figure import Figure

from ..inputs.arguments import shorten, vector
from ..plotting import style, svg
from .controls import Choice, Control, Slider
from .frame_table import Draw, FrameTable, draw_frame

__all__ = ["Choice", "Slider", "explore", "show"]

MAX_INCHES = 50  # of width and height

#: Placeholder in ids, which are named after the finished picture: a private-use character.
_ID_PLACEHOLDER = "\ue000"

_seen: Counter[str] = Counter()  # pictures shown in this run, for unique ids


def explore(
    draw: Draw, *, alt: str, size: Sequence[float] = (6.4, 3.6), **controls: Control
) -> None:
    """Show a picture that answers to controls, with a kernel and without.

    Parameters
    ----------
    draw
        ``draw(fig, **values)`` draws on a fresh figure in the book's style and returns one
        sentence that reads the picture back in words and numbers.
    alt
        What the figure shows, for readers who cannot see it.
    size
        In inches.
    **controls
        A :class:`Slider` or a :class:`Choice` for each argument of ``draw``.

    Examples
    --------
    >>> def draw(fig, nu):
    ...     fig.subplots().plot([0, 1], [0, nu])
    ...     return f"The line ends at {nu:.2f}."
    >>> explore(draw, alt="A line.", nu=Slider(0.1, 2, 0.53))  # doctest: +ELLIPSIS
    {'text/plain': '<explore: A line. The line ends at 0.53.>', ...}
    """
    _check_alt("explore", alt)
    inches = _checked_size(size)
    _check_controls(draw, controls)
    display = {"live": _live, "static": _static}[mode()]
    display(draw, alt, inches, controls)


def show(fig: Figure, alt: str) -> None:
    """Show a figure that has no controls, with its description, in the theme of the page.

    Parameters
    ----------
    fig
        A matplotlib figure.
    alt
        What it shows, for readers who cannot see it.

    Examples
    --------
    >>> show(Figure(), alt="An empty picture.")  # doctest: +ELLIPSIS
    {'text/plain': '<figure: An empty picture.>', ...}
    """
    if not isinstance(fig, Figure):
        raise TypeError(f"fig: show needs a matplotlib Figure, got {shorten(fig)}.")
    _check_alt("show", alt)
    picture = svg.markup(svg.picture(fig, alt, _ID_PLACEHOLDER))
    picture = picture.replace(_ID_PLACEHOLDER, _prefix(picture))
    text = f"<figure: {alt}>"
    if mode() == "live":
        import ipywidgets

        _display(text, widget=ipywidgets.HTML(_live_figure(picture)))
    else:
        _display(text, html=_figure(picture))


def mode() -> str:
    """How figures are shown in this run: ``live`` or ``static``."""
    chosen = os.environ.get("LIMETUTOR_MODE", "live")
    if chosen not in ("live", "static"):
        raise ValueError(f"LIMETUTOR_MODE must be live or static, not {chosen!r}.")
    return chosen


def page_css() -> str:
    """The style sheet of a page with figures: the palette and the player's layout."""
    return style.theme_css() + _asset("player.css")


def page_js() -> str:
    """The script that moves static figures."""
    parts = (_asset(f"{name}.js") for name in ("frames", "figure", "handles", "page"))
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _check_alt(function: str, alt: Any) -> None:
    if not isinstance(alt, str):
        raise TypeError(f"{function} needs alt, a sentence about the figure, got {shorten(alt)}.")
    if not alt.strip():
        raise ValueError(f"{function} needs alt: one sentence that says what the figure shows.")


def _checked_size(size: Any) -> tuple[float, float]:
    try:
        width, height = vector("size", size, 2)
    except (ValueError, TypeError):
        width = height = 0.0
    if not (0 < width <= MAX_INCHES and 0 < height <= MAX_INCHES):
        raise ValueError(
            f"size must be width and height in inches, each above 0 and at most {MAX_INCHES}, "
            f"got {shorten(size)}."
        )
    return float(width), float(height)


def _check_controls(draw: Any, controls: dict[str, Any]) -> None:
    """Refuse controls of the wrong type, and those that ``draw`` could not be called with."""
    if not callable(draw):
        raise TypeError(f"draw must be a function draw(fig, ...), got {shorten(draw)}.")
    if not controls:
        raise ValueError("explore needs at least one control; use show for a picture without.")
    for name, control in controls.items():
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(
                f"The name of a control must be a Python identifier, since draw gets its value by "
                f"that name, not {shorten(name)}."
            )
        if not isinstance(control, Slider | Choice):
            raise TypeError(
                f"The control {name!r} must be a Slider or a Choice, not {type(control).__name__}."
            )
    try:
        signature = inspect.signature(draw)
    except (ValueError, TypeError):  # some functions written in C have none
        return
    try:
        signature.bind(None, **controls)
    except TypeError as error:
        raise TypeError(
            f"draw cannot be called as draw(fig, {', '.join(controls)}): {error}."
        ) from None


def _frame(
    draw: Draw, alt: str, size: Sequence[float], values: dict[str, Any], memo: svg.Memo
) -> tuple[ET.Element, str]:
    """Draw once: the picture and the sentence. Parts shared by frames are in the memo."""
    fig, drawing, sentence = draw_frame(draw, size, values, memo, _ID_PLACEHOLDER)
    root = svg.canvas(fig, alt)
    root.extend(drawing.root)
    return root, sentence


def _prefix(picture: str) -> str:
    """An id from the content: the same in every build, different for every figure of a page."""
    digest = hashlib.sha256(picture.encode()).hexdigest()[:8]
    _seen[digest] += 1
    return f"lt{digest}" + (f"-{_seen[digest]}" if _seen[digest] > 1 else "")


def _live(draw: Draw, alt: str, size: Sequence[float], controls: dict[str, Control]) -> None:
    import ipywidgets

    memo: svg.Memo = {}
    defaults = {name: control.default for name, control in controls.items()}
    first, sentence = _frame(draw, alt, size, defaults, memo)
    prefix = _prefix(svg.markup(first))

    def as_html(root: ET.Element) -> str:
        return _live_figure(svg.markup(root).replace(_ID_PLACEHOLDER, prefix))

    picture = ipywidgets.HTML(as_html(first))
    words = ipywidgets.HTML(_sentence(sentence))
    widgets = {name: _widget(control) for name, control in controls.items()}

    def redraw(_change: Any = None) -> None:
        try:
            values = {name: w.value for name, w in widgets.items()}
            root, new_sentence = _frame(draw, alt, size, values, memo)
            picture.value, words.value = as_html(root), _sentence(new_sentence)
        except Exception as error:  # in a callback it would be lost: show it to the reader
            words.value = _sentence(f"⚠ {type(error).__name__}: {error}")

    def reset(_button: Any) -> None:
        for name, default in defaults.items():
            widgets[name].value = default

    for widget in widgets.values():
        widget.observe(redraw, names="value")
    layout = {"width": "auto", "align_self": "flex-start"}
    button = ipywidgets.Button(description="Reset", layout=layout)
    button.on_click(reset)
    box = ipywidgets.VBox([picture, *widgets.values(), button, words])
    _display(f"<explore: {alt} {sentence}>", widget=box)


def _widget(control: Control) -> Any:
    import ipywidgets

    options = [(control.text(value), value) for value in control.live_values]
    looks = {"style": {"description_width": "initial"}, "layout": {"width": "min(100%, 32rem)"}}
    kind = ipywidgets.SelectionSlider if isinstance(control, Slider) else ipywidgets.Dropdown
    return kind(options=options, value=control.default, description=control.label, **looks)


def _static(draw: Draw, alt: str, size: Sequence[float], controls: dict[str, Control]) -> None:
    table = FrameTable(draw, size, controls, _ID_PLACEHOLDER)
    page = svg.markup(table.page(alt))
    prefix = _prefix(page)
    # What the player needs at once is apart from most of the data, which it reads on the first move.
    data = table.data()
    at_once = {name: data.pop(name) for name in ("names", "stops", "texts", "glides")}
    html = _figure(
        page
        + _controls_html(table.moving, prefix)
        + _sentence(table.sentence, max(table.sentences, key=len))
        + f'<script type="application/json" class="{svg.UNMARKED}">{_json(data)}</script>',
        "lt-explore",
        f' data-figure="{prefix}" data-controls="{escape(_json(at_once))}"',
    )
    _display(f"<explore: {alt} {table.sentence}>", html=html.replace(_ID_PLACEHOLDER, prefix))


def _controls_html(controls: dict[str, Control], prefix: str) -> str:
    """Native controls, hidden until the script has started."""
    rows = []
    for name, control in controls.items():
        ident, label = escape(f"{prefix}-{name}"), escape(control.label or name)
        position = control.values.index(control.default)
        text = escape(control.text(control.default))
        if isinstance(control, Slider):
            field = (
                f'<input type="range" id="{ident}" min="0" max="{len(control.values) - 1}" '
                f'step="1" value="{position}" data-default="{position}" autocomplete="off" '
                f'aria-valuetext="{text}"><output for="{ident}" aria-live="off">{text}'
                "</output>"
            )
        else:
            options = "".join(
                f"<option{' selected' if k == position else ''}>{escape(control.text(v))}</option>"
                for k, v in enumerate(control.values)
            )
            start = f'<select id="{ident}" data-default="{position}" autocomplete="off">'
            field = f"{start}{options}</select>"
        rows.append(f'<div class="lt-control"><label for="{ident}">{label}</label>{field}</div>')
    return (
        '<div class="lt-controls lt-idle" role="group" aria-label="Controls of the figure">'
        + "".join(rows)
        + '<div class="lt-buttons"><button type="button" class="lt-reset">Reset</button>'
        + '<button type="button" class="lt-copy">Copy link</button></div>'
        + '<p class="lt-said" role="status"></p></div>'
    )


def _json(data: Any) -> str:
    """JSON that cannot end the script element around it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _figure(content: str, kind: str = "lt-still", attributes: str = "") -> str:
    return f'<div class="lt-figure {kind}"{attributes}>{content}</div>'


def _sentence(text: str, longest: str = "") -> str:
    """A sentence, and room for the longest one that may take its place."""
    words = f'<p class="lt-sentence" aria-live="polite">{escape(text)}</p>'
    return f'<div class="lt-words" data-longest="{escape(longest)}">{words}</div>'


def _live_figure(picture: str) -> str:
    """A picture with the style that a notebook page lacks."""
    return f"<style>{page_css()}</style>{_figure(picture, 'lt-live')}"


def _asset(name: str) -> str:
    return (resources.files(__package__) / "player" / name).read_text(encoding="utf-8")


def _display(text: str, *, html: str | None = None, widget: Any = None) -> None:
    """Publish one output whose plain text is stable, so that nbval can compare it."""
    from IPython.display import display

    bundle: dict[str, Any] = {"text/plain": text}
    if html is not None:
        bundle["text/html"] = html
    if widget is not None:
        view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        bundle["application/vnd.jupyter.widget-view+json"] = view
    display(bundle, raw=True)
