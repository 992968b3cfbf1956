"""Models that were changed after they were pinned, or that reach out of what is pinned: real files on a real disk."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import py_compile
import shutil
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import shell
from tests.support.shell import cohort, spawn, write
from workup.errors import InputError, SystemFailure
from workup.systems.risk.mlflow import MlflowModel
from workup.systems.risk.onnx import OnnxModel
from workup.systems.risk.sklearn import SklearnModel

RISKS = "def risk(rows):\n    return [{value}] * len(rows)\n"
TABLE = {"lab": np.array([0.5, 1.5, 2.5])}


def place(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


# ---- MLflow ----------------------------------------------------------------------------------------------------------


def own_model(folder: Path, module: str, *, risk: float = 0.25) -> Path:
    """A model whose risks come from a module in its code folder."""
    pyfunc = pytest.importorskip("mlflow.pyfunc", reason="the mlflow extra is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    source = folder / "made" / f"{module}.py"
    place(source, RISKS.format(value=risk))
    loader = folder / "made" / f"{module}_loader.py"
    place(
        loader,
        f"import {module}\n\nclass Model:\n    def predict(self, rows):\n        return {module}.risk(rows)\n\n"
        "def _load_pyfunc(path):\n    return Model()\n",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyfunc.save_model(
            folder / "model",
            loader_module=f"{module}_loader",
            code_paths=[str(source), str(loader)],
            pip_requirements=["numpy"],
        )
    return folder / "model"


def opened(folder: Path, **settings: Any) -> MlflowModel:
    return MlflowModel(name="m", base=folder, path="model", trust=True, features=["lab"], **settings)


def pin_of(folder: Path) -> str:
    """What the message of a wrong pin says is right."""
    with pytest.raises(InputError) as refused:
        opened(folder, sha256="0" * 64)
    return refused.value.got.split()[-1]


def test_planted_bytecode_is_not_run_in_the_place_of_the_source(tmp_path: Path) -> None:
    model = own_model(tmp_path, "planted_cache")
    pin = pin_of(tmp_path)
    source = model / "code" / "planted_cache.py"
    evil = tmp_path / "evil.py"
    place(evil, RISKS.format(value=0.99))
    assert evil.stat().st_size == source.stat().st_size
    os.utime(evil, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir(exist_ok=True)
    py_compile.compile(str(evil), cfile=str(cached), doraise=True)
    assert opened(tmp_path, sha256=pin).predict(TABLE) == [0.25] * 3


@pytest.mark.parametrize("name", ["planted_stray.pyc", "sitecustomize.py", "numpy.so"])
def test_a_file_that_was_added_breaks_the_pin(tmp_path: Path, name: str) -> None:
    model = own_model(tmp_path, "planted_stray")
    pin = pin_of(tmp_path)
    (model / "code" / name).write_bytes(b"whatever")
    with pytest.raises(InputError, match="must match its sha256"):
        opened(tmp_path, sha256=pin)


def test_a_folder_behind_a_link_is_refused(tmp_path: Path) -> None:
    """Its files were read by MLflow and seen by no hash."""
    model = own_model(tmp_path, "planted_link")
    shutil.move(model / "code", tmp_path / "elsewhere")
    (model / "code").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a link: 'code'"):
        opened(tmp_path)


def test_a_place_outside_the_folder_is_refused(tmp_path: Path) -> None:
    model = own_model(tmp_path, "planted_outside")
    shutil.move(model / "code", tmp_path / "elsewhere")
    form = (model / "MLmodel").read_text()
    assert "code: code" in form
    for path in (str(tmp_path / "elsewhere"), "../elsewhere"):
        (model / "MLmodel").write_text(form.replace("code: code", f"code: {path}"))
        with pytest.raises(InputError, match="leads out of the folder"):
            opened(tmp_path)


def test_what_changes_after_the_check_is_not_loaded(tmp_path: Path) -> None:
    pyfunc = pytest.importorskip("mlflow.pyfunc", reason="the mlflow extra is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    place(tmp_path / "made" / "risk.txt", "0.25")
    place(
        tmp_path / "made" / "reads_late.py",
        "from pathlib import Path\n\nclass Model:\n    def __init__(self, path):\n        self.file = Path(path)\n"
        "    def predict(self, rows):\n        return [float(self.file.read_text())] * len(rows)\n\n"
        "def _load_pyfunc(path):\n    return Model(path)\n",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyfunc.save_model(
            tmp_path / "model",
            loader_module="reads_late",
            data_path=str(tmp_path / "made" / "risk.txt"),
            code_paths=[str(tmp_path / "made" / "reads_late.py")],
            pip_requirements=["numpy"],
        )
    system = opened(tmp_path, sha256=pin_of(tmp_path))
    (data,) = (tmp_path / "model").rglob("risk.txt")
    data.write_text("0.99")
    assert system.predict(TABLE) == [0.25] * 3


def test_the_code_of_one_model_is_not_run_for_another(tmp_path: Path) -> None:
    for name, risk in (("one", 0.25), ("two", 0.75)):
        own_model(tmp_path / name, "same_name", risk=risk)
        assert opened(tmp_path / name).predict(TABLE) == [risk] * 3


def test_code_with_the_name_of_a_loaded_module_is_refused(tmp_path: Path) -> None:
    """The module that is loaded would be run in the place of the pinned one, or the other way about."""
    model = own_model(tmp_path, "planted_shadow")
    place(model / "code" / "json.py", "raise SystemExit('run')\n")
    with pytest.raises(InputError, match="a module 'json'"):
        opened(tmp_path)


def test_a_copy_goes_with_its_model_and_leaves_the_import_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_model(tmp_path, "leaves_nothing")
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    system = opened(tmp_path)
    (home,) = place.iterdir()
    assert home.stat().st_mode & 0o077 == 0, "another user could put code in it"
    assert any(Path(entry).is_relative_to(home) for entry in sys.path)
    del system
    assert not home.exists() and not any(Path(entry).is_relative_to(home) for entry in sys.path)


# ---- ONNX ------------------------------------------------------------------------------------------------------------


def network(folder: Path, *, location: str = "weights.bin", weight: float = 1.0) -> Path:
    """A logistic model whose weight lies in a file of its own."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    from onnx import TensorProto, helper, numpy_helper

    tensor = numpy_helper.from_array(np.full((1, 1), weight, dtype=np.float32), "w")
    raw = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": "0", "length": str(len(raw))}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    nodes = [helper.make_node("MatMul", ["rows", "w"], ["z"]), helper.make_node("Sigmoid", ["z"], ["probability"])]
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 1])
    out = helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["n", 1])
    graph = helper.make_graph(nodes, "g", [rows], [out], [tensor])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    assert onnx.load_model(folder / "model.onnx", load_external_data=False)
    target = folder / location
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(raw)
    return target


