"""What a release needs to agree, and that each disagreement is found; the workflows; what the wheel holds."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import nbformat
import pytest
import release
import yaml
from browser import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FOLDERS = ("book", "paper", "recipe", "assignments", "docs")
FILES = (
    "*.md", "CITATION.cff", ".zenodo.json", "pyproject.toml", "_config.yml", "_toc.yml", "LICENSE*", "Makefile",
    "limetutor/__init__.py", "limetutor/README.md",
)  # fmt: skip
PAGE = '<h1 id="top">A</h1><a href="b.html#state&amp;nu=1">b</a><p class="lt-downloads">Version {}.</p>'


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """What is compared, with a site of two pages, to break."""
    root = tmp_path_factory.mktemp("project")
    kept = shutil.ignore_patterns("_assets", "_ext", "slides", "__pycache__", ".ipynb_checkpoints")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, root / folder, ignore=kept)
    for path in (path for pattern in FILES for path in ROOT.glob(pattern)):
        (root / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, root / path.relative_to(ROOT))
    (root / "site" / "book").mkdir(parents=True)
    for name in ("a", "b"):
        text = PAGE.format(release.version(ROOT)).replace("top", "top" if name == "a" else "state")
        (root / "site" / "book" / f"{name}.html").write_text(text)
    return root


def test_all_agree(copied):
    assert release.disagreements(ROOT) == []
    assert release.disagreements(copied, copied / "site") == []


# file, what stands in it, what takes its place, and what is said then
BROKEN = {
    "version": ("limetutor/__init__.py", r'__version__ = "', '__version__ = "9.', "CHANGELOG.md: version"),
    "version in the citation": ("CITATION.cff", r"\nversion: ", "\nversion: 9.", "CITATION.cff: version 9."),
    "version at Zenodo": (".zenodo.json", r'"version": "', '"version": "9.', ".zenodo.json: version 9."),
    "version for conda": ("recipe/recipe.yaml", r'version: "', 'version: "9.', "recipe/recipe.yaml: version 9."),
    "version verified": ("docs/verified.md", r"limetutor ", "limetutor 9.", "docs/verified.md: version 9."),
    "version of a page": ("site/book/b.html", r"Version ", "Version 9.", "b.html: version 9."),
    "a page without one": ("site/book/b.html", r"Version [^<]*", "", "b.html: version none"),
    "version typed twice": ("pyproject.toml", r"dynamic = .*", 'version = "1"', "alone"),
    "a day in the citation": ("CITATION.cff", r"\nversion", "\ndate-released: 2026-12-01\nversion", "date-released is 2026"),
    "a day in the changelog": ("CHANGELOG.md", r"– unreleased", "– 2026-12-01", "publication_date is None"),
    "year": ("LICENSE", r"\(c\) \d+", "(c) 2025", "The years"),
    "floor of numpy": ("pyproject.toml", r"numpy>=\S+\"", 'numpy>=2.9"', "run of the recipe"),
    "floor of an extra": ("recipe/recipe.yaml", r"pandas >=\S+", "pandas >=1.0", "run_constraints"),
    "floor in the README": ("README.md", r"scipy [\d.]+ or newer", "scipy 1.9 or newer", "README.md"),
    "oldest Python": ("pyproject.toml", r'"Programming Language :: Python :: 3.11",', "", "first classifier"),
    "command": ("recipe/recipe.yaml", r"cli:main", "cli:run", "entry points"),
    "licence": ("CITATION.cff", r"license: .*", "license: MIT", "licence of CITATION.cff"),
    "pages of the paper": ("CITATION.cff", r"end: \d+", "end: 1297", "pages of garreau2020"),
    "year of the paper": ("paper/paper.bib", r"year = \{2020\}", "year = {2021}", "paper.bib: year"),
    "a citation of the book": ("book/whats_whose.md", r"\{cite:t\}`ribeiro2016`", "{cite:t}`nobody2016`", "nobody2016"),
    "a citation of the paper": ("paper/paper.md", r"@slack2020", "@nobody2020", "paper/paper.md: nobody2020"),
    "a link of the site": ("site/book/a.html", r"b\.html", "c.html", "c.html#state&nu=1 is not there"),
    "an anchor of the site": ("site/book/b.html", r'id="state"', "", "no such anchor"),
    "a link of a document": ("README.md", r"\(CONTRIBUTING.md\)", "(CONTRIBUTE.md)", "CONTRIBUTE.md is not there"),
    "a number of the paper": ("paper/paper.md", r"\b\d+(?= (?:= )?exercises)", "7", "7 exercises, but there are"),
    "a number that nothing counts": ("paper/paper.md", r"Many courses", "Most of 300 courses", "nothing counts 300"),
    "a chapter": ("_toc.yml", r"      - file: book/images\n", "", "chapters, but there are"),
    "a row that does not hold": ("docs/verified.md", r"- (\d+) of", "- 1 of", "verified, but there are"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_each_disagreement_is_found(copied, name):
    file, old, new, said = BROKEN[name]
    whole = (copied / file).read_text("utf-8")
    broken = re.sub(old, lambda _: new, whole)
    assert broken != whole, f"{file} has no {old}"
    (copied / file).write_text(broken, "utf-8")
    try:
        found = release.disagreements(copied, copied / "site")
    finally:
        (copied / file).write_text(whole, "utf-8")
    assert any(said in sentence for sentence in found), found


def test_the_citation_is_valid(tmp_path):
    """By cffconvert, which has an environment of its own; and one that is not valid is refused."""
    packages = Path(sys.prefix) / "share" / "cffconvert"
    if not packages.is_dir():
        pytest.skip("cffconvert is installed by tools/setup.sh")
    code = f"import sys; sys.path.insert(0, {str(packages)!r}); from cffconvert.cli.cli import cli; cli()"
    spoilt = tmp_path / "CITATION.cff"
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    spoilt.write_text(text.replace("authors:", "writers:"), "utf-8")
    for path, valid in ((ROOT / "CITATION.cff", True), (spoilt, False)):
        command = [sys.executable, "-c", code, "--validate", "-i", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == valid, done.stderr[-500:]


def test_actions_are_pinned_by_commit_with_their_version_beside():
    assert len(WORKFLOWS) >= 4
    for path in WORKFLOWS:
        for use in re.findall(r"uses: (.*)", path.read_text("utf-8")):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), (
                path.name,
                use,
            )


def test_a_commit_stands_for_one_version():
    """The same action has the same commit everywhere."""
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: (\S+)@(.*)", path.read_text("utf-8")):
            pins.setdefault(action, set()).add(pin)
    assert all(len(found) == 1 for found in pins.values()), pins


def test_what_is_published_was_built_once_and_tested_and_no_step_has_more_rights_than_it_needs():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    publish = jobs["publish"]
    assert publish["needs"] == "clean" and jobs["clean"]["needs"] == "build"
    assert publish["environment"] == "release"
    writes = {name for name, job in jobs.items() if "write" in str(job.get("permissions"))}
    assert writes == {"publish"}
    said = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert "make test" in said and any("releasecheck" in step for step in said)
    assert "checkout" not in str(publish) and "pip" not in " ".join(
        s.get("run", "") for s in publish["steps"]
    )
    assert "password" not in str(jobs) and "secrets." not in str(jobs)
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}


def test_workflows_call_make():
    allowed = r"make [\w ]+.*|bash \.ci/run|sudo sysctl -w kernel\S+|gh release create .*"
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for step in job["steps"]:
                assert re.fullmatch(allowed, step.get("run", "make x")), (path.name, step)


def test_forms_for_issues_can_be_read():
    forms = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")
    }
    assert set(forms) == {"config", "mistake", "wrong_number", "idea"}
    for form in (form for name, form in forms.items() if name != "config"):
        assert form["name"] and form["description"]
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids)) and all(
            field["attributes"]["label"] for field in form["body"]
        )


def imported(code: str) -> set[str]:
    """Modules that a piece of code imports, and what it takes from them, which may be modules too."""
    found = set()
    for node in ast.walk(ast.parse(re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", code))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_every_module_is_reached_from_a_chapter_a_command_or_a_public_name():
    graph = grimp.build_graph("limetutor", cache_dir=None)
    codes = [
        path.read_text("utf-8")
        for path in (*(ROOT / "book" / "_ext").glob("*.py"), *(ROOT / "book").glob("*.py"))
    ]
    for path in (*(ROOT / "book").glob("*.ipynb"), *(ROOT / "assignments").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        codes += [cell.source for cell in cells if cell.cell_type == "code"]
    roots = {"limetutor", "limetutor.cli", "limetutor.cli.__main__"}.union(*map(imported, codes))
    # found by name: public names, exercises of the chapters, actions and notebooks of a class
    texts = [path.read_text("utf-8") for path in (ROOT / "limetutor").rglob("*.py")]
    named = re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', "\n".join(texts))
    roots |= {f"limetutor.{name}" for name in named}
    roots |= {
        m
        for m in graph.modules
        if re.match(r"limetutor\.(course\.exercises|classroom\.assignments)\.", m)
    }
    roots |= {
        m for m in graph.modules if re.match(r"limetutor\.classroom\.(\w+|inside\.worker)$", m)
    }
    reached, todo = set(), [root for root in roots if root in graph.modules]
    while todo:
        if (module := todo.pop()) not in reached:
            reached.add(module)
            todo += [
                *graph.find_modules_directly_imported_by(module),
                module.rpartition(".")[0] or "limetutor",
            ]
    # on two pages alone, How fast and one of the reference
    assert set(graph.modules) - reached == {"limetutor.cubes.many"}


def test_a_wheel_has_what_a_notebook_of_a_class_calls():
    graph = grimp.build_graph("limetutor", cache_dir=None)
    called = {"limetutor.classroom", *graph.find_upstream_modules("limetutor.classroom")}
    ours = {m for m in called if m.startswith("limetutor.classroom") and ".assignments" not in m}
    (kept,) = re.findall(r"(?m)^STUDENTS = \((.*)\)", (ROOT / "setup.py").read_text("utf-8"))
    assert ours == {
        f"limetutor.classroom.{n}".replace(".__init__", "") for n in re.findall(r"\w+", kept)
    }


def test_a_notebook_of_a_class_names_the_version(tmp_path):
    from limetutor.cli import main

    assert main(["class", "release", "--out", str(tmp_path)]) == 0
    for path in tmp_path.glob("*.ipynb"):
        assert json.loads(path.read_text("utf-8"))["metadata"]["limetutor"] == {
            "version": release.version(ROOT)
        }


def test_the_build_is_made_with_packages_that_python_3_13_can_use():
    """An old setuptools, pinned for no reason, broke nbgrader there."""
    needed = int(re.search(r"setuptools>=(\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))[1])
    pinned = re.search(
        r"(?m)^setuptools==(\d+)", (ROOT / "requirements-test.txt").read_text("utf-8")
    )[1]
    assert int(pinned) >= needed
