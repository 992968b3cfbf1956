"""Packs that come from elsewhere: altered, forged, doubled, hostile or of another study, each refused with a reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.hospitals import hospital, report_of
from workup.errors import InputError
from workup.packs import check_together, make_pack, read_key, read_pack
from workup.report import Report, digest
from workup.signing import sign

KEY, OTHER = b"a shared secret of a site", b"the secret of another one"


@pytest.fixture(scope="module")
def other_report() -> Report:
    return report_of(hospital(300, seed=8))


@pytest.fixture
def pack(report: Report) -> dict[str, Any]:
    return make_pack(report, site="North", facts={"type": "rural"})


def write(folder: Path, pack: Any, name: str = "north.json") -> Path:
    path = folder / name
    path.write_text(pack if isinstance(pack, str) else json.dumps(pack), encoding="utf-8")
    return path


def forged(pack: dict[str, Any], change: Callable[[dict[str, Any]], Any], key: bytes | None = None) -> dict[str, Any]:
    """A pack that someone changed and gave a fitting hash."""
    found = copy.deepcopy(pack)
    change(found)
    found.pop("signature", None)
    found["sha256"] = digest(found)
    if key is not None:
        found["signature"] = sign(found, key)
    return found


def test_what_is_read_is_what_was_made(pack: dict[str, Any], tmp_path: Path) -> None:
    found = read_pack(write(tmp_path, pack))
    assert found.record == pack
    assert found.site == "North" and found.evidence.facts == {"type": "rural"}
    auroc = next(e for e in found.evidence.estimates if e.metric == "auroc" and not e.slice)
    assert auroc.status == "ok" and auroc.n_patients == 250


def test_the_group_comes_first_in_a_slice_whatever_its_name(pack: dict[str, Any], tmp_path: Path) -> None:
    """JSON is written with sorted keys, and 'unit' comes after 'threshold'."""
    evidence = read_pack(write(tmp_path, json.dumps(pack, sort_keys=True))).evidence
    keys = {tuple(e.slice) for e in evidence.estimates if "unit" in e.slice and "threshold" in e.slice}
    assert keys == {("unit", "threshold")}
    assert {tuple(row["slice"]) for row in evidence.gaps if len(row["slice"]) == 2} <= {
        ("unit", "threshold"),
        ("sex", "threshold"),
    }


def test_a_changed_figure_is_noticed(pack: dict[str, Any], tmp_path: Path) -> None:
    first(pack)["value"] += 1e-6
    with pytest.raises(InputError, match="changed after it was made"):
        read_pack(write(tmp_path, pack))


@pytest.mark.parametrize("field", ["sha256", "site", "estimates", "withheld"])
def test_a_missing_field_is_noticed(pack: dict[str, Any], tmp_path: Path, field: str) -> None:
    del pack[field]
    with pytest.raises(InputError):
        read_pack(write(tmp_path, pack))


def test_signatures(report: Report, pack: dict[str, Any], tmp_path: Path) -> None:
    signed = make_pack(report, site="North", key=KEY)
    path = write(tmp_path, signed)
    assert read_pack(path, keys=[OTHER, KEY]).site == "North"
    assert read_pack(path).site == "North", "without a key there is nothing to check it with"
    with pytest.raises(InputError, match="a signature of another key"):
        read_pack(path, keys=[OTHER])
    with pytest.raises(InputError, match="one without a signature"):
        read_pack(write(tmp_path, pack), keys=[KEY])
    with pytest.raises(InputError, match="a signature of another key"):
        read_pack(write(tmp_path, forged(signed, lambda p: p.update(site="South"), OTHER)), keys=[KEY])
    moved = forged(signed, lambda p: p.update(site="South")) | {"signature": signed["signature"]}
    with pytest.raises(InputError, match="a signature of another key"):
        read_pack(write(tmp_path, moved), keys=[KEY])


def test_keys(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef\n")
    assert read_key(tmp_path / "key") == b"0123456789abcdef"
    (tmp_path / "short").write_bytes(b"0123456789abcde\n")
    with pytest.raises(InputError, match="16 to 4096 bytes; got 15 bytes"):
        read_key(tmp_path / "short")
    with pytest.raises(InputError, match="No such file"):
        read_key(tmp_path / "none")
    with pytest.raises(InputError, match="at least 16 bytes"):
        sign({"sha256": ""}, b"short")


@pytest.mark.parametrize("version", [0, 3, "1", True, None, 1.5, 2.0, [1]])
def test_other_versions_are_refused(pack: dict[str, Any], tmp_path: Path, version: Any) -> None:
    with pytest.raises(InputError, match="pack_version must be 1 or 2"):
        read_pack(write(tmp_path, forged(pack, lambda p: p.update(pack_version=version))))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "3", '{"a": 1}', "[" * 100_000, '{"pack_version": NaN}', '{"pack_version": Infinity}',
     '{"pack_version": 1, "pack_version": 1}', '{"pack_version": ' + "9" * 5000 + "}", '{"a":' * 50_000],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_pack_is_refused_in_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"north\.json"):
        read_pack(write(tmp_path, text))


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "x.json", tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError):
            read_pack(path)


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workup.packs.load.LARGEST_FILE", 100)
    with pytest.raises(InputError, match="at most 100 bytes"):
        read_pack(write(tmp_path, " " * 101))


def first(pack: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in pack["estimates"] if row["status"] == "ok")


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "negative count": lambda p: first(p).update(n_patients=-1),
    "count that is no whole number": lambda p: first(p).update(n_rows=10.5),
    "count as text": lambda p: first(p).update(n_rows="250"),
    "more events than rows": lambda p: first(p).update(n_events=10**6),
    "unknown status": lambda p: first(p).update(status="fine"),
    "ok without a value": lambda p: first(p).update(value=None),
    "interval upside down": lambda p: first(p).update(low=0.9, high=0.1),
    "negative standard error": lambda p: first(p).update(se=-0.1),
    "level of 2": lambda p: first(p).update(level=2),
    "true as a number": lambda p: first(p).update(value=True),
    "withheld but told": lambda p: first(p).update(status="withheld"),
    "a field of its own": lambda p: first(p).update(rows=[1, 2, 3]),
    "rows in the pack": lambda p: p.update(rows=[{"patient": "x"}]),
    "a slice of lists": lambda p: first(p).update(slice={"sex": ["F"]}),
    "holdings below 0": lambda p: p["holdings"].update(patients=-5),
    "share above 1": lambda p: p["holdings"]["inputs"][0].update(share=1.5),
    "no site": lambda p: p.update(site=""),
    "a very long name": lambda p: p.update(site="x" * 500),
    "facts that are tables": lambda p: p.update(facts={"type": {"a": 1}}),
    "estimates that are no list": lambda p: p.update(estimates={}),
    "threshold of 1": lambda p: p["settings"].update(thresholds=[1.0]),
    "k below 0": lambda p: p.update(k=-1),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_packs_with_a_fitting_hash_are_refused(pack: dict[str, Any], tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError, match="in its known form"):
        read_pack(write(tmp_path, forged(pack, HOSTILE[what])))


def test_control_characters_are_shown_and_not_obeyed(pack: dict[str, Any], tmp_path: Path) -> None:
    def change(found: dict[str, Any]) -> None:
        found["site"] = "No\x1b[31mrth\u202e"
        first(found)["slice"] = {"sex": "F\x07"}

    read = read_pack(write(tmp_path, forged(pack, change)))
    assert read.site == "No\\x1b[31mrth\\u202e"
    assert any(dict(e.slice) == {"sex": "F\\x07"} for e in read.evidence.estimates)


# ---- together --------------------------------------------------------------------------------------------------------


def both(folder: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    check_together([read_pack(write(folder, one, "one.json")), read_pack(write(folder, other, "other.json"))])


def test_packs_of_one_study_go_together(pack: dict[str, Any], other_report: Report, tmp_path: Path) -> None:
    both(tmp_path, pack, make_pack(other_report, site="South", k=20))


def test_one_site_twice_is_refused(pack: dict[str, Any], other_report: Report, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"one\.json and .*other\.json.*two packs of the site 'north '.*--site"):
        both(tmp_path, pack, make_pack(other_report, site="north "))


def test_the_same_figures_under_two_names_are_refused(pack: dict[str, Any], report: Report, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the same figures under two names"):
        both(tmp_path, pack, make_pack(report, site="South"))


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("task", lambda p: p.update(task="spans")),
        ("system", lambda p: p["system"].update(version="2")),
        ("system", lambda p: p["system"].update(name="another")),
        ("thresholds", lambda p: p["settings"].update(thresholds=[0.2, 0.25])),
        ("levels of confidence", lambda p: p["settings"].update(levels=[0.9, 0.95])),
    ],
)
def test_packs_of_different_studies_are_refused(
    pack: dict[str, Any], other_report: Report, tmp_path: Path, what: str, change: Callable[[dict[str, Any]], Any]
) -> None:
    other = forged(make_pack(other_report, site="South"), change)
    with pytest.raises(InputError, match=f"must have the same {what}.*To fix"):
        both(tmp_path, pack, other)


# ---- what a pack may be made of --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [-1, 10**6, 2.5, True])
def test_k_is_a_whole_number(report: Report, k: Any) -> None:
    with pytest.raises(InputError, match="k must be a whole number"):
        make_pack(report, site="A", k=k)


@pytest.mark.parametrize("facts", [{"a b": "x"}, {"site": "x"}, {"type": ""}, {"type": "x" * 300}, {"type": None}])
def test_facts_are_short_words_and_numbers(report: Report, facts: Any) -> None:
    with pytest.raises(InputError, match="fact"):
        make_pack(report, site="A", facts=facts)


def test_reports_that_cannot_become_packs(report: Report) -> None:
    from dataclasses import replace

    with pytest.raises(InputError, match="internal lens"):
        make_pack(replace(report, results={"subgroups": report.results["subgroups"]}), site="A")
    with pytest.raises(InputError, match="patient text"):
        make_pack(replace(report, contains_phi=True), site="A")
    with pytest.raises(InputError, match="--k 0"):
        make_pack(replace(report, study={**report.study, "task": "spans"}), site="A")
    with pytest.raises(InputError, match="name of a site"):
        make_pack(report, site=" ")


def test_a_pack_holds_aggregates_and_nothing_else(report: Report, pack: dict[str, Any]) -> None:
    text = json.dumps(pack)
    for secret in (report.corpus["sha256"], report.sha256, "P000001"):
        assert secret not in text
    assert set(pack) == {"pack_version", "workup", "task", "site", "study", "sequence", "system", "as_of", "settings",
                         "k", "columns", "estimates", "gaps", "holdings", "facts", "withheld", "sha256"}  # fmt: skip
    assert set(pack["study"]) == {"name", "sha256"} and pack["study"]["name"] == "readmission"
    assert len(text) < 1_000_000
