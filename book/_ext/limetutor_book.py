"""What the book needs from Sphinx beyond Jupyter Book, so that a plain ``jupyter-book build .`` works.

- figures are drawn for a page without a kernel (``LIMETUTOR_MODE=static``);
- chapters are executed side by side, and the cache of what they gave forgets everything when the
  package or its drawing libraries change;
- each chapter links the symbols it takes over to the page *Notation* (notation.py), and explains the
  words of the glossary where it uses them first (glossary.py);
- appendices are numbered A, B, … (appendices.py);
- a link may ask for a figure with its controls at some stops (states.py);
- exercises get a box to answer in, and results are kept in the browser (exercise_boxes.py);
- slides and the handout are built with the page that links to them (slides.py);
- formulas become MathML (formulas.py);
- scripts, styles and fonts (fonts.py) come with the site: no page asks another host for anything;
- finished pages are made light: their styles, and only those, in them, their scripts put off (pages.py);
- a chapter names its part, and the first of a part has its picture (covers.py);
- each page has a description and a card for those who share it (cards.py) and a copy in Markdown (markdown_pages.py), and the
  site a zip (downloads.py);
- what Jupyter Book emits twice or for nothing is left out.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

import appendices
import cards
import covers
import downloads
import exercise_boxes
import fonts
import formulas
import glossary
import markdown_pages
import notation
import pages
import slides
import states

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "book" / "_assets"
TEACH = "book/teach"
STYLES = ("fonts.css", "face.css", "book.css", "formulas/formulas.css", "answers.css")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything; kernels inherit the environment set here."""
    os.environ.setdefault("LIMETUTOR_MODE", "static")
    os.environ.setdefault("TQDM_DISABLE", "1")  # a bar is a widget, and drags in other hosts
    # Sphinx and the kernels must use the package of this checkout, installed or not.
    sys.path.insert(0, str(ROOT))
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    app.add_config_value(
        "limetutor_code", code_of_pages(), "html"
    )  # when it changes, write all pages
    formulas.setup(app)
    app.connect("config-inited", key_the_cache)
    app.connect("builder-inited", write_static_files)
    app.connect("env-before-read-docs", execute_side_by_side)
    app.connect("doctree-read", notation.depend_on_the_page)
    app.connect("doctree-read", exercise_boxes.put_boxes)
    app.connect("doctree-resolved", notation.link_symbols)
    app.connect("doctree-read", glossary.depend_on_the_page)
    app.connect("doctree-resolved", glossary.explain_terms)
    states.setup(app)
    app.connect("env-get-updated", appendices.number_by_letters, priority=900)
    app.connect("html-page-context", tidy_scripts, priority=900)
    app.connect("html-page-context", mend_roles, priority=900)
    app.connect("html-page-context", covers.put, priority=910)
    app.connect("html-page-context", stand_in_for_storage)
    app.connect("html-collect-pages", forget_old_words)
    app.connect("html-page-context", cards.describe)
    app.connect("html-page-context", markdown_pages.link_to_it)
    # after the theme, which writes the colours of code at the end (500)
    app.connect("build-finished", cards.draw, priority=600)
    app.connect("build-finished", pages.lighten, priority=610)
    app.connect("build-finished", build_slides, priority=615)
    app.connect("build-finished", markdown_pages.write, priority=616)
    app.connect("build-finished", downloads.put_together, priority=620)
    app.connect("build-finished", leave_stamp, priority=900)
    app.add_css_file("limetutor.css", priority=900)
    app.add_js_file("limetutor.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fingerprint() -> str:
    """A hash of all that outputs depend on apart from the notebooks."""
    digest = hashlib.sha256(os.environ["LIMETUTOR_MODE"].encode())
    for name in ("numpy", "scipy", "matplotlib", "scikit-learn"):
        digest.update(f"{name} {version(name)}".encode())
    files = (
        p for p in (ROOT / "limetutor").rglob("*") if p.suffix in (".py", ".csv", ".json", ".ttf")
    )
    for path in sorted(files):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def code_of_pages() -> str:
    """A hash of what turns chapters into pages."""
    files = [*Path(__file__).parent.glob("*.py"), *(ASSETS / "formulas").glob("*.js")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:16]


def key_the_cache(app: Sphinx, config: Config) -> None:
    """Keep executed notebooks in a folder named by the fingerprint, and drop older ones.

    The setting is part of Sphinx's environment, so a new value also makes it read every page again.
    """
    caches = Path(app.outdir).parent / ".jupyter_cache"
    config.nb_execution_cache_path = str(caches / fingerprint())
    for old in caches.glob("*") if caches.is_dir() else ():
        if old.name != fingerprint():
            shutil.rmtree(old, ignore_errors=True)


def execute_side_by_side(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Fill the cache with one kernel per core; Sphinx would run one chapter after the other.

    A notebook that fails is left to myst-nb, which runs it again and tells the author where.
    """
    cache = get_cache(app.config.nb_execution_cache_path)
    stale = []
    for path in (Path(env.doc2path(name)) for name in docnames):
        if path.suffix == ".ipynb":
            try:
                cache.match_cache_notebook(nbformat.read(path, as_version=4))
            except KeyError:
                cache.add_nb_to_project(str(path))
                stale.append(str(path))
    if len(stale) > 1:
        run = load_executor("local-parallel", cache, logging.getLogger(__name__))
        run.run_and_cache(filter_uris=stale, timeout=app.config.nb_execution_timeout)


def write_static_files(app: Sphinx) -> None:
    """Put the player, the book's style and its fonts where Sphinx picks up static files."""
    from limetutor.interactive.explorer import page_css, page_js

    static = Path(app.outdir).parent / ".limetutor_static"
    static.mkdir(parents=True, exist_ok=True)
    scripts = [page_js(), exercise_boxes.script(), *assets("answers.js", "progress.js", "book.js")]
    styles = [page_css(), *assets(*STYLES)]
    (static / "limetutor.css").write_text("\n".join(styles), encoding="utf-8")
    (static / "limetutor.js").write_text("\n".join(scripts), encoding="utf-8")
    shutil.copyfile(formulas.FONT, static / formulas.FONT.name)
    fonts.write(static)
    app.config.html_static_path.append(str(static))


def assets(*names: str) -> list[str]:
    """The book's own scripts or styles."""
    return [(ASSETS / name).read_text("utf-8") for name in names]


def tidy_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Emit each script once (a ``const`` declared twice is an error), and nothing for thebe.

    Thebe would start a kernel in the page from another host; our controls need none.
    """
    kept: dict[str, Any] = {}
    for script in context.get("script_files", []):
        attributes = getattr(script, "attributes", {})
        name = attributes.get("body") or str(getattr(script, "filename", script))
        if "thebe" not in name.lower():
            kept.setdefault(name, script)
    context["script_files"] = list(kept.values())


def mend_roles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop the roles docutils gives a bibliography: one is deprecated, the other asks for it."""
    if "body" in context:
        body = context["body"].replace(' role="doc-biblioentry"', "")
        context["body"] = body.replace('<div role="list" class="citation-list">', "<div>")


# A browser that is told to keep nothing may refuse to speak of storage at all, and the theme's own
# scripts would stop there. progress.js tells the reader.
STORAGE = """<script>
try { localStorage.length; } catch {
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, String(value)),
    removeItem: (key) => kept.delete(key),
    refused: true,
  };
  Object.defineProperty(window, "localStorage", { value: storage });
}
</script>"""


def stand_in_for_storage(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Before all other scripts: where storage is refused, one that forgets with the page."""
    context["metatags"] = context.get("metatags", "") + STORAGE


def forget_old_words(app: Sphinx) -> list[Any]:
    """Drop words that no page has any more: Sphinx keeps all it ever listed for the search."""
    indexer = getattr(app.builder, "indexer", None)
    for words in (indexer._mapping, indexer._title_mapping) if indexer else ():
        for word in [word for word, used in words.items() if not used]:
            del words[word]
    return []


def build_slides(app: Sphinx, exception: Exception | None) -> None:
    """The slides and the handout that the page for teachers links to."""
    if exception is None and app.builder.format == "html" and TEACH in app.env.found_docs:
        built = Path(app.outdir)
        slides.build(built / "slides", built.parent / ".slides", fingerprint())


def leave_stamp(app: Sphinx, exception: Exception | None) -> None:
    """Say when the site was last built, for tests that must not look at an old or a failed one."""
    stamp = Path(app.outdir) / ".built"
    if exception is not None or (app.keep_going and app._warncount):  # -W --keep-going
        stamp.unlink(missing_ok=True)
    elif app.builder.format == "html":
        stamp.touch()
