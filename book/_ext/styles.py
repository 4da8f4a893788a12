"""The styles of a page, and no more: the theme's sheets without the rules that nothing on the page can match.

The theme brings half a megabyte of style sheets, most of it for parts that this book does not have. ``for_page``
keeps a rule when each class, id and tag that a selector names occurs on the page or as a word in one of the site's
scripts, which may put it there. What a selector has in brackets (``:is()``, ``:not()``, attributes) decides nothing.

Icons are characters of an icon font in those sheets, 270 kB of it. Here each that is left becomes a mask: its outline,
from the same package, as a picture within the sheet, filled with the colour of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

import pydata_sphinx_theme
import tinycss2

OUTLINES = (
    Path(pydata_sphinx_theme.__file__).parent
    / "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
)
OUTLINE = re.compile(r'\[(\d+),(\d+),\[[^\]]*\],"([0-9a-f]+)","([^"]+)"\]')
ICON_FONT = "Font Awesome"
TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:\s[^<>]*)?)>")
ATTRIBUTE = re.compile(r'\b(?:class|id)="([^"]*)"')
VALUE = re.compile(r"""(?<=[{;])\s*(--[\w-]+):(?:"[^"]*"|'[^']*'|[^;{}"'])*;?""")
EMPTY = re.compile(r"(?<=[}\n])[^{}@\n]*\{[\s;]*\}")
NESTED = ("media", "supports", "container", "layer")


@dataclass(frozen=True)
class Rule:
    """Selectors, each with the names that must be on a page for it to match, and what they declare."""

    selectors: tuple[tuple[frozenset[str], str], ...]
    body: str

    def text(self, words: set[str]) -> str:
        """As it is for a page with these names."""
        kept = [selector for names, selector in self.selectors if names <= words]
        return f"{','.join(kept)}{{{self.body}}}" if kept else ""


@dataclass(frozen=True)
class Group:
    """Rules under a condition."""

    condition: str
    rules: tuple[Rule | Group | Whole, ...]

    def text(self, words: set[str]) -> str:
        """As it is for a page with these names."""
        inner = "".join(rule.text(words) for rule in self.rules)
        return f"{self.condition}{{{inner}}}" if inner else ""


@dataclass(frozen=True)
class Whole:
    """A part that names nothing on a page."""

    body: str

    def text(self, words: set[str]) -> str:
        """As it is."""
        return self.body


# --- for a page -----------------------------------------------------------------------------------


def for_page(html: str, sheets: Iterable[Path], page: Path, scripted: frozenset[str]) -> str:
    """The rules of these sheets, in order, that the page can use."""
    words = names_in(html) | scripted
    rules = (rule for sheet in sheets for rule in rules_of(sheet, sheet.stat().st_mtime_ns))
    text = "\n".join(filter(None, (rule.text(words) for rule in rules)))
    asked = {*re.findall(r"var\(\s*(--[\w-]+)", html), *scripted}
    text = addressed(without_idle_values(text, asked), Path("/"), page.parent)
    return without_idle_frames(text)


def names_in(html: str) -> set[str]:
    """The tags, classes and ids of a page."""
    found = set()
    for tag, attributes in TAG.findall(html):
        found.add(tag.lower())
        for value in ATTRIBUTE.findall(attributes):
            found.update(value.split())
    return found


def addressed(text: str, old: Path, new: Path) -> str:
    """The addresses in a text that stands in one folder, as they are seen from another."""

    def address(found: re.Match[str]) -> str:
        name = found[1].strip("\"'")
        if name.startswith(("data:", "#", "http")):
            return found[0]
        return f'url("{Path(relpath(old / name, new)).as_posix()}")'

    return re.sub(r"""url\(("[^"]*"|'[^']*'|[^)"']*)\)""", address, text)


def without_idle_values(text: str, asked: set[str]) -> str:
    """Without the custom properties that nothing asks for: no rule, no script, not the page."""
    count = -1
    while count != len(text):
        count = len(text)
        used = {*re.findall(r"var\(\s*(--[\w-]+)", text), *asked}
        text = VALUE.sub(partial(kept_if, used), text)
    return EMPTY.sub("", text)


def kept_if(used: set[str], value: re.Match[str]) -> str:
    """A declaration of a custom property, if it is used."""
    return value[0] if value[1] in used else ""


def without_idle_frames(text: str) -> str:
    """Without the movements that no rule asks for."""
    for found in re.finditer(r"@keyframes ([\w-]+)\{(?:[^{}]*\{[^{}]*\})*\s*\}", text):
        if len(re.findall(rf"[\s:,]{found[1]}[\s;,}}]", text)) < 2:
            text = text.replace(found[0], "")
    return text


# --- reading sheets --------------------------------------------------------------------------------


@cache
def rules_of(sheet: Path, changed: int) -> tuple[Rule | Group | Whole, ...]:
    """The rules of a sheet, with those that it imports."""
    css = addressed(sheet.read_text("utf-8"), sheet.parent, Path("/"))
    icons = dict(re.findall(r"--(pst-icon-[\w-]+):([^;}]+)", css))
    return tuple(read(tinycss2.parse_stylesheet(css, True, True), sheet, icons))


def read(parsed: Iterable, sheet: Path, icons: dict[str, str]) -> Iterator[Rule | Group | Whole]:
    """What tinycss2 has read, as it is needed here."""
    for part in parsed:
        if part.type == "qualified-rule":
            yield from ruled(part, sheet.name == "limetutor.css", icons)
        elif part.type == "at-rule":
            prelude = tinycss2.serialize(part.prelude).strip()
            if part.lower_at_keyword == "import":
                target = sheet.parent / prelude.removeprefix("url(").strip("\"')")
                yield from rules_of(target, target.stat().st_mtime_ns)
            elif part.lower_at_keyword in NESTED and part.content is not None:
                inner = tinycss2.parse_rule_list(part.content, True, True)
                yield Group(f"@{part.at_keyword} {prelude}", tuple(read(inner, sheet, icons)))
            elif part.content is not None:
                text = f"@{part.at_keyword} {prelude}".strip() + f"{{{short(part.content)}}}"
                if ICON_FONT not in text and not prelude.startswith("fa-"):
                    yield Whole(text)


def ruled(part: object, ours: bool, icons: dict[str, str]) -> Iterator[Rule | Group]:
    """A rule; our own sheets are short already, and scripts make much of what they are for."""
    selectors = [[]]
    for token in part.prelude:
        if token.type == "literal" and token.value == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    named = tuple(
        (frozenset() if ours else frozenset(names(tokens)), tinycss2.serialize(tokens).strip())
        for tokens in selectors
    )
    body = re.sub(rf"font-family:[^;]*{ICON_FONT}[^;]*;?", "", short(part.content))
    if (icon := icon_in(body, icons)) is None:
        yield Rule(named, body)
    elif icon:
        yield Rule(named, f"{CONTENT.sub('', body)};{masked(icon, body)}")
        seen = Rule(named, "background:ButtonText;forced-color-adjust:none")
        yield Group("@media (forced-colors:active)", (seen,))


def names(tokens: list) -> Iterator[str]:
    """The classes, ids and tags that a selector asks for, not looking into brackets."""
    before = None
    for token in tokens:
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield token.value
        elif token.type == "ident" and before != ":":
            yield token.value.lower()
        before = token.value if token.type == "literal" else None


def short(content: Iterable) -> str:
    """Declarations on one line."""
    text = tinycss2.serialize([token for token in content if token.type != "comment"])
    return re.sub(r"\s*\n\s*", " ", text).strip().rstrip(";")


# --- icons -------------------------------------------------------------------------------------------

CONTENT = re.compile(
    r'(?:^|(?<=;))\s*content:\s*("(?:[^"\\]|\\.)*"|var\(--(pst-icon-[\w-]+)\))\s*(?:;|$)'
)


def icon_in(body: str, icons: dict[str, str]) -> str | None:
    """The code of the icon that a rule shows; "" for one that the theme names and nobody has drawn."""
    found = CONTENT.search(body)
    if not found:
        return None
    value, name = found[1], found[2]
    while name:
        value = icons.get(name, "")
        name = (re.findall(r"^\s*var\(--(pst-icon-[\w-]+)\)", value) or [None])[0]
    letters = value.strip().strip('"')
    if re.fullmatch(r"\\[0-9a-f]{3,4}", letters):
        letters = chr(int(letters[1:], 16))
    code = f"{ord(letters):x}" if len(letters) == 1 else ""
    if found[2] or "\ue000" <= letters <= "\uf8ff":
        return code if code in outlines() else ""
    return None


def masked(icon: str, body: str) -> str:
    """A box in the shape of an icon, of the size of a letter where the rule says nothing else."""
    width, height, path = outlines()[icon]
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'><path d='{path}'/></svg>"
    size = (
        "" if "width:" in body else f"display:inline-block;height:1em;width:{width / height:.3g}em;"
    )
    picture = quote(svg, safe=" =:/'")
    return (
        f'content:"";{size}background:currentcolor;print-color-adjust:exact;'
        f'mask:url("data:image/svg+xml,{picture}") center/contain no-repeat'
    )


@cache
def outlines() -> dict[str, tuple[int, int, str]]:
    """Width, height and outline of every icon of the theme, by its code."""
    found = OUTLINE.findall(OUTLINES.read_text("utf-8"))
    return {code: (int(width), int(height), path) for width, height, code, path in found}
