"""An MLflow model of the python_function flavour as a risk model, from a local folder that the user trusts.

Asks no tracking server and no registry, and sends nothing anywhere. What is loaded is a private copy of the folder, the
very bytes that were hashed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from workup.errors import InputError, SystemFailure, raised
from workup.files.yaml_files import YamlFault, parse_yaml
from workup.stats.arrays import Floats
from workup.systems.libraries import library, quiet
from workup.systems.pinned import PREFIX, PrivateCopy, check_sha256, names_and_contents
from workup.systems.risk.predictors import (
    Column,
    answer_rows,
    check_features,
    check_risks,
    check_settings,
    listed_features,
    place_of_class,
    place_without_classes,
    refuse_labels,
    several_classes,
)
from workup.systems.risk.sklearn import said_while_reading
from workup.systems.settings import UNPINNED, Batch, Features, FilePath, Missing, Positive, Sha256, Trust
from workup.task import Table

_ROUNDING = 1e-6  # models of float32 pass through here too
_SAVE_PROBABILITIES = (
    "save the model with pyfunc_predict_fn='predict_proba', or with a predict() of its own that answers probabilities; "
    "if it truly gives only 0 and 1, put its answers in a column and use: recorded"
)
_IF_TWO_COLUMNS = (
    "the model does not name its classes; where it answers two unnamed columns, the second is taken as the risk of the "
    "event"
)
_NAME_THE_COLUMNS = "answer a data frame whose columns are named by class, or one column of risks"


class MlflowModel:
    """Answers what `predict` of the pyfunc flavour answers: one column of risks, or one column for each class.

    The positive class is found by its name: in the columns of a data frame that the model answers, or in `classes_` of
    a scikit-learn model; else the second of two columns is taken, and a note says so. Reading an MLflow model runs the
    code in it, so the folder is opened only with `trust: true`. `sha256` covers the name and content of every file in
    the folder but for bytecode that Python kept (`__pycache__`), which is not loaded either; links are refused.
    """

    recorded: ClassVar[bool] = False
    _copies_in: Path | None = None  # where a worker process puts its copy

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        path: Annotated[FilePath, Field(description="Folder that MLflow saved")],
        trust: Trust = False,
        sha256: Sha256 = UNPINNED,
        features: Features = None,
        positive: Positive = 1,
        missing: Missing = "refuse",
        batch: Batch = 1000,
    ) -> None:
        where = f"system '{name}', folder '{path}'"
        if trust is not True:
            raise InputError(
                "an MLflow model runs code of its own when it is read, so it is opened only when you say you trust it",
                where=where,
                got="no 'trust: true'",
                remedy="make sure where the folder comes from, then add trust: true (and its sha256, to pin it)",
            )
        check_settings(missing=missing, batch=batch, where=where)
        folder = (base / path).absolute()
        _refuse_other_folders(folder, where=where)
        # Kept as long as the model, which may read from it at any time.
        self._copy = PrivateCopy.of(
            folder, leave_out=lambda file: file == "__pycache__", where=where, within=self._copies_in
        )
        mark = names_and_contents(self._copy.files.items())
        check_sha256(mark, sha256, where=where)
        self.name, self.missing, self.batch, self.positive = name, missing, batch, positive
        self._model, reading, release = _load(self._copy.folder, where=where)
        self.version = f"mlflow {release} sha256:{mark[:12]}"
        self._schema = self._model.metadata.get_input_schema()
        raw = _raw_model(self._model)
        self.features = _feature_names(self._schema, raw, features, where=where)
        self._named = self._schema is None or self._schema.has_input_names()
        flavour = self._model.metadata.flavors.get("python_function", {})
        self._probabilities = str(flavour.get("predict_fn", "")).startswith("predict_proba")
        classes = getattr(raw, "classes_", None)
        self._classes = None if classes is None or isinstance(classes, list) else np.asarray(classes).tolist()
        if self._classes is not None:
            place_of_class(self._classes, positive, where=where)
        self.notes = (*reading, *self._said())
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "path": path,
            "trust": trust,
            "sha256": mark,
            "features": features,
            "positive": positive,
            "missing": missing,
            "batch": batch,
        }

    def __getstate__(self) -> dict[str, Any]:
        # Not every model can be pickled; another process reads the same folder anew.
        return {**self._settings, "_copies_in": self._copy.home}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._copies_in = state["_copies_in"]
        self.__init__(**{name: value for name, value in state.items() if name != "_copies_in"})  # type: ignore[misc]

    def predict(self, table: Table) -> list[float | None]:
        """The probability of the positive class for each row, None for a row that is refused."""
        return answer_rows(table, features=self.features, missing=self.missing, system=self.name, risks=self._risks)

    def _said(self) -> tuple[str, ...]:
        if self._classes is not None:
            return several_classes(len(self._classes))
        # What a model of one's own answers is seen only when it is asked, so the note speaks of what would be done.
        return () if self._probabilities else (_IF_TWO_COLUMNS,)

    def _risks(self, columns: list[Column]) -> Floats:
        rows = len(columns[0])
        try:
            with quiet("mlflow"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = self._model.predict(self._inputs(columns))
        except Exception as error:
            raise SystemFailure(
                f"system '{self.name}': predict failed on a batch of {rows} rows ({raised(error)}). Its message may "
                "hold patient values and is not repeated. To fix: check that the columns have the types of the model's "
                "signature, and fill missing predictors (or set missing: refuse)."
            ) from None
        chosen, width = self._chosen(answer, rows)
        if not self._probabilities:
            refuse_labels(chosen, columns=width, system=self.name, remedy=_SAVE_PROBABILITIES)
        return check_risks(
            chosen, system=self.name, rounding=_ROUNDING, remedy="have the model answer probabilities, not scores"
        )

    def _chosen(self, answer: Any, rows: int) -> tuple[Column, int]:
        """The column of the positive class, and how many columns there are."""
        names = list(answer.columns) if hasattr(answer, "columns") else None
        try:
            values = np.asarray(answer)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape == (rows,):
            values = values[:, None]
        if values.ndim != 2 or len(values) != rows or values.shape[1] < 1:
            raise SystemFailure(
                f"system '{self.name}': predict must answer one column, or one for each class, for {rows} rows; got "
                f"{type(answer).__name__} of shape {values.shape}. To fix: {_NAME_THE_COLUMNS}."
            )
        width = values.shape[1]
        where = f"system '{self.name}'"
        if names is not None and width > 1 and self.positive in names:
            column = place_of_class(names, self.positive, where=where)
        elif self._classes is not None and width == len(self._classes):
            column = place_of_class(self._classes, self.positive, where=where)
        else:
            column = place_without_classes(width, self.positive, system=self.name, remedy=_NAME_THE_COLUMNS)
        chosen = values[:, column]
        if chosen.dtype.kind == "O":  # a frame of mixed columns; texts stay texts and are refused as labels
            with contextlib.suppress(TypeError, ValueError):
                chosen = chosen.astype(np.float64)
        return chosen, width

    def _inputs(self, columns: list[Column]) -> Any:
        """A data frame in the types of the signature, or an array where the signature is a tensor."""
        if not self._named:
            (tensor,) = self._schema.inputs
            return np.column_stack(columns).astype(tensor.type)
        import pandas

        types = {} if self._schema is None else self._schema.input_dict()
        cells = {name: _as_type(column, types.get(name)) for name, column in zip(self.features, columns, strict=True)}
        return pandas.DataFrame(cells)


def _as_type(column: Column, declared: Any) -> Column:
    """Numbers in the type that the signature asks for, where nothing is lost; MLflow refuses what then does not fit."""
    wanted = getattr(getattr(declared, "type", None), "to_numpy", lambda: None)()
    if wanted is None or column.dtype.kind != "f" or wanted.kind not in "fib":
        return column
    if wanted.kind != "f" and not (np.isfinite(column).all() and bool((column == np.round(column)).all())):
        return column
    return column.astype(wanted)


def _refuse_other_folders(folder: Path, *, where: str) -> None:
    if not (folder / "MLmodel").is_file():
        raise InputError(
            "the model must be a local folder that MLflow saved, with a file 'MLmodel' in it",
            where=where,
            got="a folder without it" if folder.is_dir() else "no such folder",
            remedy="give its path as seen from the folder of the study; download a model of a registry first "
            "(mlflow artifacts download)",
        )


def _refuse_loose_ends(folder: Path, *, where: str) -> None:
    """What the hash of the folder would not cover: files elsewhere, and modules of another place."""
    try:
        flavours = parse_yaml((folder / "MLmodel").read_text(encoding="utf-8"))[0]["flavors"]
        paths = dict(_paths(flavours))
    except YamlFault as fault:  # MLflow might read it all the same, and find a path that was not looked at
        raise InputError(
            "the file MLmodel must be plain YAML", where=where, got=fault.problem, remedy="save the model again"
        ) from None
    except (OSError, ValueError, TypeError, KeyError):
        return  # no model of MLflow's, which says so itself
    for key, path in paths.items():
        if PurePath(path).is_absolute() or ".." in PurePath(path).parts:
            raise InputError(
                f"'{key}' in the file MLmodel must be a place inside the model's folder, so that its hash covers it",
                where=where,
                got="a path that leads out of the folder",
                remedy="save the model again with what it needs inside",
            )
    code = {path for key, path in paths.items() if key.endswith("code")}
    for held in sorted({folder / path for path in code}):
        modules = {entry.name.split(".")[0] for entry in held.iterdir()} if held.is_dir() else set()
        for name in sorted(modules & set(sys.modules)):
            # MLflow puts the folder first on the import path, but a module that is loaded stays what it is.
            if PREFIX in str(getattr(sys.modules[name], "__file__", None)):
                for loaded in [one for one in sys.modules if one.split(".")[0] == name]:
                    del sys.modules[loaded]
                continue
            raise InputError(
                "the model's code must not have the names of modules that are loaded already, which would be run in "
                "its place",
                where=where,
                got=f"a module '{name[:60]}'",
                remedy="rename it and save the model again",
            )


def _paths(flavours: Any, key: str = "flavors") -> Iterator[tuple[str, str]]:
    """Texts of the flavours by their full key, but for those that only say where something came from."""
    if isinstance(flavours, dict):
        for name, value in flavours.items():
            if name not in ("uri", "model_code_path"):
                yield from _paths(value, f"{key}.{name}")
    elif isinstance(flavours, list):
        for number, value in enumerate(flavours):
            yield from _paths(value, f"{key}.{number}")
    elif isinstance(flavours, str):
        yield key, flavours


def _load(folder: Path, *, where: str) -> tuple[Any, tuple[str, ...], str]:
    """The model, a note for each thing that was odd about reading it, and the version of MLflow."""
    purpose = "reading an MLflow model"
    library("pandas", package="pandas", extra="mlflow", purpose=purpose)
    _refuse_loose_ends(folder, where=where)
    with _no_telemetry(), quiet("mlflow"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore")  # what importing MLflow warns of is no matter of the model
        mlflow = library("mlflow", package="mlflow-skinny", extra="mlflow", purpose=purpose)
        pyfunc = library("mlflow.pyfunc", package="mlflow-skinny", extra="mlflow", purpose=purpose)
        warnings.simplefilter("always")
        try:
            model = pyfunc.load_model(str(folder), suppress_warnings=True)
        except Exception as error:
            raise SystemFailure(
                f"{where}: the model could not be read ({raised(error)}). To fix: use the versions of Python and "
                "libraries in its requirements.txt, and make sure that it has the python_function flavour and was "
                "copied whole. --debug shows what was raised."
            ) from error
    return model, said_while_reading(seen), str(mlflow.__version__)


@contextlib.contextmanager
def _no_telemetry() -> Iterator[None]:
    """MLflow reports its use over the network from the moment it is imported, unless this variable is set."""
    variable = "MLFLOW_DISABLE_TELEMETRY"
    before = os.environ.get(variable)
    os.environ[variable] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


def _raw_model(model: Any) -> Any:
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError):  # a flavour, or a release of MLflow, that does not show it
        return None


def _feature_names(schema: Any, raw: Any, given: list[str] | None, *, where: str) -> list[str]:
    """The columns of the signature, else those that the model was fitted on, else those that the study lists."""
    if schema is not None and schema.has_input_names():
        own = [str(name) for name in schema.input_names()]
    elif getattr(raw, "feature_names_in_", None) is not None:
        own = [str(name) for name in raw.feature_names_in_]
    else:
        return listed_features(given, width=getattr(raw, "n_features_in_", None), where=where)
    if given is not None:
        check_features(given, own, where=where)
    return own
