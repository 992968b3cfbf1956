"""Records that several modules draw, and a machine on which no chart can be drawn."""

from __future__ import annotations

import pytest

from tests.support import drift_record
from tests.support.places import FIXTURE
from workup.report import Report
from workup.reports.charts import drawing


@pytest.fixture(scope="module")
def report() -> Report:
    return Report.read(FIXTURE)


@pytest.fixture(scope="module")
def six() -> Report:
    return drift_record.report(drift_record.result())


@pytest.fixture
def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "available", lambda: False)
