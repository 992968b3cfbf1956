"""`workup compare`: two records, or several in one table, paired where their rows can be read again."""

from __future__ import annotations

import json as jsons
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, echo, emit, emit_json, say, verdict_code
from workup.cli.report import refuse_absent, runs_in
from workup.cli.trusted_study import TrustStudy, study_for
from workup.errors import InputError, RunError, WorkupError, visible
from workup.files.output_paths import check_folder

if TYPE_CHECKING:
    from workup.compare import Comparison, PairedRuns
    from workup.report import Report
    from workup.validate import Scored

_WORDS = {"no_clear_difference": "no clear difference", "not_assessed": "not assessed"}
_SHOWN = 12  # rows of a kind that are worth a person's time; the record holds all
_CODES = {"worse": "fail", "unsure": "unsure", "not_assessed": "not_assessed"}
_DOCUMENTS = 500  # documents that comparison.json lists one by one, those that differ most first


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    example = "workup compare runs/old runs/new --margin 0.02 --metric auroc"
    command(app, name="compare", example=example)(compare)


def compare(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B …",
            help="Run directories, report.json files, a folder of several systems' runs, or a study with several",
        ),
    ],
    margin: Annotated[
        float | None, typer.Option(help="How much worse would still do; asks whether each is no worse than A by more")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Headline metric, judged with Holm's adjustment; repeat for several")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(help="Of three or more: the run that the others are held against; every two without it"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder to write comparison.json and its forms for reading to")
    ] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided margins do not fail")] = False,
    study: Annotated[
        Path | None, typer.Option(help="Study file of the runs, where they were moved or came from elsewhere")
    ] = None,
    trust_study: TrustStudy = False,
    json: Annotated[str | None, typer.Option(help="Write the comparison here; - for standard output")] = None,
) -> None:
    """Compare two reports, or put three or more in one table, by rank: what can be told apart, and by what.

    Three or more must be of the same cases; --reference holds each against one of them, or else every two are compared.
    With --margin the exit code is 1 where one is worse by more than the margin, and 3 where that is undecided. Runs are
    paired by row where their study may be read again: your own here, one that you name, or one that you trust.
    """
    from workup.reports import comparison as drawn

    read = [_places(record) for record in records]
    places = [place for found in read for place in found]  # one may be named twice, to be held against itself
    if len(places) < 2:
        raise InputError("a comparison needs two reports or more", got=str(len(places)))
    if out is not None:
        _make(out)
    studies = {place: study or file for found in read for place, file in found.items()}
    places, chosen = _with_reference(places, reference)
    runs = Runs(places, studies=studies, trusted=trust_study)
    models = table_of(runs, reference=chosen) if len(places) > 2 else None
    found = runs.compared(margin=margin, metrics=metric or ())
    tell: Callable[[str], object] = say if json == "-" else echo
    if models is not None:
        for line in drawn.models_text(models).splitlines():
            tell(visible(line))
    for comparison in found:
        for line in lines(comparison):
            tell(line)
        for line in drawn.tables_text(comparison.as_dict()).splitlines():
            tell(line)
    if json is not None:
        emit_json(comparison_record(found, models=models), json)
    if out is not None:
        write_comparison(found, out, models=models)
    outcomes = [_CODES.get(row["verdict"], "pass") for one in found for row in one.rows if row["margin"] is not None]
    raise typer.Exit(verdict_code(outcomes, allow_unsure=allow_unsure))


class Runs:
    """Runs to be compared, the first of which the others are held against; the rows of each are made once."""

    def __init__(self, places: Sequence[Path], *, studies: Mapping[Path, Path | None], trusted: bool = False) -> None:
        from workup.report import Report

        self.places = list(places)
        self.reports = [Report.read(place) for place in places]
        self._studies, self._trusted = studies, trusted
        self._rows: dict[Path, Scored | WorkupError] = {}

    def rows(self, number: int) -> Scored:
        """The rows of a run, by its place; an error says why they cannot be had."""
        place = self.places[number]
        if place not in self._rows:
            folder = place if place.is_dir() else place.parent
            given = self._studies.get(place) or self._studies.get(folder)
            try:
                file = study_for(folder, given=given, trusted=self._trusted)
                self._rows[place] = _scored(place, self.reports[number], file)
            except WorkupError as error:
                self._rows[place] = error
        found = self._rows[place]
        if isinstance(found, WorkupError):
            raise found
        return found

    def compared(self, *, margin: float | None = None, metrics: Sequence[str] = ()) -> list[Comparison]:
        """Every run held against the first."""
        return [_compared(self, other, margin=margin, metrics=metrics) for other in range(1, len(self.places))]


