"""Plant single mistakes and print those that no test notices: python tools/mutants.py COUNT SEED JOBS.

A mistake is one changed operator, comparison, number, branch or return in the package or in a script of
ours; messages, annotations, caches and styling are left alone.  The sample is drawn by the seed: each
folder gives its share, and at least four.  Each mistake is planted in a copy of the project and meets the
tests that ran its line when the map was made: its own module's, its folder's, then the others, the
quickest first, for ``SECONDS``.  A run that takes too long counts as noticed, as does a mistake
that was noticed by an earlier run with the same seed.  The map is made once; ``make clean`` removes it.
(cosmic-ray and mutmut choose no tests by coverage or draw no sample by seed, and read no JavaScript.)
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "_build" / "mutants"
SECONDS = 90.0  # of tests that one mistake meets, as long as they took when the map was made
FEWEST = 4  # mistakes of a folder
PAGES = "tests/fuzz/test_fuzz.py::test_calls_end_right_or_refused[pages]"
PLAYER = (
    "tests/interactive/test_player.py tests/interactive/test_moves.py tests/site/test_dragging.py"
)
SCRIPTS = {
    **{f"{name}.js": f"{PAGES} {PLAYER}" for name in ("frames", "figure", "handles", "page")},
    "answers.js": f"{PAGES} tests/site/test_tries.py tests/site/test_answers.py",
    "progress.js": f"{PAGES} tests/site/test_tries.py tests/site/test_answers.py",
    "book.js": "tests/site/test_reading.py tests/site/test_light.py",
    "slides.js": "tests/site/test_slides.py",
}
OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"), ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
SCRIPT_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "return": "return void",
}  # fmt: skip
TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`
    |(?<=[=(,:!&|?{};])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/[a-z]*)
    |(?P<name>[A-Za-z_$][\w$]*)|(?P<number>\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+)
    |(?P<sign>=>|[=!]==|[<>]=|&&|\|\||\+\+|--|\*\*|[-+]=|\?\?=?|\?\.|[-+*/<>!?:;,.(){}\[\]=&|%~^])""",
    re.VERBOSE | re.DOTALL,
)
# Arguments that say how something looks, is said or is kept in memory.
LOOKS = re.compile(
    "color|alpha|lw|ls|linewidth|fontsize|size|sizes|figsize|labelsize|ha|va|zorder|.*pad|xytext|s|marker|"
    ".*width|height|loc|rotation|dpi|stacklevel|maxsize|.*space|ratios|.*_ratios|clip_on|strict|top|bottom|"
    "seed|left|right|margin|indent|rasterized|shrink|aspect|capsize|ms|mew|pack|coords|frameon|ncols?|encoding"
)
DRAWS = re.compile(r"^(ax|fig|panel|legend)|(lin|geom|log)space|arange|grid|text|Axes")


@dataclass(frozen=True)
class Mutant:
    """Bytes `start` to `end` of a file become `new`."""

    file: str
    line: int
    start: int
    end: int
    new: str

    def planted(self, data: bytes) -> bytes:
        """The file with the mistake."""
        return data[: self.start] + self.new.encode() + data[self.end :]

    def __str__(self) -> str:
        data = (ROOT / self.file).read_bytes()
        lines = (data.splitlines()[self.line - 1], self.planted(data).splitlines()[self.line - 1])
        old, new = (line.decode().strip() for line in lines)
        return f"{self.file}:{self.line}: {old}  ->  {new}"


