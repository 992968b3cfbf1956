"""`workup site-pack`, `workup site-key` and `workup pool`: each hospital sends aggregates that it has signed, and the
centre pools them without a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, emit, emit_json, say
from workup.cli.site_pack import pairs, site_key, site_pack
from workup.errors import InputError, visible
from workup.files.output_paths import check_target

if TYPE_CHECKING:
    from workup.evidence import SiteEvidence
    from workup.lenses.sites.pooling import PoolSettings
    from workup.packs import Pack, Seen, SiteKeys
    from workup.report import Report

_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="site-pack", example="workup site-pack runs/north -o north.json --site North --facts type=rural")(
        site_pack
    )
    command(app, name="site-key", example="workup site-key -o north.key")(site_key)
    command(app, name="pool", example="workup pool north.json south.json east.json --limit auroc=0.7 -o pooled")(pool)


def pool(
    packs: Annotated[
        list[Path], typer.Argument(metavar="PACK…", help="Packs (.json), or tables of published validations (.csv)")
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Run directory for report.json, .html and .md")
    ] = None,
    key_file: Annotated[
        list[Path] | None, typer.Option(help="Key that packs must be signed with; may be repeated, one for each site")
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(help="Table of sites and their keys (YAML or JSON); each pack must be signed with its site's own"),
    ] = None,
    seen: Annotated[
        Path | None, typer.Option(help="File of the packs seen before; older ones and repeated ones are refused")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Pool the very packs once more that --seen has seen")] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="What a new site must reach: auroc=0.7, or oe_ratio=0.8:1.25; may be repeated"),
    ] = None,
    method: Annotated[str, typer.Option(help="Spread between sites by REML, DL, PM or ML")] = "REML",
    test: Annotated[str, typer.Option(help="adhoc (Hartung-Knapp, factor at least 1), knha (plain) or z")] = "adhoc",
    intended_setting: Annotated[
        list[str] | None, typer.Option(help="A setting where the system will be used; may be repeated")
    ] = None,
    sites: Annotated[Path | None, typer.Option(help="Table of site characteristics, with a column 'site'")] = None,
    internal: Annotated[Path | None, typer.Option(help="Report of the development data, to compare with")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns of a published table: site=Study or auroc=c.index; may be repeated"),
    ] = None,
    moderator: Annotated[
        list[str] | None, typer.Option(help="Site characteristic for meta-regression; may be repeated")
    ] = None,
    subset: Annotated[
        list[str] | None, typer.Option(help="Site characteristic to pool within; may be repeated")
    ] = None,
    small: Annotated[int, typer.Option(help="Sites with fewer patients are flagged")] = 200,
    development: Annotated[str | None, typer.Option(help="Site the model was built on: shown, not pooled")] = None,
    name: Annotated[str, typer.Option(help="Name of the study in the report")] = "pooled sites",
    task: Annotated[str, typer.Option(help="Task of published tables given without a pack")] = "risk",
    json: Annotated[str | None, typer.Option(help="Write the record here; - for standard output")] = None,
) -> None:
    """Pool the evidence of sites from their packs alone; published validations may stand beside them."""
    check_target(json, out=out)
    from workup.lenses.sites.pooling import PoolSettings
    from workup.report import Report, drawing_on

    content: dict[str, Any] = {"limit": _limits(limit or ()), "method": method, "test": test, "small": small}
    content |= {"moderators": tuple(moderator or ()), "development": development}
    settings = PoolSettings.checked(content | ({"subsets": tuple(subset)} if subset else {}), where="workup pool")
    table = None if keys is None else _table(keys)
    read, published = _read(packs, key_file or (), table, pairs(columns or (), "--columns", "site=Study"))
    before = _before(seen, read, again=again)
    evidence = _described([*(pack.evidence for pack in read), *published], sites)
    reference = None if internal is None else Report.read(internal)
    with drawing_on(*packs):
        record = _pooled(
            name, task, read, evidence, settings, intended=tuple(intended_setting or ()), reference=reference
        )
    _show(record, out, json)
    if seen is not None:
        _remember(seen, before.with_packs(read))


def _table(path: Path) -> SiteKeys:
    """The centre's own table of sites and keys."""
    from workup.files.yaml_files import read_yaml
    from workup.packs import SiteKeys

    content, _ = read_yaml(path, noun="keys")
    return SiteKeys.of(content, where=visible(str(path)), folder=path.parent)


def _before(seen: Path | None, packs: Sequence[Pack], *, again: bool) -> Seen:
    """What was seen of these sites before; older packs are refused."""
    from workup.packs import Seen

    if seen is None:
        if again:
            raise InputError("--again belongs to --seen", got="--again alone")
        return Seen()
    check_target(str(seen))
    before = Seen.read(seen)
    before.check(packs, again=again)
    return before


def _remember(path: Path, seen: Seen) -> None:
    from workup.files.disk import replace_whole

    try:
        replace_whole(path, [seen.to_json()])
    except OSError as error:
        got = error.strerror or "an error"
        raise InputError("the file of packs seen must be one that can be written", where=str(path), got=got) from None


def _limits(texts: Sequence[str]) -> float | dict[str, float | tuple[float | None, float | None]] | None:
    """auroc=0.7, oe_ratio=0.8:1.25, oe_ratio=:1.25, or a bare number for the leading metric."""

    def number(text: str) -> float | None:
        try:
            return float(text) if text.strip() else None
        except ValueError:
            raise InputError(
                "a limit is a number or a pair low:high", where="--limit", got=f"'{visible(text[:40])}'"
            ) from None

    if len(texts) == 1 and "=" not in texts[0]:
        return number(texts[0])
    found: dict[str, float | tuple[float | None, float | None]] = {}
    for metric, text in pairs(texts, "--limit", "auroc=0.7").items():
        low, sign, high = text.partition(":")
        one = number(low)
        if sign:
            found[metric] = (one, number(high))
        elif one is not None:
            found[metric] = one
    return found or None


