"""The report of one hospital, made once for a module."""

from __future__ import annotations

import pytest

from tests.support.hospitals import hospital, report_of
from workup.report import Report


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(hospital(250, seed=4))
