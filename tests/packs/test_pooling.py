"""With nothing withheld, pooling packs gives what the sites lens gives on the stacked rows; else the slice says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.hospitals import hospital, report_of, rows_of, study
from workup.engines.serial import Serial
from workup.estimate import Draws
from workup.lenses.sites.lens import sites as sites_lens
from workup.lenses.sites.pooling import PoolSettings, pool_sites
from workup.packs import Pack, make_pack
from workup.report import LensResult, canonical
from workup.runs import Unrecorded
from workup.tasks.risk import RiskTask
from workup.validate import Opener

NAMES = ("type", "region", "volume")
FACTS = {"type": ["academic", "rural", "rural", "academic"], "region": ["N", "N", "S", "S"], "volume": [9, 4, 2, 7]}
SETTINGS = {"by": ["sex", "unit"], "moderators": ["volume"], "limit": {"auroc": (0.6, None)}}
SCALES = {name: card.scale for name, card in RiskTask.cards.items() if card.pooled}


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Four sites; one of them has no ICU, so that a group is absent there."""
    found = dict(hospital(1100, seed=2, sites=4))
    unit = found["unit"].copy()
    unit[(found["site"] == np.unique(found["site"])[0]) & (unit == "ICU")] = "ward"
    return {**found, "unit": unit}


@pytest.fixture(scope="module")
def names(table: dict[str, Any]) -> list[str]:
    return sorted(np.unique(table["site"]))


@pytest.fixture(scope="module")
def stacked(table: dict[str, Any], names: list[str]) -> LensResult:
    """The sites lens on all rows at once."""
    columns = {**study().model_dump()["columns"], "site": "site"}
    plan, task = study(columns=columns), RiskTask()
    corpus = task.read(plan, table)
    outputs = task.run(Opener(plan, None), corpus, Serial(), Unrecorded(), lambda what, done, total: None)
    scores = task.scores(corpus, outputs)
    places = {"site": np.array(names, dtype=object)} | {name: np.array(FACTS[name], dtype=object) for name in NAMES}
    return sites_lens(scores, task.metrics(scores, plan), settings=SETTINGS, draws=Draws(plan.seed, 200), places=places)


@pytest.fixture(scope="module")
def packs(table: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """Each site's own report, made apart, as a pack that withholds nothing."""
    return [
        make_pack(report_of(rows_of(table, site)), site=site, k=0, facts={name: FACTS[name][i] for name in NAMES})
        for i, site in enumerate(names)
    ]


def pooled(packs: list[dict[str, Any]]) -> LensResult:
    own = {key: value for key, value in SETTINGS.items() if key != "by"}
    evidence = [Pack(f"{pack['site']}.json", pack).evidence for pack in packs]
    return pool_sites(evidence, scales=SCALES, settings=PoolSettings(**own))


@pytest.fixture(scope="module")
def found(packs: list[dict[str, Any]]) -> LensResult:
    return pooled(packs)


def same(one: Any, other: Any, path: str) -> int:
    """Equal in every field, numbers to 1e-9; answers how many numbers were compared."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        return sum(same(one[key], other[key], f"{path}.{key}") for key in one)
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other), path
        return sum(same(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(one, other, strict=True)))
    if isinstance(one, float) and isinstance(other, (float, int)):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True), path
        return 1
    assert one == other, path
    return 0


def by_name(rows: Any) -> dict[str, Any]:
    """Rows under a name of their own, since the order of a pack is that of its names."""
    keys = ("by", "level", "term", "against")
    found = {}
    for row in rows:
        left = row.get("without") if isinstance(row.get("without"), str) else None
        found[str((row["metric"], sorted(row["slice"].items()), left, *(row.get(key) for key in keys)))] = row
    assert len(found) == len(rows)
    return found


def test_pooled_figures_are_those_of_the_stacked_rows(stacked: LensResult, found: LensResult) -> None:
    assert len(found.pooled) > 50
    assert same(by_name(found.pooled), by_name(stacked.pooled), "pooled") > 1000


@pytest.mark.parametrize("name", ["leave_one_out", "subsets", "meta_regression"])
def test_contrasts_between_sites_are_those_of_the_stacked_rows(
    stacked: LensResult, found: LensResult, name: str
) -> None:
    assert found.tables[name]
    assert same(by_name(found.tables[name]), by_name(stacked.tables[name]), name) > 50


def test_gaps_are_those_of_the_stacked_rows(stacked: LensResult, found: LensResult) -> None:
    drop = ("without",)  # the words why a site has no gap are those of the lens, or those of the pack

    def figures(rows: Any) -> dict[str, Any]:
        return by_name([{key: value for key, value in row.items() if key not in drop} for row in rows])

    assert len(found.tables["gaps"]) > 20
    assert same(figures(found.tables["gaps"]), figures(stacked.tables["gaps"]), "gaps") > 200
    theirs = by_name(stacked.tables["gaps"])
    for name, gap in by_name(found.tables["gaps"]).items():
        assert [row["site"] for row in gap["without"]] == [row["site"] for row in theirs[name]["without"]]


def test_sites_are_described_alike(stacked: LensResult, found: LensResult) -> None:
    mine = [{key: value for key, value in row.items() if key != "source"} for row in found.tables["sites"]]
    theirs = [{key: value for key, value in row.items() if key != "source"} for row in stacked.tables["sites"]]
    for row in theirs:  # a site's own report does not know the levels of other sites
        row["demographics"] = {name: {k: v for k, v in one.items() if v} for name, one in row["demographics"].items()}
    same(mine, theirs, "sites")


def test_the_order_of_packs_decides_nothing(packs: list[dict[str, Any]], found: LensResult) -> None:
    assert canonical(pooled(packs[::-1]).as_dict()) == canonical(found.as_dict())


def test_what_a_site_withheld_is_said_and_not_pooled(table: dict[str, Any], names: list[str]) -> None:
    made = [make_pack(report_of(rows_of(table, site)), site=site, k=11) for site in names]
    found = pool_sites(
        [Pack(f"{pack['site']}.json", pack).evidence for pack in made], scales=SCALES, settings=PoolSettings()
    )
    rows = {(row["metric"], str(row["slice"])): row for row in found.pooled}
    assert rows["auroc", "{}"]["k"] == 4
    small = rows["auroc", str({"sex": "X"})]
    assert small["k"] == 0 and small["value"] is None and small["left_out"] == names
    reasons = [r["reason"] for r in found.tables["not_pooled"] if r["metric"] == "auroc" and r["slice"] == {"sex": "X"}]
    assert [reason.split(":")[0] for reason in reasons] == [f"insufficient at site {site}" for site in names]
    gaps = [row for row in found.tables["gaps"] if row["group"] == "X" and row["metric"] == "auroc"]
    assert gaps and all(
        f"insufficient at site {r['site']}: fewer than" in r["reason"] for g in gaps for r in g["without"]
    )
    assert found.tables["withheld"], "every cell is listed"
    assert all(shares is None for row in found.tables["sites"] for shares in row["demographics"]["sex"].values())
