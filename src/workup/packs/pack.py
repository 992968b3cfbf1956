"""A site's own report becomes a pack: aggregates without rows, ids, paths or hashes of data, small counts withheld."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup import plugins
from workup.disclosure.figures import CountedFigures
from workup.disclosure.small_groups import is_together
from workup.errors import InputError, PluginError, visible
from workup.evidence import SiteEvidence
from workup.packs.counts import EVERYONE, UNSAID, Cells, cells_of
from workup.packs.kinds_of_rows import (
    EVERYTHING,
    kinds_of,
    near_each_other,
    of_kind,
    refuse_ledger,
    table_of,
    told_of_kind,
)
from workup.packs.publish import Publisher, in_order, published_holdings
from workup.packs.sent_packs import Sent, SiteLedger, sent
from workup.packs.suppression import withhold
from workup.report import LensResult, Report, canonical, digest
from workup.signing import sign
from workup.version import __version__

PACK_VERSION = 2
LARGEST_K = 10_000
LARGEST_SEQUENCE = 10**9
LONGEST_NAME = 200
_UNCOUNTED = CountedFigures("", "")  # of a task that does not say how its figures are tied to counts
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def make_pack(
    report: Report,
    *,
    site: str,
    k: int = 11,
    facts: Mapping[str, Any] | None = None,
    key: bytes | None = None,
    sequence: int = 1,
) -> dict[str, Any]:
    """The pack of one site. Counts under `k`, and all that would give them away, are withheld; k of 0 or 1 keeps none.

    >>> from workup.score import score_risk
    >>> table = {"died": [0, 1, 0, 0] * 30, "p": [0.1, 0.8, 0.4, 0.3] * 30}
    >>> pack = make_pack(score_risk(table, outcome="died", risk="p", replicates=200), site="North")
    >>> pack["site"], pack["k"], len(pack["withheld"]) < len(pack["estimates"])
    ('North', 11, True)
    """
    return _packed(report, site, k, facts or {}, key, sequence, ())[0]


def make_next_pack(
    report: Report,
    ledger: SiteLedger,
    *,
    k: int = 11,
    facts: Mapping[str, Any] | None = None,
    key: bytes | None = None,
) -> tuple[dict[str, Any], SiteLedger]:
    """The next pack of a site, checked together with those it sent before, and its ledger with the pack in it."""
    _check(report, ledger.site, k, ledger.next_sequence)
    refuse_ledger(report)
    earlier = ledger.of_study(_study(report, _settings(report)[0]))
    least = max((one.k for one in earlier), default=0)
    if k < least:
        raise InputError(
            f"earlier packs in the ledger withheld counts under {least}, which this one must not give away",
            where="--k",
            got=str(k),
            remedy=f"give --k {least} or more",
        )
    made, one = _packed(report, ledger.site, k, facts or {}, key, ledger.next_sequence, earlier)
    return made, ledger.with_pack(one)


def _packed(
    report: Report,
    site: str,
    k: int,
    facts: Mapping[str, Any],
    key: bytes | None,
    sequence: int,
    earlier: Sequence[Sent],
) -> tuple[dict[str, Any], Sent]:
    _check(report, site, k, sequence)
    scales = {name: card["scale"] for name, card in report.metrics.items() if card["pooled"]}
    settings, columns = _settings(report)
    system = _system(report)
    study = _study(report, settings)
    evidence = _evidence(report, site, scales)
    crossings = [(str(first), str(second)) for first, second in settings["intersections"]]
    figures = _counted(report.study["task"]) or _UNCOUNTED
    kinds = kinds_of(report)
    hidden = near_each_other(evidence, kinds, columns, k=k)
    own = evidence if not kinds else of_kind(evidence, kinds[0], columns, hidden[kinds[0].name])
    cells = cells_of(own, columns, crossings, settings["thresholds"], figures)
    _refuse_other_groupings(cells, earlier)
    reason = f"fewer than {k} people in a count it rests on, or in one that it would give away"
    kept = withhold(cells, k=k, earlier=earlier, study=study["sha256"])
    if kinds and EVERYTHING in hidden[kinds[0].name]:
        kept = replace(kept, slices=kept.slices | {EVERYONE})
    publisher = Publisher(cells, kept, columns, settings["comparator"], reason, figures)
    estimates, gaps, more = publisher.estimates(own.estimates), publisher.gaps(own.gaps), list(publisher.withheld)
    for kind in kinds[1:]:
        told = told_of_kind(
            of_kind(evidence, kind, columns, hidden[kind.name]),
            columns,
            crossings,
            settings["thresholds"],
            settings["comparator"],
            reason,
            k=k,
        )
        estimates, gaps, more = estimates + told.estimates, gaps + told.gaps, more + told.withheld
    holdings, held_back = published_holdings(
        own.holdings if kinds else evidence.holdings, cells, kept, k=k, reason=reason, earlier=earlier
    )
    pack = {
        "pack_version": PACK_VERSION,
        "workup": __version__,
        "task": report.study["task"],
        "site": site,
        "study": study,
        "sequence": sequence,
        "system": system,
        "as_of": report.as_of,
        "settings": settings,
        "k": k,
        "columns": [name for name in columns if name not in cells.unlisted],
        "estimates": in_order(estimates),
        "gaps": in_order(gaps),
        "holdings": holdings,
        "facts": _facts(facts),
        "withheld": [*more, *held_back, *(_unlisted(name) for name in cells.unlisted)],
    }
    plain: dict[str, Any] = json.loads(canonical(pack))
    plain["sha256"] = digest(plain)
    if key is not None:
        plain["signature"] = sign(plain, key)
    return plain, sent(cells, kept.slices, kept.cuts, plain)


def study_digest(task: str, system: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The hash of what must agree between packs that are pooled."""
    same = {"task": task, "system": dict(system), "thresholds": sorted(settings["thresholds"])}
    return digest({**same, "levels": list(settings["levels"])})