def asked(folder: Path, **settings: Any) -> OnnxModel:
    return OnnxModel(name="m", base=folder, path="model.onnx", features=["lab"], **settings)


def sigmoid(weight: float) -> list[float]:
    return [float(value) for value in 1 / (1 + np.exp(-weight * TABLE["lab"]))]


def test_weights_beside_the_model_are_its_own_and_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were looked for where the command was called, so that any folder could hold other ones."""
    weights = network(tmp_path / "model", location="parts/weights.bin")
    network(tmp_path / "elsewhere", location="parts/weights.bin", weight=-3.0)
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError) as refused:
        asked(tmp_path / "model", sha256="0" * 64)
    pin = refused.value.got.split()[-1]
    system = asked(tmp_path / "model", sha256=pin)
    assert system.predict(TABLE) == pytest.approx(sigmoid(1.0), abs=1e-6)
    weights.write_bytes(np.float32(-3.0).tobytes())
    assert system.predict(TABLE) == pytest.approx(sigmoid(1.0), abs=1e-6)
    with pytest.raises(InputError, match="must match its sha256"):
        asked(tmp_path / "model", sha256=pin)


@pytest.mark.parametrize("escape", ["..", "absolute", "link", "folder link", "memory", "subgraph"])
def test_weights_outside_the_folder_are_not_read(tmp_path: Path, escape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "model"
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.bin"
    secret.write_bytes(np.float32(2.0).tobytes())
    if escape == "..":
        network(folder, location="../secret.bin")
    elif escape == "absolute":
        network(folder, location=str(secret))
    elif escape == "link":
        network(folder).unlink()
        (folder / "weights.bin").symlink_to(secret)
    elif escape == "folder link":
        network(folder, location="parts/secret.bin").unlink()
        (folder / "parts").rmdir()
        (folder / "parts").symlink_to(tmp_path)
    elif escape == "memory":
        network(folder, location="*/_ORT_MEM_ADDR_/*").unlink()
    else:
        within_a_loop(folder, location="../secret.bin")
    with pytest.raises(InputError, match=r"in its own folder|a link|must be readable"):
        asked(folder)


def within_a_loop(folder: Path, *, location: str, trips: int = 1) -> None:
    """A model whose loop keeps its weight in a file."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    from onnx import TensorProto, helper, numpy_helper

    step = numpy_helper.from_array(np.full((1, 1), 0.0, dtype=np.float32), "step")
    if location:
        step.ClearField("raw_data")
        step.data_location = TensorProto.EXTERNAL
        entry = step.external_data.add()
        entry.key, entry.value = "location", location
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["going_on"]),
            helper.make_node("Constant", [], ["step"], value=step),
            helper.make_node("Add", ["sum", "step"], ["sum_on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("going_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum_on", TensorProto.FLOAT, None),
        ],
    )
    nodes = [
        helper.make_node("Loop", ["trips", "always", "rows"], ["z"], body=body),
        helper.make_node("Sigmoid", ["z"], ["probability"]),
    ]
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 1])
    out = helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["n", 1])
    constants = [
        numpy_helper.from_array(np.array(trips, dtype=np.int64), "trips"),
        numpy_helper.from_array(np.array(True), "always"),
    ]
    graph = helper.make_graph(nodes, "g", [rows], [out], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString())


