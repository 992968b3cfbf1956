"""What a reader of pooled sites must know before the numbers, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.lenses.sites.contrasts import MOST_REFITS
from workup.lenses.sites.values import GLMM

Row = Mapping[str, Any]
_MANY = 12  # sentences about sites left out that a reader can take in
_FEW = 4  # figures named one by one in a sentence


def notes(
    tables: Mapping[str, Sequence[Row]],
    pooled: Sequence[Row],
    *,
    development: str | None,
    small: int,
    compared: Sequence[Row],
) -> Iterator[str]:
    """Which sites are small or left out and why, which settings nobody validated, and what the intervals are."""
    sites = [row for row in tables["sites"] if row["role"] == "validation"]
    if development is not None:
        yield f"Site {development} is the one the model was built on: it is shown and compared with, not pooled."
    few = [row["site"] for row in sites if row["small"]]
    if few:
        yield f"Sites with fewer than {small} patients, whose own figures are unsure: {', '.join(few)}."
    yield from _left_out(tables["not_pooled"])
    scarce = [row for row in pooled if 0 < row["k"] < row["lost"]]
    few_pooled = [f"{_named(row)} ({row['k']} of {row['k'] + row['lost']})" for row in scarce]
    if few_pooled:
        yield (
            f"Pooled from a minority of the sites, and so not judged: {_some(few_pooled)}. Sites without a usable "
            "figure are small or have few events, and those that remain are not like them."
        )
    bare = [row["setting"] for row in tables["settings"] if row["status"] == "not validated"]
    if bare:
        yield f"Not validated in settings where the system will be used: {', '.join(bare)}."
    yield from _intervals(pooled, len(sites))
    if tables["withheld"]:
        held = sorted({row["site"] for row in tables["withheld"]})
        yield f"Cells with few patients were withheld ({', '.join(held)}); what rests on them is not pooled."
    if pooled and not any(row["limit"] for row in pooled):
        yield "No limit was set for a new site, so no verdict is given on the pooled figures."
    if not compared:
        yield "No internal reference was given, so internal and external figures are not compared."


def _left_out(rows: Sequence[Row]) -> Iterator[str]:
    """One sentence per site and reason, so that none is lost; where that is too much to read, every site by name."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        by_reason.setdefault((row["site"], row["reason"]), []).append(_named(row))
    if len(by_reason) > _MANY:
        names = list(dict.fromkeys(site for site, _ in by_reason))
        yield (
            f"{len(names)} sites are left out of some pooled figure, each with its reason in the table of what could "
            f"not be pooled: {', '.join(names)}."
        )
        return
    for (site, reason), figures in by_reason.items():
        yield f"Site {site} is not in the pooled {_some(figures)}: {reason.rstrip('.')}."


def _named(row: Row) -> str:
    return str(row["metric"]) + "".join(f" [{key}={value}]" for key, value in row["slice"].items())


def _some(figures: Sequence[str]) -> str:
    """The first few by name, and how many more there are."""
    return ", ".join(figures[:_FEW]) + (f" and {len(figures) - _FEW} more" if len(figures) > _FEW else "")


def _intervals(pooled: Sequence[Row], n_sites: int) -> Iterator[str]:
    if n_sites == 1:
        yield "There is one site, so nothing is pooled and nothing is known of other sites."
    elif n_sites == 2:
        yield "Two sites give no prediction interval: what a third would show cannot be said."
    if any(row["pi_low"] is not None for row in pooled):
        yield (
            "Prediction intervals say where the true value of a new site of this kind would lie; they are approximate, "
            "the more so the fewer the sites."
        )
    mixed = [_named(row) for row in pooled if row["method"] == GLMM]
    if mixed:
        yield f"Pooled by a binomial mixed model, because a site has few of one kind: {_some(mixed)}."
    many = [_named(row) for row in pooled if row["method"] == GLMM and row["k"] > MOST_REFITS]
    if many:
        yield f"Not pooled without each site in turn, because that takes too long for so many sites: {_some(many)}."
