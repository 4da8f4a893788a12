"""Make the built site into an e-book: python tools/epub.py _build/html writes limetutor.epub there and links it.

EPUB 3 with a file for each page, in the order of the table of contents: formulas are MathML and come with their font,
figures are SVG at their defaults with the description that the site has, and nothing is asked of any other host. Below
a figure that has controls on the web is a link to it. Pages are taken apart in a browser, which also writes them as XML.
"""

from __future__ import annotations

import re
import sys
import uuid
import zipfile
from html import escape
from pathlib import Path
from string import Template

import yaml
from pdf import ROOT, UNWANTED, downloads, opened, reading_order

sys.path.insert(0, str(ROOT))
import limetutor

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
HOME = CONFIG["html"]["baseurl"]
FONTS = [
    ROOT / "book" / "_assets" / "formulas" / "math.woff2",
    *sorted(
        (ROOT / "limetutor" / "plotting" / "fonts").glob("*.ttf")
    ),  # figures are measured in these
]

# A page as XML: what e-readers have no use for is left out, links lead to the other files, names are given once.
PAGE = """async ([name, names, home, unwanted]) => {
    const text = await fetch(name).then((r) => r.text());
    const page = new DOMParser().parseFromString(text, "text/html");
    const article = page.querySelector("article.bd-article");
    const all = (what) => article.querySelectorAll(what);
    for (const figure of all(".lt-explore")) {
        const link = page.createElement("p"), a = page.createElement("a");
        const id = figure.closest("figure")?.id || "";
        a.href = home + "book/" + name + (id && "#" + id);
        a.textContent = "This figure with its controls, on the web";
        link.append(a);
        (figure.closest("figure") || figure).after(link);
    }
    all(unwanted + ", form, button, output, details.symbols").forEach((e) => e.remove());
    for (const box of all(".solution")) { // folds by a script on the web
        const fold = page.createElement("details"), head = page.createElement("summary");
        head.textContent = box.querySelector(".admonition-title").textContent;
        box.querySelector(".admonition-title").remove();
        fold.id = box.id;
        fold.append(head, ...box.childNodes);
        box.replaceWith(fold);
    }
    for (const head of all("summary")) {
        const words = head.querySelector("p.collapsed");
        head.textContent = (words || head).textContent.trim();
    }
    const known = new Set();
    for (const e of article.querySelectorAll("*")) {
        for (const { name: key } of [...e.attributes]) {
            if (/^(data-|aria-(live|describedby)|on|tabindex|scriptlevel)/.test(key)) e.removeAttribute(key);
        }
        if (e.id && known.has(e.id)) e.removeAttribute("id");
        known.add(e.id);
    }
    for (const svg of all("svg")) {
        svg.setAttribute("role", "img");
        const title = page.createElementNS("http://www.w3.org/2000/svg", "title");
        title.textContent = svg.getAttribute("aria-label");
        if (title.textContent) svg.prepend(title);
    }
    all("path:not([d])").forEach((e) => e.setAttribute("d", "")); // a space, or nothing to draw
    const pictures = [];
    for (const img of all("img")) {
        const at = new URL(img.getAttribute("src"), new URL(name, location.href)).href;
        pictures.push(at);
        img.setAttribute("src", "../images/" + at.split("/").pop());
    }
    for (const link of all("a[href]")) {
        const [to, state] = link.getAttribute("href").split("#");
        const id = state?.split("&")[0];
        link.removeAttribute("title");
        if (/^[a-z]+:/.test(to)) continue;
        if (to && !names.includes(to)) link.href = new URL(to, home + "book/").href;
        else link.setAttribute("href", to.replace(".html", ".xhtml") + (id ? "#" + id : ""));
    }
    return {
        title: page.querySelector("h1").textContent.trim(),
        body: [...article.children].map((e) => new XMLSerializer().serializeToString(e)).join("\\n"),
        pictures,
    };
}"""

STYLE = """@font-face { font-family: "Lime Math"; src: url("math.woff2"); }
@font-face { font-family: "Lime Sans"; src: url("sans-regular.ttf"); }
@font-face { font-family: "Lime Sans"; src: url("sans-bold.ttf"); font-weight: bold; }
@font-face { font-family: "Lime Greek"; src: url("greek.ttf"); }
body { line-height: 1.5; }
math { font-family: "Lime Math", math; }
svg, img { max-width: 100%; height: auto; font-family: "Lime Sans", "Lime Greek", sans-serif; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 85%; border-left: 3px solid #ccc; padding-left: .6em; }
.admonition, details { border: 1px solid #bbb; border-radius: 4px; padding: .2em .8em; margin: 1em 0; }
.admonition-title, summary { font-weight: bold; }
table { border-collapse: collapse; } td, th { border: 1px solid #bbb; padding: .2em .5em; }
figcaption { font-size: 90%; } .eqno { float: right; }
"""

