"""Appendices are numbered A, B, …, and what is in them A.1, A.2, …, so that nothing there looks like a chapter's.

Sphinx numbers the parts of a book with whole numbers only and counts on from the chapters. Once it has, the
first number of every appendix is turned into a letter: in the titles and the table of contents, and in the
numbers of its figures, exercises and statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment

CAPTION = "Appendices"  # of the part, in _toc.yml


def number_by_letters(app: Any, env: BuildEnvironment) -> list[str]:
    """Replace the first number of each appendix by its letter; say which pages that changes."""
    pages = [name for name in appendices(env) if env.toc_secnumbers.get(name)]
    for letter, name in zip(ascii_uppercase, pages, strict=False):
        numbers = env.toc_secnumbers[name]
        env.toc_secnumbers[name] = {at: lettered(numbers[at], letter) for at in numbers}
        for node in (env.titles[name], *env.tocs[name].findall(nodes.reference)):
            if node.get("secnumber"):
                node["secnumber"] = list(lettered(node["secnumber"], letter))
        for figures in env.toc_fignumbers.get(name, {}).values():
            figures.update({at: lettered(number, letter) for at, number in figures.items()})
    return pages


def appendices(env: BuildEnvironment) -> Iterator[str]:
    """The pages of the part with this caption."""
    for toctree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree):
        if toctree.get("caption") == CAPTION:
            yield from (name for _, name in toctree["entries"])


def lettered(number: Any, letter: str) -> tuple[Any, ...]:
    """(15, 2) as ("A", 2)."""
    return (letter, *number[1:]) if number else number
