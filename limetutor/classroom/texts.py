"""Markdown and HTML written by students, as HTML that runs nothing and fetches nothing.

In Markdown, tags are text, formulas become MathML (by the book's Temml, where its engine is installed; else they stay
TeX), pictures are shown if they are attached to the notebook, and links work on a click only.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

from .bank.chapters import BOOK

TEMML = BOOK / "_assets" / "formulas" / "temml.min.js"
RENDER = """(tex, displayMode) => temml.renderToString(
    tex, {displayMode, throwOnError: true, strict: false, trust: false, maxExpand: 100})"""
MAX_FORMULA_LENGTH = 2000
MAX_FORMULA_MILLISECONDS = 2000
STYLE = re.compile(r"(?is)<style\b.*?(</style\s*>|\Z)")
TAGS = (
    "a abbr b blockquote br caption code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre s small span "
    "strong sub sup table tbody td tfoot th thead tr u ul"
).split()
PICTURES = ("image/png", "image/jpeg", "image/gif")


def in_html(text: str, attached: Any = None) -> str:
    """A Markdown text; ``attached`` are the pictures of its cell, as a notebook has them."""
    return _reader().render(text, {"attached": attached if isinstance(attached, Mapping) else {}})


@cache
def _reader() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    formula = lambda tex, options: mathml(tex, bool(options["display_mode"]))  # noqa: E731
    reader.use(dollarmath_plugin, renderer=formula, allow_labels=False)
    reader.use(amsmath_plugin, renderer=lambda tex: mathml(tex, True))
    reader.add_render_rule("image", _picture)
    return reader


def _picture(self: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    """A picture attached to the notebook; of others, the alternative text and the address."""
    token = tokens[index]
    alt = self.renderInlineAsText(token.children, options, env)
    source = str(token.attrs["src"])
    kind, _, name = source.partition(":")
    files = env["attached"].get(name) if kind == "attachment" else {}
    for kind in PICTURES:
        data = files.get(kind) if isinstance(files, Mapping) else None
        if isinstance(data, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]+", data):
            return f'<img src="data:{kind};base64,{data}" alt="{escape(alt)}">'
    return f"[{escape(f'{alt} {source}'.strip())}]"


def cleaned(html: str | bytes) -> str:
    """HTML with the tags of tables and plain text, as pandas writes them; all others are removed."""
    import bleach

    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    spans = ["colspan", "rowspan"]
    attributes = {"*": ["class"], "a": ["href"], "td": spans, "th": spans}
    return bleach.clean(STYLE.sub("", text), tags=TAGS, attributes=attributes, strip=True)


@cache
def _engine() -> Any:
    """Temml; None where its engine is not installed."""
    with contextlib.suppress(ImportError, OSError):
        from py_mini_racer import MiniRacer

        engine = MiniRacer()
        engine.eval(TEMML.read_text(encoding="utf-8"))
        engine.eval(f"globalThis.formula = {RENDER}")
        return engine
    return None


def mathml(tex: str, display: bool) -> str:
    """A formula as MathML; as typed if it cannot be read, or takes too long."""
    tex = tex.strip()
    typed = f"<code>{escape(tex)}</code>"
    engine = _engine()
    if engine is None or len(tex) > MAX_FORMULA_LENGTH:
        return typed
    try:
        return engine.eval(
            f"formula({json.dumps(tex)}, {json.dumps(display)})", timeout=MAX_FORMULA_MILLISECONDS
        )
    except Exception:  # the engine raises errors of many kinds
        return typed
