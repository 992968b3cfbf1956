"""Pooling of sites by hand-worked cases: scales, variances, edge cases of k, verdicts, and that no site is lost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from tests.support.oracles import Case, cases
from workup.errors import InputError, StudyError
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.lenses.sites import contrasts
from workup.lenses.sites.limits import bounds
from workup.lenses.sites.limits import verdict as judged
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites
from workup.report import LensResult, Report
from workup.stats.intervals import wilson
from workup.stats.meta.pooling import pool_shares

GOALS = {
    "auroc": Goal("higher"),
    "sensitivity": Goal("higher"),
    "oe_ratio": Goal("target", 1.0),
    "brier": Goal("lower"),
    "rate": Goal("neither"),
}
SCALES = {"auroc": "logit", "sensitivity": "logit", "oe_ratio": "log", "brier": "identity", "rate": "logit"}


def figure(metric: str, value: float | None, se: float | None, **fields: Any) -> Estimate:
    plain: dict[str, Any] = {
        "slice": {},
        "low": None if value is None or se is None else value - 1.96 * se,
        "high": None if value is None or se is None else value + 1.96 * se,
        "level": 0.95,
        "method": "made up",
        "n_patients": 500,
        "n_rows": 500,
    }
    return Estimate(metric=metric, value=value, se=se, **{**plain, **fields})


def share(metric: str, hits: int, of: int, **fields: Any) -> Estimate:
    """A share of independent rows as the lenses write it."""
    p = hits / of
    low, high = wilson(p, of)
    se = fields.pop("se", float(np.sqrt(p * (1 - p) / of)))
    counts = {"numerator": float(hits), "denominator": float(of), "method": "Wilson", "low": low, "high": high}
    return figure(metric, p, se, **{**counts, **fields})


def at(site: str, *estimates: Estimate, patients: int | None = 500, **fields: Any) -> SiteEvidence:
    held = {"patients": patients, "rows": patients, "groups": fields.pop("groups", {}), "inputs": []}
    return SiteEvidence(site, estimates, holdings=held, **fields)


def pool(evidence: list[SiteEvidence], **settings: Any) -> LensResult:
    more = {key: settings.pop(key) for key in ("intended", "reference", "levels", "goals") if key in settings}
    return pool_sites(evidence, scales=SCALES, settings=PoolSettings(**settings), **{"goals": GOALS, **more})


def row(found: LensResult, metric: str, **keys: Any) -> Any:
    return next(r for r in found.pooled if r["metric"] == metric and r["slice"] == keys)


def test_two_sites_by_hand() -> None:
    # tau² = ((1 - 2)² - 0.04 - 0.16)/2 = 0.4; weights 1/0.44 and 1/0.56; Hartung-Knapp's factor is exactly 1.
    found = pool([at("A", figure("brier", 1.0, 0.2)), at("B", figure("brier", 2.0, 0.4))])
    one = row(found, "brier")
    se = (1 / 0.44 + 1 / 0.56) ** -0.5
    assert one["value"] == pytest.approx(1.44, abs=1e-9)
    assert one["tau"] == pytest.approx(0.4**0.5, abs=1e-9)
    assert one["se"] == pytest.approx(se, abs=1e-9)
    assert (one["low"], one["high"]) == pytest.approx((1.44 - 12.7062047 * se, 1.44 + 12.7062047 * se), abs=1e-6)
    assert one["q"] == pytest.approx(5.0, abs=1e-9)
    assert one["q_p"] == pytest.approx(stats.chi2.sf(5, 1), rel=1e-9)
    assert (one["k"], one["method"], one["test"], one["scale"]) == (2, "REML", "adhoc", "identity")
    assert one["pi_low"] is one["pi_high"] is None
    assert one["sites"] == ["A", "B"]
    assert one["weights"] == pytest.approx([0.56, 0.44])


def test_a_prediction_interval_by_hand() -> None:
    ys, v = np.array([0.0, 1.0, 2.0]), 0.25
    found = pool([at(f"S{y:g}", figure("brier", y, 0.5)) for y in ys])
    one = row(found, "brier")
    tau2 = ys.var(ddof=1) - v  # equal variances: REML is the sample variance less the sampling variance
    assert one["tau"] ** 2 == pytest.approx(tau2, abs=1e-9)
    se = np.sqrt((tau2 + v) / 3)
    half = stats.t.ppf(0.975, 1) * np.sqrt(tau2 + se**2)
    assert (one["pi_low"], one["pi_high"]) == pytest.approx((1 - half, 1 + half), rel=1e-9)
    assert one["pi"] == "approximate"


@cases("meta_analysis", prefix="auc_sites")
def test_auc_by_sites_as_in_r(case: Case) -> None:
    """Logit AUC with Hanley and McNeil's variance, REML: the mean and tau² that metafor gives."""
    variance = np.asarray(case.expected["var_auc_hanley"])
    evidence = [
        at(f"S{i:02}", figure("auroc", auc, float(np.sqrt(v))))
        for i, (auc, v) in enumerate(zip(case.array("auc"), variance, strict=True))
    ]
    one = row(pool(evidence, test="knha"), "auroc")
    assert one["value"] == case.near("REML_HKSJ_auc")
    assert (one["low"], one["high"]) == case.near("ci95")
    assert one["tau"] ** 2 == pytest.approx(case.expected["tau2_logit"], rel=1e-4, abs=1e-9)
    assert one["q"] == case.near("Q")
    assert 0 < one["pi_low"] < one["pi_high"] < 1