def in_python(file: str) -> Iterator[Mutant]:
    """Every mistake that a module can have."""
    data = (ROOT / file).read_bytes()
    begins = list(itertools.accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    drawing = re.match(r"limetutor/(plotting|course/figures)/", file) is not None

    def span(node: Any) -> tuple[int, int]:
        first, last = begins[node.lineno - 1], begins[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset

    def changed(start: int, end: int, new: str) -> Mutant:
        return Mutant(file, data.count(b"\n", 0, start) + 1, start, end, new)

    def operators(operands: list[Any], kinds: list[Any]) -> Iterator[Mutant]:
        """What stands between operands, which the tree does not place."""
        for left, right, kind in zip(operands, operands[1:], kinds, strict=False):
            start, (old, new) = span(left)[1], OPERATORS.get(type(kind), ("no such", ""))
            between = re.sub(rb"#.*", lambda m: b" " * len(m[0]), data[start : span(right)[0]])
            if match := re.search(re.escape(old).replace(r"\ ", r"\s+").encode(), between):
                yield changed(start + match.start(), start + match.end(), new)

    def mistakes(node: Any, looks: bool) -> Iterator[Mutant]:
        """Those of one node itself; `looks`: its numbers are styling."""
        match node:
            case ast.BinOp():
                yield from operators([node.left, node.right], [node.op])
            case ast.Compare():
                yield from operators([node.left, *node.comparators], node.ops)
            case ast.BoolOp():
                yield from operators(node.values, [node.op] * len(node.values))
            case ast.If() | ast.While() | ast.IfExp():
                start, end = span(node.test)
                yield changed(start, end, f"not ({data[start:end].decode()})")
            case ast.UnaryOp(op=ast.Not()):
                yield changed(span(node)[0], span(node)[0] + 3, "")
            case ast.Return(value=ast.expr()) if ast.unparse(node.value) != "None":
                yield changed(*span(node.value), "None")
            case ast.Constant(value=bool() | int() | float() as value) if not looks:
                new = {bool: not value, int: value + 1, float: 2 * value or 1.0}[type(value)]
                yield changed(*span(node), repr(new))

    def walk(node: Any, looks: bool) -> Iterator[Mutant]:
        """The mistakes of a node and of what is in it."""
        match node:
            case (
                ast.Raise()
                | ast.Assert()
                | ast.JoinedStr()
                | ast.BinOp(op=ast.BitOr(), right=ast.Constant(value=None))
            ):
                return  # messages and types
            case (
                ast.BinOp(left=ast.Constant(value=str()) | ast.List() | ast.JoinedStr())
                | ast.Return(value=ast.Constant(value=str()) | ast.JoinedStr())
                | ast.IfExp(body=ast.JoinedStr())
                | ast.IfExp(orelse=ast.JoinedStr())
            ):
                return  # messages
            case ast.keyword(arg=str()) if LOOKS.fullmatch(node.arg):
                return
            case ast.Call() if re.search(r"\b(warn|cast)$", ast.unparse(node.func)):
                return
            case ast.Call():
                looks = looks or (drawing and DRAWS.search(ast.unparse(node.func)) is not None)
            case ast.FunctionDef():
                looks = False
            case ast.Expr() | ast.Dict():  # a call whose result is not used draws
                looks = drawing
        yield from mistakes(node, looks)
        for field, value in ast.iter_fields(node):
            if field not in ("decorator_list", "annotation", "returns"):
                for child in value if isinstance(value, list) else [value]:
                    yield from walk(child, looks) if isinstance(child, ast.AST) else ()

    yield from walk(ast.parse(data), drawing)


def in_script(file: str) -> Iterator[Mutant]:
    """Every mistake that a script can have."""
    text = (ROOT / file).read_text(encoding="utf-8")
    tokens = [match for match in TOKEN.finditer(text) if match["skip"] is None]
    for k, token in enumerate(tokens):
        last, old = tokens[k - 1], token[0]
        near = text[max(token.start() - 2, 0) : token.start()] + text[token.end() : token.end() + 2]
        start = len(text[: token.start()].encode())
        end = start + len(old.encode())
        where = (file, text.count("\n", 0, token.start()) + 1)
        unary = old in "+-" and not (last["name"] or last["number"] or last[0] in (")", "]"))
        texts = old in ("+", "+=") and re.search("[\"'`]", near)
        if token["number"]:
            new = str(int(old) + 1) if re.fullmatch(r"\d+", old) else f"(2 * {old})"
            yield Mutant(*where, start, end, new)
        elif old in SCRIPT_OPERATORS and not unary and not texts and tokens[k + 1][0] != ";":
            yield Mutant(*where, start, end, SCRIPT_OPERATORS[old])
        elif old == "if":
            depths = itertools.accumulate((t[0] == "(") - (t[0] == ")") for t in tokens[k + 1 :])
            last = tokens[k + 1 + list(depths).index(0)]
            condition = text[token.end() : last.end()]
            yield Mutant(*where, end, end + len(condition.encode()), f" (!{condition})")


def drawn(count: int, seed: int) -> list[Mutant]:
    """A sample of all mistakes; each folder gives its share of it, and at least `FEWEST`."""
    folders: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted((ROOT / "limetutor").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        folders[file.split("/")[1] if file.count("/") > 1 else "core"] += in_python(file)
    for path in sorted([*ROOT.glob("limetutor/**/*.js"), *ROOT.glob("book/_assets/*.js")]):
        folders[path.parent.name] += in_script(path.relative_to(ROOT).as_posix())
    rng, every = random.Random(seed), sum(map(len, folders.values()))
    mixed = {name: rng.sample(found, len(found)) for name, found in sorted(folders.items())}
    parts = {name: max(FEWEST, count * len(found) // every) for name, found in mixed.items()}
    while sum(parts.values()) != count:
        name, step = rng.choice(sorted(parts)), 1 if sum(parts.values()) < count else -1
        parts[name] += step if parts[name] + step >= FEWEST else 0
    return [mutant for name, found in mixed.items() for mutant in found[: parts[name]]]


def tests_of(mutant: Mutant, ran: dict[str, Any]) -> list[str]:
    """The files of tests that run a line: of the module, of the folder, others; quickest first."""
    if mutant.file.endswith(".js"):
        return SCRIPTS[Path(mutant.file).name].split()
    stem, changed = Path(mutant.file).stem, (ROOT / mutant.file).stat().st_mtime
    parents = (Path("tests", *part.parts[1:]) for part in Path(mutant.file).parents)
    folder = next(f"{path}/" for path in parents if (ROOT / path).is_dir())

    def far(test: str) -> tuple[bool, bool, float]:
        own = test.startswith(folder) and test.endswith(f"_{stem}.py")
        return not own, not test.startswith(folder), ran[test]["took"]

    lines = {test: ran[test]["lines"].get(mutant.file, ()) for test in sorted(ran, key=far)}
    fresh = {test for test in lines if changed < ran[test]["made"]}
    meets = [t for t in lines if not far(t)[0] or (t in fresh and mutant.line in lines[t])]
    if len(meets) < 2:  # inside a statement of many lines, or run by another process
        meets += [t for t in lines if t not in meets and (lines[t] or not far(t)[1])]
    until = itertools.accumulate(ran[test]["took"] for test in meets)
    within = sum(seconds < SECONDS for seconds in until)
    return meets[: max(within, 1)]


def copy_of_the_project(name: str) -> Path:
    """Tracked files and the built site, which is made newer than its sources, whatever is planted there."""
    target = PLACE / name
    shutil.rmtree(target, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for file in filter(os.path.isfile, listed.stdout.decode().split("\0")):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target / file)
    if (ROOT / "_build" / "html").exists():
        shutil.copytree(ROOT / "_build" / "html", target / "_build" / "html")
        os.utime(target / "_build" / "html" / ".built", (2e9, 2e9))
    return target


def plant(tree: Path, file: str, data: bytes, stamp: int) -> None:
    """Write a file, and a script into the pages that have it."""
    path, site = tree / file, tree / "_build" / "html"
    old = path.read_text(encoding="utf-8")
    path.write_bytes(data)
    os.utime(path, (stamp, stamp))  # with an old one Python might take what it had compiled
    for page in [*site.glob("_static/limetutor.js"), *site.glob("slides/*.html")]:
        if path.suffix == ".js":
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace(old, data.decode()), encoding="utf-8")


class QuickFirst:
    """A plugin, against the order of tests/conftest.py, which is for many processes."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Put tests that are marked slow last."""
        yield
        items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def failing(tree: Path, tests: list[str], seconds: float, *options: str) -> list[str]:
    """Which of some tests fail, in a process that has the large packages already."""
    log = tree / "log.txt"
    log.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(tree)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(1, 2)
        sys.path.insert(0, str(tree))
        os.environ.update(PYTHONPATH=str(tree), PYTHONDONTWRITEBYTECODE="1")
        plain = ["-q", "-p", "no:nbval", "-p", "no:cacheprovider", *options]
        os._exit(pytest.main([*plain, *tests], plugins=[QuickFirst()]))
    end = time.monotonic() + seconds
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return ["takes too long"]
        time.sleep(0.05)
    found = re.findall(r"(?m)^(?:FAILED|ERROR) (\S+)", log.read_text(errors="replace"))
    return found or ([] if status[1] in (0, 5 << 8) else [f"ends with {status[1]}"])


def make_map() -> dict[str, Any]:
    """For each file of tests the lines it runs and the seconds it takes."""
    path = PLACE / "map.json"
    ran = json.loads(path.read_text()) if path.exists() else {}
    tree, out = copy_of_the_project("tree-0"), PLACE / "lines.json"
    for file in sorted(tree.glob("tests/**/test_*.py")):
        test, start = file.relative_to(tree).as_posix(), time.time()
        if test in ran or "pytest.mark.site" in file.read_text(encoding="utf-8"):
            continue
        command = (
            f"-m slipcover --source limetutor --json --out {out} -m pytest -q -p no:nbval {test}"
        )
        environment = os.environ | {"PYTHONPATH": str(tree)}
        subprocess.run([sys.executable, *command.split()], cwd=tree, env=environment, check=False)
        files = json.loads(out.read_text())["files"]
        lines = {name: found["executed_lines"] for name, found in files.items()}
        ran[test] = {"took": time.time() - start, "made": start, "lines": lines}
        path.write_text(json.dumps(ran))
    return ran


def meet(mutants: list[Mutant], ran: dict[str, Any], kept: Path) -> None:
    """Note for each mistake which test notices it; a test that fails without it notices nothing."""
    tree, stamps = copy_of_the_project(kept.stem), itertools.count(1_000_000_000)
    noticed = json.loads(kept.read_text()) if kept.exists() else {}
    for mutant in mutants:
        if noticed.get(str(mutant)):
            continue
        data = (ROOT / mutant.file).read_bytes()
        plant(tree, mutant.file, mutant.planted(data), next(stamps))
        tests = tests_of(mutant, ran)
        runs = (failing(tree, [t], 600 + 5 * ran.get(t, {"took": 0})["took"], "-x") for t in tests)
        noticed[str(mutant)] = next(filter(None, runs), [""])[0]
        plant(tree, mutant.file, data, next(stamps))
        kept.write_text(json.dumps(noticed, indent=1))
    by = sorted({test for test in noticed.values() if "::" in test})
    wrong = failing(tree, by, 3600) if by else []
    noticed = {mutant: "" if test in wrong else test for mutant, test in noticed.items()}
    kept.write_text(json.dumps(noticed, indent=1))


def main(count: int, seed: int, jobs: int = 2) -> int:
    os.chdir(ROOT)
    PLACE.mkdir(parents=True, exist_ok=True)
    ran, sample = make_map(), drawn(count, seed)
    for name in ("lime.lime_tabular", "matplotlib.pyplot", "mpmath", "sklearn.ensemble"):
        import_module(name)
    files = [PLACE / f"noticed-{seed}-{k}.json" for k in range(jobs)]
    for k, kept in enumerate(files):
        if not os.fork():
            meet(sample[k::jobs], ran, kept)
            os._exit(0)
    for _ in files:
        os.wait()
    noticed: dict[str, str] = {}
    for kept in files:
        noticed |= json.loads(kept.read_text())
    survivors = [str(mutant) for mutant in sample if not noticed[str(mutant)]]
    print(*survivors, f"{len(survivors)} of {count} survive (seed {seed})", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
