"""The MLflow adapter against scikit-learn: trust before loading, risks and not labels, no server and no noise."""

from __future__ import annotations

import logging
import os
import pickle
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.risk.mlflow import MlflowModel

pytest.importorskip("mlflow", reason="the mlflow extra is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")

import mlflow.pyfunc  # noqa: E402
import mlflow.sklearn  # noqa: E402
from mlflow.models import infer_signature  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

RNG = np.random.default_rng(5)
AGE, LAB = np.round(RNG.normal(60, 10, 200)), RNG.normal(0, 1, 200)
DIED = (RNG.random(200) < 1 / (1 + np.exp(-(AGE - 60) / 5 - LAB))).astype(int)
FRAME = pandas.DataFrame({"age": AGE, "lab": LAB})
TABLE = {"lab": LAB, "other": np.zeros(200), "age": AGE}  # not in the order of the model


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may look for another machine."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def fitted(outcome: Any = DIED) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, outcome)


def saved(folder: Path, model: Any, *, predict_fn: str = "predict_proba", signature: Any = None) -> None:
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.sklearn.save_model(
        model,
        folder / "model",
        pyfunc_predict_fn=predict_fn,
        serialization_format="cloudpickle",
        pip_requirements=["scikit-learn"],
        signature=signature,
    )


