"""A fitted scikit-learn classifier as a risk model, from a pickle or joblib file that the user trusts."""

from __future__ import annotations

import hashlib
import io
import pickle
import traceback
import warnings
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, MissingExtra, SystemFailure, near
from workup.scores import Bools
from workup.task import Table

_ROUNDING = 1e-9  # averages of probabilities may pass 1 by rounding; more than this is not a probability


class SklearnModel:
    """Answers `predict_proba` of the positive class, found by its name in `classes_` and never by its place.

    `missing: refuse` answers None for a row that lacks a predictor; `missing: pass` hands it to a model that can deal
    with it. A pickle runs code when it is read, so the file is opened only with `trust: true`.
    """

    recorded: ClassVar[bool] = False
    name: str
    version: str
    notes: tuple[str, ...]

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        path: str,
        trust: bool = False,
        sha256: str = "",
        features: list[str] | None = None,
        positive: int | str | float | bool = 1,
        missing: Literal["refuse", "pass"] = "refuse",
        batch: int = 1000,
    ) -> None:
        where = f"system '{name}', file '{path}'"
        if trust is not True:
            raise InputError(
                "a pickled model runs code of its own when it is read, so it is opened only when you say you trust it",
                where=where,
                got="no 'trust: true'",
                remedy="make sure where the file comes from, then add trust: true (and its sha256, to pin the content)",
            )
        content = _content(base / path, sha256=sha256, where=where)
        model, notes = _load(content, where=where)
        self._hold(model, name=name, features=features, positive=positive, missing=missing, batch=batch, where=where)
        self.version = f"{type(model).__name__} {_library()} sha256:{hashlib.sha256(content).hexdigest()[:12]}"
        self.notes = (*notes, *self.notes)

    @classmethod
    def of(
        cls,
        model: Any,
        *,
        name: str = "",
        features: list[str] | None = None,
        positive: int | str | float | bool = 1,
        missing: Literal["refuse", "pass"] = "refuse",
        batch: int = 1000,
    ) -> SklearnModel:
        """A model that is in memory already, as in a notebook."""
        system = cls.__new__(cls)
        name = name or type(model).__name__
        system._hold(
            model,
            name=name,
            features=features,
            positive=positive,
            missing=missing,
            batch=batch,
            where=f"system '{name}'",
        )
        try:
            mark = f"sha256:{hashlib.sha256(pickle.dumps(model)).hexdigest()[:12]}"
        except Exception:  # whatever the model's parts raise: a model that cannot be pickled can still be asked
            mark = "unhashed"
        system.version = f"{type(model).__name__} {_library()} {mark}"
        return system

    def _hold(
        self,
        model: Any,
        *,
        name: str,
        features: list[str] | None,
        positive: int | str | float | bool,
        missing: str,
        batch: int,
        where: str,
    ) -> None:
        if missing not in ("refuse", "pass"):
            raise InputError("'missing' must be refuse or pass", where=where, got=repr(missing)[:20])
        if batch < 1:
            raise InputError("'batch' must be at least 1 row", where=where, got=str(batch))
        self.name, self.model, self.missing, self.batch = name, model, missing, batch
        self.named = getattr(model, "feature_names_in_", None) is not None
        self._column, self._n_classes = _positive_column(model, positive, where=where)
        self.features = _feature_names(model, features, where=where)
        several = f"the model tells {self._n_classes} classes apart; the risk is that of one against the rest"
        self.notes = (several,) if self._n_classes > 2 else ()

    def predict(self, table: Table) -> list[float | None]:
        """The probability of the positive class for each row, None for a row that is refused."""
        columns = [self._predictor(table, name) for name in self.features]
        rows = len(columns[0])
        asked = np.ones(rows, dtype=np.bool_)
        if self.missing == "refuse":
            for column in columns:
                asked &= ~_is_missing(column)
        risks: list[float | None] = [None] * rows
        places = np.flatnonzero(asked)
        if places.size:
            for place, risk in zip(places, self._risks([column[asked] for column in columns]), strict=True):
                risks[place] = float(risk)
        return risks

    def _predictor(self, table: Table, name: str) -> npt.NDArray[Any]:
        if name not in table:
            raise InputError(
                f"the model needs the column '{name}'",
                where=f"system '{self.name}'",
                got="a table without it",
                remedy=near(name, table),
            )
        return np.asarray(table[name])

    def _risks(self, columns: list[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
        rows = len(columns[0])
        try:
            with warnings.catch_warnings():
                # Columns are matched by name here, so an array for want of pandas is in the right order.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                answer = np.asarray(self.model.predict_proba(self._inputs(columns)), dtype=np.float64)
        except Exception as error:
            raise SystemFailure(
                f"system '{self.name}': predict_proba failed on a batch of {rows} rows ({_place(error)}). Its message "
                "may hold patient values and is not repeated. To fix: check that text columns are what the model was "
                "fitted on, fill missing predictors (or set missing: refuse), and install pandas if the model picks "
                "columns by name."
            ) from None
        if answer.shape != (rows, self._n_classes):
            raise SystemFailure(
                f"system '{self.name}': predict_proba must answer {rows} rows by {self._n_classes} classes; "
                f"got an array of shape {answer.shape}."
            )
        risks: npt.NDArray[np.float64] = answer[:, self._column]
        wrong = np.flatnonzero(~((risks >= -_ROUNDING) & (risks <= 1.0 + _ROUNDING)))
        if wrong.size:
            raise SystemFailure(
                f"system '{self.name}': risks must be finite and lie from 0 to 1; got {wrong.size} of {rows} in a "
                "batch that do not. To fix: look at what predict_proba answers for these rows."
            )
        return np.clip(risks, 0.0, 1.0)

    def _inputs(self, columns: list[npt.NDArray[Any]]) -> Any:
        """A data frame for a model fitted on one (where pandas is installed), else an array."""
        if self.named:
            try:
                import pandas
            except ImportError:
                pass
            else:
                return pandas.DataFrame(dict(zip(self.features, columns, strict=True)))
        plain = all(column.dtype.kind in "fiub" for column in columns)
        return np.column_stack([column.astype(np.float64 if plain else object) for column in columns])


def _content(file: Path, *, sha256: str, where: str) -> bytes:
    """The bytes of the file, read once, so that what is checked is what is loaded."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(
            "the model must be a file that can be read",
            where=where,
            got=error.strerror or type(error).__name__,
            remedy="give the path as seen from the folder of the study",
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if sha256 and found != sha256.strip().lower():
        raise InputError(
            "the content of the model must match its sha256, so it was not opened",
            where=where,
            got=f"a file with sha256 {found}",
            remedy="find out who changed the file; if the change is meant, put the new sha256 in the study",
        )
    return content


def _load(content: bytes, *, where: str) -> tuple[Any, tuple[str, ...]]:
    """The model, and a note for each thing that was odd about reading it."""
    try:
        import joblib
        from sklearn.exceptions import InconsistentVersionWarning
    except ImportError:
        raise MissingExtra("scikit-learn", extra="sklearn", purpose="reading a scikit-learn model") from None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            model = joblib.load(io.BytesIO(content))  # reads plain pickles as well
        except Exception as error:
            known = isinstance(error, (ImportError, AttributeError))  # names of code, which is what the user must mend
            detail = f"{type(error).__name__}: {error}" if known else type(error).__name__
            raise SystemFailure(
                f"{where}: the model could not be read ({detail}). To fix: use the versions of Python and libraries "
                "that it was saved with, make sure that modules of your own can be imported, and that the file is a "
                "pickle or joblib file that was copied whole."
            ) from None
    notes: list[str] = []
    for warning in seen:
        message = warning.message
        if isinstance(message, InconsistentVersionWarning):
            notes.append(
                f"the model was saved with scikit-learn {message.original_sklearn_version} and read with "
                f"{message.current_sklearn_version}; its risks may differ from those it gave when it was made"
            )
        else:
            notes.append(f"reading the model warned: {warning.category.__name__}")
    return model, tuple(dict.fromkeys(notes))


def _positive_column(model: Any, positive: int | str | float | bool, *, where: str) -> tuple[int, int]:
    """Where predict_proba holds the positive class, and how many classes there are."""
    if not hasattr(model, "predict_proba"):
        raise InputError(
            "the model must be a classifier with predict_proba",
            where=where,
            got=f"a {type(model).__name__} without it",
            remedy="fit one that gives probabilities, or wrap it in CalibratedClassifierCV",
        )
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(
            "the model must be fitted, with classes_",
            where=where,
            got=f"a {type(model).__name__} without it",
            remedy="fit the model before you save it",
        )
    names = [] if isinstance(classes, list) else np.asarray(classes).tolist()
    if len(names) < 2 or any(isinstance(entry, list) for entry in names):
        raise InputError(
            "the model must tell two or more classes of one outcome apart",
            where=where,
            got="several outcomes at once" if not names else "one class",
            remedy="fit one model for each outcome",
        )
    if positive not in names:
        listed = ", ".join(repr(entry)[:30] for entry in names[:5]) + (", …" if len(names) > 5 else "")
        raise InputError(
            "'positive' must be one of the classes of the model",
            where=where,
            got=f"{positive!r:.30} while the classes are {listed}",
            remedy="set positive to the class that means the event; a quoted 'positive' is a text, not a number",
        )
    return names.index(positive), len(names)


def _feature_names(model: Any, given: list[str] | None, *, where: str) -> list[str]:
    """The columns to hand over, in the order of the model."""
    fitted = getattr(model, "feature_names_in_", None)
    if given is None and fitted is None:
        raise InputError(
            "the columns to use must be known",
            where=where,
            got="a model that was fitted without column names",
            remedy="list them under 'features', in the order in which the model was fitted",
        )
    if fitted is not None:
        own = [str(name) for name in fitted]
        if given is not None and (odd := sorted(set(given) ^ set(own))):
            raise InputError(
                "'features' must name the columns that the model was fitted on",
                where=where,
                got=f"a difference in {', '.join(odd[:5])}",
                remedy="leave 'features' out, or rename the columns of the table",
            )
        return own
    names = list(given or ())
    width = getattr(model, "n_features_in_", len(names))
    if len(names) != width or not names or len(set(names)) != len(names):
        raise InputError(
            f"'features' must name each of the {width} columns of the model once",
            where=where,
            got=f"{len(names)} names, {len(set(names))} of them distinct",
        )
    return names


def _is_missing(column: npt.NDArray[Any]) -> Bools:
    if column.dtype.kind in "fM":
        gaps: Bools = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        return gaps
    if column.dtype.kind == "O":
        # NaN and NaT, bare or inside objects, are what does not equal itself.
        return np.fromiter((cell is None or bool(cell != cell) for cell in column), dtype=np.bool_, count=len(column))
    return np.zeros(len(column), dtype=np.bool_)


def _place(error: Exception) -> str:
    """The kind of an error and the line of code that raised it, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"


def _library() -> str:
    try:
        import sklearn
    except ImportError:
        raise MissingExtra("scikit-learn", extra="sklearn", purpose="running a scikit-learn model") from None
    return f"scikit-learn {sklearn.__version__}"
