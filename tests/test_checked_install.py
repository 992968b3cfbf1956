"""The install by hashes covers all that it must, and the packages of Debian are installed only where they may be."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHECKED = (ROOT / "requirements-checked.txt").read_text(encoding="utf-8")


def pinned(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def test_every_package_has_the_version_of_the_constraints_and_hashes() -> None:
    constraints = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    checked = pinned(CHECKED)
    assert len(checked) > 20 and checked.items() <= constraints.items()
    assert {"pip", "setuptools", "hatchling"} <= set(constraints)
    for part in re.split(r"^(?=[a-z])", CHECKED, flags=re.MULTILINE)[1:]:
        name, *rest = part.replace("\\\n", "").split()
        assert rest and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in rest), name
    assert "://" not in CHECKED and "index" not in CHECKED, "pip takes files from the index that it is set to"


def test_what_workup_and_its_reports_need_is_all_there() -> None:
    """As the metadata of what is installed here says, which is what `make install-checked` would find missing."""
    checked = pinned(CHECKED)
    extras = PROJECT["project"]["optional-dependencies"]
    waiting = [*PROJECT["project"]["dependencies"], *extras["report"], *extras["http"]]
    assert "'.[report,http]'" in (ROOT / "Makefile").read_text(encoding="utf-8"), "a demo can go on with openai_chat"
    seen: set[str] = set()
    while waiting:
        name = canonicalize_name(Requirement(waiting.pop()).name)
        assert name in checked, f"'{name}' is needed and not listed: run scripts/hash_constraints.py"
        if name in seen:
            continue
        seen.add(name)
        try:
            more = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            continue
        waiting += [str(one.name) for one in more if one.marker is None or one.marker.evaluate({"extra": ""})]


def test_the_tools_that_build_are_pinned_as_everything_else() -> None:
    constraints = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    tools = pinned("\n".join(PROJECT["build-system"]["requires"]))
    assert len(tools) == len(PROJECT["build-system"]["requires"]), "each by one version"
    assert tools.items() <= constraints.items() and tools.items() <= pinned(CHECKED).items()


@pytest.mark.skipif(shutil.which("sh") is None, reason="this platform has no sh")
@pytest.mark.parametrize(("allowed", "called"), [("yes", True), ("no", False), ("", True)])
def test_packages_of_debian_are_named_before_and_can_be_refused(tmp_path: Path, allowed: str, called: bool) -> None:
    """With a made-up apt-get: nothing is installed here."""
    for name, says in (
        ("apt-get", 'echo "apt-get $@" >&2'),
        ("id", "echo 0"),
        ("ldconfig", "true"),
        ("grep", "exit 1"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [str(shutil.which("sh")), str(ROOT / "scripts" / "debian-packages.sh")],
        env={"PATH": str(tmp_path), "WORKUP_APT": allowed},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.splitlines()
    assert any(line.startswith("apt-get install") for line in said) is called
    if called:
        told = next(place for place, line in enumerate(said) if "Installing with apt-get: chromium" in line)
        asked = next(place for place, line in enumerate(said) if line.startswith("apt-get update"))
        assert told < asked and "APT=no" in done.stderr
    else:
        assert done.returncode == 0 and "not installed, as asked: chromium" in done.stderr
