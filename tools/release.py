"""What must agree before a release: python tools/release.py [ROOT [SITE]] prints what does not, and fails then.

One version (`limetutor/__init__.py`), one date (CHANGELOG.md), the same floors of packages, citations that exist, links
of the built site and of the documents that lead somewhere, and numbers of the paper that are counted anew.
tests/test_release.py breaks each of them in a copy.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import yaml

HERE = Path(__file__).resolve().parents[1]


def text(root: Path, name: str) -> str:
    return (root / name).read_text("utf-8")


def data(root: Path, name: str) -> dict:
    load = {".json": json.loads, ".toml": tomllib.loads}.get(Path(name).suffix, yaml.safe_load)
    return load(text(root, name))


def version(root: Path) -> str:
    return re.search(r'(?m)^__version__ = "(.+)"$', text(root, "limetutor/__init__.py"))[1]


def released(root: Path) -> tuple[str, str | None]:
    """The newest version of the changelog, and its day (None: not released yet)."""
    found = re.search(r"(?m)^## \[([^\]]+)\] – (\S+)$", text(root, "CHANGELOG.md"))
    return found[1], None if found[2] == "unreleased" else found[2]


def versions(root: Path, site: Path | None) -> Iterator[str]:
    """Every place that names the version."""
    own = version(root)
    places = {
        "CHANGELOG.md": released(root)[0],
        "CITATION.cff": str(data(root, "CITATION.cff")["version"]),
        ".zenodo.json": data(root, ".zenodo.json")["version"],
        "recipe/recipe.yaml": data(root, "recipe/recipe.yaml")["context"]["version"],
        "docs/verified.md": re.search(
            r"- version: limetutor ([\w.]+\w)", text(root, "docs/verified.md")
        )[1],
    }
    for page in sorted((site or root / "no site").glob("book/*.html")):
        found = re.search(r'lt-downloads">Version ([\w.]+\w)', page.read_text("utf-8"))
        places[page.name] = found[1] if found else "none"
    for name, found in places.items():
        if found != own:
            yield f"{name}: version {found}, but limetutor/__init__.py has {own}."
    if "version" not in data(root, "pyproject.toml")["project"].get("dynamic", []):
        yield "pyproject.toml: the version stands in limetutor/__init__.py alone."


def dates(root: Path) -> Iterator[str]:
    """The day of the release, which nothing names before it is there."""
    day = released(root)[1]
    for name, key in (("CITATION.cff", "date-released"), (".zenodo.json", "publication_date")):
        found = data(root, name).get(key)
        if (found and str(found)) != day:
            yield f"{name}: {key} is {found}, but CHANGELOG.md has {day or 'unreleased'}."
    years = {
        "LICENSE": re.search(r"Copyright \(c\) (\d{4})", text(root, "LICENSE"))[1],
        "_config.yml": data(root, "_config.yml")["copyright"],
    }
    if len(set(years.values())) > 1:
        yield f"The years of LICENSE and _config.yml differ: {years}."


def floors(root: Path) -> Iterator[str]:
    """The oldest packages: pyproject.toml, the recipe for conda and the README."""
    project = data(root, "pyproject.toml")["project"]
    recipe, readme = data(root, "recipe/recipe.yaml"), text(root, "README.md")
    python = project["requires-python"].removeprefix(">=")
    extras = project["optional-dependencies"]
    declared = dict(map(parted, project["dependencies"]))
    optional = dict(map(parted, (need for extra in ("plot", "lime") for need in extras[extra])))
    run, constraints = (
        dict(parted(need) for need in recipe["requirements"][key] if not need.startswith("python "))
        for key in ("run", "run_constraints")
    )
    constraints["matplotlib"] = constraints.pop("matplotlib-base", None)
    said = re.search(r"Python ([\d.]+), numpy ([\d.]+) and scipy ([\d.]+) or newer", readme)
    pairs = {
        "python_min of the recipe": (recipe["context"]["python_min"], python),
        "run of the recipe": (run, declared),
        "run_constraints of the recipe": (constraints, optional),
        "entry points of the recipe": (
            recipe["build"]["python"]["entry_points"],
            [f"{name} = {place}" for name, place in project["scripts"].items()],
        ),
        "licence of the recipe": (recipe["about"]["license"], project["license"]),
        "licence of CITATION.cff": (data(root, "CITATION.cff")["license"], project["license"]),
        "summary of the recipe": (recipe["about"]["summary"], project["description"]),
        "README.md": (
            said and said.groups(),
            (python, *(declared[k][2:] for k in ("numpy", "scipy"))),
        ),
    }
    for name, (found, expected) in pairs.items():
        if found != expected:
            yield f"{name}: {found}, but pyproject.toml has {expected}."
    oldest = next(c[-4:] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c))
    if oldest != python:
        yield f"The first classifier is {oldest}, but requires-python {python}."


def parted(need: str) -> tuple[str, str]:
    """A requirement as name and bound."""
    name, bound = re.fullmatch(r"([\w-]+)\s*(\S*)", need).groups()
    return name, bound


# --- citations ------------------------------------------------------------------------------------

CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`|(?<=[\[ ;-])@([a-z]\w+)(?=[\];, ])")


def entries(bib: str) -> dict[str, dict[str, str]]:
    """The entries of a BibTeX file, with fields that stand in one line."""
    return {
        key: {
            k.lower(): re.sub(r"[{}]", "", v)
            for k, v in re.findall(r"(\w+)\s*=\s*[{\"](.+)[}\"],?", fields)
        }
        for key, fields in re.findall(r"(?ms)^@\w+\{([\w-]+),(.*?)^\}", bib)
    }


def citations(root: Path) -> Iterator[str]:
    """What pages and paper cite is in their bibliographies, and the paper that we teach is one and the same."""
    pages = sources(root)
    of_book, of_paper = (
        entries(text(root, name)) for name in ("book/references.bib", "paper/paper.bib")
    )
    for where, texts, known in (
        ("book", list(pages.values()), of_book),
        ("paper/paper.md", [text(root, "paper/paper.md")], of_paper),
    ):
        cited = {
            key.strip()
            for t in texts
            for found in CITED.findall(t)
            for key in "".join(found).split(",")
        }
        for key in sorted(cited - set(known)):
            yield f"{where}: {key} is cited and in no bibliography."
    preferred = data(root, "CITATION.cff")["preferred-citation"]
    for name, known in (("book/references.bib", of_book), ("paper/paper.bib", of_paper)):
        entry = known.get("garreau2020", {})
        for key, expected in (
            ("title", preferred["title"]),
            ("year", str(preferred["year"])),
            ("pages", f"{preferred['start']}--{preferred['end']}"),
        ):
            # BibTeX tells two papers of a year apart by a letter behind it
            if not re.fullmatch(
                re.escape(expected) + ("[a-z]?" if key == "year" else ""), entry.get(key, ""), re.I
            ):
                yield f"{name}: {key} of garreau2020 is {entry.get(key)!r}, but CITATION.cff has {expected!r}."


def sources(root: Path) -> dict[str, str]:
    """What the pages of the book say, by their names."""
    found = {path.name: path.read_text("utf-8") for path in sorted((root / "book").glob("*.md"))}
    for path in sorted((root / "book").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        found[path.name] = "\n\n".join(cell.source for cell in cells)
    return found


# --- links ----------------------------------------------------------------------------------------


class Links(HTMLParser):
    """The targets and the ids of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """What one element has."""
        for key, value in attrs:
            if key in ("id", "name"):
                self.ids.add(value or "")
            elif key in ("href", "src") and value:
                self.targets.append(value)

    handle_startendtag = handle_starttag


