"""Try what a release uploads: python tools/built.py UV PYTHON FOLDER tests the wheel and the source distribution in it.

Each in an environment of its own: the wheel with numpy and scipy alone, with the README's first example; with each
extra, which does its job; and the package's tests from the source distribution.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
LARGEST_WHEEL, LONGEST_IMPORT = 700_000, 0.25

ENVIRONMENT = {
    k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "MAKE"))
}

IMPORT_TIME = """
import sys, time
start = time.process_time(); import limetutor
if "--names" in sys.argv: print(*(m for m in sys.modules if m.split(".")[0] in ("numpy", "scipy")))
else: print(time.process_time() - start)
"""

# What each extra is for, as a program that needs it.
JOBS = {
    "plot": """
import limetutor as lt
lt.explain(lt.Linear([1, 2]), [0.3, 0.4], lt.Gaussian(), 1.0, seed=0).plot().savefig("picture.png")""",
    "lime": """
import limetutor as lt, numpy as np
from lime.lime_tabular import LimeTabularExplainer
X = np.random.default_rng(0).normal(size=(200, 3))
explainer = LimeTabularExplainer(X, mode="regression", random_state=0)
print(lt.predict_lime(explainer, lambda x: x[:, 0], X[0], num_features=2))
print(lt.audit(explainer, lambda x: x[:, 0], X[0], data=X).verdict)""",
    "cli": """
import pandas as pd, skops.io, subprocess, sys
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
data = load_diabetes(as_frame=True).frame
data.to_csv("data.csv", index=False)
skops.io.dump(LinearRegression().fit(data.drop(columns="target"), data.target), "model.skops")
command = [sys.executable, "-m", "limetutor.cli", "explain", "model.skops", "data.csv", "--target", "target", "--row", "7"]
done = subprocess.run([*command, "--html", "report.html"], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
assert "bmi" in done.stdout and "bmi" in open("report.html").read()""",
    "class": """
import subprocess, sys
subprocess.run([sys.executable, "-m", "limetutor.cli", "class", "release", "--out", "students"], check=True)
subprocess.run([sys.executable, "-m", "limetutor.cli", "class", "bank", "--out", "bank", "--versions", "1"], check=True)""",
    "chapters": """
import limetutor as lt
from limetutor.course.experiments import patient_13
from limetutor.course.figures import weights
assert lt.check("switch-off/1", 1.0) is None
model, xi, X = patient_13()
lt.show(weights.shared_boxes(lt.explain(model, xi, lt.Empirical(X), 1.0, seed=0, keep=True)), alt="bars")""",
    "lab": """
import subprocess, sys
from limetutor.classroom import hint, numbers, released
hint("lime_from_scratch/edges", lambda p: [0.0])
assert released("the_audit 0") is None and numbers("the_audit/my_what_if", "ada")
subprocess.run([sys.executable, '-m', 'jupyterlab', '--version'], check=True)""",
    "book": "import fontTools, jupyter_book.cli.main, py_mini_racer, resvg_py, sphinx_exercise, sphinx_proof, sphinx_revealjs",
}


class Try:
    """An environment in which a distribution is tried."""

    def __init__(self, uv: str, python: str, name: str) -> None:
        self.uv, self.home = uv, HERE / "_build" / "built" / name
        shutil.rmtree(self.home, ignore_errors=True)
        self.run(uv, "venv", "--quiet", "--python", python, self.home, where=HERE)
        self.python = self.home / "bin" / "python"

    def run(self, *command: object, where: Path | None = None) -> str:
        """The output of a command that must succeed."""
        done = subprocess.run(
            [*map(str, command)],
            cwd=where or self.home,
            env=ENVIRONMENT,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{command}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def install(self, *needs: object) -> None:
        """Put packages into it."""
        self.run(self.uv, "pip", "install", "--quiet", "--python", self.python, *needs)

    def says(self, code: str, *arguments: str) -> str:
        """What a program prints there."""
        return self.run(self.python, "-c", code, *arguments)


def wheel_holds(wheel: Path) -> None:
    """The package and nothing else, and not too much of it."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    strange = [
        n for n in names if not re.match(r"limetutor(-[^/]+\.dist-info)?/", n) or "test" in n
    ]
    assert not strange, f"in the wheel: {strange}"
    size = wheel.stat().st_size
    print(f"wheel: {size / 1000:.0f} kB, {len(names)} files")
    assert size <= LARGEST_WHEEL, f"the wheel has {size} bytes, more than {LARGEST_WHEEL}"


def first_example() -> str:
    readme = (HERE / "README.md").read_text("utf-8")
    return re.search(r"(?s)## In Python\n+```python\n(.*?)```", readme)[1]


def alone(uv: str, python: str, wheel: Path) -> None:
    """With numpy and scipy, and no other package."""
    env = Try(uv, python, f"{python}-alone")
    env.install(wheel)
    listed = {
        line.split()[0]
        for line in env.run(uv, "pip", "list", "--python", env.python).splitlines()[2:]
    }
    assert listed == {"limetutor", "numpy", "scipy"}, listed
    said = env.says(first_example())
    assert all(number in said for number in ("11.39", "-1.759", "0.530")), said
    others = "import " + ", ".join(env.says(IMPORT_TIME, "--names").split())
    before = others + "\n" + IMPORT_TIME
    took = min(float(env.says(before)) for _ in range(5))
    print(
        f"alone on Python {python}: the README's example runs; import takes {took:.3f} s beyond numpy and scipy"
    )
    assert took < LONGEST_IMPORT, f"import limetutor takes {took:.3f} s"


def extras(uv: str, python: str, wheel: Path, source: Path) -> None:
    """Each extra has what its job needs. The assignments of a class are in the project, as its README says."""
    for extra, job in JOBS.items():
        env = Try(uv, python, f"{python}-{extra}")
        if extra == "class":
            env.install("-e", f"{source}[class]")
        else:
            env.install(f"limetutor[{extra}] @ {wheel.as_uri()}")
        env.says(job)
        print(f"limetutor[{extra}] does its job")
        shutil.rmtree(env.home)


def unpacked(sdist: Path) -> Path:
    """The source distribution as somebody has it who unpacks it."""
    folder = HERE / "_build" / "built" / "source"
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    return next(folder.iterdir())


def from_source(uv: str, python: str, source: Path) -> None:
    """The package's tests pass there."""
    command = ["sh", "tools/ranges.sh", uv, python, "newest"]
    done = subprocess.run(command, cwd=source, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, "the tests fail from the source distribution"


def main(uv: str, python: str, folder: str, tests: str = "tests") -> None:
    uv, home = str(Path(uv).absolute()), Path(folder).resolve()
    (wheel,), (sdist,) = home.glob("*.whl"), home.glob("*.tar.gz")
    wheel_holds(wheel)
    alone(uv, python, wheel)
    source = unpacked(sdist)
    extras(uv, python, wheel, source)
    if tests == "tests":
        from_source(uv, python, source)


if __name__ == "__main__":
    main(*sys.argv[1:])