def _with_reference(places: list[Path], reference: Path | None) -> tuple[list[Path], int | None]:
    """The runs with the reference first, which is added where it was not among them."""
    if reference is None:
        return places, None
    held = [place for place in runs_in(reference) if place.exists()]
    if len(held) != 1:
        raise InputError("--reference names one run", where=str(reference), got=f"{len(held)} runs")
    same = [place for place in places if place.resolve() == held[0].resolve()]
    first = same[0] if same else held[0]
    found = [first, *(place for place in places if place != first)]
    if len(found) < 3:
        raise InputError("a reference is for three reports or more; of two the first is it", got=str(len(found)))
    return found, 0


def table_of(runs: Runs, *, reference: int | None = None) -> dict[str, Any]:
    """Several runs in one table, as plain data: paired where the rows of all can be read again."""
    from workup.ranking import Entrant, check_entrants, rank
    from workup.report import drawing_on
    from workup.runs import cost_of

    check_entrants(runs.reports)
    rows: list[Scored] = []
    try:
        rows = [runs.rows(number) for number in range(len(runs.places))]
    except WorkupError as error:
        # Said here and not in the record, which must not hold the paths of this machine.
        say(f"not paired: {error}")
    folders = [place if place.is_dir() else place.parent for place in runs.places]
    entrants = [
        Entrant(report, rows[number] if rows else None, cost_of(folder))
        for number, (report, folder) in enumerate(zip(runs.reports, folders, strict=True))
    ]
    with drawing_on(*runs.places):
        tags = _contrasts(runs.reports, [_tags(report) for report in runs.reports], rows) if rows else []
        found: dict[str, Any] = jsons.loads(plain_json(rank(entrants, reference=reference, tags=tags).as_dict()))
    return found


def _tags(report: Report) -> Mapping[str, str]:
    """The tags of a system, as the study in its record names them."""
    systems = report.study.get("systems")
    for part in systems if isinstance(systems, list) else ():
        if isinstance(part, dict) and (part.get("name") or part.get("use")) == report.system.get("name"):
            tags = part.get("tags")
            return {str(key): str(value) for key, value in tags.items()} if isinstance(tags, dict) else {}
    return {}


def contrasts(runs: Runs) -> list[dict[str, Any]]:
    """Kinds of systems held against one another, where they carry tags and all answered the same cases."""
    tags = [_tags(report) for report in runs.reports]
    return _contrasts(runs.reports, tags, [runs.rows(i) for i in range(len(tags))]) if any(tags) else []


def _contrasts(
    reports: Sequence[Report], tags: Sequence[Mapping[str, str]], rows: Sequence[Scored]
) -> list[dict[str, Any]]:
    from workup.compare import compared_metrics, headline_of
    from workup.lenses.tag_contrasts import Tagged, tag_contrasts

    if not any(tags):
        return []
    if len({one.corpus.get("sha256") for one in reports}) > 1 or len({one.scores.n_patients for one in rows}) > 1:
        return []
    names = headline_of(reports[0])
    followed = rows[0].task.followed(compared_metrics(rows[0]), rows[0].study)
    chosen = [metric for metric in followed if metric.name in names]
    systems = [
        Tagged(str(report.system.get("name")), tag, one.scores)
        for report, tag, one in zip(reports, tags, rows, strict=True)
    ]
    return tag_contrasts(systems, chosen)