def _refuse_other_groupings(cells: Cells, earlier: Sequence[Sent]) -> None:
    """Packs that group the same patients in other ways cannot be held against each other, and together tell more."""
    now = {who[0] for who in cells.sizes["rows"] if who}
    for one in earlier:
        then = {who[0] for who in one.sizes["rows"] if who}
        if then != now:
            raise InputError(
                "packs of one study in one ledger must group patients by the same columns",
                where=f"pack number {one.sequence} in the ledger",
                got=visible(", ".join(sorted(then ^ now)) + " in one of them alone"),
                remedy="make the report with the columns of that pack",
            )
        for column in sorted(now):
            _refuse_other_levels(column, cells, one)


def _refuse_other_levels(column: str, cells: Cells, earlier: Sent) -> None:
    """A column whose levels have given way to others (bands with other cuts, codes joined in another way) is another
    grouping under the same name. Levels that only come, or only go, are held against each other by their counts."""
    now, then = (
        {who[1] for who in sizes["rows"] if who and who[0] == column and who[1] != UNSAID and not is_together(who[1])}
        for sizes in (cells.sizes, earlier.sizes)
    )
    if now - then and then - now:
        raise InputError(
            "packs of one study in one ledger must cut a column into the same groups",
            where=f"column '{visible(column)[:60]}', pack number {earlier.sequence} in the ledger",
            got=f"{len(then - now)} of its {len(then)} levels replaced by {len(now - then)} others",
            remedy="make the report with the bands and the codes of that pack",
        )


def _system(report: Report) -> dict[str, str]:
    return {"name": str(report.system["name"]), "version": str(report.system["version"])}


def _study(report: Report, settings: Mapping[str, Any]) -> dict[str, str]:
    """The name of a study and the hash of its settings."""
    return {"name": _study_name(report), "sha256": study_digest(report.study["task"], _system(report), settings)}


def says_overlaps(report: Report) -> bool:
    """Does the record say which of its groups overlap? Those of earlier versions do not."""
    held = table_of(report, "holdings")
    return "overlaps" in held or len(held.get("groups") or ()) < 2


def _study_name(report: Report) -> str:
    return str(report.study.get("name") or "")[:LONGEST_NAME]


