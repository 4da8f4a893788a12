"""What `import limetutor` costs, and that the examples in its docstrings are true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest
from browser import ROOT

import limetutor

ROOMS = sorted(
    module.name
    for module in pkgutil.walk_packages(limetutor.__path__, "limetutor.")
    if not module.ispkg
)


def in_a_fresh_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    ).stdout


def test_importing_pulls_in_numpy_and_scipy_only():
    loaded = in_a_fresh_python("import sys, limetutor; print(*sys.modules)").split()
    assert "numpy" in loaded
    for name in ("matplotlib", "sklearn", "ipywidgets", "pandas", "IPython", "lime", "mpmath"):
        assert name not in loaded


def test_the_theory_runs_without_the_heavy_packages():
    code = (
        "import sys, limetutor as lt\n"
        "lt.limit(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), nu=1.0).coef\n"
        "lt.explain(lt.Linear([1.0]), [0.3], lt.Gaussian(), nu=1.0, n=100, seed=0).coef\n"
        "print(*sys.modules)"
    )
    loaded = in_a_fresh_python(code).split()
    for name in ("matplotlib", "sklearn", "ipywidgets", "pandas", "IPython"):
        assert name not in loaded


def test_importing_takes_less_than_half_a_second():
    code = (
        "import time; start = time.process_time(); import limetutor; "
        "print(time.process_time() - start)"
    )
    # Processor time, the best of five: on a busy machine the clock on the wall counts the others.
    assert min(float(in_a_fresh_python(code)) for _ in range(5)) < 0.5


@pytest.mark.parametrize("name", ROOMS)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_in_docstrings():
    finder = doctest.DocTestFinder()
    found = [t for name in ROOMS for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(found) >= 4


def test_every_name_can_be_completed():
    assert set(limetutor.__all__) <= set(dir(limetutor))


def test_every_room_has_a_test_file_that_its_name_says():
    """limetutor/auditing/case.py is tested in tests/core/test_auditing.py or test_case.py."""
    files = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for name in ROOMS:
        *_, package, module = name.split(".")
        wanted = {f"test_{module}", f"test_{package}", f"test_{package}_{module}"}
        assert wanted & files, f"no test file for {name}"


def test_no_function_shadows_a_module():
    modules = {name.rpartition(".")[2] for name in ROOMS if name.count(".") == 1}
    packages = {m.name for m in pkgutil.iter_modules(limetutor.__path__)}
    assert not (modules | packages) & set(limetutor.__all__)