def tag_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Contrasts of kinds for the terminal."""
    from workup.errors import visible
    from workup.reports.wording import p_value

    for row in rows:
        p = "" if row["p"] is None else f", p {p_value(row['p'])}, adjusted {p_value(row['p_adjusted'])}"
        sizes = " and ".join(map(str, row["systems"]))
        why = f"  ({row['reason']})" if row["reason"] else ""
        yield visible(
            f"  {str(row['verdict']).replace('_', ' '):<20} {row['metric']}: {row['tag']} {row['second']} − "
            f"{row['first']} {figure(row)}{p}, {sizes} systems, {row['cases']} cases{why}"
        )


# ---- writing ---------------------------------------------------------------------------------------------------------


def comparison_record(
    found: Sequence[Comparison], tags: Sequence[dict[str, Any]] = (), *, models: Mapping[str, Any] | None = None
) -> str:
    """The text of comparison.json; of many documents those that differ most."""
    record: dict[str, Any] = {"schema_version": 1, "comparisons": [_shortened(one.as_dict()) for one in found]}
    record |= {"tags": list(tags)} if tags else {}
    return plain_json(record if models is None else {**record, "models": dict(models)})


def write_comparison(
    found: Sequence[Comparison],
    folder: Path,
    *,
    forms: Sequence[str] = ("text", "md", "html"),
    tags: Sequence[dict[str, Any]] = (),
    models: Mapping[str, Any] | None = None,
) -> None:
    """comparison.json, its forms for reading and, where documents were compared, a line for each of them and type."""
    from workup.reports import comparison as drawn

    record = comparison_record(found, tags, models=models)
    written = {"comparison.json": record}
    plain = jsons.loads(record)
    for form, name in drawn.FILES.items():
        if form in forms:
            written[name] = drawn.render(plain, form=form)
    if models is not None:
        written["comparison.csv"] = drawn.models_csv(models)
    documents = "".join(_document_lines(found))
    if documents:
        written["comparison-documents.jsonl"] = documents
    for name, text in written.items():
        emit(text, str(folder / name), private=True)
    say(str(folder / "comparison.json"))


def _document_lines(found: Sequence[Comparison]) -> Iterator[str]:
    for one in found:
        names = {side: str(whose["system"].get("name")) for side, whose in (("a", one.first), ("b", one.second))}
        for row in one.tables.get("documents", ()):
            yield jsons.dumps({**names, **row}, ensure_ascii=False, sort_keys=True) + "\n"


def _shortened(one: dict[str, Any]) -> dict[str, Any]:
    """At most so many documents, those in which the systems differ most, by number and without their ids."""
    rows = one["tables"].get("documents")
    if rows is None:
        return one
    gap: dict[int, int] = {}
    for row in rows:
        moved = row["only_first"] + row["only_second"] + abs(row["false_alarms_first"] - row["false_alarms_second"])
        gap[row["document"]] = gap.get(row["document"], 0) + moved
    chosen = set(sorted(gap, key=lambda number: (-gap[number], number))[:_DOCUMENTS])
    kept = [{k: v for k, v in row.items() if k != "case"} for row in rows if row["document"] in chosen]
    counted = {"with_spans": len(gap), "listed": len(chosen), "differing": sum(n > 0 for n in gap.values())}
    return {**one, "tables": {**one["tables"], "documents": kept, "documents_listed": counted}}


def plain_json(data: Any) -> str:
    """Plain JSON with numbers as the record writes them."""
    from workup.report import canonical

    return jsons.dumps(jsons.loads(canonical(data)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _make(folder: Path) -> None:
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("the output must be a folder", where=str(folder), got=error.strerror or "") from None


# ---- reading ---------------------------------------------------------------------------------------------------------


def _places(record: Path) -> dict[Path, Path | None]:
    """Runs to compare: of a record, of a folder of several systems' runs, or of their study, which is then known."""
    if record.suffix in (".yaml", ".yml") and record.is_file():
        return dict.fromkeys(_of_study(record), record)
    held = runs_in(record)
    refuse_absent(held, record, remedy="run the study again, or name the runs to compare one by one")
    return dict.fromkeys(held)


def _of_study(file: Path) -> list[Path]:
    """The runs of a study's systems, where `workup run` keeps them; recorded answers are scored at once if need be."""
    from workup.cli.run import load, run_system
    from workup.runs import safe_name

    study = load(file)
    folder = study.base / "runs" / safe_name(study.name)
    names = [part.name or part.use for part in study.systems]
    if len(names) < 2:
        raise InputError("a study to compare must name several systems", where=str(file), got=str(len(names)))
    for part, name in zip(study.systems, names, strict=True):
        place = folder / safe_name(name)
        if (place / "report.json").exists():
            continue
        if part.use != "recorded":
            raise RunError(
                f"{file}: '{name}' was not run yet, and a comparison asks no system. To fix: workup run {file}"
            )
        run_system(study, file, name, place, fresh=False)
    return [folder / safe_name(name) for name in names]


