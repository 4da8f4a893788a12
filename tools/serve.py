"""Serve a folder on this machine only: python tools/serve.py _build/html [port].

``tools/serve.py --check [port]`` only says whether that would work, before a long build.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PREFERRED_PORT = 8000
LARGEST_PORT = 65_535


class Quiet(SimpleHTTPRequestHandler):
    """Log failures only, and let a reload show the latest build."""

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log what went wrong."""
        if not str(getattr(code, "value", code)).startswith(("2", "3")):
            super().log_request(code, size)  # type: ignore[arg-type]

    def send_head(self) -> Any:
        """Answer 400 to an address that no file can have, such as one with a null character."""
        try:
            return super().send_head()
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return None

    def end_headers(self) -> None:
        """Forbid the browser to keep an old build."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


class Server(ThreadingHTTPServer):
    """Let browsers go that close a page before it has arrived."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report other errors."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def bind(folder: Path, port: int | None) -> Server:
    """Return a server on `port`; without one on 8000, or on any free port if that is taken."""
    handler = partial(Quiet, directory=str(folder))
    if port is not None:
        return Server(("127.0.0.1", port), handler)
    try:
        return Server(("127.0.0.1", PREFERRED_PORT), handler)
    except OSError:
        return Server(("127.0.0.1", 0), handler)


def has_display() -> bool:
    """Say whether a browser window could be seen."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def port_of(text: str) -> int:
    """Read a port, or raise ValueError."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_PORT))):
        raise ValueError(text)
    port = int(text)
    if not 1 <= port <= LARGEST_PORT:
        raise ValueError(text)
    return port


def holds_page(folder: str) -> bool:
    """Say whether there is something to serve, at a place that may be none."""
    try:
        return (Path(folder) / "index.html").is_file()
    except OSError:  # too long, or not to be read
        return False


def fail(code: int, sentence: str) -> int:
    """Tell what is wrong in one sentence."""
    print(sentence, file=sys.stderr)
    return code


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2:
        return fail(2, "Usage: python tools/serve.py FOLDER [PORT].")
    folder, *given = arguments
    try:
        port = port_of(given[0]) if given else None
    except ValueError:
        return fail(
            2, f"PORT must be a whole number from 1 to {LARGEST_PORT}, got {given[0][:200]!r}."
        )
    check_only = folder == "--check"
    if not check_only and not holds_page(folder):
        return fail(1, f"{folder[:200]} holds no index.html: build the book first (make html).")
    try:
        server = bind(Path(folder), port)
    except OSError as error:
        return fail(1, f"Port {port} cannot be used: {error.strerror}.")
    with server:
        if check_only:
            return 0
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"The book is at {address} (Ctrl-C stops it).", flush=True)
        if has_display():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
