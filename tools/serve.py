"""Serve a folder on this machine only: python tools/serve.py _build/html [port]."""

from __future__ import annotations

import os
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PREFERRED_PORT = 8000


class Quiet(SimpleHTTPRequestHandler):
    """Log failures only, and let a reload show the latest build."""

    def log_request(self, code="-", size="-"):
        """Log what went wrong."""
        if not str(getattr(code, "value", code)).startswith(("2", "3")):
            super().log_request(code, size)

    def end_headers(self):
        """Forbid the browser to keep an old build."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def bind(folder: Path, port: int | None) -> ThreadingHTTPServer:
    """Return a server on `port`; without one on 8000, or on any free port if that is taken."""
    handler = partial(Quiet, directory=str(folder))
    if port is not None:
        return ThreadingHTTPServer(("127.0.0.1", port), handler)
    try:
        return ThreadingHTTPServer(("127.0.0.1", PREFERRED_PORT), handler)
    except OSError:
        return ThreadingHTTPServer(("127.0.0.1", 0), handler)


def has_display() -> bool:
    """Say whether a browser window could be seen."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def main() -> int:
    folder = Path(sys.argv[1])
    if not (folder / "index.html").is_file():
        print(f"{folder} holds no index.html: build the book first (make html).", file=sys.stderr)
        return 1
    try:
        server = bind(folder, int(sys.argv[2]) if len(sys.argv) > 2 else None)
    except OSError as error:
        print(f"Port {sys.argv[2]} cannot be used: {error.strerror}.", file=sys.stderr)
        return 1
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"The book is at {address} (Ctrl-C stops it).", flush=True)
    if has_display():
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
