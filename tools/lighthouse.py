"""Lighthouse on the built site: python tools/lighthouse.py _build/html CHROMIUM [RUNS [PAGE …]].

Serves the folder compressed, as a host would, runs Lighthouse (npm's, through npx, so that this needs Node and the
network) on the first page and the two heaviest chapters, on a phone and on a laptop, and prints the medians. Ends
with 1 if a goal is missed. A busy machine makes pages slow: run it on a quiet one.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from serve import Quiet

VERSION = "12.8.2"
RUNS = 5
FIRST = "book/welcome.html"
# Least scores: on a phone and a laptop for the first page, the same for chapters, and of the other categories.
GOALS = {
    ("first", "mobile"): 90,
    ("first", "desktop"): 98,
    ("chapter", "mobile"): 85,
    ("chapter", "desktop"): 98,
}
OTHERS = {"accessibility": 100, "best-practices": 100, "seo": 100}
TIMES = {
    "first-contentful-paint": "first paint, ms",
    "largest-contentful-paint": "largest, ms",
    "total-blocking-time": "blocked, ms",
    "cumulative-layout-shift": "shift",
    "total-byte-weight": "bytes",
}


class Compressed(Quiet):
    """Files of text gzipped, once."""

    kept: ClassVar[dict[tuple[str, int], bytes]] = {}

    def send_head(self) -> Any:
        """Answer with the compressed file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file() or path.suffix not in (".html", ".js", ".css", ".svg", ".json"):
            return super().send_head()
        key = str(path), path.stat().st_mtime_ns
        data = self.kept.setdefault(key, gzip.compress(path.read_bytes(), 6, mtime=0))
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)) + "; charset=utf-8")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return None

    def end_headers(self) -> None:
        """Let what does not change be kept, as a host would."""
        super(Quiet, self).end_headers()


def heaviest(site: Path, count: int = 2) -> list[str]:
    """The chapters with most bytes, compressed."""
    chapters = [
        p
        for p in (site / "book").glob("*.html")
        if (p.parents[1] / "_sources/book" / f"{p.stem}.ipynb").exists()
    ]
    chapters.sort(key=lambda path: len(gzip.compress(path.read_bytes())), reverse=True)
    return [path.relative_to(site).as_posix() for path in chapters if path.name != "welcome.html"][
        :count
    ]


def run(address: str, form: str, browser: str) -> dict[str, Any]:
    """One report of Lighthouse."""
    command = ["npx", "--yes", f"lighthouse@{VERSION}", address, "--quiet", "--output=json"]
    command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu", "--only-categories"]
    command[-1] += "=performance,accessibility,best-practices,seo"
    command += ["--preset=desktop"] if form == "desktop" else []
    env = {**os.environ, "CHROME_PATH": browser}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise SystemExit(f"Lighthouse failed: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def measured(address: str, form: str, browser: str, runs: int) -> dict[str, float]:
    """The medians of several reports, and what keeps a category below 100."""
    reports = [run(address, form, browser) for _ in range(runs)]
    found = {
        name: statistics.median(100 * report["categories"][name]["score"] for report in reports)
        for name in ("performance", *OTHERS)
    }
    for name in TIMES:
        found[name] = statistics.median(
            report["audits"][name]["numericValue"] for report in reports
        )
    for name in OTHERS:
        for reference in reports[0]["categories"][name]["auditRefs"]:
            audit = reports[0]["audits"][reference["id"]]
            if reference["weight"] and audit["score"] is not None and audit["score"] < 1:
                print(f"  {name}: {audit['id']}: {audit['title']}")
    return found


def main(folder: str, browser: str, runs: str = str(RUNS), *pages: str) -> int:
    site, missed = Path(folder), 0
    handler = partial(Compressed, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for page in pages or (FIRST, *heaviest(site)):
            for form in ("mobile", "desktop"):
                found = measured(
                    f"http://127.0.0.1:{server.server_port}/{page}", form, browser, int(runs)
                )
                goal = GOALS["first" if page == FIRST else "chapter", form]
                short = found["performance"] < goal or any(found[k] < v for k, v in OTHERS.items())
                missed += short
                scores = ", ".join(f"{name} {found[name]:.0f}" for name in ("performance", *OTHERS))
                times = ", ".join(f"{words} {found[name]:.4g}" for name, words in TIMES.items())
                print(f"{page} {form}: {scores} ({times}){' MISSED' if short else ''}", flush=True)
        server.shutdown()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
