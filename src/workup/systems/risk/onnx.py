"""An ONNX classifier as a risk model, on one thread of the processor. The file is data: reading it runs no code.

Files that it keeps weights in are read too, if they lie in its folder; a batch that does not end is stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from workup.errors import InputError, SystemFailure, raised
from workup.stats.arrays import Floats
from workup.systems.libraries import library
from workup.systems.pinned import check_sha256, read_once
from workup.systems.risk.onnx_files import class_labels, external_files, pin_of, with_external_files
from workup.systems.risk.predictors import (
    SECOND_OF_TWO,
    Column,
    answer_rows,
    check_features,
    check_risks,
    check_settings,
    is_missing,
    listed_features,
    place_of_class,
    place_without_classes,
    refuse_labels,
    several_classes,
)
from workup.systems.settings import UNPINNED, Batch, Features, FilePath, Missing, Positive, Sha256, Timeout
from workup.task import Table

_ROUNDING = 1e-6  # float32 holds seven digits
_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
_NAME_THE_CLASSES = (
    "name them in the file, in the order of the columns, as in "
    "model.metadata_props.add(key='classes', value='[\"alive\", \"died\"]')"
)
_GIVE_PROBABILITIES = (
    "export the probabilities (skl2onnx: options={'zipmap': False}); if the model truly gives only 0 and 1, put its "
    "answers in a column and use: recorded"
)


class OnnxModel:
    """Answers the probability of the positive class, from the output that holds probabilities and not from the label.

    The class is found by its name: in the keys of a zipmap, in the metadata (`classes`, a JSON list), or in the
    classlabels of the file. Where none of them is there, the second of two columns is taken, and a note says so.
    Inputs are one tensor of all `features`, or one input for each column, by its name.

    `sha256` is that of the file; where the file keeps weights in others, it is that of the names and contents of them
    all. A batch that takes longer than `timeout` seconds is stopped, and the run with it.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        path: Annotated[FilePath, Field(description="ONNX file")],
        sha256: Sha256 = UNPINNED,
        features: Features = None,
        positive: Positive = 1,
        missing: Missing = "refuse",
        batch: Batch = 1000,
        timeout: Timeout = 600.0,
    ) -> None:
        where = f"system '{name}', file '{path}'"
        check_settings(missing=missing, batch=batch, where=where)
        if not 0 < timeout <= threading.TIMEOUT_MAX:
            raise InputError("'timeout' must be more than 0 seconds", where=where, got=str(timeout))
        self.name, self.missing, self.batch, self.positive, self.timeout = name, missing, batch, positive, timeout
        content = read_once(base / path, sha256=UNPINNED, where=where)
        self._session, self.version, mark = _open(base / path, content, sha256=sha256, timeout=timeout, where=where)
        self.version += f" sha256:{mark[:12]}"
        self._inputs = self._session.get_inputs()
        self.features = _feature_names(self._inputs, features, where=where)
        self._output = _probability_output(self._session.get_outputs(), where=where)
        self._classes = _classes(self._session.get_modelmeta().custom_metadata_map, content, where=where)
        if self._classes is not None:
            place_of_class(self._classes, positive, where=where)
        self.notes = self._said()
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "path": path,
            "sha256": mark,
            "features": features,
            "positive": positive,
            "missing": missing,
            "batch": batch,
            "timeout": timeout,
        }

    def __getstate__(self) -> dict[str, Any]:
        return self._settings  # a session lives in one process; another opens the same file anew

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def predict(self, table: Table) -> list[float | None]:
        """The probability of the positive class for each row, None for a row that is refused."""
        return answer_rows(table, features=self.features, missing=self.missing, system=self.name, risks=self._risks)

    def _said(self) -> tuple[str, ...]:
        if self._classes is not None:
            return several_classes(len(self._classes))
        two_columns = len(self._output.shape or ()) == 2 and self._output.shape[1] == 2
        return (SECOND_OF_TWO,) if two_columns else ()

    def _risks(self, columns: list[Column]) -> Floats:
        rows = len(columns[0])
        # A single row is multiplied by another routine, which rounds otherwise; a second one keeps it to the first.
        fed = self._fed([np.repeat(column, 2) for column in columns] if rows == 1 else columns)
        stopped = threading.Event()
        try:
            (answer,) = self._asked(fed, stopped)
        except Exception as error:
            if stopped.is_set():
                raise SystemFailure(
                    f"system '{self.name}': a batch of {rows} rows was not finished after {self.timeout:g} s; it was "
                    "stopped. To fix: raise 'timeout', lower 'batch', or check that the loops of the model come to an "
                    "end."
                ) from None
            raise SystemFailure(
                f"system '{self.name}': onnxruntime failed on a batch of {rows} rows ({raised(error)}). Its message "
                "may hold patient values and is not repeated. To fix: check that 'features' are the columns that the "
                "model was made for, in its order, and that its first axis may have any length."
            ) from None
        chosen, width = self._chosen(answer, max(2, rows))
        chosen = chosen[:rows]
        refuse_labels(chosen, columns=width, system=self.name, remedy=_GIVE_PROBABILITIES)
        return check_risks(
            chosen,
            system=self.name,
            rounding=_ROUNDING,
            remedy="export the model with its last step, the sigmoid or softmax, so that it answers probabilities",
        )

    def _asked(self, fed: dict[str, Column], stopped: threading.Event) -> Any:
        """What the session answers; a loop without end is told to stop between two steps of the graph."""
        onnxruntime = library("onnxruntime", package="onnxruntime", extra="onnx", purpose="running an ONNX model")
        options = onnxruntime.RunOptions()
        options.log_severity_level = 4

        def stop() -> None:
            stopped.set()
            options.terminate = True

        with _at_most(self.timeout, stop):
            return self._session.run([self._output.name], fed, options)

    def _chosen(self, answer: Any, rows: int) -> tuple[Column, int]:
        """The column of the positive class, and how many columns there are."""
        where = f"system '{self.name}'"
        if isinstance(answer, list):  # a zipmap: one mapping of class to probability for each row
            if len(answer) != rows or not all(isinstance(entry, Mapping) for entry in answer):
                raise SystemFailure(
                    f"{where}: the model must answer a probability for each of {rows} rows; got another list. "
                    "To fix: export it with options={'zipmap': False}."
                )
            classes = list(answer[0])
            key = classes[place_of_class(classes, self.positive, where=where)]
            return np.array([entry[key] for entry in answer]), len(classes)
        probabilities = np.asarray(answer)
        if probabilities.shape == (rows,):
            probabilities = probabilities[:, None]
        known = None if self._classes is None else len(self._classes)
        if probabilities.ndim != 2 or len(probabilities) != rows or probabilities.shape[1] not in {1, known or 2}:
            expected = "1 or 2 columns" if known is None else f"1 column or {known}"
            raise SystemFailure(
                f"{where}: the model must answer {rows} rows with {expected}; got shape {probabilities.shape}. "
                f"To fix: {_NAME_THE_CLASSES if known is None else 'export one output with a column for each class'}."
            )
        width = probabilities.shape[1]
        if self._classes is None:
            column = place_without_classes(width, self.positive, system=self.name, remedy=_NAME_THE_CLASSES)
        else:
            column = place_of_class(self._classes, self.positive, where=where)
            if width == 1:  # the custom is that a single column is the probability of the second class
                column = place_without_classes(width, column, system=self.name, remedy="export a column for each class")
        return probabilities[:, column], width

    def _fed(self, columns: list[Column]) -> dict[str, Column]:
        """The inputs by name, in the types that the model declares."""
        by_name = dict(zip(self.features, columns, strict=True))
        where = f"system '{self.name}'"
        if len(self._inputs) == 1:
            (single,) = self._inputs
            cells = [_as_type(column, single.type, name=name, where=where) for name, column in by_name.items()]
            stacked = np.column_stack(cells)
            return {single.name: stacked[:, 0] if len(single.shape) == 1 else stacked}
        fed = {}
        for wanted in self._inputs:
            cells_of_one = _as_type(by_name[wanted.name], wanted.type, name=wanted.name, where=where)
            fed[wanted.name] = cells_of_one if len(wanted.shape) == 1 else cells_of_one[:, None]
        return fed


