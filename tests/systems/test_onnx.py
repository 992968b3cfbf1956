"""The ONNX adapter against scikit-learn: the right output, the right column, and nothing guessed in silence."""

from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.risk.onnx import OnnxModel
from workup.systems.risk.onnx_files import class_labels

pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

import onnx
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

RNG = np.random.default_rng(5)
# Numbers that float32 holds exactly, so that trees split alike on both sides.
X = np.column_stack([RNG.normal(60, 10, 200), RNG.normal(0, 1, 200)]).astype(np.float32).astype(np.float64)
DIED = (RNG.random(200) < 1 / (1 + np.exp(-(X[:, 0] - 60) / 5 - X[:, 1]))).astype(int)
TABLE = {"lab": X[:, 1], "other": np.zeros(200), "age": X[:, 0]}  # not in the order of the model
FEATURES = ["age", "lab"]
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


def saved(folder: Path, model: Any, *, zipmap: Any = False, types: Any = None) -> str:
    types = types or [("X", FloatTensorType([None, 2]))]
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    made = to_onnx(model, initial_types=types, options={id(last): {"zipmap": zipmap}})
    return written(folder, made)


def written(folder: Path, made: onnx.ModelProto) -> str:
    content = made.SerializeToString()
    (folder / "model.onnx").write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def opened(folder: Path, **settings: Any) -> OnnxModel:
    return OnnxModel(**{"name": "m", "base": folder, "path": "model.onnx", "features": FEATURES, **settings})


def network(
    folder: Path, nodes: list[Any], *, kind: int = TensorProto.FLOAT, columns: int | None = 2, **more: Any
) -> str:
    """A model written by hand: the input `rows` of two columns, the output `out`."""
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, more.get("shape", ["n", 2]))
    outputs = [
        helper.make_tensor_value_info(name, kind, ["n"] if columns is None else ["n", columns])
        for name in more.get("outputs", ["out"])
    ]
    graph = helper.make_graph(nodes, "g", [rows], outputs, initializer=more.get("constants", []))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    for key, value in more.get("metadata", {}).items():
        made.metadata_props.add(key=key, value=value)
    return written(folder, made)


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("model", [LOGISTIC, RandomForestClassifier(20, max_depth=4, random_state=1)])
def test_agrees_with_scikit_learn(tmp_path: Path, model: Any, zipmap: bool) -> None:
    model.fit(X, DIED)
    digest = saved(tmp_path, model, zipmap=zipmap)
    system = opened(tmp_path, sha256=digest.upper())
    assert system.predict(TABLE) == pytest.approx(model.predict_proba(X)[:, 1].tolist(), abs=1e-6)
    assert system.version.startswith("onnxruntime ") and system.version.endswith(f"sha256:{digest[:12]}")
    assert system.notes == ()
    assert not system.recorded


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize(
    ("names", "positive"), [(["alive", "died"], "died"), (["event", "none"], "event"), ([2, 1], 1)]
)
def test_the_positive_class_is_found_by_name(tmp_path: Path, names: list[Any], positive: Any, zipmap: bool) -> None:
    """The risk of the event is the same whether its class sorts first or last."""
    other = next(name for name in names if name != positive)
    model = LOGISTIC.fit(X, np.where(DIED == 1, positive, other))
    saved(tmp_path, model, zipmap=zipmap)
    system = opened(tmp_path, positive=positive)
    expected = model.predict_proba(X)[:, list(model.classes_).index(positive)]
    assert system.predict(TABLE) == pytest.approx(expected.tolist(), abs=1e-6)
    assert np.mean([r for r, d in zip(system.predict(TABLE), DIED, strict=True) if d]) > 0.5
    assert system.notes == ()
    with pytest.raises(InputError, match="must be one of the classes of the model; got 'sick'"):
        opened(tmp_path, positive="sick")


def test_several_classes_are_one_against_the_rest_and_say_so(tmp_path: Path) -> None:
    model = LOGISTIC.fit(X, np.where(X[:, 0] > 70, 2, DIED))
    saved(tmp_path, model)
    system = opened(tmp_path, positive=1)
    assert system.predict(TABLE) == pytest.approx(model.predict_proba(X)[:, 1].tolist(), abs=1e-6)
    assert "3 classes" in system.notes[0]


def test_one_input_for_each_column_in_its_own_type(tmp_path: Path) -> None:
    import pandas

    ward = np.array(["A", "B"], dtype=object)[(X[:, 1] > 0).astype(int)]
    frame = pandas.DataFrame({"age": X[:, 0], "ward": ward})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["ward"]), (StandardScaler(), ["age"])), LogisticRegression()
    ).fit(frame, DIED)
    saved(tmp_path, model, types=[("age", FloatTensorType([None, 1])), ("ward", StringTensorType([None, 1]))])
    system = opened(tmp_path, features=None)
    assert system.features == ["age", "ward"]
    with_gap = ward.copy()
    with_gap[3] = None
    risks = system.predict({"ward": with_gap, "age": X[:, 0]})
    assert risks[3] is None
    expected = model.predict_proba(frame)[:, 1]
    assert [r for r in risks if r is not None] == pytest.approx(np.delete(expected, 3).tolist(), abs=1e-6)
    with pytest.raises(InputError, match="a difference in sex, ward"):
        opened(tmp_path, features=["age", "sex"])
    with pytest.raises(InputError, match=r"'ward' must fit.*got missing values.*missing: refuse"):
        opened(tmp_path, features=None, missing="pass").predict({"ward": with_gap, "age": X[:, 0]})
    with pytest.raises(InputError, match=r"'age' must fit.*got cells that are not numbers") as failed:
        system.predict({"ward": ward, "age": np.array(["Smith"] * 200, dtype=object)})
    assert "Smith" not in str(failed.value)