CHAPTER = Template("""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>$title</title><link rel="stylesheet" type="text/css" href="$up/style.css"/></head>
<body>
$body
</body>
</html>
""")

PACKAGE = Template("""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en"
    prefix="schema: http://schema.org/">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:$uuid</dc:identifier>
<dc:title>$title</dc:title>
<dc:creator>$author</dc:creator>
<dc:language>en</dc:language>
<dc:rights>Text: CC BY 4.0. Code: BSD 3-Clause.</dc:rights>
<dc:source>$home, version $version</dc:source>
<meta property="dcterms:modified">$day</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">Formulas are MathML and figures have descriptions. The figures
do not move here; on the web they have controls.</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="style" href="style.css" media-type="text/css"/>
$items
</manifest>
<spine>
$spine
</spine>
</package>
""")

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""


def contents(pages: dict[str, dict]) -> str:
    """The table of contents, in the parts of _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))

    def entry(item: dict) -> str:
        name = f"{Path(item['file']).name}.xhtml"
        if name not in pages:
            return ""
        below = "".join(map(entry, item.get("sections", [])))
        return f'<li><a href="pages/{name}">{escape(pages[name]["title"])}</a>{below and f"<ol>{below}</ol>"}</li>'

    parts = [entry({"file": toc["root"]})]
    chapters = {part["caption"]: "".join(map(entry, part["chapters"])) for part in toc["parts"]}
    parts += [f"<li><span>{escape(k)}</span><ol>{v}</ol></li>" for k, v in chapters.items() if v]
    return f'<nav epub:type="toc" id="toc"><h1>{escape(CONFIG["title"])}</h1><ol>{"".join(parts)}</ol></nav>'


def read(site: Path, browser: str) -> dict[str, dict]:
    """The pages by the names of their files."""
    names = reading_order(site)
    with opened(site, browser) as tab:
        return {
            name.replace(".html", ".xhtml"): tab.evaluate(PAGE, [name, names, HOME, UNWANTED])
            for name in names
        }


def drawing(svg: str) -> str:
    """A picture without its document type, and with what a path must have."""
    svg = re.sub(r"(?s)<!DOCTYPE.*?>", "", svg)
    return re.sub(r"<path(?![^>]*\bd=)", '<path d=""', svg)


def written(site: Path, pages: dict[str, dict]) -> None:
    """Write the book: the same site gives the same file."""
    files = {
        "nav.xhtml": CHAPTER.substitute(title="Contents", up=".", body=contents(pages)),
        "style.css": STYLE,
    }
    items = [
        f'<item id="f{k}" href="{f.name}" media-type="font/{f.suffix[1:]}"/>'
        for k, f in enumerate(FONTS)
    ]
    spine = []
    for k, (name, page) in enumerate(pages.items()):
        files[f"pages/{name}"] = CHAPTER.substitute(
            title=escape(page["title"]), up="..", body=page["body"]
        )
        kinds = [
            kind for kind, mark in (("mathml", "<math"), ("svg", "<svg")) if mark in page["body"]
        ]
        has = f' properties="{" ".join(kinds)}"' if kinds else ""
        items.append(
            f'<item id="p{k}" href="pages/{name}" media-type="application/xhtml+xml"{has}/>'
        )
        spine.append(f'<itemref idref="p{k}"/>')
    pictures = sorted({Path(at).name for page in pages.values() for at in page["pictures"]})
    for k, name in enumerate(pictures):
        files[f"images/{name}"] = drawing((site / "_images" / name).read_text("utf-8"))
        items.append(f'<item id="i{k}" href="images/{name}" media-type="image/svg+xml"/>')
    year, month, day, *_ = downloads.DAY
    files["package.opf"] = PACKAGE.substitute(
        uuid=uuid.uuid5(uuid.NAMESPACE_URL, HOME),
        title=escape(CONFIG["title"]),
        author=escape(CONFIG["author"]),
        home=HOME,
        version=limetutor.__version__,
        day=f"{year}-{month:02}-{day:02}T00:00:00Z",
        items="\n".join(items),
        spine="\n".join(spine),
    )
    with zipfile.ZipFile(site / downloads.EPUB, "w", zipfile.ZIP_DEFLATED) as packed:

        def put(name: str, data: str | bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
            packed.writestr(zipfile.ZipInfo(name, downloads.DAY), data, how)

        put("mimetype", "application/epub+zip", zipfile.ZIP_STORED)  # first, and as it is
        put("META-INF/container.xml", CONTAINER)
        for font in FONTS:
            put(f"book/{font.name}", font.read_bytes())
        for name, text in files.items():
            put(f"book/{name}", re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text))


def main(folder: str, browser: str) -> int:
    site = Path(folder)
    if not (site / "index.html").is_file():
        print(f"{folder} holds no index.html: build the book first (make html).", file=sys.stderr)
        return 1
    written(site, read(site, browser))
    downloads.offer(site)
    print(f"{site / downloads.EPUB}: {(site / downloads.EPUB).stat().st_size / 1e6:.1f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