def test_every_scale_goes_there_and_back() -> None:
    sites = [
        at("A", figure("auroc", 0.8, 0.02), figure("oe_ratio", 0.5, 0.05)),
        at("B", figure("auroc", 0.8, 0.03), figure("oe_ratio", 2.0, 0.2)),
        at("C", figure("auroc", 0.8, 0.04), figure("oe_ratio", 1.0, 0.1)),
    ]
    found = pool(sites)
    assert row(found, "auroc")["value"] == pytest.approx(0.8)
    ratio = row(found, "oe_ratio")
    assert ratio["value"] == pytest.approx(1.0)  # equal variances of the logarithm, values symmetric about 1
    assert ratio["low"] * ratio["high"] == pytest.approx(1.0)
    assert ratio["scale"] == "log"
    assert ratio["se"] * np.sqrt(3) == pytest.approx(np.log(2), rel=1e-9)


def test_identical_sites_have_no_spread() -> None:
    found = pool([at(name, share("sensitivity", 40, 50, n_patients=5000)) for name in "ABCDEF"])
    one = row(found, "sensitivity")
    assert one["i2"] == one["tau"] == 0
    assert one["value"] == pytest.approx(0.8)
    # With everyone in the denominator instead of the class, such sites used to look as if they differed.
    assert one["se"] == pytest.approx(np.sqrt(1 / (6 * 50 * 0.8 * 0.2)))


@given(st.permutations(range(5)), st.lists(st.floats(0.55, 0.95), min_size=5, max_size=5))
def test_the_order_of_sites_does_not_matter(order: list[int], values: list[float]) -> None:
    evidence = [at(f"S{i}", figure("auroc", v, 0.03)) for i, v in enumerate(values)]
    assert pool([evidence[i] for i in order]).as_dict() == pool(evidence).as_dict()


def test_one_site_is_its_own_and_no_more() -> None:
    e = figure("auroc", 0.8, 0.02, low=0.757, high=0.836)
    found = pool([at("A", e)], limit={"auroc": 0.7})
    one = row(found, "auroc")
    assert (one["k"], one["value"], one["low"], one["high"]) == (1, 0.8, 0.757, 0.836)
    assert [one[key] for key in ("tau", "i2", "q", "q_p", "pi_low")] == [None] * 5
    assert one["verdict"] == "not_assessed"
    assert "three sites" in one["reason"]
    assert any("one site" in note for note in found.notes)
    assert not found.tables["leave_one_out"]


def test_two_sites_give_no_prediction_interval_and_three_do() -> None:
    evidence = [at(name, figure("auroc", v, 0.01)) for name, v in (("A", 0.8), ("B", 0.81), ("C", 0.79))]
    two, three = pool(evidence[:2], limit={"auroc": 0.5}), pool(evidence, limit={"auroc": 0.5})
    assert row(two, "auroc")["verdict"] == "not_assessed"
    assert any("Two sites" in note for note in two.notes)
    assert row(three, "auroc")["verdict"] == "adequate"
    assert {r["without"] for r in three.tables["leave_one_out"]} == {"A", "B", "C"}
    without = next(r for r in three.tables["leave_one_out"] if r["without"] == "C")
    assert without["value"] == pytest.approx(row(two, "auroc")["value"])


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        (figure("auroc", 1.0, 0.0), "standard error"),
        (figure("auroc", 0.8, 3e-18), "standard error"),  # a constant metric, up to rounding
        (figure("auroc", 1.0, 0.01), "no variance on the logit scale"),
        (figure("auroc", None, None, status="undefined", reason="only one class"), "undefined: only one class"),
        (figure("auroc", 0.7, None, status="insufficient", reason="2 events"), "insufficient: 2 events"),
        (figure("auroc", None, None, status="withheld", reason="under 11"), "insufficient at site X: under 11"),
        (figure("oe_ratio", 0.9, 0.1), "no such figure"),
    ],
)
def test_a_site_that_cannot_be_pooled_is_named_with_its_reason(estimate: Estimate, reason: str) -> None:
    sound = [at(name, figure("auroc", 0.8, 0.02)) for name in "ABC"]
    found = pool([*sound, at("X", estimate)])
    one = row(found, "auroc")
    assert (one["k"], one["left_out"]) == (3, ["X"])
    assert [r["site"] for r in found.tables["not_pooled"] if r["metric"] == "auroc"] == ["X"]
    assert reason in found.tables["not_pooled"][0]["reason"]
    assert any("Site X is not in the pooled auroc" in note for note in found.notes)
    shown = [e for e in found.estimates if e.slice.get("site") == "X"]
    assert len(shown) == 1, "it is still shown"
    assert [r["site"] for r in found.tables["sites"]] == ["A", "B", "C", "X"]


