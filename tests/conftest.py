"""What long comparisons found, as a table: ``make verify``.

A test marked ``verify`` compares many cases.  ``make test`` runs a sample of them, ``make verify``
all; the fixture :func:`verifying` says which.  What the comparison found goes through
:func:`verified`, which fails the test if it misses its goal::

    @pytest.mark.verify
    def test_limits_against_mpmath(verified, verifying):
        settings = all_settings() if verifying else all_settings()[::50]
        error = max(compare(setting) for setting in settings)
        verified("limits of linear models: largest relative error", error, 1e-10)

A test with many cases that are much alike is marked ``sampled(k)``: ``make test`` runs each k-th of them,
``make verify`` all.

``pytest --verified FILE`` writes all that was verified in a run to FILE as a table, with the version,
the day and the machine.  With pytest-xdist the workers send what they found to the one process that
writes.
"""

import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

# what several tests share, of one folder in its own support/, of several in tests/support; and scripts
SCRIPTS = (ROOT / "book" / "_ext", ROOT / "tools")
sys.path[:0] = map(str, (*sorted(ROOT.glob("tests/**/support")), *SCRIPTS))

#: At most this number; between these two (None: no such bound); or words that the test itself holds.
Goal = float | tuple[float | None, float | None] | str
Verified = Callable[[str, Any, Goal], None]


WHOLE = os.environ.get("LIMETUTOR_VERIFY", "") not in ("", "0")


@pytest.fixture
def verifying() -> bool:
    """Whether the comparison is to be run whole (``make verify``), not as a sample."""
    return WHOLE


@pytest.fixture
def verified(request: pytest.FixtureRequest) -> Verified:
    """``verified(name, value, goal)``: note what was found; fail if it misses a goal in numbers."""

    def note(name: str, value: Any, goal: Goal) -> None:
        low, high = goal if isinstance(goal, tuple) else (None, goal)
        holds = isinstance(goal, str) or (
            (low is None or value >= low) and (high is None or value <= high)
        )
        row = {"name": name, "found": shown(value), "goal": in_words(goal), "holds": bool(holds)}
        request.node.user_properties.append(("verified", row))
        assert holds, f"{name}: found {row['found']}, the goal is {row['goal']}"

    return note


def shown(value: Any) -> str:
    """A number in three digits, a whole one in full; anything else as it prints."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if number.is_integer() and abs(number) < 1e9:
        return f"{int(number):,}"
    return f"{number:.3g}"


def in_words(goal: Goal) -> str:
    if isinstance(goal, str):
        return goal
    low, high = goal if isinstance(goal, tuple) else (None, goal)
    if low is None:
        return f"at most {shown(high)}"
    return f"at least {shown(low)}" if high is None else f"{shown(low)} to {shown(high)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verified", metavar="FILE", help="write a table of what was verified")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Cases of which a sample is run here are all run with the other long comparisons."""
    if item.get_closest_marker("sampled"):
        item.add_marker("verify")


# Last, after -k and -m: of the cases that somebody asks for, one is run at least.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in a sample; put long tests first, so that no core waits for them at the end."""
    met: Counter[str] = Counter()
    for item in list(items):
        marker, test = item.get_closest_marker("sampled"), item.nodeid.partition("[")[0]
        if marker and not WHOLE and met[test] % marker.args[0]:
            items.remove(item)
            config.hook.pytest_deselected(items=[item])
        met[test] += 1
    for name in ("slow", "site"):
        items.sort(key=lambda item: item.get_closest_marker(name) is None)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--verified") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(Path(config.getoption("--verified"))))


class Table:
    """Collects what was verified, in the process that the workers report to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.started = datetime.now(UTC)
        self.version = version_of_the_code(path)  # before the run: others may commit meanwhile

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped or not (report.failed or report.when == "call"):
            return
        found = [dict(row) for key, row in report.user_properties if key == "verified"]
        if report.failed and all(row["holds"] for row in found):
            found.append({"name": report.nodeid, "found": "failed", "goal": "", "holds": False})
        self.rows[report.nodeid] = found

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        table = self.markdown()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(table, encoding="utf-8")
        terminalreporter.section("verified")
        terminalreporter.write_line(table)

    def markdown(self) -> str:
        rows = [row for test in sorted(self.rows) for row in self.rows[test]]
        good = sum(row["holds"] for row in rows)
        took = (datetime.now(UTC) - self.started).total_seconds()
        lines = [
            "# What was verified",
            "",
            "Written by `make verify`, which runs whole the comparisons that `make test` samples.",
            "",
            f"- version: limetutor {self.version}",
            f"- day: {self.started:%Y-%m-%d}, in {took / 60:.0f} min",
            f"- machine: {os.cpu_count()} cores, {platform.system()} {platform.machine()}; "
            f"Python {platform.python_version()}, numpy {version('numpy')}, "
            f"scipy {version('scipy')}",
            f"- {good} of {len(rows)} hold",
            "",
            "| what | found | goal | holds |",
            "| --- | --- | --- | --- |",
        ]
        for row in rows:
            cells = (row["name"], row["found"], row["goal"], "yes" if row["holds"] else "**no**")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return "\n".join(lines) + "\n"


def version_of_the_code(table: Path) -> str:
    """The version and, in a checkout, the commit; the table itself is no change of the code."""
    import limetutor

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        commit = git("describe", "--always", "--tags")
        others = f":(exclude){os.path.relpath(table.resolve(), ROOT)}"
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", others)
    except (OSError, subprocess.CalledProcessError):
        return limetutor.__version__
    return f"{limetutor.__version__}, commit {commit}" + (" with changes" if changed else "")
