"""The ends of an update: where its steps begin and end, and the least and greatest risk that it was fitted on, would be
the risks of single patients."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workup
from workup.updating import Asked, make_update

K = 5


def _table(n: int = 4000) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    risk = rng.beta(1.3, 3, n)
    risk[:2] = 0.0000321, 0.9998765  # two patients whom anyone would know
    outcome = (rng.random(n) < risk**1.3).astype(int)
    sex = np.where(rng.random(n) < 0.5, "F", "M").astype(object)
    return {"died": outcome, "p": risk, "sex": sex}


def _update(**more: Any) -> dict[str, Any]:
    columns = {"outcome": "died", "risk": "p", "groups": ["sex"]}
    said = {"name": "ends", "task": "risk", "columns": columns, "bootstrap": {"replicates": 50}}
    smallest = more.pop("smallest_cell", K)
    made = make_update(workup.Study.of({**said, "smallest_cell": smallest}), Asked(**more), table=_table())
    assert made.content is not None
    return dict(json.loads(made.content))


def test_no_step_ends_at_the_risk_of_one_patient() -> None:
    risk, record = _table()["p"], _update(method="isotonic")
    x = np.array(record["update"]["parameters"]["x"] if "update" in record else record["parameters"]["x"])
    ordered = np.sort(risk)
    assert x[0] == pytest.approx(ordered[:K].mean(), rel=1e-3) and x[-1] == pytest.approx(ordered[-K:].mean(), rel=1e-3)
    assert not {f"{risk[0]:.4g}", f"{risk[1]:.4g}"} & {f"{one:.4g}" for one in x}
    assert np.all(np.diff(x) >= 0)


@pytest.mark.parametrize("by", [None, "sex"])
def test_the_risks_it_was_fitted_on_end_where_many_are(by: str | None) -> None:
    text = json.dumps(_update(method="in_the_large", by=by))
    lp = np.log(_table()["p"] / (1 - _table()["p"]))
    for extreme in (lp.min(), lp.max()):
        assert f"{extreme:.2f}" not in text and f"{np.floor(extreme * 100) / 100:.2f}" not in text


def test_all_is_told_where_a_study_says_so() -> None:
    lp = np.log(_table()["p"] / (1 - _table()["p"]))
    assert f"{np.floor(lp.min() * 100) / 100:.2f}" in json.dumps(_update(method="in_the_large", smallest_cell=1))