def test_many_sites_left_out_are_all_named() -> None:
    sound = [at(name, figure("auroc", 0.8, 0.02)) for name in "ABC"]
    lost = [at(f"X{i}", figure("auroc", None, None, status="insufficient", reason=f"{i} events")) for i in range(20)]
    notes = [note for note in pool([*sound, *lost]).notes if "left out" in note]
    assert len(notes) == 1
    assert notes[0].startswith("20 sites are left out")
    assert all(f"X{i}" in notes[0] for i in range(20))


def test_a_mean_over_the_minority_that_has_events_is_not_relied_on() -> None:
    """Twenty hospitals of one kind: those with deaths have an O/E, those without have none, and the mean is far off."""
    lucky = [at(f"Z{i}", figure("oe_ratio", None, None, status="insufficient", reason="no events")) for i in range(15)]
    others = [at(f"A{i}", figure("oe_ratio", 2.0 + 0.01 * i, 0.3)) for i in range(5)]
    found = pool([*lucky, *others], limit={"oe_ratio": (0.1, 10.0)})
    one = row(found, "oe_ratio")
    assert (one["k"], one["lost"], one["verdict"]) == (5, 15, "not_assessed")
    assert "only 5 of 20 sites" in one["reason"]
    made = [e for e in found.estimates if "pooled" in e.slice]
    assert [e.status for e in made] == ["insufficient", "insufficient"], "gates then fail closed"
    assert any("minority" in note and "oe_ratio (5 of 20)" in note for note in found.notes)
    half = pool([*lucky[:5], *others], limit={"oe_ratio": (0.1, 10.0)})
    assert row(half, "oe_ratio")["verdict"] == "adequate"
    assert not any("minority" in note for note in half.notes)


def test_no_site_can_be_pooled() -> None:
    found = pool([at(name, figure("auroc", None, None, status="undefined", reason="none")) for name in "AB"])
    one = row(found, "auroc")
    assert (one["k"], one["value"], one["low"], one["tau"]) == (0, None, None, None)
    mean = next(e for e in found.estimates if e.slice == {"pooled": "sites"})
    assert (mean.value, mean.status, mean.reason) == (None, "undefined", "no site could be pooled")


def test_sparse_shares_go_to_the_mixed_model() -> None:
    counts = [(48, 50), (30, 30), (57, 60), (18, 20)]
    found = pool([at(f"S{i}", share("sensitivity", *one)) for i, one in enumerate(counts)])
    one = row(found, "sensitivity")
    assert "GLMM" in one["method"]
    assert one["k"] == 4, "a site with all of them keeps its place"
    # Sites this alike: the mixed model is the plain binomial one, with no half added anywhere.
    assert one["tau"] == pytest.approx(0, abs=1e-3)
    assert one["value"] == pytest.approx(153 / 160, abs=1e-6)
    assert one["weights"] == pytest.approx([w / sum(one["weights"]) for w in one["weights"]])
    assert all("GLMM" not in r["method"] for r in pool([at(n, share("sensitivity", 40, 50)) for n in "AB"]).pooled)


@cases("meta_analysis", prefix="s")
def test_shares_as_in_r(case: Case) -> None:
    """Logits with the class denominators, REML and plain Hartung-Knapp, as metafor has them."""
    counts = zip(case.array("x").astype(int), case.array("n").astype(int), strict=True)
    sites = [at(f"S{i:02}", share("sensitivity", *each)) for i, each in enumerate(counts)]
    one = row(pool(sites, test="knha"), "sensitivity")
    answer = case.expected["REML_HKSJ"]
    assert one["method"] == "REML"
    assert one["value"] == pytest.approx(answer["prop"], rel=case.rel_tol)
    assert [one["low"], one["high"]] == pytest.approx(answer["prop_ci"], rel=case.rel_tol)
    assert one["tau"] ** 2 == pytest.approx(answer["tau2"], rel=1e-4, abs=1e-9)


def test_shares_that_are_all_whole_have_no_mean_and_say_so() -> None:
    found = pool([at(name, share("sensitivity", 12, 12)) for name in "ABC"], limit={"sensitivity": 0.8})
    one = row(found, "sensitivity")
    assert (one["verdict"], "no peak" in one["reason"]) == ("not_assessed", True), "three sites are not too few"
    assert (one["k"], one["value"], one["i2"], one["pi_low"], one["weights"]) == (3, None, None, None, [])
    mean = next(e for e in found.estimates if e.slice == {"pooled": "sites"})
    assert (mean.status, mean.value) == ("insufficient", None)
    assert "no peak" in str(mean.reason)


