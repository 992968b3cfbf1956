"""Where things lie: the checkout, the public data sets kept beside it, and a kept record of the first schema."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
FIXTURE = ROOT / "tests" / "fixtures" / "reports" / "schema_1.json"