def _compared(runs: Runs, other: int, *, margin: float | None, metrics: Sequence[str]) -> Comparison:
    """Paired where both runs can be read again and answered the same cases, else from the records alone."""
    from workup import compare as comparing
    from workup.report import drawing_on

    old, new = runs.reports[0], runs.reports[other]
    pair: PairedRuns | None = None
    notes: list[str] = []
    if old.corpus.get("sha256") == new.corpus.get("sha256") and old.study.get("task") == new.study.get("task"):
        comparing.check_footing(old, new)
        try:
            pair = comparing.paired_runs(runs.rows(0), runs.rows(other))
            notes += pair.notes
        except WorkupError as error:
            # Said here and not in the record, which must not hold the paths of this machine.
            say(f"not paired: {error}")
            notes.append("The rows could not be read again, so what stands here rests on the two records alone.")
    with drawing_on(runs.places[0], runs.places[other]):
        return comparing.compare(
            old,
            new,
            margin=margin,
            metrics=metrics,
            paired=None if pair is None else pair.rows,
            notes=notes,
            tables=None if pair is None else pair.tables,
        )


def _scored(place: Path, held: Report, file: Path) -> Scored:
    """The rows of a run, read again by the study in `file`."""
    from workup.cli.run import load
    from workup.replay import sample_of, scored_again

    folder = place if place.is_dir() else place.parent
    return scored_again(folder, held, load(file, sample=sample_of(held, folder)))


# ---- on the terminal -----------------------------------------------------------------------------------------------


def lines(comparison: Comparison) -> Iterator[str]:
    """A comparison for reading: the headline, then what else improved or regressed, largest first."""
    from workup.compare import gain
    from workup.errors import visible

    names = [str(side["system"].get("name")) for side in (comparison.first, comparison.second)]
    yield visible(f"B {names[1]} against A {names[0]}")
    for note in comparison.notes:
        yield visible(f"  {note}")
    rows = sorted(comparison.rows, key=lambda row: (row["p"] is None, row["p"] or 0.0, -abs(gain(row)[0] or 0.0)))
    for title, chosen in (
        ("Headline, decided by p adjusted by Holm", [row for row in comparison.rows if row["headline"]]),
        ("Improved elsewhere, not adjusted", _moved(rows, "better")),
        ("Regressed elsewhere, not adjusted: look closer", _moved(rows, "worse")),
    ):
        if chosen:
            yield f"{title}:"
            yield from (visible(_row_line(row)) for row in chosen[:_SHOWN])
            if len(chosen) > _SHOWN:
                yield f"  … and {len(chosen) - _SHOWN} more; --json - shows all"
    judged = [row for row in comparison.rows if not row["headline"]]
    unclear = sum(row["direction"] == "no_clear_difference" for row in judged)
    unknown = sum(row["direction"] == "not_assessed" for row in judged)
    yield f"Elsewhere {unclear} of {len(judged)} show no clear difference and {unknown} could not be assessed."


def _moved(rows: Sequence[dict[str, Any]], direction: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["direction"] == direction and not row["headline"]]


def _row_line(row: dict[str, Any]) -> str:
    from workup.reports.wording import p_value, slice_name

    where = f" [{slice_name(row['slice'])}]" if row["slice"] else ""
    verdict = _WORDS.get(row["verdict"], row["verdict"])
    if row["margin"] is not None:
        moved = f", {row['direction']}" if row["direction"] in {"better", "worse"} - {row["verdict"]} else ""
        verdict += f" (margin {row['margin']:g}{moved})"
    tail = "" if row["p"] is None else f", p {p_value(row['p'])}"
    tail += "" if row["p_adjusted"] is None else f", adjusted {p_value(row['p_adjusted'])}"
    why = "; ".join(filter(None, (row["reason"], row["rule"])))
    why = f"  ({why})" if why else ""
    ends = f"A {figure(row['first'])}, B {figure(row['second'])}, B − A {figure(row)}{tail}"
    return f"  {verdict:<20} {row['metric']}{where}: {ends}{why}"


def figure(seen: Any) -> str:
    """A value with its interval, for one line."""
    from workup.reports.wording import number

    ends = "" if seen.get("low") is None else f" ({number(seen['low'])} to {number(seen['high'])})"
    return number(seen.get("value")) + ends