def test_repeated_patients_count_by_their_effective_number() -> None:
    # 200 rows worth 100: the variance is that of 80 of 100.
    clustered = share("sensitivity", 160, 200, se=0.04, method="Wilson on effective n")
    found = pool([at("A", clustered), at("B", clustered)])
    assert row(found, "sensitivity")["se"] == pytest.approx(np.sqrt(1 / (2 * 100 * 0.8 * 0.2)))


def test_all_of_few_patients_are_sized_by_wilsons_end() -> None:
    # 40 rows of 25 patients, all found: Wilson's end was made with t(24) = 2.064, so the size comes out a bit smaller.
    low, high = wilson(1.0, 25, critical=2.0639)
    whole = share("sensitivity", 40, 40, method="Wilson on effective n", low=low, high=high, se=0.0)
    found = pool([at("A", whole), at("B", share("sensitivity", 30, 40)), at("C", share("sensitivity", 32, 40))])
    one = row(found, "sensitivity")
    size = 25 * 1.959964**2 / 2.0639**2
    direct = pool_shares([size, 30, 32], [size, 40, 40])
    assert one["value"] == pytest.approx(special.expit(direct.estimate), abs=1e-5)


def test_all_of_few_patients_are_sized_by_the_exact_end() -> None:
    # 40 rows worth 25: the low end is the share at which 25 rows are all right with a chance of 0.025.
    exact = "exact on effective rows, monotone"
    whole = share("sensitivity", 40, 40, method=exact, low=0.025 ** (1 / 25), high=1.0, se=0.0)
    found = pool([at("A", whole), at("B", share("sensitivity", 30, 40)), at("C", share("sensitivity", 32, 40))])
    direct = pool_shares([25, 30, 32], [25, 40, 40])
    assert row(found, "sensitivity")["value"] == pytest.approx(special.expit(direct.estimate), abs=1e-5)


def test_thresholds_are_pooled_apart() -> None:
    def both(site: str, low: int, high: int) -> SiteEvidence:
        keys = [{"threshold": 0.1}, {"threshold": 0.3}]
        return at(site, *(share("sensitivity", x, 100, slice=key) for x, key in zip((low, high), keys, strict=True)))

    found = pool([both("A", 90, 60), both("B", 92, 58), both("C", 88, 62)])
    assert row(found, "sensitivity", threshold=0.1)["value"] == pytest.approx(0.90, abs=0.005)
    assert row(found, "sensitivity", threshold=0.3)["value"] == pytest.approx(0.60, abs=0.005)
    means = [e for e in found.estimates if e.slice.get("pooled") == "sites"]
    assert [e.slice["threshold"] for e in means] == [0.1, 0.3]


def test_pooled_means_and_new_sites_can_be_judged_by_gates() -> None:
    evidence = [at(name, figure("auroc", v, 0.02)) for name, v in (("A", 0.75), ("B", 0.82), ("C", 0.79), ("D", 0.85))]
    found = pool(evidence, levels=(0.95, 0.90))
    one = row(found, "auroc")
    made = {(e.slice["pooled"], e.level): e for e in found.estimates if "pooled" in e.slice}
    assert (made["sites", 0.95].low, made["sites", 0.95].high) == (one["low"], one["high"])
    assert (made["new site", 0.95].low, made["new site", 0.95].high) == (one["pi_low"], one["pi_high"])
    assert one["low"] < made["sites", 0.90].low < one["value"] < made["sites", 0.90].high < one["high"]
    assert made["sites", 0.95].n_patients == 2000
    assert made["sites", 0.95].se == pytest.approx(one["se"] * one["value"] * (1 - one["value"]))
    assert one["level"] == 0.95


@pytest.mark.parametrize(
    "counts", [[(40, 50), (45, 50), (30, 50)], [(49, 50), (50, 50), (46, 50)]], ids=["REML", "GLMM"]
)
@pytest.mark.parametrize("test", ["adhoc", "z"])
def test_another_level_is_the_same_model(counts: list[tuple[int, int]], test: Any) -> None:
    evidence = [at(f"S{i}", share("sensitivity", *one)) for i, one in enumerate(counts)]
    both, narrow = pool(evidence, levels=(0.95, 0.80), test=test), pool(evidence, levels=(0.80,), test=test)
    assert narrow.pooled[0]["level"] == 0.80
    for where in ("sites", "new site"):
        mine, theirs = (
            next(e for e in found.estimates if e.slice == {"pooled": where} and e.level == 0.80)
            for found in (both, narrow)
        )
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_a_mixed_model_is_not_fitted_without_each_of_many_sites() -> None:
    many = [at(f"S{i:02}", share("sensitivity", 19, 20), figure("auroc", 0.8, 0.02)) for i in range(16)]
    found = pool(many)
    assert {r["metric"] for r in found.tables["leave_one_out"]} == {"auroc"}
    assert any("without each site in turn" in note and "sensitivity" in note for note in found.notes)


