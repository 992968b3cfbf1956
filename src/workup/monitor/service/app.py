"""The service put together: its routes, its limits, its headers, and what it says when something fails.

Nothing that was sent is ever logged: a line has the method, the pattern of the path, the status and the time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workup.errors import InputError, StudyError, raised
from workup.monitor.service import api, health, pages
from workup.monitor.service.answers import Problem, faulty, plain
from workup.monitor.service.context import Context, Refused
from workup.monitor.service.limits import LARGEST, LARGEST_ROWS, SizeLimit
from workup.monitor.store.database import StoreUnavailable
from workup.monitor.store.ingest import ConflictError
from workup.version import __version__

LOG = logging.getLogger("workup.monitor.service")
_THREADS = 12  # no more than the store has connections for
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_TLS_ALONE = {"Strict-Transport-Security": "max-age=31536000"}


def application(context: Context) -> ASGIApp:
    """The service on a store."""
    made = FastAPI(
        title="Workup monitor",
        version=__version__,
        docs_url=None,  # its page would be fetched from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=_few_threads,
    )
    made.state.context = context
    made.include_router(api.router)
    made.include_router(health.router)
    made.include_router(pages.router)
    made.add_exception_handler(HTTPException, _refused)
    made.add_exception_handler(RequestValidationError, _invalid)
    for kind in (StoreUnavailable, ConflictError, InputError, StudyError):
        made.add_exception_handler(kind, _in_words)
    made.add_middleware(SizeLimit, largest_of=_largest)
    return Guarded(made, _HEADERS | (_TLS_ALONE if context.behind_tls else {}))


class Guarded:
    """Headers on every answer, one line of log for it, and nothing told of a failure but its kind and place."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def headed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                held = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in self._headers if one[0] not in held)]
            await send(message)

        try:
            await self._app(scope, receive, headed)
        except Exception as error:
            LOG.error("failed: %s", raised(error))
            if not status:
                await JSONResponse(_problem("The service failed."), status_code=500)(scope, receive, headed)
        route = getattr(scope.get("route"), "path", "unknown path")
        LOG.info("%s %s %d %.0f ms", scope["method"], route, status, 1000 * (time.monotonic() - began))


@asynccontextmanager
async def _few_threads(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    yield


def _largest(path: str) -> int:
    return LARGEST_ROWS if path.startswith("/api/models/") else LARGEST


def _problem(said: str, refused: Refused | ConflictError | None = None) -> dict[str, object]:
    return Problem(error=plain(said), rows=[] if refused is None else faulty(refused.faults)).model_dump()


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 303:
        return RedirectResponse(str(error.detail), 303)
    refused = error if isinstance(error, Refused) else None
    return _answered(request, error.status_code, str(error.detail), refused, dict(error.headers or {}))


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong and where, without the value that was sent."""
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]]
    return _answered(request, 422, "; ".join(found))


async def _in_words(request: Request, error: Exception) -> Response:
    if isinstance(error, StoreUnavailable):
        return _answered(request, 503, "The store cannot be used now; nothing was stored. Try again.")
    if isinstance(error, ConflictError):
        return _answered(request, 409, str(error), error)
    return _answered(request, 422, str(error))


def _answered(
    request: Request,
    status: int,
    said: str,
    refused: Refused | ConflictError | None = None,
    headers: Mapping[str, str] = {},
) -> Response:
    """A refusal: a page for a person, JSON for a program."""
    more = {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "5"} if status in (429, 503) else {}
    path = request.url.path
    if "text/html" in request.headers.get("accept", "") and not path.startswith("/api/"):
        answer: Response = pages.refused_page(plain(said), status)
    else:
        answer = JSONResponse(_problem(said, refused), status_code=status)
    answer.headers.update({**headers, **more})
    return answer
