"""Reports: pages of HTML that stand alone, for people who will not open a notebook.

A page is one file. It asks for nothing outside itself, runs no script, follows the reader's light
or dark theme and prints in light. Whatever comes from a caller (names of columns, classes, boxes)
is text here and never markup: functions take plain strings and escape them, and only what these
functions return, :class:`Markup`, goes onto the page as it is::

    page(
        "Can row 7 be trusted?", paragraph("Mostly."), table("Effects", ["feature", "effect"], rows)
    )

Chapter: trust.
"""

import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from math import isfinite, isnan
from typing import Any

import numpy as np

from .files import place, write_atomically
from .palette import as_variables

# what changes the direction of the text around it: a name could dress up as another one
_BIDI = {*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


class Markup(str):
    """HTML made by this module, safe to put on a page as it is."""

    __slots__ = ()


def visible(value: object) -> str:
    """Text in which nothing is hidden: letters as they are, controls by their code.

    Marks that turn the direction of writing, control characters and halves of characters, which no
    file can hold, appear as [U+202E].

    >>> visible("safe" + chr(0x202E) + "gnp.exe")
    'safe[U+202E]gnp.exe'
    """
    return "".join(f"[U+{ord(c):04X}]" if _hidden(c) else c for c in str(value))


def _hidden(c: str) -> bool:
    kind = unicodedata.category(c)
    control = kind == "Cc" and c not in "\t\n\r"
    return control or kind == "Cs" or c in _BIDI or ord(c) & 0xFFFE == 0xFFFE


def text(value: Any) -> Markup:
    """A caller's text, escaped and kept to itself: letters written from right to left stay inside."""
    if isinstance(value, Markup):
        return value
    words = escape(visible(value))
    turns = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in words)
    return Markup(f"<bdi>{words}</bdi>" if turns else words)


def number(value: Any, digits: int = 4) -> str:
    """A number as a reader wants it: few digits, a real minus sign, words for what is none."""
    value = float(value)
    if isnan(value):
        return "unknown"
    if not isfinite(value):
        return "beyond all bounds" if value > 0 else "below all bounds"
    return f"{value:.{digits}g}".replace("-", "−")


def paragraph(*parts: Any) -> Markup:
    """A paragraph of some texts."""
    return Markup(f"<p>{''.join(map(text, parts))}</p>")


def marked(parts: Iterable[tuple[str, float]]) -> Markup:
    """A text in parts: those with an effect are marked, by its sign."""
    pieces = []
    for words, effect in parts:
        kind = "up" if effect > 0 else "down"
        pieces.append(f'<mark class="{kind}">{text(words)}</mark>' if effect else text(words))
    return Markup(f"<p>{''.join(pieces)}</p>")


def heading(words: Any) -> Markup:
    """The heading of a section."""
    return Markup(f"<h2>{text(words)}</h2>")


def items(texts: Iterable[Any]) -> Markup:
    """A list, or nothing where there is nothing to list."""
    inside = "".join(f"<li>{text(words)}</li>" for words in texts)
    return Markup(f"<ul>{inside}</ul>" if inside else "")


def notes(texts: Iterable[str]) -> list[Markup]:
    """Technical notes, under a heading of their own where there are any."""
    listed = items(texts)
    return [heading("Technical notes"), listed] if listed else []


def severity(word: str) -> Markup:
    """How bad something is, in words and in its colour: ok, note, warning or serious."""
    return Markup(f'<span class="severity" data-is="{escape(word)}">{text(word)}</span>')


def facts(pairs: Iterable[tuple[Any, Any]]) -> Markup:
    """What something is called, and its value, pair by pair."""
    inside = "".join(
        f"<div><dt>{text(name)}</dt><dd>{_cell(value)}</dd></div>" for name, value in pairs
    )
    return Markup(f"<dl>{inside}</dl>")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _cell(value: Any) -> Markup:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Markup(f"{int(value):,}".replace("-", "−"))
    return Markup(number(value)) if _is_number(value) else text(value)