def dead_links(site: Path) -> Iterator[str]:
    """Links within the site that lead to no file or no place in it."""
    parsed = {path.resolve(): Links(path) for path in sorted(site.rglob("*.html"))}
    for path, page in parsed.items():
        if {"_static", "slides"} & set(path.relative_to(site.resolve()).parts):
            continue
        for target in page.targets:
            link = urlsplit(target)
            if link.scheme or link.netloc:
                continue
            goal = (path.parent / unquote(link.path)).resolve() if link.path else path
            anchor = unquote(link.fragment).partition("&")[0]  # behind it, the state of a figure
            if not goal.exists():
                yield f"{path.name}: {target} is not there."
            elif anchor and goal in parsed and anchor not in parsed[goal].ids:
                yield f"{path.name}: {target} has no such anchor."


def links(root: Path, site: Path | None) -> Iterator[str]:
    """Those of the site, and those of the documents to files of the project."""
    if site:
        yield from dead_links(site)
    for path in sorted(root.glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            if not (root / target).exists():
                yield f"{path.name}: {target} is not there."


# --- numbers --------------------------------------------------------------------------------------

STATED = re.compile(r"<!-- number: ([\d,.]+) = (\w+) -->")


def cells(root: Path, kind: str) -> list[str]:
    """The sources of all cells of one kind."""
    return [
        cell.source
        for path in sorted((root / "book").glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == kind
    ]


def in_cells(pattern: str, kind: str = "markdown") -> Callable[[Path], int]:
    """How often something stands in the chapters."""
    return lambda root: sum(len(re.findall(pattern, cell)) for cell in cells(root, kind))


def chapters(root: Path, part: str) -> int:
    return sum(
        len(p["chapters"]) for p in data(root, "_toc.yml")["parts"] if p["caption"].startswith(part)
    )


def verified(root: Path) -> int:
    """Comparisons of `make verify` that hold; all of them do."""
    good, every = re.search(r"- ([\d,]+) of ([\d,]+) hold", text(root, "docs/verified.md")).groups()
    return int(good.replace(",", "")) if good == every else -1


#: What the paper counts.
COUNTS: dict[str, Callable[[Path], int]] = {
    "chapters": lambda root: chapters(root, "Part"),
    "appendices": lambda root: chapters(root, "Appendices"),
    "exercises": in_cells(r"```\{exercise\}|:::\{exercise\}|\{exercise-start\}"),
    "moving_figures": in_cells(r"(?m)^lt\.explore\(", "code"),
    "statements": in_cells(r"\{prf:(?:theorem|lemma|proposition|corollary)\}"),
    "assignments": lambda root: len(list((root / "assignments").glob("*.ipynb"))),
    "verified": verified,
    "packages": lambda root: len(data(root, "pyproject.toml")["project"]["dependencies"]),
    "coverage": lambda root: int(re.search(r"--fail-under (\d+)", text(root, "Makefile"))[1]),
}


def numbers(root: Path) -> Iterator[str]:
    """Every number of the paper's text stands in a comment behind its paragraph, and is counted anew."""
    body = text(root, "paper/paper.md").partition("\n---\n")[2]
    for paragraph in re.split(r"\n\n(?!<!--)", body):
        stated = dict(STATED.findall(paragraph))
        prose = re.sub(
            r"(?s)<!--.*?-->|`[^`]*`|\[?-?@\w+|\(https?:[^)]*\)|```.*?```", "", paragraph
        )
        for number in re.findall(r"(?<![\w.])\d[\d,.]*(?<=\d)", prose):
            if number not in stated:
                yield f"paper/paper.md: nothing counts {number} in “{prose.strip()[:50]}…”."
        for number, name in stated.items():
            if f"{COUNTS[name](root):,}" != number:
                yield f"paper/paper.md: {number} {name}, but there are {COUNTS[name](root):,}."


def disagreements(root: Path, site: Path | None = None) -> list[str]:
    """Everything that does not agree, a sentence for each."""
    return [
        *versions(root, site), *dates(root), *floors(root), *citations(root), *links(root, site), *numbers(root),
    ]  # fmt: skip


def main(arguments: list[str]) -> int:
    root, site = [*map(Path, arguments), None, None][:2]
    found = disagreements(root or HERE, site)
    print(*found, sep="\n", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