class Answering(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
    """A model of one's own, which answers what it is told to make of the lab value."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]  # MLflow reads type hints
        return self.answer(model_input["lab"].to_numpy())


def own(folder: Path, answer: Any) -> MlflowModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.pyfunc.save_model(folder / "model", python_model=Answering(answer), pip_requirements=["numpy"])
    return opened(folder, features=["lab"])


def opened(folder: Path, **settings: Any) -> MlflowModel:
    return MlflowModel(**{"name": "m", "base": folder, "path": "model", "trust": True, **settings})


def expit(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


@pytest.mark.parametrize("signed", [False, True])
def test_agrees_with_scikit_learn_and_says_nothing(tmp_path: Path, signed: bool, capfd: Any, caplog: Any) -> None:
    model = fitted()
    saved(tmp_path, model, signature=infer_signature(FRAME, model.predict_proba(FRAME)) if signed else None)
    capfd.readouterr()
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = opened(tmp_path)
        risks = system.predict(TABLE)
    assert risks == pytest.approx(model.predict_proba(FRAME)[:, 1].tolist(), abs=1e-6)
    assert system.features == ["age", "lab"]
    assert system.version.startswith(f"mlflow {mlflow.__version__} sha256:")
    assert (system.notes, system.recorded) == ((), False)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
    assert "MLFLOW_DISABLE_TELEMETRY" not in os.environ


def test_importing_mlflow_for_a_model_tries_no_connection(tmp_path: Path) -> None:
    """In an interpreter of its own, since MLflow reports its use when it is imported, but not under pytest."""
    saved(tmp_path, fitted())
    code = (
        "import socket, sys, threading\n"
        "from pathlib import Path\n"
        "socket.getaddrinfo = socket.socket.connect = lambda *a, **k: print('CONNECTED', flush=True)\n"
        "from workup.systems.risk.mlflow import MlflowModel\n"
        "MlflowModel(name='m', base=Path(sys.argv[1]), path='model', trust=True)\n"
        "from mlflow.telemetry import get_telemetry_client\n"
        "print('client', get_telemetry_client(), [t.name for t in threading.enumerate()])\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "CI"}}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "client None ['MainThread']"
    assert done.stderr == ""
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["model"]  # no mlruns, no database


def test_nothing_is_opened_without_trust(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return open, (str(tmp_path / "exploded"), "w")

    saved(tmp_path, fitted())
    (tmp_path / "model" / "model.pkl").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match=r"runs code.*trust: true"):
        opened(tmp_path, trust=False)
    with pytest.raises(InputError, match="must match its sha256"):
        opened(tmp_path, sha256="0" * 64)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("names", "positive"), [(["alive", "died"], "died"), (["event", "none"], "event"), ([2, 1], 1)]
)
def test_the_positive_class_is_found_by_name(tmp_path: Path, names: list[Any], positive: Any) -> None:
    other = next(name for name in names if name != positive)
    model = fitted(np.where(DIED == 1, positive, other))
    saved(tmp_path, model)
    expected = model.predict_proba(FRAME)[:, list(model.classes_).index(positive)]
    assert opened(tmp_path, positive=positive).predict(TABLE) == pytest.approx(expected.tolist(), abs=1e-6)
    assert expected[DIED == 1].mean() > expected[DIED == 0].mean()
    with pytest.raises(InputError, match="must be one of the classes of the model; got 'sick'"):
        opened(tmp_path, positive="sick")


@pytest.mark.parametrize("outcome", [DIED, DIED.astype(float), np.where(DIED, "died", "alive")])
def test_labels_are_refused_with_the_remedy(tmp_path: Path, outcome: Any) -> None:
    saved(tmp_path, fitted(outcome), predict_fn="predict")
    system = opened(tmp_path, positive="died" if outcome.dtype.kind == "U" else 1)
    with pytest.raises(SystemFailure, match=r"got labels.*pyfunc_predict_fn='predict_proba'"):
        system.predict(TABLE)
    if outcome.dtype.kind != "f":  # labels by their type, so one is enough
        with pytest.raises(SystemFailure, match="got labels"):
            system.predict({name: column[:1] for name, column in TABLE.items()})


def test_probabilities_of_0_and_1_are_risks_where_predict_proba_gave_them(tmp_path: Path) -> None:
    model = DecisionTreeClassifier().fit(FRAME, DIED)
    saved(tmp_path, model)
    assert opened(tmp_path).predict(TABLE) == DIED.tolist()


def test_answers_of_a_model_of_ones_own(tmp_path: Path) -> None:
    cells = {"lab": np.array([0.0, 2.0])}
    risk = pytest.approx([0.5, expit(2.0)], abs=1e-6)
    assert own(tmp_path / "1", expit).predict(cells) == risk
    assert own(tmp_path / "2", lambda z: expit(z).tolist()).predict(cells) == risk
    two = own(tmp_path / "3", lambda z: np.column_stack([1 - expit(z), expit(z)]))
    assert two.predict(cells) == risk
    assert "does not name its classes" in two.notes[0]
    two.positive = "died"
    with pytest.raises(SystemFailure, match="named by class"):
        two.predict(cells)
    frame = own(tmp_path / "4", lambda z: pandas.DataFrame({"died": expit(z), "alive": 1 - expit(z)}))
    frame.positive = "died"
    assert frame.predict(cells) == risk
    mixed = own(tmp_path / "5", lambda z: pandas.DataFrame({"label": ["a"] * len(z), "p": expit(z)}))
    mixed.positive = "p"
    assert mixed.predict(cells) == risk


def test_answers_out_of_form(tmp_path: Path) -> None:
    cells = {"lab": np.array([0.0, 2.0])}
    with pytest.raises(SystemFailure, match=r"for 2 rows; got ndarray of shape \(1,\)"):
        own(tmp_path / "1", lambda z: expit(z)[:1]).predict(cells)
    with pytest.raises(SystemFailure, match="answers 3 column"):
        own(tmp_path / "2", lambda z: np.column_stack([z, z, z])).predict(cells)
    with pytest.raises(SystemFailure, match="got 1 of 2 in a batch"):
        own(tmp_path / "3", lambda z: z).predict(cells)
    with pytest.raises(SystemFailure, match="got labels"):
        own(tmp_path / "4", lambda z: ["died" for _ in z]).predict(cells)
    with pytest.raises(SystemFailure, match=r"predict failed on a batch of 2 rows \(ZeroDivisionError at ") as failed:
        own(tmp_path / "5", lambda z: 1 // 0).predict(cells)
    assert failed.value.__suppress_context__


def test_columns_fit_the_signature_or_fail_without_their_cells(tmp_path: Path) -> None:
    whole = FRAME.astype({"age": "int32", "lab": "float32"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's hint that whole numbers cannot be missing
        saved(tmp_path, fitted().fit(whole, DIED), signature=infer_signature(whole))
    system = opened(tmp_path)
    expected = fitted().predict_proba(FRAME)[:, 1]
    assert system.predict(TABLE) == pytest.approx(expected.tolist(), abs=1e-5)  # the model has seen float32
    with pytest.raises(SystemFailure, match=r"predict failed.*signature"):
        system.predict({**TABLE, "age": AGE + 0.5})
    with pytest.raises(SystemFailure, match="predict failed") as failed:
        system.predict({**TABLE, "age": np.array(["Smith"] * 200, dtype=object)})
    assert "Smith" not in str(failed.value)
    with pytest.raises(InputError, match="a difference in lab, sex"):
        opened(tmp_path, features=["age", "sex"])


def test_gaps_are_refused_or_passed_on(tmp_path: Path) -> None:
    model = DecisionTreeClassifier(max_depth=3).fit(FRAME.to_numpy(), DIED)
    saved(tmp_path, model)
    with pytest.raises(InputError, match="list them under 'features'"):
        opened(tmp_path)
    age = AGE.copy()
    age[[0, 7]] = np.nan
    table = {"age": age, "lab": LAB}
    refused = opened(tmp_path, features=["age", "lab"]).predict(table)
    passed = opened(tmp_path, features=["age", "lab"], missing="pass").predict(table)
    assert [row for row, risk in enumerate(refused) if risk is None] == [0, 7]
    assert passed == model.predict_proba(np.column_stack([age, LAB]))[:, 1].tolist()


def test_a_tensor_signature_gets_an_array(tmp_path: Path) -> None:
    model = fitted()
    saved(tmp_path, model.fit(FRAME.to_numpy(), DIED), signature=infer_signature(FRAME.to_numpy()))
    risks = opened(tmp_path, features=["age", "lab"]).predict(TABLE)
    assert risks == pytest.approx(model.predict_proba(FRAME.to_numpy())[:, 1].tolist(), abs=1e-6)


def test_folders_that_are_no_models(tmp_path: Path) -> None:
    for path in ("nowhere", "models:/risk/1", "runs:/abc/model", "https://host/model"):
        with pytest.raises(InputError, match="local folder that MLflow saved"):
            opened(tmp_path, path=path)
    saved(tmp_path, LinearRegression().fit(FRAME, DIED), predict_fn="predict")
    assert opened(tmp_path).features == ["age", "lab"]
    (tmp_path / "model" / "model.pkl").write_bytes(b"not a pickle")
    with pytest.raises(SystemFailure, match="could not be read"):
        opened(tmp_path)
    (tmp_path / "model" / "MLmodel").write_text("flavors: {}\n")
    with pytest.raises(SystemFailure, match="python_function flavour"):
        opened(tmp_path)
    for settings in ({"missing": "drop"}, {"batch": 0}):
        with pytest.raises(InputError, match=r"refuse or pass|at least 1 row"):
            opened(tmp_path, **settings)


def test_another_process_opens_the_same_folder(tmp_path: Path) -> None:
    saved(tmp_path, fitted())
    system = opened(tmp_path)
    packed = pickle.dumps(system)
    assert pickle.loads(packed).predict(TABLE) == system.predict(TABLE)
    (tmp_path / "model" / "extra.txt").write_text("changed")
    with pytest.raises(InputError, match="must match its sha256"):
        pickle.loads(packed)


def test_without_mlflow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, fitted())
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtra, match=r"\[mlflow\]"):
        opened(tmp_path)
