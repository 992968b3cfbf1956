"""A fitted scikit-learn classifier as a risk model, from a pickle or joblib file that the user trusts."""

from __future__ import annotations

import hashlib
import io
import pickle
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from workup.errors import InputError, MissingExtra, SystemFailure, raised
from workup.systems.pinned import read_once
from workup.systems.risk.predictors import (
    answer_rows,
    check_features,
    check_risks,
    check_settings,
    listed_features,
    place_of_class,
    several_classes,
)
from workup.systems.settings import UNPINNED, Batch, Features, FilePath, Missing, Positive, Sha256, Trust
from workup.task import Table

_PACKED = (b"\x78", b"\x1f\x8b")  # how zlib and gzip begin, by which joblib knows them
_PIECE = 2**20  # bytes that are unpacked at a time
_ROUNDING = 1e-9  # averages of probabilities may pass 1 by rounding; more than this is not a probability


class SklearnModel:
    """Answers `predict_proba` of the positive class, found by its name in `classes_` and never by its place.

    `missing: refuse` answers None for a row that lacks a predictor; `missing: pass` hands it to a model that can deal
    with it. A pickle runs code when it is read, so the file is opened only with `trust: true`.
    """

    spreads = True  # one core, no service: several processes may have one each

    recorded: ClassVar[bool] = False
    name: str
    version: str
    notes: tuple[str, ...]

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        path: Annotated[FilePath, Field(description="Pickle or joblib file")],
        trust: Trust = False,
        sha256: Sha256 = UNPINNED,
        features: Features = None,
        positive: Positive = 1,
        missing: Missing = "refuse",
        batch: Batch = 1000,
    ) -> None:
        where = f"system '{name}', file '{path}'"
        if trust is not True:
            raise InputError(
                "a pickled model runs code of its own when it is read, so it is opened only when you say you trust it",
                where=where,
                got="no 'trust: true'",
                remedy="make sure where the file comes from, then add trust: true (and its sha256, to pin the content)",
            )
        content = read_once(base / path, sha256=sha256, where=where)
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
        check_settings(missing=missing, batch=batch, where=where)
        self.name, self.model, self.missing, self.batch = name, model, missing, batch
        self.named = getattr(model, "feature_names_in_", None) is not None
        self._column, self._n_classes = _positive_column(model, positive, where=where)
        self.features = _feature_names(model, features, where=where)
        self.notes = several_classes(self._n_classes)

    def predict(self, table: Table) -> list[float | None]:
        """The probability of the positive class for each row, None for a row that is refused."""
        return answer_rows(table, features=self.features, missing=self.missing, system=self.name, risks=self._risks)

    def _risks(self, columns: list[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
        rows = len(columns[0])
        try:
            with warnings.catch_warnings():
                # Columns are matched by name here, so an array for want of pandas is in the right order.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                answer = np.asarray(self.model.predict_proba(self._inputs(columns)), dtype=np.float64)
        except Exception as error:
            raise SystemFailure(
                f"system '{self.name}': predict_proba failed on a batch of {rows} rows ({raised(error)}). Its message "
                "may hold patient values and is not repeated. To fix: check that text columns are what the model was "
                "fitted on, fill missing predictors (or set missing: refuse), and install pandas if the model picks "
                "columns by name."
            ) from None
        if answer.shape != (rows, self._n_classes):
            raise SystemFailure(
                f"system '{self.name}': predict_proba must answer {rows} rows by {self._n_classes} classes; "
                f"got an array of shape {answer.shape}."
            )
        return check_risks(
            answer[:, self._column],
            system=self.name,
            rounding=_ROUNDING,
            remedy="look at what predict_proba answers for these rows",
        )

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


def _load(content: bytes, *, where: str) -> tuple[Any, tuple[str, ...]]:
    """The model, and a note for each thing that was odd about reading it."""
    try:
        import joblib
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra("scikit-learn", extra="sklearn", purpose="reading a scikit-learn model") from None
    _check_end(content, where=where)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            model = joblib.load(io.BytesIO(content))  # reads plain pickles as well
        except Exception as error:
            raise SystemFailure(
                f"{where}: the model could not be read ({raised(error)}). To fix: use the versions of Python and "
                "libraries that it was saved with, make sure that modules of your own can be imported, and that the "
                "file is a pickle or joblib file that was copied whole. --debug shows what was raised."
            ) from error
    return model, said_while_reading(seen)


def _check_end(content: bytes, *, where: str) -> None:
    """Refuse bytes past the end of what zlib packed: joblib reads them again and again, into ever more memory."""
    if not content.startswith(_PACKED):
        return
    stream, piece = zlib.decompressobj(zlib.MAX_WBITS | 32), content
    try:
        while not stream.eof and (stream.decompress(piece, _PIECE) or stream.unconsumed_tail):
            piece = stream.unconsumed_tail
    except zlib.error:
        return  # joblib says so as well
    if stream.unused_data:
        raise SystemFailure(
            f"{where}: the model could not be read ({len(stream.unused_data):,} bytes stand behind its end). To fix: "
            "make sure that the file is a joblib file that was copied whole."
        )


def said_while_reading(seen: Sequence[warnings.WarningMessage]) -> tuple[str, ...]:
    """A note for each kind of warning that reading a scikit-learn model gave."""
    notes: list[str] = []
    for warning in seen:
        saved_with = getattr(warning.message, "original_sklearn_version", None)
        if saved_with is not None:
            notes.append(
                f"the model was saved with scikit-learn {saved_with} and read with "
                f"{getattr(warning.message, 'current_sklearn_version', 'another')}; its risks may differ from those it "
                "gave when it was made"
            )
        else:
            notes.append(f"reading the model warned: {warning.category.__name__}")
    return tuple(dict.fromkeys(notes))


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
    return place_of_class(names, positive, where=where), len(names)


def _feature_names(model: Any, given: list[str] | None, *, where: str) -> list[str]:
    """The columns to hand over, in the order of the model."""
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None:
        return listed_features(given, width=getattr(model, "n_features_in_", None), where=where)
    own = [str(name) for name in fitted]
    if given is not None:
        check_features(given, own, where=where)
    return own


def _library() -> str:
    try:
        import sklearn
    except ImportError:
        raise MissingExtra("scikit-learn", extra="sklearn", purpose="running a scikit-learn model") from None
    return f"scikit-learn {sklearn.__version__}"