def test_a_loop_without_end_is_stopped(tmp_path: Path) -> None:
    within_a_loop(tmp_path, location="", trips=3)
    assert asked(tmp_path).predict(TABLE) == pytest.approx(sigmoid(1.0), abs=1e-6)
    within_a_loop(tmp_path, location="", trips=2**62)
    system = asked(tmp_path, timeout=0.5)
    begun = time.monotonic()
    with pytest.raises(SystemFailure, match=r"a batch of 3 rows was not finished after 0\.5 s; it was stopped"):
        system.predict(TABLE)
    assert time.monotonic() - begun < 20


def test_a_field_that_other_readers_cut_short_is_refused(tmp_path: Path) -> None:
    """Readers that cut a field's number to 32 bits would open a file that was not seen here."""
    network(tmp_path)
    whole = (tmp_path / "model.onnx").read_bytes()
    wide = bytes([(7 << 3 | 2) | 0x80, 0x80, 0x80, 0x80, 0x10])  # field 7, with a bit above the 32nd
    (tmp_path / "model.onnx").write_bytes(whole + wide + b"\x00")
    with pytest.raises(SystemFailure, match="could not be read"):
        asked(tmp_path)


# ---- pins themselves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pin", ["", " ", None, "0" * 63, "g" * 64, "sha256:" + "0" * 64, 0])
def test_a_pin_that_is_none_is_refused(tmp_path: Path, pin: Any) -> None:
    """An empty text read as a model that nobody had pinned."""
    joblib = pytest.importorskip("joblib", reason="the sklearn extra is not installed")
    from sklearn.linear_model import LogisticRegression

    joblib.dump(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model.pkl")
    with pytest.raises(InputError, match="'sha256' must be 64 hexadecimal digits"):
        SklearnModel(name="m", base=tmp_path, path="model.pkl", trust=True, features=["lab"], sha256=pin)


@pytest.mark.parametrize(
    ("use", "path"),
    [
        ("mlflow", "path"),
        ("onnx", "path"),
        ("sklearn", "path"),
        ("smollm2", "path"),
        ("spacy", "model"),
        ("huggingface", "model"),
    ],
)
@pytest.mark.parametrize("pin", ["", '""', "' '", "null", "abc", "[]"])
def test_a_study_with_an_empty_pin_is_refused(tmp_path: Path, use: str, path: str, pin: str) -> None:
    from workup import plugins
    from workup.errors import StudyError
    from workup.study import Study

    place(
        tmp_path / "study.yaml",
        f"name: s\ntask: risk\ncorpus: {{path: cohort.csv}}\ncolumns: {{outcome: died}}\n"
        f"systems:\n  - use: {use}\n    with:\n      {path}: model\n      sha256: {pin}\n"
        + ("      trust: true\n" if use in ("mlflow", "sklearn") else ""),
    )
    (part,) = Study.load(tmp_path / "study.yaml").systems
    with pytest.raises(StudyError, match="sha256"):
        plugins.check("systems", use, part.settings, where="systems", context={"name": "m", "base": tmp_path})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
@pytest.mark.parametrize(("use", "more"), [("onnx", ""), ("sklearn", "      trust: true\n")])
def test_a_pipe_in_the_place_of_a_model_does_not_hang(tmp_path: Path, use: str, more: str) -> None:
    write(tmp_path / "cohort.csv", cohort(40))
    os.mkfifo(tmp_path / "model.bin")
    place(
        tmp_path / "study.yaml",
        "name: s\ntask: risk\ncorpus: {path: cohort.csv}\ncolumns: {outcome: died, patient: patient}\n"
        f"systems:\n  - use: {use}\n    with:\n      path: model.bin\n{more}",
    )
    done = spawn("run", tmp_path / "study.yaml")
    assert done.code == 2 and "no plain file" in done.err


def test_a_pinned_pipeline_that_changed_is_not_loaded(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="the spacy extra is not installed")
    from workup.systems.spans.spacy_ner import SpacyPipeline

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Smith"}])
    nlp.to_disk(tmp_path / "pipeline")
    with pytest.raises(InputError) as refused:
        SpacyPipeline(name="s", base=tmp_path, model="pipeline", sha256="0" * 64)
    pin = refused.value.got.split()[-1]
    system = SpacyPipeline(name="s", base=tmp_path, model="pipeline", sha256=pin)
    patterns = tmp_path / "pipeline" / "entity_ruler" / "patterns.jsonl"
    patterns.write_text(patterns.read_text().replace("Smith", "Jones"))
    (found,) = system.detect(["Mr Smith"])
    assert found is not None and [span.label for span in found] == ["PERSON"]
    with pytest.raises(InputError, match="must match its sha256"):
        SpacyPipeline(name="s", base=tmp_path, model="pipeline", sha256=pin)


def test_pinned_weights_that_change_before_they_are_loaded_are_not_loaded(tmp_path: Path) -> None:
    """A file of weights is opened at the first call, long after its hash was looked at."""
    pytest.importorskip("xllamacpp", reason="the smollm2 extra (xllamacpp) is not installed")
    from workup.systems.chat.smollm2 import SmolLm2

    (tmp_path / "small.gguf").write_bytes(b"weights")
    pin = hashlib.sha256(b"weights").hexdigest()
    system = SmolLm2(name="small", base=tmp_path, path="small.gguf", sha256=pin)
    (tmp_path / "small.gguf").write_bytes(b"others!")
    with pytest.raises(InputError, match="must match its sha256"):
        system.reply([{"role": "user", "content": "Hello"}])


TRUSTED = """
name: mine
task: risk
corpus: {{path: cohort.csv}}
columns: {{outcome: died}}
systems:
  - name: m
    use: sklearn
    with: {{path: m.pkl, {settings}}}
"""


@pytest.mark.parametrize("word", ["yes", "Yes", "on", "y", "'true'", "1"])
def test_trust_is_given_by_one_word(tmp_path: Path, word: str) -> None:
    place(tmp_path / "study.yaml", TRUSTED.format(settings=f"trust: {word}"))
    place(tmp_path / "m.pkl", "")
    done = shell.call("run", tmp_path / "study.yaml", "--dry-run")
    assert done.code == 2 and "'trust': expected true or false" in done.err


@pytest.mark.parametrize("digits", ["0" * 64, "12" * 32])
def test_a_pin_that_yaml_takes_for_a_number_is_to_be_quoted_as_it_is(tmp_path: Path, digits: str) -> None:
    place(tmp_path / "study.yaml", TRUSTED.format(settings=f"trust: true, sha256: {digits}"))
    done = shell.call("run", tmp_path / "study.yaml", "--dry-run")
    assert done.code == 2 and "To fix: put it in quotes, as it is written." in done.err
