"""How much there is to read: lines of folders, modules and classes, blank lines and docstrings too."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ("limetutor/core", "limetutor/inputs", "limetutor/results")
FOLDERS = {CORE[:1]: 2_500, CORE: 4_750, ("limetutor",): 41_900, ("tests",): 40_650}
MODULE, CLASS = 450, 220


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def too_long() -> dict[str, int]:
    """Folders, modules and classes above their bound, with their number of lines."""
    found = {}
    for folders, bound in FOLDERS.items():
        size = sum(lines(path) for folder in folders for path in (ROOT / folder).rglob("*.py"))
        found |= {" ".join(folders): size} if size > bound else {}
    for path in (ROOT / "limetutor").rglob("*.py"):
        name = str(path.relative_to(ROOT))
        found |= {name: lines(path)} if lines(path) > MODULE else {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.end_lineno - node.lineno >= CLASS:
                found[f"{name} {node.name}"] = node.end_lineno - node.lineno + 1
    return found


def test_folders_modules_and_classes_are_short():
    assert too_long() == {}
