"""Every registered risk system, on a tiny model of its own, passes the conformance test that plug-in authors call."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.planted_updates import planted
from tests.support.shell import call
from workup import plugins
from workup.testing import check_system

AGE = np.linspace(30.0, 90.0, 21)
LAB = np.sin(AGE)
TABLE = {"age": AGE, "lab": LAB, "risk": AGE / 100}
DIED = (AGE + 20 * LAB > 60).astype(int)


def _fitted() -> Any:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="the sklearn extra is not installed")
    return linear_model.LogisticRegression(C=0.01).fit(np.column_stack([AGE, LAB]), DIED)


def _sklearn(folder: Path) -> dict[str, Any]:
    joblib = pytest.importorskip("joblib", reason="the sklearn extra is not installed")
    joblib.dump(_fitted(), folder / "model.joblib")
    return {"path": "model.joblib", "trust": True, "features": ["age", "lab"]}


def _onnx(folder: Path) -> dict[str, Any]:
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    sample = np.column_stack([AGE, LAB]).astype(np.float32)
    made = skl2onnx.to_onnx(_fitted(), sample, options={"zipmap": False})
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    return {"path": "model.onnx", "features": ["age", "lab"]}


def _mlflow(folder: Path) -> dict[str, Any]:
    mlflow = pytest.importorskip("mlflow.sklearn", reason="the mlflow extra is not installed")
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.save_model(
        _fitted(),
        folder / "model",
        pyfunc_predict_fn="predict_proba",
        serialization_format="cloudpickle",
        pip_requirements=["scikit-learn"],
    )
    return {"path": "model", "trust": True, "features": ["age", "lab"]}


def _command(folder: Path) -> dict[str, Any]:
    (folder / "score.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    risk = None if row['age'] is None else row['age'] / 100\n"
        "    print(json.dumps({'id': row['id'], 'risk': risk}))\n"
    )
    return {"run": [sys.executable, "-S", "score.py"]}


def _update(folder: Path) -> dict[str, Any]:
    planted(folder, rows=900, slope=0.7)
    made = call("update", folder / "study.yaml", "-o", folder / "update.json", "--method", "recalibration")
    assert made.code in (0, 3), made.err
    return {"update": "update.json", "of": "risk", "as_system": "recorded"}


class _Scoring(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["rows"]
        answers = [{"id": row["id"], "risk": None if row["age"] is None else row["age"] / 100} for row in rows]
        body = json.dumps({"risks": answers}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Scoring)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


SETTINGS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "recorded": lambda folder: {"column": "risk"},
    "sklearn": _sklearn,
    "onnx": _onnx,
    "mlflow": _mlflow,
    "command": _command,
    "update": _update,
    "http": lambda folder: {"batch": 8},
}


def _risk_systems() -> list[str]:
    """Systems that answer risks; those of other tasks have no predict()."""
    return sorted(name for name in plugins.registered("systems") if hasattr(plugins.find("systems", name), "predict"))


@pytest.mark.parametrize("use", _risk_systems())
def test_every_registered_system_conforms(use: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    assert use in SETTINGS, f"give the system '{use}' a tiny model in SETTINGS, so that the law covers it"
    settings = SETTINGS[use](tmp_path)
    if use == "http":
        pytest.importorskip("httpx", reason="the http extra is not installed")
        settings |= {"url": request.getfixturevalue("address")}
    system = plugins.make("systems", use, settings, where="law", context={"name": use, "base": tmp_path})
    check_system(system, table=TABLE)
    assert [system.predict(TABLE)[0]] != [None]
