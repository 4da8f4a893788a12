"""The table that ``make verify`` writes, and the first row of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import ROOT

import limetutor as lt

CASES = (Path(__file__).parent / "support" / "verified_cases.txt").read_text("utf-8")


def run(folder: Path, *arguments: str, verify: str = "") -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "test_cases.py").write_text(CASES)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  verify: long\n  sampled(k): alike\n")
    plugins = ("-p", "no:cacheprovider", "-p", "xdist.plugin")  # the others take long to load
    command = [sys.executable, "-m", "pytest", *arguments, *plugins]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "LIMETUTOR_VERIFY": verify,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_all_workers_write_into_one_table(tmp_path):
    """Every row once, in the same order, whoever found it; what fails is there as well."""
    target = tmp_path / "docs" / "verified.md"
    done = run(tmp_path, "-n", "2", "--verified", str(target), verify="1")
    assert done.returncode == 1
    text = target.read_text(encoding="utf-8")
    assert text in done.stdout
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert rows == [
        "| a fact | as printed | as printed | yes |",
        "| test_cases.py::test_broken | failed |  | **no** |",
        "| cases run | 1,000,000 | at least 5 | yes |",
        "| share | 0.5 | 0.9 to 1 | **no** |",
        "| test_cases.py::test_not_even_started | failed |  | **no** |",
        *(
            rf"| error \| of case {k} | {k * 1e-12 + 1e-13:.3g} | at most 1e-10 | yes |"
            for k in range(6)
        ),
    ]
    assert "- 8 of 11 hold" in text
    for stated in (lt.__version__, np.__version__, f"{os.cpu_count()} cores", "- day: 20"):
        assert stated in text
    assert str(ROOT) not in text and str(tmp_path) not in text


@pytest.mark.slow
def test_without_the_option_nothing_is_written_and_a_sample_is_run(tmp_path):
    before = {*(ROOT / "docs").iterdir()}
    done = run(tmp_path, "-k", "small or large")
    assert "share: found 0.5, the goal is 0.9 to 1" in done.stdout
    assert "6 passed" in done.stdout and "verified ====" not in done.stdout
    assert not (tmp_path / "docs").exists() and {*(ROOT / "docs").iterdir()} == before


@pytest.mark.verify
def test_the_readme_says_what_the_package_computes(verified):
    """The three numbers of the README, from the theorem; each is printed in two or three digits."""
    limit = lt.limit(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), nu=1.0)
    printed = np.array([11.4, -1.76])
    verified("README: coefficients as printed", np.abs(limit.coef - printed).max(), 0.05)
    verified("README: critical bandwidth as printed", abs(limit.critical_nu[1] - 0.53), 0.005)


@pytest.mark.slow
def test_of_cases_that_are_alike_some_are_run(tmp_path):
    """All of them where all is verified; whoever asks for one gets it."""
    for asked, verify, number in (("alike", "", 3), ("alike", "1", 7), ("alike and 5", "", 1)):
        done = run(tmp_path, "-m", "verify", "-k", asked, verify=verify)
        assert done.returncode == 0 and f"{number} passed" in done.stdout
