"""Tables about the sites themselves: who they are, what their data hold, and where the system will be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near
from workup.evidence import SiteEvidence
from workup.scores import MISSING, level_name

_MATCHED = ("type", "region", "name")


def read_places(places: Mapping[str, npt.NDArray[Any]], *, where: str = "sites.csv") -> dict[str, dict[str, Any]]:
    """Characteristics by site from a table with a column `site`; empty cells are left out.

    >>> read_places({"site": np.array(["A", "B"], dtype=object), "volume": np.array([900.0, np.nan])})
    {'A': {'volume': 900}, 'B': {}}
    """
    if "site" not in places:
        raise InputError(
            "a column 'site' must name each site as the data name it",
            where=where,
            got=f"columns {', '.join(places)}",
            remedy=f"rename the column ({near('site', places)})",
        )
    sites = [level_name(value) for value in places["site"].tolist()]
    for i, site in enumerate(sites):
        if site == MISSING:
            raise InputError(
                "every row must name its site", where=f"{where}, row {i + 1}", got="an empty cell", remedy="fill it in"
            )
        if site in sites[:i]:
            raise InputError(
                "each site has one row",
                where=f"{where}, row {i + 1}",
                got=f"a second row for the site of row {sites.index(site) + 1}",
                remedy="keep one of the two",
            )
    return {site: _cells(places, i) for i, site in enumerate(sites)}


def _cells(places: Mapping[str, npt.NDArray[Any]], row: int) -> dict[str, Any]:
    found = {}
    for name, column in places.items():
        value = column[row]
        if name != "site" and level_name(value) != MISSING:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return int(value) if float(value).is_integer() else float(value)
    return level_name(value)


def characteristics(evidence: Sequence[SiteEvidence], *, small: int, development: str | None) -> list[dict[str, Any]]:
    """One row per site: what is said of it, and what its data show."""
    return [_site(one, small, development) for one in evidence]


def _site(one: SiteEvidence, small: int, development: str | None) -> dict[str, Any]:
    held = one.holdings
    patients = held.get("patients")
    events = [e.n_events for e in one.estimates if e.n_events is not None and e.n_rows == held.get("rows")]
    delay = held.get("label_delay_days")
    own = {
        "source": one.source,
        "role": "development" if one.site == development else "validation",
        "patients": patients,
        "rows": held.get("rows"),
        "events": held.get("events", max(events) if events else None),
        "waiting": held.get("waiting"),
        "small": patients is not None and patients < small,
        "demographics": {name: _shares(levels) for name, levels in (held.get("groups") or {}).items()},
        "missing_inputs": {row["input"]: row["share"] for row in held.get("inputs") or ()},
        "label_delay_days": delay,
        "withheld": len(one.withheld),
    }
    # What an author says of a site and what its data show may bear one name, and both are kept.
    said = {f"stated_{key}" if key in own else key: value for key, value in one.facts.items() if key != "site"}
    return {"site": one.site, **said, **own}


def _shares(levels: Mapping[str, Any]) -> dict[str, float | None]:
    """Share of the site's patients in each level. A pack may have suppressed a count: then the share is unknown too."""
    sizes = {level: size.get("patients") for level, size in levels.items()}
    known = [n for n in sizes.values() if n is not None]
    if len(known) < len(sizes):
        return dict.fromkeys(sizes)
    total = sum(known)
    return {level: n / total for level, n in sizes.items() if n and total}


def settings_table(
    evidence: Sequence[SiteEvidence], intended: Sequence[str], *, small: int, development: str | None
) -> list[dict[str, Any]]:
    """Each setting where the system will be used, with the sites of that type, region or name that validate it."""
    rows = []
    for setting in intended:
        wanted = setting.strip().casefold()
        found = [one for one in evidence if wanted and wanted in _names(one)]
        sound = [one for one in found if one.site != development and any(e.status == "ok" for e in one.estimates)]
        patients = [one.holdings.get("patients") for one in sound]
        row = {
            "setting": setting,
            "sites": [one.site for one in sound],
            "patients": None if None in patients else sum(n for n in patients if n is not None),
            "status": "validated" if sound else "not validated",
            "reason": None,
        }
        if not sound and found:
            names = ", ".join(one.site for one in found)
            row["reason"] = f"only {names}, on which the model was built or which gave no figure"
        elif not sound:
            row["reason"] = "no site of this type, region or name"
        elif all(n is not None and n < small for n in patients):
            row["reason"] = f"by small sites only (fewer than {small} patients each)"
        rows.append(row)
    return rows


def _names(one: SiteEvidence) -> list[str]:
    return [str(name).strip().casefold() for name in (one.site, *(one.facts.get(key, "") for key in _MATCHED))]


def withheld_table(evidence: Sequence[SiteEvidence]) -> list[dict[str, Any]]:
    """What sites withheld, each with the words shown in its place."""
    return [
        {"site": one.site, **row, "said": f"insufficient at site {one.site}"}
        for one in evidence
        for row in one.withheld
    ]
