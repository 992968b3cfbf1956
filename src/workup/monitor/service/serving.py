"""Where the service listens. Beyond this machine only where someone can sign in and a proxy speaks TLS before it."""

from __future__ import annotations

import ipaddress
import logging

import uvicorn

from workup.errors import InputError
from workup.monitor.service.app import LOG, application
from workup.monitor.service.context import Context
from workup.monitor.store.tokens import tokens

_PATIENCE = 10  # seconds that a connection may stay idle, and that requests get to end


def serve(context: Context, *, host: str, port: int) -> None:
    """Answer until stopped."""
    lines = logging.StreamHandler()
    lines.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(lines)
    LOG.setLevel(logging.INFO)
    uvicorn.run(
        application(context),
        host=host,
        port=port,
        access_log=False,  # its lines would hold whatever a path holds
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_PATIENCE,
        timeout_graceful_shutdown=_PATIENCE,
        h11_max_incomplete_event_size=32 * 2**10,
    )


def check_place(context: Context, host: str) -> None:
    """Refuse to listen beyond loopback where nobody could sign in, or where tokens would travel in the clear."""
    if is_loopback(host):
        return
    if not context.behind_tls:
        raise InputError(
            "beyond this machine the service listens only behind a proxy that speaks TLS",
            where="--host",
            got="an address beyond loopback",
            remedy="set up the proxy and say --behind-tls, or leave --host away",
        )
    now = context.clock()
    with context.store.read() as connection:
        usable = [
            one
            for one in tokens(connection)
            if one["revoked"] is None and (one["expires"] is None or one["expires"] > now)
        ]
    if not usable:
        raise InputError(
            "beyond this machine the service listens only where it asks for tokens, and there is none that is valid",
            remedy="make one with  workup monitor token create NAME --scope admin",
        )


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", "example.org")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
