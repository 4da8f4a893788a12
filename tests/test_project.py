"""The project around the book: Makefile, server, workflows, extras."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from browser import ROOT


@pytest.fixture(params=[".venv", "my venv", "a b/c d"], ids=["plain", "space", "spaces"])
def venv(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile with an environment that only writes down what it is asked to do."""
    home = tmp_path / "a checkout"
    shutil.copytree(ROOT / "tools", home / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "tools" / "setup.sh").write_text('mkdir -p "$1/bin"\necho "set up $1 by $2" >> log\n')
    for name in ("Makefile", "pyproject.toml", "requirements.txt", "requirements-test.txt"):
        shutil.copy(ROOT / name, home)
    return home


def program(checkout: Path, venv: str, name: str, body: str) -> None:
    path = checkout / venv / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env=clean, capture_output=True, text=True, check=False
    )


def test_the_environment_may_have_any_name(checkout, venv):
    """It is made once for the book and once for the tests, and not again while nothing changes."""
    for name in ("jupyter-book", "ruff", "mypy", "lint-imports", "pylint", "slipcover"):
        program(checkout, venv, name, f'echo "{name} $*" >> log')
    for _ in range(2):
        done = make(checkout, f"VENV={venv}", "html", "lint", "coverage")
        assert done.returncode == 0, done.stderr
    lines = (checkout / "log").read_text().splitlines()
    assert [line for line in lines if line.startswith("set up")] == [
        f"set up {venv} by requirements.txt",
        f"set up {venv} by requirements-test.txt",
    ]
    assert lines.count("mypy limetutor") == 2
    assert make(checkout, f"VENV={venv}", "distclean").returncode == 0
    assert not (checkout / venv).exists()


def test_make_reaches_the_parts_of_test_in_an_environment_with_a_space(checkout):
    for name in ("jupyter-book", "ruff", "mypy", "lint-imports", "pylint", "slipcover", "python"):
        program(checkout, "my venv", name, f'echo "{name} $*" >> log')
    done = make(checkout, "VENV=my venv", f"CHROME={sys.executable}", "test")
    assert done.returncode == 0, done.stderr
    log = (checkout / "log").read_text()
    for part in (
        ["ruff check", "mypy"],
        ["jupyter-book build", "-m site"],  # what looks at pages waits for them
        ["promises.py", "--nbval"],
        ["-m not site"],
    ):
        places = [log.index(word) for word in [*part, "slipcover --merge"]]
        assert places == sorted(places)
    assert log.count("jupyter-book") == log.count("--nbval") == 1, "chapters run more than twice"


@pytest.mark.parametrize("bad", ["mypy", "jupyter-book"])
def test_what_runs_side_by_side_stops_make_test(checkout, bad):
    for name in ("jupyter-book", "ruff", "mypy", "lint-imports", "pylint", "slipcover", "python"):
        program(checkout, "venv", name, f'echo "{name} $*" >> log; exit {int(name == bad)}')
    done = make(checkout, "VENV=venv", f"CHROME={sys.executable}", "test")
    assert done.returncode != 0 and "Error 1" in done.stderr
    log = (checkout / "log").read_text()
    assert "mypy" in log and "jupyter-book" in log and "--merge" not in log
    assert bad != "jupyter-book" or "-m site" not in log


def test_a_failed_build_leaves_nothing_to_the_next(checkout):
    """Neither pages already read, whose warnings would not come again, nor words to search for."""
    left = ("_build/.doctrees/page", "_build/html/searchindex.js", "_build/html/.built")
    body = "".join(f'mkdir -p "$(dirname {path})"; touch {path}; ' for path in left)
    program(checkout, ".venv", "jupyter-book", body + "exit ${FAIL:-0}")
    assert make(checkout, "html").returncode == 0
    assert all((checkout / path).exists() for path in left)
    program(checkout, ".venv", "jupyter-book", body + "exit 1")
    assert make(checkout, "html").returncode != 0
    assert not any((checkout / path).exists() for path in left)
    assert not (checkout / "_build" / ".doctrees").exists()


def test_make_book_refuses_a_port_before_it_builds(checkout):
    program(checkout, ".venv", "jupyter-book", "echo built >> log")
    program(checkout, ".venv", "python", f'exec "{sys.executable}" "$@"')
    done = make(checkout, "PORT=abc", "book")
    assert done.returncode == 2
    assert "PORT must be a whole number from 1 to 65535, got 'abc'." in done.stderr
    assert "built" not in (checkout / "log").read_text()


def test_make_help_names_every_target_a_reader_may_want():
    shown = make(ROOT, "help").stdout
    for target in ("book", "html", "lab", "test", "lint", "unit", "notebooks", "verify", "lock"):
        assert f"make {target} " in shown


