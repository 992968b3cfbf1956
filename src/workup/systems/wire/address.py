"""Where a system on the web is and what is said to it, with no secret written out. Sends nothing."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, urlsplit

from workup.errors import InputError

_FROM_ENVIRONMENT = re.compile(r"(?:(?P<scheme>[A-Za-z][\w-]*) )?env:(?P<variable>[A-Za-z_]\w*)")
SECRET_NAME = re.compile(r"auth|cookie|credential|key|passw|secret|session|signature|token", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(basic|bearer|digest|token|apikey|aws4-hmac-sha256)\s", re.IGNORECASE)


def with_secrets(headers: dict[str, str], *, where: str) -> dict[str, str]:
    """The headers with their secrets from the environment; made for one request and to be kept nowhere."""
    filled = {}
    for name, value in headers.items():
        named = _FROM_ENVIRONMENT.fullmatch(value)
        if named:
            variable, scheme = named["variable"], named["scheme"]
            secret = os.environ.get(variable, "")
            if not secret or not secret.isascii() or not secret.isprintable():
                raise InputError(
                    f"the environment variable {variable} must hold the value of the header '{name}'",
                    where=where,
                    got="nothing" if not secret else "line breaks or characters that a header cannot carry",
                    remedy=f"set {variable} where Workup runs",
                )
            value = f"{scheme} {secret}" if scheme else secret
        filled[name] = value
    return filled


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, to which an open line harms nobody."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_url(url: str, *, where: str) -> SplitResult:
    """An address without secrets in it: it is in the study and in reports."""
    remedy = "write it as https://host/path"
    try:
        address = urlsplit(url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError("'url' must be an address of http or https", where=where, remedy=remedy)
    if address.username is not None or address.password is not None:
        raise InputError(
            "'url' must not hold a user name or password",
            where=where,
            remedy="send them as a header whose value is env:VARIABLE",
        )
    for key, _ in parse_qsl(address.query, keep_blank_values=True):
        if SECRET_NAME.search(key):
            raise InputError(
                "'url' must not hold a secret",
                where=where,
                got="a parameter whose name is that of a secret",
                remedy="send it as a header whose value is env:VARIABLE",
            )
    return address


def checked_headers(headers: dict[str, str], *, where: str) -> dict[str, str]:
    """Headers in which every secret is named by its environment variable and none is written out."""
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9-]+", str(name)) or not isinstance(value, str):
            raise InputError("'headers' must be names and texts, as in Accept-Language: en", where=where)
        if _FROM_ENVIRONMENT.fullmatch(value):
            continue
        if SECRET_NAME.search(name) or _SECRET_VALUE.match(value):
            raise InputError(
                f"the header '{name}' carries a secret, which must not stand in a study",
                where=where,
                got="a value written out",
                remedy="put the value in an environment variable and write env:VARIABLE (or Bearer env:VARIABLE)",
            )
        if not value.isascii() or not value.isprintable():
            raise InputError(f"the header '{name}' must be one line of ASCII", where=where)
    return dict(headers)
