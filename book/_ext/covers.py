"""The part that a chapter belongs to, over its title, and a picture where a part begins."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "book" / "_assets" / "covers"


@cache
def parts() -> dict[str, tuple[str, str]]:
    """Over each chapter: the name of its part, and the picture of the part over the first."""
    over = {}
    listed = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    for number, part in enumerate(listed, 1):
        picture = PICTURES / f"{number}.svg"
        for place, chapter in enumerate(part["chapters"]):
            shown = picture.read_text("utf-8") if not place and picture.exists() else ""
            over[chapter["file"]] = part["caption"], shown
    return over


def put(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write it before the first heading of a page."""
    if page in parts() and "body" in context:
        name, picture = parts()[page]
        over = f'{picture}<p class="lt-part">{escape(name.replace(": ", " · "))}</p>\n'
        context["body"] = re.sub(r"<h1\b", lambda h1: over + h1[0], context["body"], count=1)
