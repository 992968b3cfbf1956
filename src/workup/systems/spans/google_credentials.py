"""Access tokens of a Google service account, through google-auth where it is installed. Keeps no secret in a study."""

from __future__ import annotations

import os
import re
import threading
from typing import Any

from workup.errors import InputError, SystemFailure
from workup.systems.libraries import library
from workup.systems.wire.deadline import client_with_deadline
from workup.systems.wire.transport import httpx_library

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_VARIABLE = re.compile(r"env:([A-Za-z_]\w*)")
_LONGEST_ANSWER = 1_000_000  # bytes; a token has a few thousand
_ONE_AT_A_TIME = threading.Lock()


def variable_of(setting: str, *, name: str, where: str) -> str:
    """The environment variable that a setting names as env:VARIABLE; a secret written out is refused."""
    named = _VARIABLE.fullmatch(setting) if isinstance(setting, str) else None
    if named is None:
        raise InputError(
            f"'{name}' must name an environment variable, so that no secret stands in a study",
            where=where,
            got="something else",
            remedy=f"write it as {name}: env:VARIABLE",
        )
    return named[1]


class ServiceAccount:
    """Tokens for the account whose key file an environment variable names; a copy asks for tokens of its own."""

    def __init__(self, variable: str, *, system: str, timeout: float) -> None:
        self._variable, self._where, self._timeout = variable, f"system '{system}'", timeout
        self._credentials: Any = None
        _library("google.oauth2.service_account")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_credentials": None}

    def headers(self) -> dict[str, str]:
        """The header that carries a token which is valid now."""
        with _ONE_AT_A_TIME:
            if self._credentials is None:
                self._credentials = self._opened()
            if not self._credentials.valid:
                self._refresh()
            return {"Authorization": f"Bearer {self._credentials.token}"}

    def _opened(self) -> Any:
        path = os.environ.get(self._variable, "")
        if not path:
            raise InputError(
                f"the environment variable {self._variable} must hold the path of a service account's key file",
                where=self._where,
                got="nothing",
                remedy=f"set {self._variable} where Workup runs",
            )
        account = _library("google.oauth2.service_account")
        try:
            return account.Credentials.from_service_account_file(path, scopes=[_SCOPE])
        except (OSError, ValueError, KeyError) as error:  # what they say may hold parts of the key
            raise InputError(
                f"the file that {self._variable} names must be the key of a service account, as JSON",
                where=self._where,
                got=error.strerror or "no such file" if isinstance(error, OSError) else "something else",
                remedy="download the key again, or use 'token' with a token of your own",
            ) from None

    def _refresh(self) -> None:
        errors = _library("google.auth.exceptions")
        httpx = httpx_library()

        def request(url: str, method: str = "GET", body: Any = None, headers: Any = None, **_: Any) -> Any:
            client, deadline = client_with_deadline(httpx, verify=True, timeout=self._timeout)
            deadline.set(self._timeout)
            received = bytearray()
            try:
                with client, client.stream(method, url, content=body, headers=headers) as answer:
                    for piece in answer.iter_bytes():
                        received += piece
                        if len(received) > _LONGEST_ANSWER:
                            raise errors.TransportError("TooLong")
            except httpx.HTTPError as error:
                raise errors.TransportError(type(error).__name__) from None
            return _Answer(answer.status_code, answer.headers, bytes(received))

        try:
            self._credentials.refresh(request)
        except errors.GoogleAuthError as error:  # its message may hold the answer of the token service
            kind = type(error).__name__
        else:
            return
        raise SystemFailure(
            f"{self._where}: the service account got no token ({kind}). To fix: check that the network is there, that "
            "the account may be used, and that the clock of this machine is right."
        )


class _Answer:
    """An answer in the form that google-auth wants."""

    def __init__(self, status: int, headers: Any, data: bytes) -> None:
        self.status, self.headers, self.data = status, headers, data


def _library(module: str) -> Any:
    return library(module, package="google-auth", extra="google", purpose="signing in with a service account")
