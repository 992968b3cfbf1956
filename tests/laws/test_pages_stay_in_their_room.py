"""A page is drawn by the rooms of its own task: that of a risk model enters none of spans and conversations."""

from __future__ import annotations

import subprocess
import sys

_DRAWN = """
import sys
import workup
from workup.cli.report import render

table = {"died": [0, 1, 0, 1] * 20, "p": [0.1, 0.8, 0.4, 0.3] * 20, "sex": ["F", "M"] * 40}
report = workup.score_risk(table, outcome="died", risk="p", by=["sex"], thresholds=[0.2], replicates=200)
for form in ("html", "md", "text", "json-flat"):
    assert render(report, form)
print(" ".join(name for name in sys.modules if name.startswith("workup.")))
"""


def test_a_risk_page_enters_no_room_of_another_task() -> None:
    done = subprocess.run([sys.executable, "-c", _DRAWN], capture_output=True, text=True, check=True)
    entered = done.stdout.split()
    assert "workup.reports.risk.page" in entered
    foreign = ("workup.reports.spans", "workup.reports.conversation", "workup.tasks.spans", "workup.tasks.conversation")
    assert [name for name in entered if name.startswith(foreign)] == []
