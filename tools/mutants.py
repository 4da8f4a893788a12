"""Plant single mistakes and print those that no test notices: python tools/mutants.py COUNT SEED JOBS.

A mistake is one changed operator, comparison, number, branch or return in the package or in a script of
ours; messages, annotations, caches and styling are left alone.  The sample is drawn by the seed: each
folder gives its share, and at least four.  Each mistake is planted in a copy of the project and meets
single tests that run its line: of its module, then, if they pass, of its folder, then all others, of each
the quickest first for ``SECONDS``.  A run that takes too long counts as noticed, as does a mistake that
was noticed by an earlier run with the same seed.  Which lines a test runs is found once; ``make
clean`` forgets it.  (cosmic-ray and mutmut choose no tests by coverage or draw no sample by seed,
and read no JavaScript.)
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "_build" / "mutants"
SECONDS = 60.0  # of tests of its module, of its folder and of others that a mistake meets
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
    "seed|random_state|repr|left|right|margin|indent|rasterized|shrink|aspect|capsize|ms|mew|pack|coords|frameon|ncols?|encoding"
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
            case ast.Call() if re.search(
                r"\b(warn|cast|new_figure|subplots_adjust)$", ast.unparse(node.func)
            ):
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


def statement(mutant: Mutant) -> tuple[set[int], list[str] | None]:
    """The lines of the statement with a mistake; the names that it binds when its module is imported."""
    lines, names = {mutant.line}, None

    def look(node: ast.AST, imported: bool) -> None:
        """The innermost statement is found last."""
        nonlocal lines, names
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
                continue
            body = getattr(part, "body", None)  # of a compound statement its head alone
            last = body[0].lineno - 1 if body else part.end_lineno
            first = getattr(part, "lineno", last)
            if first <= mutant.line <= max(first, last):
                lines = set(range(first, max(first, last) + 1))
                targets = getattr(part, "targets", [getattr(part, "target", None)])
                found = [name for target in targets if target for name in ast.walk(target)]
                names = [name.id for name in found if isinstance(name, ast.Name)]
                if isinstance(part, ast.FunctionDef):  # a default
                    lines, names = set(range(first, part.end_lineno + 1)), [part.name]
                names = names if imported else None
            look(part, imported and not isinstance(part, ast.FunctionDef))

    look(ast.parse((ROOT / mutant.file).read_bytes()), True)
    return lines, names


def users(names: list[str]) -> dict[str, set[int]]:
    """The lines of the package that have one of some names."""
    word = re.compile(rf"\b({'|'.join(names)})\b" if names else "(?!)")
    return {
        path.relative_to(ROOT).as_posix(): {
            k for k, line in enumerate(lines, 1) if word.search(line)
        }
        for path in (ROOT / "limetutor").rglob("*.py")
        if (lines := path.read_text(encoding="utf-8").splitlines())
    }


@dataclass
class Ran:
    """When a file of tests was run, and for each of its tests the seconds and the lines by file."""

    made: float
    took: dict[str, float]
    lines: dict[str, dict[str, list[int]]]

    def running(self, where: dict[str, set[int]], since: float = 0.0) -> set[str]:
        """The tests that run one of some lines of sources that had changed before."""
        return {
            test
            for test, files in self.lines.items()
            if self.made > since
            and any(not where[file].isdisjoint(files[file]) for file in where.keys() & files.keys())
        }


def nearness(test: str, file: str) -> int:
    """0: a file of tests is that of a module; 1: of its folder; 2: of another one."""
    parents = (Path("tests", *part.parts[1:]) for part in Path(file).parents)
    folder = next(f"{path}/" for path in parents if (ROOT / path).is_dir())
    if not test.startswith(folder):
        return 2
    return 0 if test.endswith(f"_{Path(file).stem}.py") else 1


def tests_of(mutant: Mutant, ran: list[Ran]) -> list[str]:
    """The tests of some files that a mistake meets: as many as take `SECONDS`, the quickest first.

    Those that run its line or else its statement; where that is run when the module is imported (a
    number of a table, a default), also those that run a line with a name that it binds; else those
    that run any line of its module.  Then the others of the same files, which may see what an earlier test
    left in a cache or what another process ran.
    """
    took = {test: seconds for one in ran for test, seconds in one.took.items()}
    lines, names = statement(mutant)
    changed = (ROOT / mutant.file).stat().st_mtime
    end = (ROOT / mutant.file).read_bytes().count(b"\n") + 1

    def running(where: dict[str, set[int]], since: float = changed) -> set[str]:
        return set().union(*(one.running(where, since) for one in ran))

    exact = running({mutant.file: {mutant.line}})
    direct = exact if exact and names is None else running({mutant.file: lines})
    direct |= running(users(names)) if names else set()
    direct = direct or running({mutant.file: set(range(1, end + 1))}, 0.0)
    files = {test.partition("::")[0] for test in direct}
    near = {
        t
        for t in took
        if t.partition("::")[0] in files or nearness(t.partition("::")[0], mutant.file) == 0
    }
    meets = sorted(direct, key=lambda test: (test not in exact, took[test]))
    meets += sorted(near - direct, key=took.__getitem__)
    until = itertools.accumulate(took[test] for test in meets)
    return meets[: max(sum(seconds < SECONDS for seconds in until), 1)]


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


class Chosen:
    """A plugin: some of the tests, in their order, against that of tests/conftest.py."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: k for k, test in enumerate(tests)}

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Leave out the others, of what is left when the rest of pytest has ordered it."""
        yield
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place),
            key=lambda item: self.place[item.nodeid],
        )


class Lines:
    """A plugin that notes in a file which lines each test runs, and for how long it does."""

    def __init__(self, tree: Path, out: Path) -> None:
        self.out, self.made, self.took = out, time.time(), {}
        self.coverage = coverage.Coverage(data_file=None, source=[str(tree / "limetutor")])
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Lines are those of this test."""
        start = sum(os.times()[:4])  # of the processor, as others may use it too
        self.coverage.switch_context(item.nodeid)
        result = yield
        self.coverage.switch_context("")
        self.took[item.nodeid] = sum(os.times()[:4]) - start
        return result

    def pytest_sessionfinish(self) -> None:
        """Write them."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[str, dict[str, list[int]]] = {test: {} for test in self.took}
        for file in data.measured_files():
            for line, tests in data.contexts_by_lineno(file).items():
                for test in filter(None, tests):
                    lines[test].setdefault(os.path.relpath(file), []).append(line)
        found = {"made": self.made, "took": self.took, "lines": lines}
        self.out.write_text(json.dumps(found))


def in_a_process(tree: Path, seconds: float, arguments: list[str], plugin: Any) -> str:
    """What pytest prints in a process of its own, which has the large packages already.

    It may take so many seconds of the processor: others may use it too.
    """
    log = tree / "log.txt"
    log.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 9))
        os.chdir(tree)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(1, 2)
        sys.path.insert(0, str(tree))
        os.environ.update(PYTHONPATH=str(tree), PYTHONDONTWRITEBYTECODE="1")
        plain = ["-q", "-p", "no:nbval", "-p", "no:cacheprovider", "-o", "timeout=0"]
        status = pytest.main([*plain, *arguments], plugins=[plugin()] if plugin else [])
        print(f"ends with {int(status)}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    return log.read_text(errors="replace")


def failing(tree: Path, tests: list[str], seconds: float, *options: str) -> list[str]:
    """Which of some tests fail."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    chosen = (lambda: Chosen(tests)) if all("::" in test for test in tests) else None
    said = in_a_process(tree, seconds, [*options, *(files if chosen else tests)], chosen)
    found = re.findall(r"(?m)^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said)
    return found or ([] if re.search(r"(?m)^ends with [05]$", said) else ["takes too long"])


def mapped(tree: Path, file: str) -> Ran:
    """What the tests of a file run, as found by running them when somebody asks for the first time."""
    out = PLACE / "map" / file.replace("/", "-").replace(".py", ".json")
    if not out.exists() or out.stat().st_mtime < (ROOT / file).stat().st_mtime:
        in_a_process(tree, 3600, [file], lambda: Lines(tree, out))
        out.exists() or out.write_text(json.dumps({"made": 0.0, "took": {}, "lines": {}}))
    return Ran(**json.loads(out.read_text()))


def meet(mutants: list[Mutant], kept: Path) -> None:
    """Note for each mistake which test notices it, the nearest tests first, so that few have to be mapped.

    A test that fails without the mistake notices nothing.
    """
    tree, stamps = copy_of_the_project(kept.stem), itertools.count(1_000_000_000)
    noticed = json.loads(kept.read_text()) if kept.exists() else {}
    paths = [
        path
        for path in sorted(ROOT.glob("tests/**/test_*.py"))
        if "pytest.mark.site" not in path.read_text(encoding="utf-8")
    ]
    files = [path.relative_to(ROOT).as_posix() for path in paths]
    ran = cache(lambda file: mapped(tree, file))
    for near, mutant in itertools.product(range(3), mutants):
        if noticed.get(str(mutant)):
            continue
        if mutant.file.endswith(".js"):
            meets = [[test] for test in SCRIPTS[Path(mutant.file).name].split() if near == 1]
        else:
            found = [ran(file) for file in files if nearness(file, mutant.file) == near]
            meets = [tests_of(mutant, found)]
        data = (ROOT / mutant.file).read_bytes()
        plant(tree, mutant.file, mutant.planted(data), next(stamps))
        said = (failing(tree, tests, 10 * SECONDS, "-x") for tests in meets if tests)
        noticed[str(mutant)] = next(filter(None, said), [""])[0]
        plant(tree, mutant.file, data, next(stamps))
        kept.write_text(json.dumps(noticed, indent=1))
    by = sorted({test for test in noticed.values() if "::" in test})
    wrong = failing(tree, by, 3600) if by else []
    noticed = {mutant: "" if test in wrong else test for mutant, test in noticed.items()}
    kept.write_text(json.dumps(noticed, indent=1))


def main(count: int, seed: int, jobs: int = 2) -> int:
    os.chdir(ROOT)
    (PLACE / "map").mkdir(parents=True, exist_ok=True)
    sample = drawn(count, seed)
    for name in ("lime.lime_tabular", "matplotlib.pyplot", "mpmath", "sklearn.ensemble"):
        import_module(name)
    files = [PLACE / f"noticed-{seed}-{k}.json" for k in range(jobs)]
    for k, kept in enumerate(files):
        if not os.fork():
            meet(sample[k::jobs], kept)
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
