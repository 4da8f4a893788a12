"""A small interactive figure that several tests look at."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from limetutor.interactive import explorer
from limetutor.interactive.controls import Choice, Slider
from limetutor.plotting.style import color


def wave(fig, nu, kind="sine"):
    """A curve, a text and a bar; one more curve (another shape of frame) beyond ν = 2."""
    ax = fig.subplots()
    x = np.linspace(0, 6, 50)
    y = (np.sin if kind == "sine" else np.cos)(nu * x)
    ax.plot(x, y, color=color.surrogate)
    ax.bar([1], [nu], color=color.xi)
    if nu > 2:
        ax.plot(x, -y, color=color.truth)
    ax.text(3, 1, f"ν = {nu:.2f}")
    ax.set(xlim=(0, 6), ylim=(-1, 3))
    return f"At ν = {nu:.2f} the {kind} ends at {y[-1]:.2f}."


ALT = "A wave."
NU = Slider(0.1, 3, 0.53, stops=6, label="bandwidth ν")
KIND = Choice(["sine", "cosine"], label="curve")


def all_frames(alt=ALT):
    """The pictures at every combination of stops, their sentences, and the default's position."""
    values = [(nu, kind) for kind in KIND.values for nu in NU.values]
    drawn = [explorer._frame(wave, alt, (6.4, 3.6), {"nu": n, "kind": k}, {}) for n, k in values]
    pictures, sentences = zip(*drawn, strict=True)
    for picture in pictures:  # on a page what moves is in a group of its own
        content = list(picture)
        for element in content:
            picture.remove(element)
        ET.SubElement(picture, "g").extend(content)
    return list(pictures), list(sentences), values.index((NU.default, KIND.default))


def refused(kind, call, message):
    """A call raises one sentence."""
    with pytest.raises(kind, match=message) as caught:
        call()
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and len(text) < 200
