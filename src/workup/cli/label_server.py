"""The page of `workup view --serve`: one page, opened once, on this machine alone; answers are appended to a file.

Whoever may connect to this machine's loopback may try to speak to it: other users, other programs, and any web page
that a browser here has open. The address holds a secret that works once; the page that it opens holds another, without
which nothing is taken. A request under another host name is refused, so that no name of a stranger can be pointed here.
"""

from __future__ import annotations

import hmac
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from workup.errors import InputError, WorkupError
from workup.files.disk import private, write_all
from workup.files.received import json_of
from workup.report import canonical

LARGEST = 4096  # bytes of one answer
_PATIENCE = 10  # seconds for one request
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_USED = (
    "This page was opened already, or the address is not whole. Answers given so far are kept; start workup view again."
)


class LabelServer(ThreadingHTTPServer):
    """Serves one page once and appends the answers that it sends."""

    daemon_threads = True

    def __init__(
        self,
        page: Callable[[str], str],
        *,
        units: Mapping[str, bool],
        file: Path,
        draw: str | None,
        blind: bool,
        port: int = 0,
    ) -> None:
        self.kept = 0
        self._file, self._units, self._draw, self._blind = file, units, draw, blind
        self._answered: set[tuple[str, str]] = set()
        self._session = secrets.token_urlsafe(32)
        self._token: str | None = secrets.token_urlsafe(32)
        self._page = page(self._session).encode()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)
        self.host = f"127.0.0.1:{self.server_port}"
        self.address = f"http://{self.host}/?token={self._token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is no matter; what it sent is not repeated."""

    def opened(self, token: str) -> bytes | None:
        """The page, for whoever has the token, once."""
        with self._lock:
            if self._token is None or not _same(token, self._token):
                return None
            self._token = None
            return self._page

    def trusts(self, session: str) -> bool:
        """Whether a request comes from the page that was opened."""
        return self._token is None and _same(session, self._session)

    def keep(self, record: Any) -> None:
        """Check an answer and append it. What the page must not decide is set here: the draw, and if it was blind."""
        from workup.tasks.conversation.labels import Label, Unit, label_of
        from workup.tasks.conversation.viewed import anchor_of

        if not isinstance(record, dict) or not {*Unit._fields, *Label._fields} >= record.keys():
            raise InputError("an answer must be an object with the keys of a label alone")
        label = label_of({**record, "draw": None, "blind": False}, where="an answer")
        anchor = anchor_of(label.unit)
        if anchor not in self._units:
            raise InputError("an answer must be of a unit on the page")
        with self._lock:
            # What is answered a second time was answered with the outcome in view.
            first = (anchor, label.rater) not in self._answered
            told = {"expected": label.expected, "rater": label.rater, "blind": self._blind and first}
            unit = label.unit.record()
            line = canonical({**unit, **told, "draw": self._draw if self._units[anchor] else None})
            append_line(self._file, line)
            self._answered.add((anchor, label.rater))
            self.kept += 1


class _Handler(BaseHTTPRequestHandler):
    server: LabelServer
    server_version, sys_version = "workup", ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if not self._here() or asked.path != "/":
            return self._say(404 if self._here() else 421, b"")
        if not self._same_origin():  # before the address is used up
            return self._say(403, b"")
        page = self.server.opened((parse_qs(asked.query).get("token") or [""])[0])
        if page is None:
            return self._say(403, _USED.encode())
        return self._say(200, page, kind="text/html; charset=utf-8")

    def do_POST(self) -> None:
        status = self._refusal()
        if status:
            self.close_connection = True  # what follows is not read
            return self._say(status, b"")
        try:
            self.server.keep(json_of(self.rfile.read(int(self.headers["Content-Length"]))))
        except (WorkupError, ValueError):
            return self._say(400, b"")
        except OSError:
            return self._say(507, b"")
        return self._say(204, b"")

    def _refusal(self) -> int:
        """Why an answer is not so much as read, as a status; 0 where it is."""
        length = self.headers.get("Content-Length", "")
        if not self._here():
            return 421
        if self.path != "/labels":
            return 404
        if not self._same_origin() or not self.server.trusts(self.headers.get("X-Workup-Session", "")):
            return 403
        if self.headers.get("Content-Type") != "application/json":
            return 415
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            return 411
        return 413 if len(length) > 9 or int(length) > LARGEST else 0

    def _same_origin(self) -> bool:
        """No page of another origin asks. A browser that opens an address itself names no origin."""
        own = f"http://{self.server.host}"
        return all(origin == own for origin in self.headers.get_all("Origin", [own]))

    def _here(self) -> bool:
        return self.headers.get_all("Host") == [self.server.host]

    def _say(self, status: int, body: bytes, *, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: an address holds the token."""


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def append_line(file: Path, line: str) -> None:
    """Add one line to a private file, on disk when this returns; a last line without its end is ended first."""
    with private(file, os.O_RDWR | os.O_APPEND) as descriptor:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            line = line if os.read(descriptor, 1) == b"\n" else f"\n{line}"
        write_all(descriptor, f"{line}\n".encode("utf-8", "surrogatepass"))
        os.fsync(descriptor)


def serve_labels(page: Callable[[str], str], *, announce: Callable[[str], None], **settings: Any) -> int:
    """Serve until Ctrl-C; answers how many labels were added."""
    file: Path = settings["file"]
    try:
        with private(file, os.O_RDWR | os.O_APPEND):
            server = LabelServer(page, **settings)
    except OSError as error:
        got = error.strerror or "an error of the system"
        raise InputError("a file that can be appended to, and a free port, were expected", got=got) from None
    announce(f"{server.address}\nopens once, on this machine alone; Ctrl-C ends it")
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    return server.kept


__all__ = ["LARGEST", "LabelServer", "append_line", "serve_labels"]
