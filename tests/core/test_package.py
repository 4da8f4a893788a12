"""What `import limetutor` costs, and that the examples in its docstrings are true."""

import doctest
import importlib
import subprocess
import sys

import pytest

CORE = (
    "limetutor",
    "limetutor.arguments",
    "limetutor.laws",
    "limetutor.worlds",
    "limetutor.models",
    "limetutor.kernels",
    "limetutor.theory",
    "limetutor.closed_forms",
    "limetutor.covariance",
    "limetutor.normal_limit",
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


@pytest.mark.parametrize("name", CORE)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_in_docstrings():
    finder = doctest.DocTestFinder()
    found = [t for name in CORE for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(found) >= 4
