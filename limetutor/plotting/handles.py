"""Handles in a picture: points that a reader can drag to set the value of a control."""

from typing import TypeVar

from matplotlib.artist import Artist

A = TypeVar("A", bound=Artist)

_MARK = "handle:"


def handle(artist: A, *controls: str) -> A:
    """Mark an artist as the handle of one control, or of two: the first goes across, the other up.

    On a page it can be dragged, by mouse, finger and keyboard, and the sliders follow.  The page knows
    where the artist stands at every stop, and takes the nearest.

    >>> from matplotlib.lines import Line2D
    >>> handle(Line2D([0.4], [1]), "xi", "nu").get_gid()
    'handle:xi nu'
    """
    if len(controls) not in (1, 2) or len(set(controls)) < len(controls):
        raise ValueError(f"A handle needs one or two different controls, got {controls!r}.")
    artist.set_gid(_MARK + " ".join(controls))
    return artist


def controls_of(gid: str | None) -> tuple[str, ...]:
    """The controls that a name given by :func:`handle` says, or none."""
    return tuple(gid.removeprefix(_MARK).split()) if gid and gid.startswith(_MARK) else ()