def table(caption: Any, columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table with a caption, a heading for each column, and rows headed by their first cell.

    Cells are texts or numbers; numbers stand to the right. Where a page is too narrow for it, the
    table scrolls by itself, with the keyboard too.
    """
    rows = list(rows)
    right = [any(_is_number(row[j]) for row in rows) for j in range(len(columns))]

    def mark(j: int) -> str:
        return ' class="number"' if right[j] else ""

    head = "".join(f'<th scope="col"{mark(j)}>{text(c)}</th>' for j, c in enumerate(columns))
    body = "".join(
        f'<tr><th scope="row"{mark(0)}>{_cell(first)}</th>'
        + "".join(f"<td{mark(j)}>{_cell(cell)}</td>" for j, cell in enumerate(rest, 1))
        + "</tr>"
        for first, *rest in rows
    )
    return Markup(
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(visible(caption))}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def picture(fig: Any, alt: str, caption: Any = "") -> Markup:
    """A matplotlib figure as inline SVG in the page's colours, with its text as text."""
    from . import svg

    later = "\ue000"  # a private character, until the picture is there that names its ids
    with warnings.catch_warnings():  # letters that matplotlib's font lacks, the page's has
        warnings.filterwarnings("ignore", message="Glyph")
        drawn = svg.markup(svg.picture(fig, visible(alt), later))
    drawn = drawn.replace(later, f"lt-{sha256(drawn.encode()).hexdigest()[:8]}")
    words = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return Markup(f"<figure>{drawn}{words}</figure>")


def can_draw() -> bool:
    """Whether matplotlib is here; a page without pictures is a page as well."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def page(title: Any, *blocks: Markup, lead: Any = "") -> str:
    """A whole page: a title, what to know first, and blocks from the functions above."""
    from .. import __version__

    for block in blocks:
        if not isinstance(block, Markup):
            raise TypeError(
                "blocks must come from limetutor.plotting.page, such as paragraph(words)."
            )
    name = escape(visible(title))
    first = f'<p class="lead">{text(lead)}</p>' if lead else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{_css()}</style></head>\n"
        f"<body><main><h1>{text(title)}</h1>{first}\n"
        + "\n".join(blocks)
        + f"\n</main><footer><p>Made by limetutor {__version__}.</p></footer></body></html>\n"
    )


def written(html: str, path: Any = None) -> str | None:
    """The page itself, or nothing once it is in the file that was named."""
    if path is None:
        return html
    write_atomically(place("path", path), html.encode())
    return None


def _css() -> str:
    """The look of a page; pictures take their colours from the same variables."""
    return (
        f":root{{color-scheme:light dark;{as_variables(0)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{as_variables(1)}}}}}\n{_STYLE}"
    )


_STYLE = """\
body{margin:0;background:var(--lt-paper);color:var(--lt-ink);
 font:1rem/1.55 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,footer{max-width:52rem;margin:0 auto;padding:1rem 1.25rem}
h1{font-size:1.7rem;line-height:1.25;margin:1rem 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2rem 0 .5rem}
.lead{font-size:1.1rem}
footer{color:var(--lt-muted);font-size:.85rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem 1.5rem}
dl div{border-top:2px solid var(--lt-grid);padding-top:.3rem}
dt{color:var(--lt-muted);font-size:.9rem}
dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
li{margin:.4rem 0}
.scroll{overflow-x:auto;margin:1rem 0}
.scroll:focus-visible{outline:2px solid var(--lt-surrogate);outline-offset:2px}
table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--lt-muted);padding-bottom:.4rem}
th,td{padding:.35rem 1rem .35rem 0;text-align:left;vertical-align:top;overflow-wrap:break-word;
 min-width:4rem;max-width:28rem;border-bottom:1px solid var(--lt-grid)}
thead th{border-bottom:2px solid var(--lt-muted)}
tbody th{font-weight:normal}
.number{text-align:right;font-variant-numeric:tabular-nums}
td.number{white-space:nowrap}
.severity{font-weight:600}
.severity[data-is=serious]{color:var(--lt-alarm)}
.severity[data-is=warning]{color:var(--lt-alarm);font-weight:400}
.severity[data-is=note]{color:var(--lt-muted)}
.severity[data-is=ok]{color:var(--lt-box)}
mark{background:none;color:inherit;border-bottom:3px solid var(--lt-surrogate)}
mark.down{border-bottom:3px dotted var(--lt-against)}
figure{margin:1rem 0}
figure svg{display:block;width:100%;height:auto;font-family:inherit}
figcaption{color:var(--lt-muted);font-size:.9rem}
@media print{main,footer{max-width:none}}
"""