def test_a_model_of_doubles_gets_doubles(tmp_path: Path) -> None:
    model = LOGISTIC.fit(X, DIED)
    saved(tmp_path, model, types=[("X", DoubleTensorType([None, 2]))])
    assert opened(tmp_path).predict(TABLE) == pytest.approx(model.predict_proba(X)[:, 1].tolist(), abs=1e-6)


def test_a_row_has_one_risk_however_the_rows_are_cut(tmp_path: Path) -> None:
    """With many predictors a single row is summed in another order, which shows in the seventh digit of float32."""
    many = RNG.normal(size=(120, 40))
    model = LogisticRegression().fit(many, many[:, 0] > 0)
    saved(tmp_path, model, types=[("X", FloatTensorType([None, 40]))])
    table = {f"x{place}": many[:, place] for place in range(40)}
    system = opened(tmp_path, features=list(table), positive=True)
    whole = system.predict(table)
    for size in (1, 2, 7):
        parts = [
            {name: column[start : start + size] for name, column in table.items()} for start in range(0, 120, size)
        ]
        assert [risk for part in parts for risk in system.predict(part)] == whole


def test_gaps_are_refused_or_passed_on(tmp_path: Path) -> None:
    saved(tmp_path, LOGISTIC.fit(X, DIED))
    age = X[:, 0].copy()
    age[[0, 7]] = np.nan
    risks = opened(tmp_path).predict({"age": age, "lab": X[:, 1]})
    assert [row for row, risk in enumerate(risks) if risk is None] == [0, 7]
    with pytest.raises(SystemFailure, match="must be finite and lie from 0 to 1; got 2 of 200"):
        opened(tmp_path, missing="pass").predict({"age": age, "lab": X[:, 1]})
    assert opened(tmp_path).predict({"age": np.full(3, np.nan), "lab": np.zeros(3)}) == [None] * 3


def test_a_network_that_names_no_classes(tmp_path: Path) -> None:
    softmax = [helper.make_node("Softmax", ["rows"], ["out"], axis=1)]
    cells = {"age": np.array([0.0, 1.0]), "lab": np.array([0.0, 3.0])}
    risk = [0.5, 1 / (1 + np.exp(-2.0))]
    network(tmp_path, softmax)
    system = opened(tmp_path)
    assert system.predict(cells) == pytest.approx(risk, abs=1e-6)
    assert "does not name its classes" in system.notes[0]
    for positive in (0, "died"):
        with pytest.raises(SystemFailure, match="metadata_props"):
            opened(tmp_path, positive=positive).predict(cells)
    network(tmp_path, softmax, metadata={"classes": '["died", "alive"]'})
    named = opened(tmp_path, positive="died")
    assert named.predict(cells) == pytest.approx([1 - r for r in risk], abs=1e-6)
    assert named.notes == ()
    network(tmp_path, softmax, metadata={"classes": "died"})
    with pytest.raises(InputError, match="must be a JSON list"):
        opened(tmp_path)


def test_a_single_column_is_the_risk(tmp_path: Path) -> None:
    weights = helper.make_tensor("w", TensorProto.FLOAT, [2, 1], [0.0, 1.0])
    sigmoid = [helper.make_node("MatMul", ["rows", "w"], ["z"]), helper.make_node("Sigmoid", ["z"], ["out"])]
    cells = {"age": np.zeros(2), "lab": np.array([0.0, 2.0])}
    network(tmp_path, sigmoid, columns=1, constants=[weights])
    assert opened(tmp_path).predict(cells) == pytest.approx([0.5, 1 / (1 + np.exp(-2.0))], abs=1e-6)
    with pytest.raises(SystemFailure, match="1 column"):
        opened(tmp_path, positive=0).predict(cells)
    network(tmp_path, [helper.make_node("MatMul", ["rows", "w"], ["out"])], columns=1, constants=[weights])
    with pytest.raises(SystemFailure, match=r"got 1 of 2 in a batch.*sigmoid or softmax"):
        opened(tmp_path).predict(cells)