TRIO = [("A", 0.80), ("B", 0.82), ("C", 0.78), ("D", 0.80), ("E", 0.81)]


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        ({"auroc": 0.7}, "adequate"),
        (0.7, "adequate"),
        ({"auroc": 0.9}, "inadequate"),
        ({"auroc": 0.8}, "inconclusive"),
        ({"auroc": (0.7, 0.9)}, "adequate"),
        ({"auroc": (None, 0.7)}, "inadequate"),
        (None, "not_assessed"),
        ({"brier": 0.2}, "not_assessed"),
    ],
)
def test_verdicts_come_from_the_prediction_interval(limit: Any, verdict: str) -> None:
    found = pool([at(name, figure("auroc", v, 0.01)) for name, v in TRIO], limit=limit)
    assert row(found, "auroc")["verdict"] == verdict


@pytest.mark.parametrize(
    ("metric", "ends", "limit", "verdict"),
    [
        ("auroc", (0.7, 0.9), 0.7, "adequate"),
        ("auroc", (0.5, 0.7), 0.7, "inconclusive"),
        ("auroc", (0.5, 0.6999), 0.7, "inadequate"),
        ("brier", (0.1, 0.2), 0.2, "adequate"),
        ("brier", (0.2, 0.3), 0.2, "inconclusive"),
        ("brier", (0.2001, 0.3), 0.2, "inadequate"),
        ("oe_ratio", (0.8, 1.2), 0.2, "adequate"),
        ("oe_ratio", (0.7999, 1.2), 0.2, "inconclusive"),
        ("oe_ratio", (1.2, 1.4), 0.2, "inconclusive"),
        ("oe_ratio", (1.2001, 1.4), 0.2, "inadequate"),
        ("rate", (0.1, 0.3), (0.1, 0.3), "adequate"),
        ("rate", (0.1, 0.3), (0.15, 0.2), "inconclusive"),
        ("rate", (0.1, 0.3), (None, 0.05), "inadequate"),
    ],
)
def test_an_end_on_the_limit_meets_it(metric: str, ends: tuple[float, float], limit: Any, verdict: str) -> None:
    asked = bounds({metric: limit}, goals=GOALS, scales=SCALES)[metric]
    row = {"k": 5, "lost": 0, "value": 0.5, "pi_low": ends[0], "pi_high": ends[1]}
    assert judged(row, asked)["verdict"] == verdict


def test_limits_around_a_target_and_below_a_ceiling() -> None:
    sites = [
        at(n, figure("oe_ratio", 1.0 + d, 0.01), figure("brier", 0.10 + d, 0.001))
        for n, d in (("A", -0.01), ("B", 0.0), ("C", 0.01))
    ]
    found = pool(sites, limit={"oe_ratio": 0.2, "brier": 0.05})
    assert row(found, "oe_ratio")["limit"] == [0.8, 1.2]
    assert row(found, "oe_ratio")["verdict"] == "adequate"
    assert row(found, "brier")["limit"] == [None, 0.05]
    assert row(found, "brier")["verdict"] in ("inadequate", "inconclusive")


def test_without_goals_a_limit_must_be_a_pair() -> None:
    sites = [at(name, figure("auroc", v, 0.01)) for name, v in TRIO]
    plain = row(pool(sites, limit={"auroc": 0.7}, goals=None), "auroc")
    assert plain["verdict"] == "not_assessed"
    assert "pair" in plain["reason"]
    assert row(pool(sites, limit={"auroc": (0.7, None)}, goals=None), "auroc")["verdict"] == "adequate"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limit": {"aurok": 0.7}}, "did you mean 'auroc'"),
        ({"limit": {"rate": 0.2}}, "which way is good"),
        ({"limit": {"auroc": (0.9, 0.7)}}, "below the highest"),
        ({"limit": {"auroc": (None, None)}}, "at most one end"),
        ({"limit": {"auroc": float("nan")}}, "finite"),
        ({"limit": {"oe_ratio": 0.8}}, "distance from the target 1"),
        ({"limit": {"oe_ratio": 1.25}}, "give a pair"),
        ({"development": "D"}, "'D' is not known here"),
        ({"subsets": ("typ",)}, "did you mean 'type'"),
        ({"moderators": ("volum",)}, "did you mean 'volume'"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, Any], message: str) -> None:
    sites = [at(name, figure("auroc", 0.8, 0.02), facts={"type": "a", "volume": 1}) for name in "ABC"]
    with pytest.raises(StudyError, match=message):
        pool(sites, **settings)