def serve(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "serve.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("port", ["abc", "", "8000x", "-1", "0", "65536", "1e4", "9" * 5000, "٣"])
def test_a_port_that_is_none_is_one_sentence(tmp_path, port):
    (tmp_path / "index.html").touch()
    for folder in (tmp_path, "--check"):
        done = serve(folder, port)
        assert done.returncode == 2
        assert done.stderr.startswith("PORT must be a whole number from 1 to 65535, got ")
        assert done.stderr.count("\n") == 1 and not done.stdout


def test_the_server_says_what_else_is_wrong(tmp_path):
    assert serve().returncode == 2 and "Usage" in serve().stderr
    for folder in (tmp_path, "x" * 5000):
        done = serve(folder)
        assert done.returncode == 1 and re.match(".{,300}: build the book first", done.stderr)
    (tmp_path / "index.html").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for folder in (tmp_path, "--check"):
            done = serve(folder, port)
            assert done.returncode == 1
            assert done.stderr.startswith(f"Port {port} cannot be used:")
    assert serve("--check").returncode == 0


def test_nothing_is_published_before_the_tests_are_green():
    """Every job that publishes waits for one that runs all tests, and takes the site it built."""
    published = 0
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]

        def uses(name: str, what: str, jobs: dict = jobs) -> bool:
            return any(what in str(step) for step in jobs[name]["steps"])

        def waits_for(name: str, jobs: dict = jobs) -> set[str]:
            needs = jobs[name].get("needs", [])
            names = [needs] if isinstance(needs, str) else needs
            return set(names).union(*(waits_for(other, jobs) for other in names))

        for name in jobs:
            if uses(name, "deploy-pages"):
                published += 1
                tested = [job for job in waits_for(name) if uses(job, ".ci/run")]
                assert tested, f"{path.name}: {name} publishes untested pages"
                assert "always()" not in str(jobs[name].get("if", ""))
                builders = [job for job in jobs if uses(job, "upload-pages-artifact")]
                assert builders == tested, "what is published is not what was tested"
    assert published == 1
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_extras_give_what_the_readme_promises():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    known = {"plot", "lime", "cli", "class", "chapters", "book", "lab", "test", "bench", "peers"}
    assert set(extras) == known
    names = {extra: {re.match(r"[\w-]+", need)[0] for need in extras[extra]} for extra in extras}
    assert names["plot"] == {"matplotlib"}
    assert names["lime"] == {"lime", "scikit-learn", "pandas"}


def test_a_wheel_has_every_file_of_the_package():
    """What is not Python is listed, and what is listed is there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    package = ROOT / "limetutor"
    listed = project["tool"]["setuptools"]["package-data"]["limetutor"]
    found = {pattern: set(package.glob(pattern)) for pattern in listed}
    assert all(found.values()), found
    files = {
        p
        for p in package.rglob("*")
        if p.is_file() and p.suffix != ".pyc" and p.name != "README.md"
    }  # for those who read the code, in the repository
    data = {p for p in files if p.suffix != ".py"}
    assert set().union(*found.values()) == data
    assert package / "py.typed" in data


def test_the_readme_says_where_the_book_is():
    readme = (ROOT / "README.md").read_text("utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    repository = config["repository"]["url"]
    owner, name = repository.split("/")[-2:]
    assert readme.startswith("# limetutor")
    assert f"https://{owner}.github.io/{name}/" in readme
    for place in (f" @ git+{repository}", ""):  # until the first release, and from then on
        assert f'pip install "limetutor[plot,lime]{place}"' in readme
    for command in ("make book", "make test"):
        assert command in readme
    for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme):
        assert (ROOT / picture).is_file()


def test_what_the_readme_asks_of_a_lime_explainer_runs(tmp_path, monkeypatch, capsys):
    """As somebody would who has only the README: their own explainer, model and X."""
    from lime.lime_tabular import LimeTabularExplainer
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    iris = load_iris()
    model = RandomForestClassifier(10, random_state=0).fit(iris.data, iris.target)
    explainer = LimeTabularExplainer(iris.data, class_names=iris.target_names, random_state=0)
    readme = (ROOT / "README.md").read_text("utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", readme, re.S) if "explainer" in b)
    monkeypatch.chdir(tmp_path)
    exec(block, {"explainer": explainer, "model": model, "X": iris.data})
    said = capsys.readouterr().out
    assert "What lime will print" in said and "What lime says" in said and "andwidth" in said
    assert (tmp_path / "report.html").exists()


def answer(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        with suppress(OSError):  # where the server has answered and closed before
            connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.fixture
def served(tmp_path):
    """A server of a folder with a page, as a function from requests to answers."""
    from serve import bind

    (tmp_path / "index.html").write_text("a page")
    (tmp_path.parent / "secret").write_text("a secret")
    with bind(tmp_path, None) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield lambda request: answer(server.server_port, request)
        server.shutdown()


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("/", 200), ("/?%00", 200), ("/%00", 400), ("/a%00b", 400), ("/%ed%a0%80", 400),
        ("/%00/", 404), ("/%ff", 404), ("/" + "a" * 300, 404), ("/" + "a/" * 3000, 404),
        ("/../secret", 404), ("/%2e%2e/secret", 404), ("/..%2fsecret", 404), ("/%", 404),
        ("/" + "a" * 70_000, 414), ("//example.com/%2e%2e", 404), ("*", 404), ("\x01", 404),
    ],
)  # fmt: skip
def test_odd_addresses_are_answered_and_nothing_is_reported(served, capfd, address, code):
    for method in ("GET", "HEAD"):
        found = served(f"{method} {address} HTTP/1.0\r\n\r\n".encode())
        status = int(found.split()[1])
        assert status == code or (code == 404 and status == 301), found[:200]
        assert b"a secret" not in found
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "request_",
    [
        b"", b"\r\n", b"GET\r\n\r\n", b"\x00\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
        b"PUT / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.0\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        b"GET / HTTP/1.0\r\nIf-Modified-Since: \xff\r\n\r\n", b"GET / HTTP/1.0\r\nA: " + b"a" * 10**5,
    ],
)  # fmt: skip
def test_odd_requests_are_answered_and_nothing_is_reported(served, capfd, request_):
    served(request_)
    assert b"a page" in served(b"GET / HTTP/1.0\r\n\r\n")
    assert "Traceback" not in capfd.readouterr().err