def test_labels_are_no_risks(tmp_path: Path) -> None:
    network(tmp_path, [helper.make_node("ArgMax", ["rows"], ["out"], axis=1)], kind=TensorProto.INT64, columns=1)
    with pytest.raises(InputError, match=r"one output of probabilities; got labels only: out.*'zipmap': False"):
        opened(tmp_path)
    rounded = [helper.make_node("Softmax", ["rows"], ["p"], axis=1), helper.make_node("Round", ["p"], ["out"])]
    network(tmp_path, rounded)
    with pytest.raises(SystemFailure, match=r"must answer probabilities; got labels.*'zipmap': False"):
        opened(tmp_path).predict({"age": np.zeros(30), "lab": np.linspace(-9, 10, 30)})
    # A few rows, or one class alone, may be those of a model that is sure.
    assert opened(tmp_path).predict({"age": np.zeros(2), "lab": np.array([-9.0, 9.0])}) == [0.0, 1.0]
    assert opened(tmp_path).predict({"age": np.zeros(30), "lab": np.full(30, 9.0)}) == [1.0] * 30


def test_the_output_must_be_plain(tmp_path: Path) -> None:
    saved(tmp_path, LOGISTIC.fit(X, DIED), zipmap="columns")
    with pytest.raises(InputError, match=r"one output of probabilities.*i0 .*'zipmap': False"):
        opened(tmp_path)
    two = [
        helper.make_node("Softmax", ["rows"], ["probabilities"], axis=1),
        helper.make_node("Neg", ["rows"], ["logits"]),
    ]
    network(tmp_path, two, outputs=["logits", "probabilities"])
    assert opened(tmp_path).predict({"age": np.ones(1), "lab": np.ones(1)}) == [0.5]
    network(tmp_path, [helper.make_node("Concat", ["rows", "rows"], ["out"], axis=1)], columns=4)
    with pytest.raises(SystemFailure, match=r"1 or 2 columns; got shape \(2, 4\)"):
        opened(tmp_path).predict({"age": np.ones(1), "lab": np.ones(1)})


def test_inputs_must_be_known(tmp_path: Path) -> None:
    saved(tmp_path, LOGISTIC.fit(X, DIED))
    with pytest.raises(InputError, match="list them under 'features'"):
        opened(tmp_path, features=None)
    with pytest.raises(InputError, match="each of the 2 columns of the model once; got 3 names"):
        opened(tmp_path, features=["age", "lab", "sex"])
    with pytest.raises(InputError, match=r"needs the column 'age'.*did you mean 'aged'"):
        opened(tmp_path).predict({"aged": X[:, 0], "lab": X[:, 1]})
    network(tmp_path, [helper.make_node("Softmax", ["rows"], ["out"], axis=1)], shape=[1, 2])
    with pytest.raises(InputError, match=r"for exactly 1 rows.*dynamic first axis"):
        opened(tmp_path)
    network(tmp_path, [helper.make_node("Softmax", ["rows"], ["out"], axis=1)], shape=["n", 2, 3])
    with pytest.raises(InputError, match="with 3 axes"):
        opened(tmp_path)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        opened(tmp_path)
    saved(tmp_path, LOGISTIC.fit(X, DIED))
    with pytest.raises(InputError, match="must match its sha256"):
        opened(tmp_path, sha256="0" * 64)
    for settings in ({"missing": "drop"}, {"batch": 0}):
        with pytest.raises(InputError, match=r"refuse or pass|at least 1 row"):
            opened(tmp_path, **settings)
    whole = (tmp_path / "model.onnx").read_bytes()
    for content in (b"not a model", whole[: len(whole) // 2]):
        (tmp_path / "model.onnx").write_bytes(content)
        with pytest.raises(SystemFailure, match="could not be read"):
            opened(tmp_path)


def test_the_walk_through_the_bytes_agrees_with_the_onnx_package() -> None:
    for outcome in (DIED, np.where(DIED, "gestorben", "überlebt"), np.where(DIED, -3, 300)):
        model = LogisticRegression().fit(X, outcome)
        made = to_onnx(model, initial_types=[("X", FloatTensorType([None, 2]))])
        assert class_labels(made.SerializeToString()) == model.classes_.tolist()
    content = made.SerializeToString()
    for cut in range(0, len(content), 7):  # never a crash, whatever the bytes
        class_labels(content[:cut])
        class_labels(content[cut:])
    disagree = [
        helper.make_node("N", [], [], classlabels_ints=[0, 1]),
        helper.make_node("N", [], [], classlabels_ints=[1, 0]),
    ]
    graph = helper.make_model(helper.make_graph(disagree, "g", [], []))
    assert class_labels(graph.SerializeToString()) is None
    assert class_labels(b"\x0b") is None


def test_another_process_opens_the_same_file(tmp_path: Path) -> None:
    saved(tmp_path, LOGISTIC.fit(X, DIED))
    system = opened(tmp_path)
    packed = pickle.dumps(system)
    assert pickle.loads(packed).predict(TABLE) == system.predict(TABLE)
    saved(tmp_path, LOGISTIC.fit(X, 1 - DIED))
    with pytest.raises(InputError, match="must match its sha256"):
        pickle.loads(packed)


def test_without_onnxruntime_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, LOGISTIC.fit(X, DIED))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"\[onnx\]"):
        opened(tmp_path)
