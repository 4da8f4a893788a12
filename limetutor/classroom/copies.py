"""What a teacher may want to look at: notebooks filled in for another id, and answers that are alike.

Code is compared by its structure: comments, layout and the names that a student chose do not count. What the model
answer has too, or short code that many have, says little. A line is a reason to look, and no more; students do not see it.
"""

import ast
import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

from .names import statements
from .sheets import csv_line

COLUMNS = ("what", "assignment", "question", "students", "likeness", "size", "remark")
KINDS = ("the id of another", "the numbers of another", "the same", "alike")
VARIABLE = re.compile(r"(?<=:)#\d+")
KNOWN = {*dir(builtins), "np", "numpy", "scipy", "pd", "axis"}  # names that are not the student's
PRINTS = f"{__name__}:prints"
LEAST = {"code": 25, "text": 30}  # nodes or words: smaller answers are alike by themselves
TELLING = {"code": 45, "text": 15}  # so long, the same is no accident, however many have it
NEAR = {"code": 0.7, "text": 0.5}  # shared pieces of all that either has
FEW = 0.1  # of the class: what more than that have in common says nothing, if it is short code
MAX_PIECES = 2000
SECONDS = 30, 10  # on the clock, of the processor


def prints(folder: str, name: str) -> dict[str, list[Any]]:
    """The structure of each answer: its kind, a digest, its size, and its pieces as numbers.

    For a process of its own: it reads what was handed in.
    """
    from .notebooks import UnreadableNotebookError, is_blank, submission

    try:
        found = submission(Path(folder, f"{name}.ipynb"))
    except (UnreadableNotebookError, OSError):
        return {}
    code = {k.removesuffix("-answer"): print_of("code", t) for k, t in found.answers.items()}
    texts = {k: print_of("text", t) for k, t in found.texts.items() if not is_blank(t)}
    least = {kind: min(LEAST[kind], TELLING[kind]) for kind in LEAST}
    return {key: one for key, one in (code | texts).items() if one[2] >= least[one[0]]}


def print_of(kind: str, text: str) -> list[Any]:
    """The structure of one answer; in its pieces, no name of a variable differs from another."""
    tokens = list(_tokens(text)) if kind == "code" else []
    tokens = tokens or re.findall(r"\w+", text.casefold())  # also of code that cannot be read
    width = 5 if kind == "code" else 3
    plain = [VARIABLE.sub("", token) for token in tokens]
    pieces = {
        _number(" ".join(plain[k : k + width])) for k in range(max(1, len(plain) - width + 1))
    }
    return [kind, _number(" ".join(tokens)), len(tokens), sorted(pieces)[:MAX_PIECES]]


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode(errors="surrogatepass")).digest()[:6])


def _tokens(code: str) -> Iterator[str]:
    """Code as the kinds of its nodes, with attributes and constants; own names by the order in which they come."""
    body = statements(code)
    own: dict[str, str] = {}
    for node in (node for statement in body for node in _nodes(statement)):
        names = (getattr(node, kind, None) for kind in ("id", "arg", "name"))
        told = next(filter(None, names), None)
        if isinstance(told, str):
            told = told if told in KNOWN else own.setdefault(told, f"#{len(own)}")
        elif isinstance(node, ast.Attribute):
            told = node.attr
        elif isinstance(node, ast.Constant):
            told = repr(node.value)[:50]
        yield f"{type(node).__name__}:{told or ''}"


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of code as they are written, without texts that stand alone, such as docstrings."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        if not isinstance(node, ast.expr_context):
            yield node
        for child in ast.iter_child_nodes(node):
            yield from _nodes(child)


def report(folders: Sequence[Path], results: Sequence[Any], names: Sequence[str]) -> str:
    """The lines to look at, as CSV."""
    lines = [*_other_ids(results), *(line for name in names for line in _alike(folders, name))]
    lines.sort(key=_order)
    return "".join(csv_line(line) for line in (COLUMNS, *lines))


def _order(line: Sequence[str]) -> tuple[Any, ...]:
    """By kind, then what is most alike and longest first."""
    likeness, size = float(line[4] or 1), int(line[5] or 0)
    return KINDS.index(line[0]), -likeness, -size, *line[1:4]


def _other_ids(results: Sequence[Any]) -> Iterator[list[str]]:
    from .questions import identity

    known = {identity(result.student): result.student for result in results}
    for result in results:
        if typed := result.typed:
            owner = known.get(identity(typed))
            remark = f"the id of {owner}" if owner else "an id of nobody in the class"
            yield [KINDS[0], result.assignment, "", result.student, "", "", f"{typed}: {remark}"]
        for name, mark in result.marks.items():
            if mark.fits:
                fits = f"fits the numbers of {', '.join(mark.fits[:5])}"
                assignment, question = name.split("/")
                yield [KINDS[1], assignment, question, result.student, "", "", fits]


def _alike(folders: Sequence[Path], name: str) -> Iterator[list[str]]:
    """Answers of one assignment that are the same, or nearly, but for few students."""
    from .bounded import called_for_each
    from .notebooks import source

    calls = ((str(folder), name) for folder in folders)
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for folder, told in zip(folders, called_for_each(PRINTS, calls, *SECONDS), strict=True):
        for key, (kind, *rest, pieces) in {} if isinstance(told, Exception) else told.items():
            found[key][folder.name] = kind, *rest, frozenset(pieces)
    model = model_prints(source(name))
    most = max(2.0, FEW * len(folders))
    for key, answers in found.items():
        by_digest: dict[int, list[str]] = defaultdict(list)
        for student, (_, digest, _, _) in answers.items():
            by_digest[digest].append(student)
        first = []
        for group in by_digest.values():
            kind, digest, size, _ = answers[group[0]]
            remark = "the model answer" if digest == model.get(key) else ""
            counts = len(group) <= most or size >= TELLING[kind]
            if counts and size >= LEAST[kind]:
                first.append(group[0])
            if remark or (counts and len(group) > 1):
                yield [KINDS[2], name, key, " & ".join(group), "1.00", str(size), remark]
        pieces = {student: answers[student][3] for student in first}
        pairs = ((a, b, _likeness(pieces[a], pieces[b])) for a, b in combinations(first, 2))
        near = [pair for pair in pairs if pair[2] >= NEAR[answers[pair[0]][0]]]
        partners = Counter(student for pair in near for student in pair[:2])
        for one, other, shared in near:
            if max(partners[one], partners[other]) <= most or answers[one][0] == "text":
                size = str(answers[one][2])
                yield [KINDS[3], name, key, f"{one} & {other}", f"{shared:.2f}", size, ""]


def _likeness(a: frozenset[int], b: frozenset[int]) -> float:
    """Shared pieces of all that either has."""
    if min(len(a), len(b)) < 0.5 * max(len(a), len(b)):
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def model_prints(path: Path) -> dict[str, int]:
    """The digests of the model answers."""
    from .notebooks import cells, opened
    from .release import SOLUTION_MARK

    own = {c.name: c for c in cells(opened(path)) if c.name and c.role == "answer"}
    texts = {key: ("text" if c.kind == "markdown" else "code", c.text) for key, c in own.items()}
    plain = {key: (kind, SOLUTION_MARK.sub("", text)) for key, (kind, text) in texts.items()}
    return {key.removesuffix("-answer"): print_of(*told)[1] for key, told in plain.items()}
