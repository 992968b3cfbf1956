"""Pages of the project point at files and headings that exist, and can be reached from the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.places import ROOT

_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(```|~~~).*?^\1", flags=re.MULTILINE | re.DOTALL)
_FOLDERS = ("docs", "examples", ".github")
PAGES = sorted({*ROOT.glob("*.md"), *(page for folder in _FOLDERS for page in (ROOT / folder).rglob("*.md"))})


def _text(page: Path) -> str:
    """A page without its blocks of code, in which brackets are no links."""
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def _links(page: Path) -> list[tuple[Path, str]]:
    """Files of the project that a page links to, each with the heading that is meant."""
    own = (link for link in _LINK.findall(_text(page)) if not re.match(r"[a-z]+:", link))
    parts = (link.partition("#") for link in own)
    return [((page.parent / path).resolve() if path else page, heading) for path, _, heading in parts]


def _anchors(page: Path) -> set[str]:
    """Headings as the places that links name: small letters, blanks as hyphens, no punctuation."""
    headings = re.findall(r"^#+ +(.+?) *$", _text(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, heading in _links(page):
        assert target.exists(), f"no such file: {target.relative_to(ROOT)}"
        assert not heading or heading in _anchors(target), f"no such heading in {target.relative_to(ROOT)}: {heading}"


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {target for target, _ in _links(index)} | {index}
    missing = [page.name for page in sorted((ROOT / "docs").rglob("*.md")) if page.resolve() not in listed]
    assert not missing


def test_every_example_is_in_the_index_of_examples() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    folders = [path.parent.name for path in sorted((ROOT / "examples").glob("*/*")) if path.name != "__pycache__"]
    assert [name for name in folders if f"({name}/" not in text] == []


def test_every_room_stands_in_the_table_of_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = sorted(path.parent.name for path in (ROOT / "src" / "workup").glob("*/__init__.py"))
    assert [room for room in rooms if f"`{room}/`" not in text] == []
