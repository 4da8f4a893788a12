"""Write the minutes into the opening boxes: python tools/boxes.py.

Run it after a chapter or book/chapters.yml has changed (book/execute.py does).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))
from chapters import chapters, write_box

if __name__ == "__main__":
    for chapter in chapters().values():
        if write_box(chapter):
            print(chapter.name)
