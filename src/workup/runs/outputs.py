"""What a system answered, one checked JSON object a line, so that a killed run goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workup.errors import RunError
from workup.files.disk import open_private, sync_folder, write_all

_CHECK = re.compile(rb',"check":"([0-9a-f]{8})"}\n')
NOT_A_RECORD = (
    "the record is not in the form that Workup writes, though its checksum is right. To fix: run with --fresh, which "
    "asks the system again."
)
_LONGEST_LINE = 64 * 2**20  # bytes; what a system says to one case is a thousandth of it
_CHECK_LENGTH = len(',"check":"01234567"}\n')


class Outputs:
    """A log of outputs by case, one checked JSON object a line: a workup.task.OutputLog.

    A last line that a kill cut short is removed and counted in `repaired`; append() had not returned for it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repaired = 0
        self._known: dict[str, Any] = {}
        self._failed: dict[str, str] = {}
        self._descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
        try:
            sync_folder(path.parent)
            self._size = self._read()
        except BaseException:
            self.close()
            raise

    def known(self) -> Mapping[str, Any]:
        """Outputs recorded so far, by case; of a case recorded twice, the later one."""
        return MappingProxyType(self._known)

    def failed(self) -> Mapping[str, str]:
        """The cases on which the system failed, with the reason; their output is null, as of one that was refused."""
        return MappingProxyType(self._failed)

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Record outputs; they are on disk when this returns."""
        texts = {str(case): _json(output) for case, output in outputs.items()}
        self._write(b"".join(_line(case, text) for case, text in texts.items()))
        # As JSON gives them back, so that a run that goes on and a run that resumes see the same values.
        self._known.update((case, json.loads(text)) for case, text in texts.items())
        for case in texts:
            self._failed.pop(case, None)

    def fail(self, reasons: Mapping[str, str]) -> None:
        """Record cases on which the system failed; they are on disk when this returns."""
        self._write(b"".join(_line(case, f'null,"failed":{_json(reason)}') for case, reason in reasons.items()))
        self._known.update(dict.fromkeys(reasons))
        self._failed.update(reasons)

    def _write(self, batch: bytes) -> None:
        try:
            write_all(self._descriptor, batch)
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise RunError(
                f"{self.path}: outputs could not be written ({error.strerror}). To fix: make room on the disk and run "
                "again; what was recorded before is kept."
            ) from None
        self._size += len(batch)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> int:
        """Take in every record, cut off a torn last line, and answer the size of the file."""
        size = 0
        whole = os.fstat(self._descriptor).st_size
        for number, line in enumerate(self._lines(), start=1):
            record = _record(line)
            if record is not None:
                case = record.get("case") if isinstance(record, dict) else None
                if not isinstance(case, str) or "output" not in record:
                    raise RunError(f"{self.path}, line {number}: {NOT_A_RECORD}")
                self._known[case] = record["output"]
                self._failed.pop(case, None)
                if "failed" in record:
                    self._failed[case] = _reason(record["failed"])
                size += len(line)
            elif size + len(line) < whole:
                raise RunError(
                    f"{self.path}, line {number}: the record does not match its checksum: the file was changed, or the "
                    "disk is failing. To fix: run with --fresh, which asks the system again."
                )
            else:
                os.ftruncate(self._descriptor, size)
                os.fsync(self._descriptor)
                self.repaired = 1
        return size

    def _lines(self) -> Iterator[bytes]:
        """Lines of the file that was opened, whatever is at its path by now; one without an end is an error."""
        with open(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            while line := file.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise RunError(
                        f"{self.path}: a record of at most {_LONGEST_LINE:,} bytes was expected; got a longer line. "
                        "To fix: run with --fresh, which asks the system again."
                    )
                yield line


class Unrecorded:
    """The log of a run that keeps nothing, as in a notebook: a workup.task.OutputLog."""

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}

    def failed(self) -> Mapping[str, str]:
        """The cases on which the system failed, with the reason."""
        return MappingProxyType(self._failed)

    def known(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Forget them."""

    def fail(self, reasons: Mapping[str, str]) -> None:
        """Remember the failures, which a report tells."""
        self._failed.update(reasons)


def _reason(text: Any) -> str:
    """A reason as a run writes it, whatever a file says that came from somebody else."""
    return text if isinstance(text, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", text) else "error"


def _json(output: Any) -> str:
    """JSON with every digit, since outputs must come back as they were."""
    try:
        return json.dumps(output, separators=(",", ":"), allow_nan=False, default=_unwrapped)
    except (TypeError, ValueError, RecursionError):
        raise RunError(
            "an output must be plain JSON: finite numbers, texts, lists, objects or null. "
            "To fix: let the system answer None where it has no answer."
        ) from None


def _unwrapped(value: Any) -> Any:
    """numpy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError


def _line(case: str, output: str) -> bytes:
    body = f'{{"case":{_json(case)},"output":{output}'.encode()
    return body + b',"check":"%08x"}\n' % zlib.crc32(body)


def _record(line: bytes) -> Any:
    """What a line holds, or None when the line is not whole; its checksum does not say that it is a record."""
    body, check = line[:-_CHECK_LENGTH], _CHECK.fullmatch(line[-_CHECK_LENGTH:])
    if check is None or int(check[1], 16) != zlib.crc32(body):
        return None
    try:
        return json.loads(body + b"}")
    except (ValueError, RecursionError):
        return ()