def test_a_site_twice_and_no_site_are_errors() -> None:
    one = at("A", figure("auroc", 0.8, 0.02))
    with pytest.raises(InputError, match="once"):
        pool([one, one])
    with pytest.raises(InputError, match="at least one site"):
        pool([])


def test_intended_settings_against_sites() -> None:
    sites = [
        at("A", figure("auroc", 0.8, 0.02), facts={"type": "Academic", "region": "North"}),
        at("B", figure("auroc", 0.8, 0.02), facts={"type": "rural", "name": "St Mary"}, patients=80),
        at("C", figure("auroc", None, None, status="undefined", reason="x"), facts={"type": "clinic"}),
        at("D", figure("auroc", 0.8, 0.02), facts={"type": "tele"}),
    ]
    wanted = ("academic", "RURAL", "st mary", "Clinic", "tele", "ICU", "north", "")
    found = pool(sites, intended=wanted, development="D")
    table = {r["setting"]: r for r in found.tables["settings"]}
    assert list(table) == list(wanted)
    assert table["academic"]["sites"] == table["north"]["sites"] == ["A"]
    assert table["RURAL"]["sites"] == table["st mary"]["sites"] == ["B"]
    assert "small" in table["RURAL"]["reason"]
    assert [table[name]["status"] for name in ("Clinic", "tele", "ICU", "")] == ["not validated"] * 4
    assert "built" in table["tele"]["reason"]
    assert any("Not validated" in note and "ICU" in note for note in found.notes)


def test_kinds_of_site_are_pooled_apart_and_tested() -> None:
    values = {"A": 0.80, "B": 0.80, "C": 0.70, "D": 0.70}
    sites = [
        at(n, figure("auroc", v, 0.02), facts={"type": "big" if v > 0.75 else "small"} if n != "D" else {})
        for n, v in values.items()
    ]
    rows = pool(sites).tables["subsets"]
    assert [(r["by"], r["level"], r["k"]) for r in rows] == [
        ("type", "big", 2),
        ("type", "missing", 1),
        ("type", "small", 1),
    ]
    assert rows[0]["value"] == pytest.approx(0.8)
    y = special.logit([0.8, 0.7, 0.7])
    w = 1 / np.array([(0.02 / 0.16) ** 2 / 2, (0.02 / 0.21) ** 2, (0.02 / 0.21) ** 2])
    q = np.sum(w * (y - np.sum(w * y) / w.sum()) ** 2)
    assert rows[0]["q_between"] == pytest.approx(q)
    assert rows[0]["q_between_p"] == pytest.approx(stats.chi2.sf(q, 2))


def test_meta_regression_finds_a_planted_slope() -> None:
    volumes = [100, 200, 300, 400, 500, 600]
    sites = [
        at(f"S{v}", figure("brier", 0.3 - 0.0002 * v, 0.01), facts={"volume": v, "type": "a" if v < 350 else "b"})
        for v in volumes
    ]
    rows = pool(sites, moderators=("volume", "type", "patients")).tables["meta_regression"]
    volume, kind, patients = rows
    assert volume["coef"] == pytest.approx(-0.0002, abs=1e-9)
    assert (volume["term"], volume["k"], volume["status"]) == ("per unit", 6, "ok")
    assert kind["term"] == "b against a"
    assert kind["coef"] == pytest.approx(-0.06, abs=1e-9)
    assert (patients["status"], patients["coef"]) == ("insufficient", None)
    assert "same at every site" in patients["reason"]


def test_a_moderator_that_a_site_lacks_leaves_it_out_by_name() -> None:
    sites = [at(f"S{v}", figure("brier", 0.1 * v, 0.01), facts={"volume": v} if v < 3 else {}) for v in (1, 2, 3)]
    only = pool(sites, moderators=("volume",)).tables["meta_regression"][0]
    assert (only["without"], only["k"], only["status"]) == (["S3"], 2, "insufficient")


def gap(column: str, level: str, value: float, se: float = 0.02) -> dict[str, Any]:
    ends = {"low": value - 2 * se, "high": value + 2 * se}
    row = {"metric": "auroc", "slice": {column: level}, "against": "rest", "kind": "difference", "level": 0.95}
    return {**row, "value": value, **ends, "se": se, "p": 0.5, "method": "square and add", "reason": ""}


def with_groups(site: str, gaps: list[dict[str, Any]], levels: str = "FM") -> SiteEvidence:
    groups = {"sex": {level: {"patients": 200, "rows": 200} for level in levels}}
    each = [figure("auroc", 0.8, 0.02, slice={"sex": level}) for level in levels]
    return at(site, figure("auroc", 0.8, 0.02), *each, gaps=tuple(gaps), groups=groups)


