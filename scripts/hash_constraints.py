"""Write requirements-checked.txt: what Workup with its reports and its calls of models needs, and the tools that build
it, each with the hashes of its released files as the package index gives them. Versions are those of constraints.txt.

    python scripts/hash_constraints.py            # asks the index that pip is set to
    python scripts/hash_constraints.py --check    # compares, and writes nothing

Run it in an environment made by `make install-checked`, since what a package needs is read from its metadata. The file
holds no address: pip takes the files from whatever index it is set to, and refuses one whose hash is not listed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "requirements-checked.txt"
EXTRAS = ("report", "http")  # what `make demo` installs
SYSTEMS = [
    {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.0", "sys_platform": platform, **more}
    for minor in (11, 12, 13)
    for platform, more in (
        ("linux", {"platform_system": "Linux", "os_name": "posix"}),
        ("darwin", {"platform_system": "Darwin", "os_name": "posix"}),
    )
]
HEAD = """# Workup with its reports, and the tools that build it: versions of constraints.txt, with the sha256 of every
# file of each release.
# Made by scripts/hash_constraints.py. Install with  make install-checked,  or by hand:
#   pip install --require-hashes -r requirements-checked.txt
#   pip install --no-deps --no-build-isolation -e .
# For Linux and macOS, with Python 3.11 to 3.13.
"""


def pinned() -> dict[str, str]:
    """Version by name, as constraints.txt has them."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def needed(known: dict[str, str]) -> list[str]:
    """Names of all packages that an install needs on one of the systems, those that build it included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    first = [*project["project"]["dependencies"], *project["build-system"]["requires"], "pip"]
    first += [line for extra in EXTRAS for line in project["project"]["optional-dependencies"][extra]]
    found: set[str] = set()
    waiting = [Requirement(line) for line in first]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name not in known:
            sys.exit(f"'{one.name}' is needed and has no version in constraints.txt")
        if name in found:
            continue
        found.add(name)
        for line in requires(name) or ():
            more = Requirement(line)
            extras = [*one.extras, ""]
            if more.marker is None or any(
                more.marker.evaluate({**system, "extra": extra}) for system in SYSTEMS for extra in extras
            ):
                waiting.append(more)
    return sorted(found)


class _Links(HTMLParser):
    """Names of files with their sha256, from a page of a package index."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = urllib.parse.urlsplit(dict(attrs).get("href") or "")
        digest = re.fullmatch(r"sha256=([0-9a-f]{64})", address.fragment)
        if tag == "a" and digest:
            self.files[urllib.parse.unquote(address.path.rsplit("/", 1)[-1])] = digest[1]


def index_of_pip() -> str:
    """The address that pip is set to."""
    from pip._internal.models.index import PyPI

    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    set_to = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return str(os.environ.get("PIP_INDEX_URL") or set_to or PyPI.simple_url)


def hashes(name: str, version: str, *, index: str) -> list[str]:
    """sha256 of every file of one release, in order."""
    page = _Links()
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=120) as answer:
        page.feed(answer.read().decode())
    found = set()
    for file, digest in page.files.items():
        try:
            release = parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
        except (InvalidWheelFilename, InvalidSdistFilename):  # old forms, such as eggs and installers
            continue
        if str(release) == version:
            found.add(digest)
    if not found:
        sys.exit(f"the index has no hashes for {name} {version}")
    return sorted(found)


def written(*, index: str) -> str:
    """The whole file."""
    known = pinned()
    parts = [HEAD]
    for name in needed(known):
        lines = [
            f"{name}=={known[name]}",
            *(f"    --hash=sha256:{one}" for one in hashes(name, known[name], index=index)),
        ]
        parts.append(" \\\n".join(lines) + "\n")
    return "".join(parts)


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    reader.add_argument("--index", default=None, help="address of a package index; that of pip when absent")
    asked = reader.parse_args()
    text = written(index=asked.index or index_of_pip())
    if asked.check:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
