"""Draw the picture on top of the README: python tools/cover.py."""

from pathlib import Path

import matplotlib as mpl

from limetutor.course.figures.welcome import cover

TARGET = Path(__file__).resolve().parents[1] / "docs" / "reasons.svg"

if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    # letters as shapes, so that the picture is the same in every browser; no date, so that it is
    # the same on every day
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "limetutor"}):
        cover().savefig(TARGET, facecolor="white", metadata={"Date": None})
