"""update.json: written once, read by strangers. Altered, forged, hostile or unsigned files are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError
from workup.report import canonical, digest
from workup.signing import sign
from workup.stats.updating import METHODS, Sample, update
from workup.tasks.risk.updating.file import LARGEST_FILE, read_update, update_record, written
from workup.tasks.risk.updating.procedure import Mending

KEY, OTHER = b"a shared secret of a site", b"the secret of another one"
ESTIMATE = {
    "metric": "brier",
    "slice": {},
    "value": 0.1,
    "low": 0.08,
    "high": 0.12,
    "level": 0.95,
    "method": "BCa bootstrap",
    "se": 0.01,
    "n_patients": 10,
    "n_rows": 12,
    "n_events": 4,
    "numerator": None,
    "denominator": None,
    "status": "ok",
    "reason": None,
}
THRESHOLD = {
    "name": "sensitivity_0_9",
    "rule": "sensitivity >= 0.9 @0.95",
    "value": 0.1234,
    "assurance": 0.95,
    "chance": 0.97,
    "expected": [{**ESTIMATE, "metric": "sensitivity", "slice": {"threshold": 0.1234}}],
}


def sample(rows: int = 2000, *, seed: int = 5) -> Sample:
    rng = np.random.default_rng(seed)
    lp, age = rng.normal(-0.5, 1.2, rows), rng.normal(60, 12, rows)
    outcome = (rng.random(rows) < 1 / (1 + np.exp(-(0.3 + 0.7 * lp + 0.02 * (age - 60))))).astype(float)
    return Sample(outcome, 1 / (1 + np.exp(-lp)), {"age": age})


def record(method: str = "recalibration", **more: Any) -> dict[str, Any]:
    mending = Mending({"": update(sample(), method=method, forbidden={})})
    return update_record(
        mending,
        workup="0.0",
        system={"name": "recorded", "version": "recorded", "column": "p"},
        thresholds=[THRESHOLD],
        used={
            "corpus_sha256": "0" * 64,
            "risks_sha256": "1" * 64,
            "from": "2023-01-01",
            "to": "2023-12-31",
            "n_patients": 2000,
            "n_rows": 2000,
            "n_events": 800,
        },
        honest={"how": "cross-fitted", "estimates": [ESTIMATE], "verdict": "better"},
        as_of=None,
        seed=0,
        **more,
    )


def put(folder: Path, content: bytes) -> Path:
    path = folder / "update.json"
    path.write_bytes(content)
    return path


def forged(change: Callable[[dict[str, Any]], Any], *, key: bytes | None = None) -> bytes:
    """An update that someone changed and gave a fitting hash (and signature)."""
    found = copy.deepcopy(json.loads(written(record())))
    change(found)
    found.pop("sha256", None)
    if key is not None:
        found["signature"] = sign({name: part for name, part in found.items() if name != "signature"}, key)
    found["sha256"] = digest(found)
    return (canonical(found) + "\n").encode()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_written_is_read_back_and_does_the_same(method: str, tmp_path: Path) -> None:
    rows = sample()
    own = update(rows, method=method, forbidden={})
    file = read_update(put(tmp_path, written(record(method))))
    found = file.mending.apply(rows.risk, {"age": rows.predictors["age"]})
    np.testing.assert_allclose(found, own.apply(rows.risk, rows.predictors), rtol=1e-10)
    assert file.flags == {"sensitivity_0_9": 0.1234}
    assert len(written(record(method))) <= LARGEST_FILE


@pytest.mark.parametrize("key", [None, KEY], ids=["unsigned", "signed"])
def test_no_byte_can_be_flipped(key: bytes | None, tmp_path: Path) -> None:
    whole = written(record(), key=key)
    assert read_update(put(tmp_path, whole), key=key).sha256
    path = tmp_path / "update.json"
    for place in range(0 if key else 1, len(whole), 3):
        altered = bytearray(whole)
        altered[place] ^= (1, 2, 4, 8, 16, 32)[place % 6]
        path.write_bytes(bytes(altered))
        # Also without the key: the hash is over the signature too.
        with pytest.raises(InputError, match=r"expected an update|sha256|schema_version"):
            read_update(path)


@pytest.mark.parametrize("altered", [b"", b" ", b"\n", b"\xff\xfe", b"null", b"[]", b"{}", b'{"kind": "split"}'])
def test_other_files_are_refused(altered: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an update"):
        read_update(put(tmp_path, altered))


def test_more_or_fewer_bytes_are_refused(tmp_path: Path) -> None:
    whole = written(record())
    for altered in (whole + b"\n", whole[:-1], b" " + whole, whole.replace(b":", b": ", 1)):
        with pytest.raises(InputError, match="changed after it was made"):
            read_update(put(tmp_path, altered))


def test_signatures(tmp_path: Path) -> None:
    signed, plain = written(record(), key=KEY), written(record())
    assert read_update(put(tmp_path, signed), key=KEY).record["signature"]["method"] == "HMAC-SHA256"
    assert read_update(put(tmp_path, signed)).sha256
    with pytest.raises(InputError, match="signature of another key"):
        read_update(put(tmp_path, signed), key=OTHER)
    with pytest.raises(InputError, match="must be signed, since a key was given"):
        read_update(put(tmp_path, plain), key=KEY)
    forgery = forged(lambda found: found["parameters"].update(slope=2.0), key=OTHER)
    with pytest.raises(InputError, match="signature of another key"):
        read_update(put(tmp_path, forgery), key=KEY)
    kept = json.loads(signed)["signature"]
    stolen = forged(lambda found: found.update(signature=kept, seed=7))
    with pytest.raises(InputError, match="signature of another key"):
        read_update(put(tmp_path, stolen), key=KEY)


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an unknown field": lambda u: u.update(rows=[1, 2]),
    "an unknown field of an estimate": lambda u: u["honest"]["estimates"][0].update(ids=["a"]),
    "an unknown parameter": lambda u: u["parameters"].update(secret=1.0),
    "a field less": lambda u: u.pop("used"),
    "another version": lambda u: u.update(schema_version=2),
    "a version that is true": lambda u: u.update(schema_version=True),
    "another task": lambda u: u.update(task="spans"),
    "an unknown method": lambda u: u.update(method="magic"),
    "parameters of another method": lambda u: u.update(method="beta"),
    "a slope of 0": lambda u: u["parameters"].update(slope=0.0),
    "a slope below 0": lambda u: u["parameters"].update(slope=-1.0),
    "a slope as text": lambda u: u["parameters"].update(slope="1"),
    "a slope that is true": lambda u: u["parameters"].update(slope=True),
    "an intercept without bounds": lambda u: u["parameters"].update(intercept=1e9),
    "a null intercept": lambda u: u["parameters"].update(intercept=None),
    "a clip of 0": lambda u: u.update(clip=0.0),
    "a clip of half": lambda u: u.update(clip=0.5),
    "ends that are crossed": lambda u: u.update(fitted_on={"low": 1.0, "high": 0.0}),
    "a threshold above 1": lambda u: u["thresholds"][0].update(value=1.5),
    "a threshold below 0": lambda u: u["thresholds"][0].update(value=-0.1),
    "a name that steers": lambda u: u["thresholds"][0].update(name="a\u001b[31m"),
    "a name that is a formula": lambda u: u["thresholds"][0].update(name="=cmd"),
    "two thresholds of one name": lambda u: u.update(thresholds=[THRESHOLD, THRESHOLD]),
    "a thousand thresholds": lambda u: u.update(thresholds=[{**THRESHOLD, "name": f"t{i}"} for i in range(50)]),
    "a hash that is none": lambda u: u["used"].update(corpus_sha256="x" * 64),
    "a date that is none": lambda u: u["used"].update(to="2023-13-31"),
    "a date with a time": lambda u: u["used"].update(to="2023-12-31T00:00"),
    "dates in the wrong order": lambda u: u["used"].update(to="2022-01-01"),
    "one date alone": lambda u: u["used"].update(to=None),
    "a count below 0": lambda u: u["used"].update(n_rows=-1),
    "a count that is no whole number": lambda u: u["used"].update(n_rows=1.5),
    "a p above 1": lambda u: u["test"][0].update(p=1.5),
    "an interval that is crossed": lambda u: u["honest"]["estimates"][0].update(low=0.2),
    "more patients than rows": lambda u: u["honest"]["estimates"][0].update(n_patients=50),
    "an unknown verdict": lambda u: u["honest"].update(verdict="splendid"),
    "a null signature": lambda u: u.update(signature=None),
    "a signature of another form": lambda u: u.update(signature={"method": "HMAC-SHA256", "value": "zz"}),
    "a long name": lambda u: u["system"].update(name="n" * 500),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_forged_content_is_refused_whatever_its_hash(change: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_update(put(tmp_path, forged(change)))
    said = str(refused.value)
    assert "in its known form" in said or "schema_version" in said
    assert "\x1b" not in said and "pydantic" not in said and "\n" not in said and "To fix" in said


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ({"x": [0.1, 0.2], "y": [0.1]}, "one length"),
        ({"x": [0.2, 0.1], "y": [0.1, 0.2]}, "x must not fall"),
        ({"x": [0.1, 0.2], "y": [0.2, 0.1]}, "y must not fall"),
        ({"x": [0.1, 1.2], "y": [0.1, 0.2]}, "out of bounds"),
        ({"x": [], "y": []}, "fewer entries"),
    ],
)
def test_steps_that_fall_are_refused(points: dict[str, Any], why: str, tmp_path: Path) -> None:
    altered = forged(lambda u: u.update(method="isotonic", parameters=points))
    with pytest.raises(InputError, match=why):
        read_update(put(tmp_path, altered))


@pytest.mark.parametrize("content", [b'{"kind": NaN}', b'{"kind": 1e999}', b"[" * 40_000, b'{"a":' * 9_000])
def test_files_that_would_drown_a_reader_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an update"):
        read_update(put(tmp_path, content))


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most 64 KB"):
        read_update(put(tmp_path, b" " * (LARGEST_FILE + 1)))
    with pytest.raises(InputError, match="can be read"):
        read_update(tmp_path / "absent.json")
    with pytest.raises(InputError, match="can be read"):
        read_update(tmp_path)


def test_numbers_have_twelve_digits_and_no_patient_s_risk_is_among_them() -> None:
    risks = {f"{risk:.6g}" for risk in sample().risk}
    for method in METHODS:
        content = json.loads(written(record(method)))
        for number in _numbers(content):
            assert float(f"{number:.12g}") == number
            assert f"{number:.6g}" not in risks


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [one for part in value.values() for one in _numbers(part)]
    if isinstance(value, list):
        return [one for part in value for one in _numbers(part)]
    return [value] if isinstance(value, float) else []
