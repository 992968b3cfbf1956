"""A real server on the loopback that answers as it is told and can go wrong in every way a service can."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workup.systems.any.http import Http

Reply = tuple[int, dict[str, str], bytes]


class Service:
    """Gives the replies it was told to, one for each request, then what `good` makes of the content of the request."""

    def __init__(self, good: Callable[[Any], Reply], *, path: str = "/", tls: ssl.SSLContext | None = None) -> None:
        self.replies: list[Reply | Callable[[BaseHTTPRequestHandler], None]] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.most_at_once = 0
        at_once, lock, service = [0], threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for a packet to be acknowledged

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                form = self.headers["Content-Type"] == "application/json"
                content = json.loads(raw) if form else raw
                with lock:
                    at_once[0] += 1
                    service.most_at_once = max(service.most_at_once, at_once[0])
                    service.requests.append((self.path, dict(self.headers), content))
                    told = service.replies.pop(0) if service.replies else None
                try:
                    reply = good(content) if told is None else told
                    if callable(reply):
                        reply(self)
                        return
                    self._send(*reply)
                finally:
                    with lock:
                        at_once[0] -= 1

            def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A client that gave up is what some tests are about."""

        self.server = Quiet(("127.0.0.1", 0), Handler)
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.origin = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.server.server_port}"
        self.url = self.origin + path
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """The connection is lost before a byte was said."""
    handler.close_connection = True
    handler.connection.close()


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    """The connection is lost in the middle of the answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"result": {"findings": [')
    handler.close_connection = True


def stall(seconds: float) -> Callable[[BaseHTTPRequestHandler], None]:
    """Nothing is said for a while, then the connection is closed."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return reply


def system(service: Service, **settings: Any) -> Http:
    """The HTTP adapter, asking this service."""
    return Http(**{"name": "remote", "url": service.url, **settings})
