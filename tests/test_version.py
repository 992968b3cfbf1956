"""The version is written once, in src/workup/version.py; what must repeat it agrees."""

from __future__ import annotations

import re

import yaml

import workup
from tests.support.places import ROOT


def test_the_citation_names_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == workup.__version__


def test_the_changelog_has_a_section_of_this_version() -> None:
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert workup.__version__ in sections