def _check(report: Report, site: str, k: int, sequence: int) -> None:
    if isinstance(sequence, bool) or not isinstance(sequence, int) or not 1 <= sequence <= LARGEST_SEQUENCE:
        got = repr(sequence)[:20]
        raise InputError(f"the packs of a site are numbered 1 to {LARGEST_SEQUENCE:,}", where="--sequence", got=got)
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= LARGEST_K:
        raise InputError(f"k must be a whole number from 0 to {LARGEST_K}", where="--k", got=repr(k)[:20])
    if not site.strip() or len(site) > LONGEST_NAME:
        raise InputError(f"the name of a site is 1 to {LONGEST_NAME} characters", where="--site", got=f"{len(site)}")
    if report.contains_phi:
        raise InputError("a report that holds patient text cannot become a pack", remedy="make it without --show-text")
    if "internal" not in report.results:
        raise InputError(
            "a pack is made of the internal lens, and of the subgroups lens where there is one",
            got=f"a report of {', '.join(sorted(report.results)) or 'no lens'}",
            remedy="add  internal: {}  under lenses in the study and run it again",
        )
    task = report.study.get("task")
    if k > 1 and _counted(task) is None:
        audited = [name for name in sorted(plugins.registered("tasks")) if _counted(name) is not None]
        raise InputError(
            f"small counts can be withheld from reports of the task {', '.join(audited)}",
            got=f"a report of the task '{task}'",
            remedy="give --k 0, if every count in the report may leave the site",
        )


def _counted(task: Any) -> CountedFigures | None:
    """How the figures of a task are tied to counts, where it is installed under a name and says so."""
    if not isinstance(task, str) or ":" in task:
        return None
    try:
        found: CountedFigures | None = getattr(plugins.find("tasks", task), "counted", None)
    except PluginError:
        return None
    return found


def _settings(report: Report) -> tuple[dict[str, Any], list[str]]:
    """What must be the same at every site, and the columns of the groups."""
    study, groups = report.study, report.results.get("subgroups")
    own: Mapping[str, Any] = {} if groups is None else groups.settings
    thresholds = list(study.get("thresholds") or ())
    if study.get("cost_ratio") is not None:
        thresholds.append(1 / (1 + float(study["cost_ratio"])))
    if "threshold" in (named := report.primary):  # the first of a pack is the one that pooled pages speak of
        thresholds.insert(0, named["threshold"])
    settings = {
        "thresholds": list(dict.fromkeys(float(f"{at:.12g}") for at in thresholds)),
        "levels": sorted({e.level for e in report.results["internal"].estimates}),
        "replicates": (study.get("bootstrap") or {}).get("replicates"),
        "comparator": own.get("comparator"),
        "intersections": [list(pair) for pair in own.get("intersections") or ()],
    }
    return settings, [str(name) for name in own.get("by") or ()]


def _evidence(report: Report, site: str, scales: Mapping[str, str]) -> SiteEvidence:
    """The evidence of the report on the metrics that sites can be pooled on, with thresholds as a record holds them."""

    def poolable(result: LensResult | None) -> LensResult | None:
        if result is None:
            return None
        plain = LensResult.from_dict(result.lens, json.loads(canonical(result.as_dict())))
        # A group that the report itself withholds has no figure to tell or to keep.
        estimates = tuple(e for e in plain.estimates if e.metric in scales and (e.n_rows or e.status != "withheld"))
        gaps = tuple(row for row in plain.comparisons if row["metric"] in scales)
        return LensResult(**{**vars(plain), "estimates": estimates, "comparisons": gaps})

    held = json.loads(canonical(table_of(report, "holdings")))
    internal = poolable(report.results["internal"])
    assert internal is not None
    groups = poolable(report.results.get("subgroups"))
    return SiteEvidence.of_results(site, internal, groups, holdings=held, facts={}, source="pack")


def _unlisted(name: str) -> dict[str, Any]:
    return {
        "metric": None,
        "slice": {"column": name},
        "what": "column",
        "reason": "its levels are too many, not clear enough, or cut from the risk, to be named as groups",
    }


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the site says of itself: short words and numbers under plain names."""
    found: dict[str, Any] = {}
    for name, value in facts.items():
        if not _WORD.fullmatch(name) or name == "site":
            raise InputError(
                "a fact is named by letters, digits and _, such as type or region",
                where="--facts",
                got=f"'{visible(name[:40])}'",
            )
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InputError("a fact is a word or a number", where=f"--facts {name}", got=type(value).__name__)
        if isinstance(value, str) and not 0 < len(value) <= LONGEST_NAME:
            raise InputError(f"a fact has 1 to {LONGEST_NAME} characters", where=f"--facts {name}", got=str(len(value)))
        found[name] = value
    return found
