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
MAX_SHOWN_LENGTH = 30_000
MAX_FORMULA_MILLISECONDS = 2000
STYLE = re.compile(r"(?is)<style\b.*?(</style\s*>|\Z)")
TAGS = (
    "a abbr b blockquote br caption code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre s small span "
    "strong sub sup table tbody td tfoot th thead tr u ul"
).split()
CODE_CLASSES = ("highlight", "hl-ipython3")
PICTURES = ("image/png", "image/jpeg", "image/gif")
TEXTS = ("text/html", "text/markdown", "text/latex", "text/plain")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


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
    for kind, data in _pictures(files).items():
        return f'<img src="data:{kind};base64,{data}" alt="{escape(alt)}">'
    return f"[{escape(f'{alt} {source}'.strip())}]"


def shown_cell(cell: Any, source: str, metadata: dict[str, Any]) -> Any:
    """A cell with its known parts, each of its own type; nothing else that a student wrote is in it.

    Templates write metadata and odd types into pages as they are.
    """
    from nbformat import v4

    if cell.get("cell_type") != "code":
        make = v4.new_markdown_cell if cell.get("cell_type") == "markdown" else v4.new_raw_cell
        attached = cell.get("attachments")
        attached = attached if isinstance(attached, Mapping) else {}
        pictures = {name: _pictures(files) for name, files in attached.items()}
        return make(_shortened(source), metadata=metadata, attachments=pictures)
    outputs = cell.get("outputs")
    outputs = outputs if isinstance(outputs, list) else []
    outputs = [_shown_output(output) for output in outputs if isinstance(output, Mapping)]
    count = cell.get("execution_count")
    return v4.new_code_cell(
        _shortened(source), metadata=metadata, outputs=[output for output in outputs if output],
        execution_count=count if type(count) is int else None,
    )  # fmt: skip


def _shown_output(output: Mapping[str, Any]) -> Any:
    """An output with its known parts; None if it is of no known type."""
    from nbformat import v4

    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return v4.new_output("stream", name=name, text=_shortened(_joined(output.get("text"))))
    if kind == "error":
        lines = output.get("traceback")
        lines = [_shortened(_joined(line)) for line in lines] if isinstance(lines, list) else []
        ename, evalue = (_shortened(_joined(output.get(key))) for key in ("ename", "evalue"))
        return v4.new_output("error", ename=ename, evalue=evalue, traceback=lines)
    data = output.get("data")
    if kind not in ("display_data", "execute_result") or not isinstance(data, Mapping):
        return None
    pictures = _pictures(data)
    texts = {mime: _shortened(_joined(data[mime])) for mime in TEXTS if mime in data}
    sizes = output.get("metadata")
    sizes = sizes if isinstance(sizes, Mapping) else {}
    metadata = {mime: _size(sizes.get(mime)) for mime in pictures}
    return v4.new_output("display_data", data=pictures | texts, metadata=metadata)


def _pictures(data: Any) -> dict[str, str]:
    """The pictures among data of several formats, by format."""
    found = {mime: data.get(mime) for mime in PICTURES} if isinstance(data, Mapping) else {}
    texts = {mime: _joined(picture) for mime, picture in found.items()}
    return {mime: text for mime, text in texts.items() if BASE64.fullmatch(text)}


def _joined(text: Any) -> str:
    """A text, or the lines of one; nothing of any other value."""
    lines = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))


def _shortened(text: str) -> str:
    """A text of bounded length: who shows Markdown needs time that grows with its square."""
    more = len(text) - MAX_SHOWN_LENGTH
    return text if more <= 0 else f"{text[:MAX_SHOWN_LENGTH]} … ({more} more characters)"


def _size(metadata: Any) -> dict[str, int]:
    """Width and height of a picture."""
    found = metadata if isinstance(metadata, Mapping) else {}
    sides = {side: found.get(side) for side in ("width", "height")}
    return {side: pixels for side, pixels in sides.items() if type(pixels) is int}


def cleaned(html: str | bytes) -> str:
    """HTML with the tags of tables and plain text, as pandas writes them; all others are removed."""
    import bleach

    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    spans = ["colspan", "rowspan"]
    attributes = {"*": _is_class_of_code, "a": ["href"], "td": spans, "th": spans}
    return bleach.clean(STYLE.sub("", text), tags=TAGS, attributes=attributes, strip=True)


def _is_class_of_code(tag: str, name: str, value: str) -> bool:
    """Whether an attribute is a class of coloured code: others, of the page, could cover the points."""
    from pygments.token import STANDARD_TYPES

    return name == "class" and set(value.split()) <= {*CODE_CLASSES, *STANDARD_TYPES.values()}


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
