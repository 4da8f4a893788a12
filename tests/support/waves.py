"""A small interactive figure that several tests look at."""

import numpy as np

from limetutor.interactive import explorer, frames
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


def all_frames(prefix="p"):
    """The pictures at every combination of stops, and the position of the default."""
    values = [(nu, kind) for kind in KIND.values for nu in NU.values]
    with_words = [explorer._frame(wave, (6.4, 3.6), {"nu": n, "kind": k}) for n, k in values]
    start = values.index((NU.default, KIND.default))
    return [frames.clean(svg, prefix, ALT) for svg, _ in with_words], start
