"""Names to objects: what is registered is found, what is not is answered with the near names."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from workup import plugins
from workup.errors import PluginError, StudyError, WorkupError


def test_every_registered_name_loads() -> None:
    for noun in plugins.NOUNS:
        for name, point in plugins.registered(noun).items():
            assert plugins.find(noun, name) is point.load(), f"{noun} {name}"


def test_our_own_parts_register_like_anyone_elses() -> None:
    assert {"risk"} <= set(plugins.registered("tasks"))
    assert {"internal", "subgroups"} <= set(plugins.registered("lenses"))
    assert {"recorded", "command", "sklearn"} <= set(plugins.registered("systems"))
    assert {"serial", "processes"} <= set(plugins.registered("engines"))
    assert {"table", "csv", "tsv", "parquet", "excel", "duckdb"} <= set(plugins.registered("formats"))
    assert {"cohort"} <= set(plugins.registered("generators"))


@pytest.mark.parametrize(
    ("noun", "name", "says"),
    [
        ("lenses", "internl", r"'internl' is not one of the installed lenses; did you mean 'internal'\?"),
        ("systems", "zzz", r"'zzz' is not one of the installed systems; Known: command"),
        ("lens", "internal", r"no plug-ins called 'lens'; did you mean 'lenses'\?"),
    ],
)
def test_an_unknown_name_is_answered_with_the_near_ones(noun: str, name: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        plugins.find(noun, name)


def test_an_object_is_found_by_its_path() -> None:
    assert plugins.find("systems", "workup.systems.any.recorded:Recorded") is plugins.find("systems", "recorded")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("no_such_module_here:Model", "cannot import 'no_such_module_here'"),
        ("workup.systems.any.recorded:Recordd", r"has no 'Recordd'.*did you mean 'Recorded'\?"),
        ("workup.systems.any.recorded:", "has no ''"),
        (":Model", "import"),
        ("workup..systems:Model", "import"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error_of_ours(path: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        plugins.find("systems", path)


def test_a_module_that_fails_when_imported_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_model_module.py").write_text("raise ValueError('at import')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WorkupError, match="broken_model_module"):
        plugins.find("systems", "broken_model_module:Model")


def test_two_packages_cannot_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("twin", value, "workup.metrics") for value in ("a.b:C", "d.e:F")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    plugins.registered.cache_clear()
    try:
        with pytest.raises(PluginError, match=r"two packages register the metric 'twin': a\.b:C and d\.e:F"):
            plugins.registered("metrics")
    finally:
        plugins.registered.cache_clear()


class Model:
    """A system with one setting that is needed and one that is not."""

    def __init__(self, *, name: str, base: Path, path: str, times: int = 1) -> None:
        self.given = (name, base, path, times)


CONTEXT: dict[str, Any] = {"name": "mine", "base": Path("here")}


def make(settings: dict[str, Any]) -> Any:
    return plugins.make("systems", f"{__name__}:Model", settings, where="systems.mine", context=CONTEXT)


def test_settings_and_context_reach_the_object() -> None:
    assert make({"path": "m.bin", "times": 3}).given == ("mine", Path("here"), "m.bin", 3)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"path": "m.bin", "tmes": 3}, r"systems.mine: .* takes no setting 'tmes'; did you mean 'times'\? Known: path"),
        ({"path": "m.bin", "base": "/etc"}, r"takes no setting 'base'"),
        ({"times": 3}, r"systems.mine: .* needs the setting 'path'. To fix: add it under 'with:'"),
    ],
)
def test_settings_that_do_not_fit_are_taught(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(StudyError, match=says):
        make(settings)


def test_context_that_is_not_asked_for_is_not_passed() -> None:
    serial = plugins.make("engines", "serial", {}, where="engine", context={"workers": 3})
    assert list(serial.map(lambda: abs, [-1])) == [1]
