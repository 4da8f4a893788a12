"""Links to a figure with its controls at some stops: ``[show me](#fig-machine&nu=0.53&xi=0.432)``.

The name is that of the figure, on this page or on another; the player reads the rest. MyST takes such a
link for one to a heading and would complain that there is none.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def setup(app: Sphinx) -> None:
    """Register: mark the links before MyST looks for headings, resolve them when all pages are read."""
    app.add_transform(MarkStates)
    app.connect("doctree-resolved", resolve_states)


class MarkStates(SphinxTransform):
    """Take links to states out of MyST's hands."""

    default_priority = 870  # MyST resolves its own at 879

    def apply(self, **kwargs: Any) -> None:
        """Mark them."""
        for link in self.document.findall(nodes.reference):
            name, ampersand, controls = link.get("refuri", "").removeprefix("#").partition("&")
            if link.get("id_link") and ampersand:
                del link["id_link"]
                link["state"] = (name, controls)
                link["internal"] = True


def resolve_states(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each link the address of its figure's page."""
    labels = app.env.domaindata["std"]["anonlabels"]
    for link in doctree.findall(nodes.reference):
        if "state" not in link:
            continue
        name, controls = link["state"]
        if name not in labels:
            LOGGER.warning("no figure is called %r", name, location=link)
            continue
        page, ident = labels[name]
        there = "" if page == docname else app.builder.get_relative_uri(docname, page)
        link["refuri"] = f"{there}#{ident}&{controls}"
        del link["state"]
