"""A test for every labelled statement of the book, and a test of each such test.

A theorem, lemma, proposition, corollary or labelled remark is held against something independent
of its proof (quadrature, brute force, an exact law, mpmath, Monte Carlo with its standard error),
in ``tests/prose/statements/test_<chapter>.py``::

    @statement("thm-critical-bandwidth", formulas=("V",), assumptions=("inner box",))
    def test_critical_bandwidth(case, rng):
        xi, lo, hi = inner_box(rng) if case.keeps("inner box") else outer_box(rng)
        V = case.formula((2 * xi - lo - hi) / (lo + hi), "V")
        close(V, zero_of_the_coefficient_by_brute_force(xi, lo, hi))

- ``rng`` is a numpy Generator. The function draws one random setting from it and asserts; the
  harness calls it for several settings (``settings=5``), with seeds that nobody chose.
- Every number that the statement's printed formula gives passes through ``case.formula(value,
  name)``. Write the formula as printed. With one formula the name may be left out.
- ``case.keeps(name)`` says whether a declared assumption of the statement holds in this run. Where
  it does not, the function draws a setting that violates it, and only it.

From this the harness makes one plain test, which must pass in every setting, and mutants, of which
each must FAIL an assertion in at least one setting:

- for each formula: its values negated; its values times 1.01;
- for each assumption: the setting without it.

So a comparison must see one per cent: use quadrature (``grids.py``) rather than Monte Carlo where
you can. An inequality compares its bound, as printed, with an independent evaluation of the same
bound, and then the two sides. An "if and only if" tests both directions. A test that leaves a
declared formula or assumption unused fails.

``tests/prose/statements/test_every_statement.py`` reads book/ and demands a test for each statement and a
statement for each test. Definitions, algorithms, proofs and examples need none.
"""

import ast
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
NEEDS_NO_TEST = {"definition", "algorithm", "proof", "example", "axiom", "assumption", "ref"}
BLOCK = re.compile(
    r"(?m)^(?P<fence>`{3,}|:{3,})\{prf:(?P<kind>\w+)\}[^\n]*\n"
    r"(?:[ \t]*\n)*(?P<options>(?::[\w-]+:[^\n]*\n)*)"
)


@dataclass
class Case:
    """One run of a check: plain, with one formula changed, or with one assumption dropped."""

    formulas: tuple[str, ...]
    assumptions: tuple[str, ...]
    changed: str = ""
    factor: float = 1.0
    dropped: str = ""
    used: set[str] = field(default_factory=set)

    def formula(self, value, name: str | None = None):
        """The value, unless this run is the mutant of the formula ``name``."""
        name = self.formulas[0] if name is None and len(self.formulas) == 1 else name
        if name not in self.formulas:
            raise ValueError(f"declare formula {name!r}: @statement(..., formulas=(...)).")
        self.used.add(name)
        return np.asarray(value) * self.factor if name == self.changed else value

    def keeps(self, assumption: str) -> bool:
        """Whether the assumption holds in this run."""
        if assumption not in self.assumptions:
            raise ValueError(f"declare assumption {assumption!r}: @statement(..., assumptions=…).")
        self.used.add(assumption)
        return assumption != self.dropped


Check = Callable[[Case, np.random.Generator], None]


def mutants(formulas: tuple[str, ...], assumptions: tuple[str, ...]) -> dict[str, dict]:
    """How each run differs from the plain one, by its name."""
    runs: dict[str, dict] = {"plain": {}}
    for name in formulas:
        runs[f"minus {name}"] = {"changed": name, "factor": -1.0}
        runs[f"1.01 {name}"] = {"changed": name, "factor": 1.01}
    return runs | {f"without {name}": {"dropped": name} for name in assumptions}


def run_check(check: Check, label: str, case: Case, settings: int) -> None:
    """The plain case passes in every setting; a mutant fails an assertion in one at least."""
    plain = not (case.changed or case.dropped)
    for k in range(settings):
        rng = np.random.default_rng([zlib.crc32(label.encode()), k])
        try:
            check(case, rng)
        except AssertionError:
            if plain:
                raise
            return
    unused = {*case.formulas, *case.assumptions} - case.used
    assert not unused, f"the test of {label} never uses {sorted(unused)}"
    what = f"without {case.dropped!r}" if case.dropped else f"{case.changed} times {case.factor:g}"
    assert plain, f"the test of {label} does not notice: {what}"


def statement(
    label: str,
    *,
    formulas: tuple[str, ...] = ("formula",),
    assumptions: tuple[str, ...] = (),
    settings: int = 5,
) -> Callable[[Check], Callable]:
    """Register the decorated check as the test of the statement ``label``; see the top."""
    runs = mutants(formulas, assumptions)

    def register(check: Check) -> Callable:
        @pytest.mark.parametrize("run", list(runs))
        def test(run: str) -> None:
            run_check(check, label, Case(formulas, assumptions, **runs[run]), settings)

        wraps(check)(test)
        del test.__wrapped__  # pytest would read the check's own arguments as fixtures
        return test

    return register


def close(value, expected, rel: float = 1e-8, abs: float = 0.0) -> None:  # noqa: A002
    """Assert that two arrays agree; ``rel`` and ``abs`` as in numpy's allclose."""
    np.testing.assert_allclose(value, expected, rtol=rel, atol=abs)


def within(value, estimate, stderr, times: float = 5.0) -> None:
    """Assert that a value lies within so many standard errors of a Monte Carlo estimate."""
    distance = np.abs(np.asarray(value) - estimate) / stderr
    assert np.all(distance < times), f"{np.max(distance):.1f} standard errors away"


class Statement(NamedTuple):
    """A statement as it stands on a page; ``label`` is empty where it has none."""

    page: str
    kind: str
    label: str


def markdown_of(path: Path) -> str:
    """The text of a page or of the markdown cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def statements_in(text: str, page: str = "") -> Iterator[Statement]:
    """The statements of a text that need a test."""
    for found in BLOCK.finditer(text):
        label = re.search(r"(?m)^:label:[ \t]*(\S+)", found["options"])
        optional = found["kind"] == "remark" and not label
        if found["kind"] not in NEEDS_NO_TEST and not optional:
            yield Statement(page, found["kind"], label[1] if label else "")


def statements_of_the_book(book: Path = ROOT / "book") -> list[Statement]:
    """All statements of all pages."""
    pages = sorted([*book.glob("*.ipynb"), *book.glob("*.md")])
    return [s for page in pages for s in statements_in(markdown_of(page), page.name)]


def labels_with_a_test(folder: Path = ROOT / "tests" / "prose" / "statements") -> list[str]:
    """The labels in ``@statement("label", ...)`` over the folder's test functions, run or not."""
    labels = []
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                labels += [
                    ast.literal_eval(call.args[0])
                    for call in node.decorator_list
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "statement"
                ]
    return labels