def test_gaps_told_from_either_side_are_one() -> None:
    """A site compares its smaller group with the rest; where women are fewer the sign is the other one."""
    sites = [
        with_groups("A", [gap("sex", "F", -0.05)]),
        with_groups("B", [gap("sex", "M", 0.05)]),
        with_groups("C", [gap("sex", "F", -0.05)]),
    ]
    rows = pool(sites).tables["gaps"]
    assert [(r["group"], r["k"]) for r in rows] == [("F", 3)]
    assert rows[0]["value"] == pytest.approx(-0.05)
    assert rows[0]["i2"] == 0


def test_gaps_of_three_groups_are_not_turned_round() -> None:
    three = [gap("sex", level, value) for level, value in (("F", -0.05), ("M", 0.03), ("X", 0.01))]
    rows = pool([with_groups("A", three, "FMX"), with_groups("B", [gap("sex", "F", -0.03)])]).tables["gaps"]
    found = {r["group"]: r for r in rows}
    assert {level: r["k"] for level, r in found.items()} == {"F": 2, "M": 2, "X": 1}
    assert found["M"]["value"] == pytest.approx(0.03), "at B, men against the rest is women against men turned round"
    assert found["X"]["without"] == [{"site": "B", "reason": "no such gap at this site"}]


def test_a_suppressed_third_group_is_still_a_group() -> None:
    held = with_groups("B", [gap("sex", "F", -0.03)])
    hidden = replace(
        held,
        holdings={
            **held.holdings,
            "groups": {"sex": {"F": {"patients": 9}, "M": {"patients": 9}, "X": {"patients": None}}},
        },
    )
    rows = pool([with_groups("A", [gap("sex", "M", 0.04)]), hidden]).tables["gaps"]
    men = next(r for r in rows if r["group"] == "M")
    assert (men["k"], [w["site"] for w in men["without"]]) == (1, ["B"])


def test_groups_are_pooled_after_everyone_and_keep_their_key_in_any_order() -> None:
    keys = {"threshold": 0.2, "unit": "ICU"}  # as a record sorts them
    sites = [
        at(
            n,
            share("sensitivity", 80, 100, slice={"threshold": 0.2}),
            share("sensitivity", 30, 50, slice=keys),
            groups={"unit": {"ICU": {"patients": 50}}},
        )
        for n in "ABC"
    ]
    found = pool(sites)
    assert [r["slice"] for r in found.pooled] == [{"threshold": 0.2}, keys]
    assert {str(r["slice"]) for r in found.tables["leave_one_out"]} == {str({"threshold": 0.2})}
    assert found.tables["gaps"] == []


def internal_report(*estimates: Estimate) -> Report:
    study = {"name": "x", "task": "risk"}
    corpus = {"name": "x", "version": "", "seed": 0, "n_cases": 1, "n_patients": 1, "sha256": ""}
    return Report(
        study, corpus, {"name": "m", "version": ""}, 0, {"internal": LensResult("internal", estimates=estimates)}
    )


def test_internal_against_external_is_a_z_on_the_pooling_scale() -> None:
    sites = [at(n, figure("auroc", 0.75, 0.02)) for n in "ABC"]
    plain = figure("auroc", 0.85, 0.01)
    corrected = figure("auroc", 0.83, 0.01, slice={"validation": "optimism-corrected"})
    found = pool(sites, reference=internal_report(plain, corrected))
    only = found.comparisons[0]
    y, v = special.logit([0.75, 0.83]), [(0.02 / 0.1875) ** 2 / 3, (0.01 / (0.83 * 0.17)) ** 2]
    z = (y[0] - y[1]) / np.sqrt(sum(v))
    assert only["against"] == "internal report, optimism-corrected"
    assert only["z"] == pytest.approx(z)
    assert only["p"] == pytest.approx(2 * stats.norm.cdf(-abs(z)))
    assert only["value"] == pytest.approx(-0.08)
    assert only["low"] < -0.08 < only["high"] < 0
    assert (only["finding"], only["verdict"]) == ("worse", "not_assessed")


def test_an_improvement_is_no_failure() -> None:
    sites = [at(n, figure("auroc", 0.85, 0.01), figure("oe_ratio", 1.0, 0.02)) for n in "ABC"]
    inside = internal_report(figure("auroc", 0.75, 0.02), figure("oe_ratio", 1.5, 0.05))
    auroc, ratio = pool(sites, reference=inside).comparisons
    assert (auroc["finding"], ratio["finding"]) == ("better", "better")
    assert "no failure" in auroc["reason"]
    assert auroc["p_worse"] > 0.99
    assert ratio["value"] < 0, "lower, but nearer to 1"


@pytest.mark.parametrize(
    ("inside", "outside", "finding"),
    [
        (0.88, 1.15, "different"),  # on either side of 1 and about as far from it
        (1.0, 1.3, "worse"),
        (0.9, 0.7, "worse"),
        (0.7, 0.9, "better"),
        (1.4, 0.95, "better"),
        (1.0, 1.02, "no clear change"),
    ],
)
def test_farther_from_a_target_is_worse_and_merely_elsewhere_is_not(
    inside: float, outside: float, finding: str
) -> None:
    sites = [at(n, figure("oe_ratio", outside, 0.04)) for n in "ABC"]
    [ratio] = pool(sites, reference=internal_report(figure("oe_ratio", inside, 0.03))).comparisons
    assert ratio["finding"] == finding
    assert (ratio["p_worse"] < 0.025) == (finding == "worse")


