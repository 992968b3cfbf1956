"""Files that only their owner can read, written whole or not at all, and a lock that dies with its process."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from workup.errors import RunError
from workup.files.received import content_of, open_regular

try:
    import fcntl
except ImportError:  # a platform without it
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
_PLANTED = (errno.ELOOP, errno.EMLINK)  # a link, or a file with a second name, in the place of a file
_OTHER_FOLDER = "choose, with -o, a folder that you may write to and that has room"


@contextlib.contextmanager
def said_in_words(path: Path) -> Iterator[None]:
    """What the file system refuses, in words."""
    try:
        yield
    except OSError as error:
        planted = error.errno in _PLANTED  # more room would not help
        remedy = "remove it, or choose another folder with -o" if planted else _OTHER_FOLDER
        raise RunError(
            f"{path}: the run directory cannot be used ({error.strerror or type(error).__name__}). To fix: {remedy}."
        ) from None


def make_folder(path: Path) -> None:
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        sync_folder(path.parent)


def open_private(path: Path, flags: int) -> int:
    """Open or make a file that only its owner can read, whatever the umask.

    Nothing but a regular file with this one name is opened: through a link, or a second name, the file of another would
    be written to.
    """
    descriptor = open_regular(path, flags | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_nlink > 1:
            raise OSError(errno.EMLINK, f"'{path.name}' is a file with a second name elsewhere")
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def private(path: Path, flags: int) -> Iterator[int]:
    descriptor = open_private(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def refuse_special(path: Path) -> None:
    """Refuse to write where there is a link, a folder, a pipe or a device: it would be lost, or lead elsewhere."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except ValueError:  # a NUL in the name
        raise OSError(errno.EINVAL, "a name that no file can have") from None
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFLNK: "a link, which is not followed", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
        raise OSError(errno.EEXIST, kinds.get(stat.S_IFMT(mode), "a device or a socket"))


def replace_whole(path: Path, texts: Iterable[str | bytes], *, mode: int = 0o600) -> int:
    """Put a file in place whole, by way of a temporary one in the same folder; answers its size in bytes.

    Only a regular file is replaced. The temporary one has a name that nobody can foresee and must be new, so that what
    somebody put there before is neither followed nor lost. `mode` is lessened by the umask unless it is 0600.
    """
    refuse_special(path)
    temporary = path.with_name(f".workup-{secrets.token_hex(8)}.tmp")  # cleared away by RunDirectory after a kill
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
    try:
        try:
            if mode == 0o600 and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)  # a umask may have taken from the owner too
            with open(descriptor, "wb", closefd=False) as file:
                file.writelines(text if isinstance(text, bytes) else text.encode() for text in texts)
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        refuse_special(path)  # again: the texts may have taken hours to come
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return size


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to disk, where the platform lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Lock:
    """One writer at a time. The system frees the lock when its process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = self._take_by_name() if fcntl is None else self._take()
        os.ftruncate(self._descriptor, 0)
        write_all(self._descriptor, str(os.getpid()).encode())

    def _take(self) -> int:
        while True:
            descriptor = open_private(self._path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # clean() removes the file, and a lock on a file that lost its name keeps nobody out: take the new one.
                if self._path.exists() and os.path.samestat(os.fstat(descriptor), self._path.lstat()):
                    return descriptor
            except BlockingIOError:
                os.close(descriptor)
                raise self._held() from None
            os.close(descriptor)

    def _take_by_name(self) -> int:
        """Where there is no flock, the file itself is the lock, and that of a dead holder is taken over."""
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if _alive(self._holder()):
                raise self._held() from None
        self._path.unlink(missing_ok=True)
        return self._take_by_name()

    def _holder(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return int(content_of(self._path, most=64))
        return 0

    def _held(self) -> RunError:
        stale = "" if fcntl else f"; if no such process runs, remove the file {LOCK} in it"
        return RunError(
            f"{self._path.parent}: another run is writing here (process {self._holder() or 'unknown'}). "
            f"To fix: wait for it to end, or choose another folder with -o{stale}."
        )

    def release(self, *, remove: bool = False) -> None:
        """Let the next one in; a second call does nothing."""
        if self._descriptor < 0:
            return
        if remove or fcntl is None:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def _alive(pid: int) -> bool:
    """Whether a process runs. 0, a holder that cannot be read, counts: it may be about to write its number."""
    if pid == 0 or os.name == "nt":  # os.kill(pid, 0) would send Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