def _read(
    paths: Sequence[Path], key_files: Sequence[Path], table: SiteKeys | None, columns: Mapping[str, str]
) -> tuple[list[Pack], list[SiteEvidence]]:
    """Packs in the order of their sites, checked with each other, and the evidence of published tables."""
    from workup import plugins
    from workup.packs import check_together, read_key, read_pack
    from workup.tasks.risk.published_evidence import from_summaries

    keys = [read_key(file) for file in key_files]
    tables = [path for path in paths if path.suffix.lower() in _TABLES]
    if columns and not tables:
        raise InputError("--columns belongs to a table of published validations", got="packs alone")
    given = [path for path in paths if path not in tables]
    read = sorted((read_pack(path, keys=keys, site_keys=table) for path in given), key=lambda pack: pack.site)
    check_together(read)
    published: list[SiteEvidence] = []
    for path in tables:
        rows = plugins.find("formats", "table")(path)
        published += from_summaries(rows, columns=columns, where=visible(str(path)))
    known = {pack.site.strip().casefold() for pack in read}
    for one in published:
        if one.site.strip().casefold() in known:
            raise InputError(
                "each site gives its evidence once",
                got=f"'{visible(one.site)}' both as a pack and in a published table",
                remedy="leave one of the two out",
            )
    return read, sorted(published, key=lambda one: one.site)


def _described(evidence: Sequence[SiteEvidence], sites: Path | None) -> list[SiteEvidence]:
    """The evidence with what a table of sites says of each; the table goes before what the pack says."""
    from workup import plugins
    from workup.lenses.sites.tables import read_places

    if sites is None:
        return list(evidence)
    places = read_places(plugins.find("formats", "table")(sites), where=visible(str(sites)))
    absent = sorted(set(places) - {one.site for one in evidence})
    if absent:
        say(f"In {visible(str(sites))} but without evidence: {visible(', '.join(absent))}")
    return [replace(one, facts={**one.facts, **places.get(one.site, {})}) for one in evidence]


def _pooled(
    name: str,
    task: str,
    packs: Sequence[Pack],
    evidence: Sequence[SiteEvidence],
    settings: PoolSettings,
    *,
    intended: tuple[str, ...],
    reference: Report | None,
) -> Report:
    """The record of pooling: nothing in it depends on the order or the names of the files."""
    from importlib.metadata import version
    from platform import python_version

    from workup import plugins
    from workup.lenses.sites.pooling import Goal, pool_sites
    from workup.metric import in_order
    from workup.report import Report
    from workup.task import gate_level_of, primary_of
    from workup.version import __version__

    first = packs[0].record if packs else None
    chosen = plugins.named_by_record("tasks", task if first is None else str(first["task"]))
    levels = (0.95,) if first is None else tuple(first["settings"]["levels"])
    result = pool_sites(
        evidence,
        scales={name: card.scale for name, card in chosen.cards.items() if card.pooled},
        settings=settings,
        goals={name: Goal(card.better, card.target) for name, card in chosen.cards.items()},
        intended=intended,
        reference=reference,
        levels=levels,
    )
    versions = sorted({str(pack.record["workup"]) for pack in packs})
    notes = (f"The packs were made by several versions of Workup: {', '.join(versions)}.",) if len(versions) > 1 else ()
    study = {
        "name": name,
        "task": chosen.name,
        "thresholds": [] if first is None else list(first["settings"]["thresholds"]),
        "lenses": {"sites": settings.model_dump(mode="json")},
        "intended_settings": list(intended),
    }
    return Report(
        study=study,
        corpus=_corpus(packs, evidence),
        system={"name": "published model", "version": ""} if first is None else dict(first["system"]),
        seed=0,
        results={"sites": replace(result, notes=(*notes, *result.notes))},
        environment={"python": python_version(), **{library: version(library) for library in ("numpy", "scipy")}},
        workup=__version__,
        metrics=in_order(chosen.cards),
        primary=primary_of(chosen, study),
        gate_level=gate_level_of(chosen),
    )


def _corpus(packs: Sequence[Pack], evidence: Sequence[SiteEvidence]) -> dict[str, Any]:
    """What was pooled, provably: the hashes of the packs, and those of what the published tables say."""
    from workup.report import digest

    hashes = [pack.sha256 for pack in packs]
    published = [one for one in evidence if one.source == "published"]
    hashes += [digest({**vars(one), "estimates": [e.as_dict() for e in one.estimates]}) for one in published]

    def total(what: str) -> int | None:
        counts = [one.holdings.get(what) for one in evidence]
        return None if None in counts else sum(n for n in counts if n is not None)

    return {
        "name": f"{len(evidence)} site{'' if len(evidence) == 1 else 's'}",
        "version": "",
        "seed": None,
        "n_cases": total("rows"),
        "n_patients": total("patients"),
        "sha256": digest({"packs": sorted(hashes)}),
    }


def _show(report: Report, out: Path | None, json: str | None) -> None:
    from workup.cli.report import render
    from workup.runs import RunDirectory

    if json != "-":
        emit(render(report, "text"), None)
    if out is not None:
        with RunDirectory.open(out) as directory:
            for form in ("html", "md"):
                directory.write(f"report.{form}", render(report, form))
            directory.write("report.json", report.to_json())
        say(f"{out / 'report.json'}")
    if json is not None:
        emit_json(report.to_json(), json)