def test_two_values_as_far_from_a_target_are_seldom_called_worse() -> None:
    rng = np.random.default_rng(0)
    worse = 0
    for _ in range(300):
        sites = [at(n, figure("oe_ratio", float(np.exp(0.12 + 0.05 * rng.normal())), 0.05)) for n in "ABCD"]
        inside = figure("oe_ratio", float(np.exp(-0.12 + 0.03 * rng.normal())), 0.03)
        [ratio] = pool(sites, reference=internal_report(inside)).comparisons
        worse += ratio["finding"] == "worse"
    assert worse <= 16, "2.5 % of 300 are 7.5; more than 16 have a chance of one in a thousand"


def test_the_development_site_is_shown_and_compared_but_not_pooled() -> None:
    sites = [at("Home", figure("auroc", 0.95, 0.01)), *(at(n, figure("auroc", 0.75, 0.02)) for n in "ABC")]
    found = pool(sites, development="Home")
    assert row(found, "auroc")["sites"] == ["A", "B", "C"]
    assert row(found, "auroc")["value"] == pytest.approx(0.75)
    assert found.comparisons[0]["against"] == "development site Home"
    assert found.comparisons[0]["internal"] == 0.95
    assert {r["site"]: r["role"] for r in found.tables["sites"]}["Home"] == "development"
    assert not found.tables["not_pooled"]
    assert any(e.slice == {"site": "Home"} for e in found.estimates)


def test_withheld_cells_are_passed_on() -> None:
    kept = ({"cell": "sex=X", "reason": "fewer than 11 patients"},)
    hidden = figure(
        "auroc", None, None, slice={"sex": "X"}, status="withheld", reason="fewer than 11 patients", n_rows=0
    )
    groups = {"sex": {"X": {"patients": 40}}}
    sites = [
        at(n, figure("auroc", 0.8, 0.02), figure("auroc", 0.7, 0.05, slice={"sex": "X"}), groups=groups) for n in "AB"
    ]
    found = pool([*sites, at("C", figure("auroc", 0.8, 0.02), hidden, withheld=kept)])
    assert found.tables["withheld"] == [{"site": "C", **kept[0], "said": "insufficient at site C"}]
    assert [(r["site"], r["slice"]) for r in found.tables["not_pooled"]] == [("C", {"sex": "X"})]
    assert found.tables["not_pooled"][0]["reason"].startswith("insufficient at site C")
    assert row(found, "auroc", sex="X")["k"] == 2


def test_small_sites_are_flagged() -> None:
    found = pool([at("A", figure("auroc", 0.8, 0.02), patients=199), at("B", figure("auroc", 0.8, 0.02), patients=200)])
    assert [r["small"] for r in found.tables["sites"]] == [True, False]
    assert any("fewer than 200" in note and "A" in note for note in found.notes)
    assert [r["small"] for r in pool([at("A", figure("auroc", 0.8, 0.02), patients=None)]).tables["sites"]] == [False]


def test_the_record_holds_it_all() -> None:
    sites = [
        at(n, figure("auroc", v, 0.02), share("sensitivity", 12, 12)) for n, v in (("A", 0.8), ("B", 0.7), ("C", 0.75))
    ]
    found = pool(sites, limit={"auroc": 0.7})
    assert LensResult.from_dict("sites", found.as_dict()).as_dict() == found.as_dict()
    text = internal_report().to_json()
    assert "NaN" not in text


def test_the_mixed_model_s_subsets_are_compared_by_their_own_means() -> None:
    """Q = Σ w (y − ȳ)² with w = 1/se²: weights 100 and 25, means 0.2 and 0.5, so ȳ = 0.26 and Q = 1.8."""
    mixed = SimpleNamespace(mixed=True)
    fits = {"north": SimpleNamespace(y=0.2, se=0.1), "south": SimpleNamespace(y=0.5, se=0.2)}
    q, df, p = contrasts._between(mixed, {}, fits)  # type: ignore[arg-type]
    assert (q, df) == (pytest.approx(1.8), 1)
    assert p == pytest.approx(stats.chi2.sf(1.8, 1))
    for one in ({"y": np.nan, "se": 0.2}, {"y": 0.5, "se": np.nan}):
        unknown = {**fits, "south": SimpleNamespace(**one)}
        assert contrasts._between(mixed, {}, unknown) == (None, 1, None)  # type: ignore[arg-type]
    assert contrasts._between(mixed, {}, {"north": fits["north"]}) == (None, 0, None)  # type: ignore[arg-type]