@contextlib.contextmanager
def _at_most(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` from another thread if the block is not left in time."""
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _open(file: Path, content: bytes, *, sha256: str, timeout: float, where: str) -> tuple[Any, str, str]:
    """A session on one thread, so that sums are made in one order; the version of its library, and what pins it."""
    onnxruntime = library("onnxruntime", package="onnxruntime", extra="onnx", purpose="running an ONNX model")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")  # another form could name files unseen
    try:
        names = external_files(content)
    except (ValueError, IndexError, RecursionError):  # bytes that another reader may understand, and this one does not
        mark = hashlib.sha256(content).hexdigest()
        check_sha256(mark, sha256, where=where)
        raise _unread("bytes that are no ONNX model", onnxruntime, where) from None
    copy = with_external_files(file, content, names, where=where) if names else None
    try:
        mark = hashlib.sha256(content).hexdigest() if copy is None else pin_of(copy)
        check_sha256(mark, sha256, where=where)
        source = content if copy is None else str(copy.folder / file.name)
        # Rules that simplify the graph run parts of it, so that reading too must come to an end.
        give_up = getattr(options, "set_load_cancellation_flag", lambda _: None)
        with _at_most(timeout, lambda: give_up(True)):
            session = onnxruntime.InferenceSession(source, sess_options=options, providers=["CPUExecutionProvider"])
    except InputError:
        raise
    except Exception as error:
        # What a library says may quote the model's bytes, which are a stranger's.
        raise _unread(raised(error), onnxruntime, where) from error
    finally:
        if copy is not None:
            copy.remove()
    return session, f"onnxruntime {onnxruntime.__version__}", mark


def _unread(said: str, onnxruntime: Any, where: str) -> SystemFailure:
    return SystemFailure(
        f"{where}: the model could not be read ({said}). To fix: make sure that it is an ONNX file "
        "copied whole, with its weights inside or beside it, and no newer than the installed onnxruntime "
        f"({onnxruntime.__version__}) understands. --debug shows what was raised."
    )


def _feature_names(inputs: list[Any], given: list[str] | None, *, where: str) -> list[str]:
    """The columns of a single tensor, which the study lists, or the names of the inputs."""
    for wanted in inputs:
        if wanted.type not in _TYPES or not 1 <= len(wanted.shape) <= 2:
            raise InputError(
                "the inputs of the model must be numbers or texts in one or two axes",
                where=where,
                got=f"the input '{wanted.name}' of type {wanted.type} with {len(wanted.shape)} axes",
            )
        if isinstance(wanted.shape[0], int):
            raise InputError(
                "the first axis of each input, the rows, must have any length",
                where=where,
                got=f"the input '{wanted.name}' for exactly {wanted.shape[0]} rows",
                remedy="export the model with a dynamic first axis",
            )
    widths = [1 if len(wanted.shape) == 1 else wanted.shape[1] for wanted in inputs]
    own = [wanted.name for wanted in inputs]
    if len(inputs) == 1:
        if given is None and widths[0] == 1:
            return own
        return listed_features(given, width=widths[0] if isinstance(widths[0], int) else None, where=where)
    if any(width != 1 for width in widths):
        raise InputError(
            "the model must take one input for all columns, or one for each",
            where=where,
            got=f"{len(inputs)} inputs, some of them of several columns",
            remedy="export it with a single input",
        )
    if given is not None:
        check_features(given, own, where=where)
    return own


def _probability_output(outputs: list[Any], *, where: str) -> Any:
    """The output that holds probabilities: a zipmap, or numbers that are not whole."""
    found = [output for output in outputs if output.type.startswith("seq(map(")]
    if not found:
        found = [output for output in outputs if output.type in ("tensor(float)", "tensor(double)", "tensor(float16)")]
    if len(found) > 1:
        found = [output for output in found if "prob" in output.name.lower()] or found
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{output.name} ({output.type})" for output in outputs[:5])
    raise InputError(
        "the model must have one output of probabilities",
        where=where,
        got=f"the outputs {names}" if found else f"labels only: {names}",
        remedy="export it with the probabilities as one table (skl2onnx: options={'zipmap': False})",
    )


def _classes(metadata: Mapping[str, str], content: bytes, *, where: str) -> list[Any] | None:
    if "classes" not in metadata:
        return class_labels(content)
    try:
        classes = json.loads(metadata["classes"])
    except (ValueError, RecursionError):
        classes = None
    if not isinstance(classes, list) or len(classes) < 2:
        raise InputError(
            "the metadata 'classes' of the model must be a JSON list of two or more classes",
            where=where,
            remedy='write it as [0, 1] or ["alive", "died"], in the order of the columns',
        )
    return classes


def _as_type(column: Column, declared: str, *, name: str, where: str) -> Column:
    """A column in the type that the model declares; what does not fit is refused, never rounded."""
    wanted = np.dtype(_TYPES[declared])
    whole = wanted.kind in "ib"
    gaps = is_missing(column)
    problem = ""
    if gaps.any() and wanted.kind != "f":
        problem = "missing values, which its type cannot hold"
    elif wanted.kind == "O":
        return np.array([str(cell) for cell in column.tolist()], dtype=object)
    else:
        try:
            numbers = np.where(gaps, np.nan, column).astype(np.float64)
        except (TypeError, ValueError):
            problem = "cells that are not numbers"
        else:
            if not whole or (np.isfinite(numbers).all() and bool((numbers == np.round(numbers)).all())):
                return numbers.astype(wanted)
            problem = "numbers that are not whole"
    raise InputError(
        f"the column '{name}' must fit the input of the model, which is {declared}",
        where=where,
        got=problem,
        remedy="set missing: refuse" if gaps.any() else "recode the column as it was when the model was made",
    )
