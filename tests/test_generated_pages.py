"""The scripts that draw pages from the code: what they leave out, and that a stale page is noticed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT


def _script(name: str) -> ModuleType:
    file = ROOT / "scripts" / f"{name}.py"
    if not file.exists():
        pytest.skip("the scripts are not part of a source distribution")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    return _script("draw_architecture")


def test_an_import_that_a_longer_path_says_is_left_out(drawing: ModuleType) -> None:
    edges = {("cli", "tasks"), ("tasks", "stats"), ("cli", "stats"), ("cli", "reports")}
    assert drawing.reduced(edges) == edges - {("cli", "stats")}


def test_the_ground_floor_is_one_box(drawing: ModuleType) -> None:
    assert drawing.collapsed({("scores", "stats"), ("scores", "errors"), ("stats", "errors")}, ["stats", "errors"]) == {
        ("scores", "ground")
    }


def test_every_room_of_the_contract_is_drawn(drawing: ModuleType) -> None:
    text = drawing.drawn([["cli"], ["tasks", "lenses"], ["files"], ["stats"]], {("cli", "tasks")}, {"cli", "tasks"})
    assert "cli([cli])" in text and "lenses[lenses]" in text and '"files · stats"' in text
    assert "cli --> tasks" in text


def test_the_drawing_takes_the_place_of_the_last_one(drawing: ModuleType) -> None:
    page = f"before\n{drawing.BEGIN}\nold\n{drawing.END}\nafter\n"
    assert drawing.placed(page, "new") == page.replace("old", "new")
    with pytest.raises(SystemExit, match="marks"):
        drawing.placed("no marks", "new")


@pytest.mark.parametrize(("name", "page"), [("draw_architecture", "architecture.md"), ("build_api", "api.md")])
def test_a_stale_page_is_noticed_and_written_anew(
    name: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _script(name)
    copy = tmp_path / page
    copy.write_text(script.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(script, "PAGE", copy)
    assert script.main([]) == 0 and script.main(["--check"]) == 0
    copy.write_text(copy.read_text(encoding="utf-8").replace("cli --> ", "cli -.-> ").replace("validate(", "v("))
    assert script.main(["--check"]) == 1


def test_the_page_of_public_names_holds_them_all_and_no_address() -> None:
    import workup

    text = _script("build_api").page()
    assert all(f"### {name}\n" in text for name in workup.__all__ if name != "__version__")
    assert " at 0x" not in text and "<lambda>" not in text and "ForwardRef" not in text


def test_the_page_of_costs_is_what_the_results_give(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing_costs = _script("draw_scale")
    monkeypatch.setattr("sys.argv", ["draw_scale.py", "--check"])
    assert drawing_costs.main() == 0
    stale = drawing_costs.page(f"a\n{drawing_costs.BEGIN}\nold\n{drawing_costs.END}\nb\n", "new")
    assert stale == f"a\n{drawing_costs.BEGIN}\nnew\n{drawing_costs.END}\nb\n"
    assert [drawing_costs.told(seconds) for seconds in (0.0042, 6.3, 0.25)] == ["4.2 ms", "6.3 s", "250 ms"]
