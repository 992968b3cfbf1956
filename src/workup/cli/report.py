"""`workup report`, `verify` and `clean`: redraw from the record, prove it again, remove what is no longer needed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from workup.cli.common import Progress, command, echo, emit, emit_json, say
from workup.cli.trusted_study import TrustStudy, study_for
from workup.errors import RunError, StudyError
from workup.files.output_paths import check_folder

_DATA = ("json", "json-flat")  # forms that are JSON


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="report", example="workup report runs/demo -f md -o report.md")(report)
    command(app, name="verify", example="workup verify runs/demo")(verify)
    command(app, name="clean", example="workup clean runs/demo")(clean)


def _forms(*, page: bool = False) -> dict[str, Callable[[Any], str | bytes]]:
    """Every form of a report by its name; with `page` a form that comes as a page or as Markdown is a page."""
    from workup.reports import flat, html, markdown, pdf, text

    def card(found: Any) -> str:
        from workup.reports.conversation import safety_card  # which no page of another task has to enter

        return safety_card.page(found) if page else safety_card.markdown(found)

    return {
        "text": text.render,
        "md": markdown.render,
        "html": html.render,
        "pdf": pdf.render,
        "json": lambda found: str(found.to_json()),
        "json-flat": flat.render,
        "safety-card": card,
    }


def render(record: Any, form: str, *, page: bool = False) -> str | bytes:
    """A report in one of the known forms."""
    refuse_forms([form], where="format")
    return _forms(page=page)[form](record)


def form_faults(names: Sequence[str], *, where: str) -> list[str]:
    """Forms that are not known, or that need a library which is not installed."""
    from workup.errors import MissingExtra, near
    from workup.reports import pdf

    known = _forms()
    faults = [
        f"{where}: '{name}' is not a form of a report; {near(name, known)}." for name in names if name not in known
    ]
    if "pdf" in names:
        try:
            pdf.writer()
        except MissingExtra as error:
            faults.append(f"{where}: {error}")
    return faults


def refuse_forms(names: Sequence[str], *, where: str) -> None:
    """Refuse what could not be drawn, before anything is made that would be drawn."""
    if faults := form_faults(names, where=where):
        raise StudyError("\n  ".join(faults))


def runs_in(record: Path, *, system: str | None = None) -> dict[Path, Any]:
    """The report of a record or run directory; of a folder of several systems' runs each, in the order of the study.

    `system` picks one by its name.
    """
    from workup.errors import InputError, near
    from workup.files.received import is_folder
    from workup.report import Report

    alone = not record.is_dir() or os.path.lexists(record / "report.json")
    # A link in the folder may lead out of it: it is no run of it.
    inner = () if alone else (folder for folder in sorted(record.iterdir()) if is_folder(folder))
    places = [folder for folder in inner if os.path.lexists(folder / "report.json")] or [record]
    found = {place: Report.read(place) for place in places}

    def order(place: Path) -> int:
        systems = [part.get("name") or part.get("use") for part in found[place].study.get("systems") or ()]
        name = found[place].system.get("name")
        return systems.index(name) if name in systems else len(systems)

    names = {place: str(found[place].system.get("name")) for place in sorted(found, key=order)}
    if system is not None and system not in names.values():
        raise InputError(
            f"there is no report of a system '{system}'", where=str(record), remedy=near(system, names.values())
        )
    return {place: found[place] for place, name in names.items() if system in (None, name)}


def refuse_absent(held: Mapping[Path, Any], record: Path, *, remedy: str) -> None:
    """Refuse a folder without the record of a system that its study names: what was not judged must not pass."""
    from workup.errors import InputError

    if absent := absent_systems(held, record):
        raise InputError(
            f"there is no record of {_listed(absent)}, which the study names", where=str(record), remedy=remedy
        )


def refuse_unfinished(held: Mapping[Path, Any], record: Path) -> None:
    """Refuse a folder of runs of which one has no record: what was not judged must not pass without a word."""
    from workup import runs
    from workup.errors import InputError

    if record in held or not record.is_dir():
        return
    if unfinished := [folder.name for folder in runs.runs_inside(record) if folder not in held]:
        raise InputError(
            f"every run in the folder must have its report.json; there is none in {', '.join(map(repr, unfinished))}",
            where=str(record),
            remedy="run that study again, remove its folder, or judge one run by itself",
        )


def absent_systems(held: Mapping[Path, Any], record: Path) -> list[str]:
    """Systems that a study of these runs names and of which the folder holds no record; none where one run was named.

    A study with one system has its record, whatever name that system gives itself.
    """
    from workup.runs import safe_name

    absent: dict[str, None] = {}
    for one in held.values() if record not in held else ():
        study = one.study.get("name")
        systems = [str(part.get("name") or part.get("use")) for part in one.study.get("systems") or ()]
        here = {p: str(other.system.get("name")) for p, other in held.items() if other.study.get("name") == study}
        # A system may call itself something else in its record; its folder still has the name that the study gives it.
        known = {safe_name(name) if name in systems else place.name for place, name in here.items()}
        absent |= {name: None for name in systems if len(systems) > 1 and safe_name(name) not in known}
    return list(absent)


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"{'system' if len(names) == 1 else 'systems'} {quoted}"


def run_labels(held: Mapping[Path, Any]) -> dict[Path, str]:
    """Each run by the name of its system; with its folder where several runs are of systems of one name."""
    names = {place: str(one.system.get("name")) for place, one in held.items()}
    if len(set(names.values())) == len(names):
        return names
    return {place: f"{name} ({place.name})" for place, name in names.items()}


def report(
    record: Annotated[Path, typer.Argument(help="report.json, a run directory, or a folder of several systems' runs")],
    form: Annotated[
        str, typer.Option("-f", "--format", help="text, md, html, pdf, json, json-flat or safety-card")
    ] = "text",
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", help="File to write, a folder for several systems; standard output when absent"),
    ] = None,
    system: Annotated[str | None, typer.Option(help="Only this system's report, in a folder of several")] = None,
) -> None:
    """Redraw a report from its record; a safety card is a page where the file is .html, else Markdown."""
    from workup.errors import visible
    from workup.report import drawing_on

    refuse_forms([form], where="--format")
    held = runs_in(record, system=system)
    if system is None and (absent := absent_systems(held, record)):
        say(visible(f"{record}: there is no record of {_listed(absent)}, which the study names"))
    if len(held) > 1:
        _draw_each(held, form, out)
        return
    [one] = held.values()
    with drawing_on(record):
        found = render(one, form, page=out is not None and out.lower().endswith((".html", ".htm")))
    if form in _DATA and isinstance(found, str):
        emit_json(found, out, private=one.contains_phi)
    else:
        emit(found, "-" if out is None and isinstance(found, bytes) else out, private=one.contains_phi)


def _draw_each(held: Mapping[Path, Any], form: str, out: str | None) -> None:
    """One report after another on standard output, or each into a folder of its own under `out`."""
    from workup.cli.run import FILES
    from workup.errors import InputError
    from workup.report import drawing_on
    from workup.runs import safe_name

    names = {place: str(one.system.get("name")) for place, one in held.items()}
    if len(set(names.values())) < len(names):  # runs of one system: only their folders tell them apart
        names = {place: place.name for place in held}
    for place, one in held.items():
        with drawing_on(place):
            found = render(one, form)
        if out is None and isinstance(found, bytes):
            raise InputError(
                f"a folder is needed for {form} reports of {len(held)} systems",
                remedy="give one with -o, or one --system",
            )
        if out is None:
            (emit_json if form in _DATA else emit)(str(found), None)
            continue
        folder = Path(out) / safe_name(names[place])
        check_folder(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("the output must be a folder", where=out, got=error.strerror or "") from None
        file = folder / FILES.get(form, f"report.{form}")
        emit(found, str(file), private=one.contains_phi)
        say(str(file))


def verify(
    directory: Annotated[Path, typer.Argument(help="Run directory")],
    study: Annotated[
        Path | None, typer.Option(help="Study file, when it was moved since the run or the folder came from elsewhere")
    ] = None,
    trust_study: TrustStudy = False,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest difference of any number; byte for byte when absent")
    ] = None,
) -> None:
    """Score the recorded outputs again and compare with the record; exit 1 where they differ.

    That runs the study, which may name any code: of a folder that you did not make here, only where you say so.
    """
    from workup.cli.run import load
    from workup.replay import report_again
    from workup.report import Report

    held = Report.read(directory)
    plan = load(study_for(directory, given=study, trusted=trust_study))
    with Progress() as progress:
        fresh = report_again(directory, held, plan, watch=progress)
    differences = list(_differences(held.as_dict(), fresh.as_dict(), "", tolerance))
    differences = (
        [line for line in differences if not line.startswith("sha256")] if tolerance is not None else differences
    )
    if not differences:
        say(f"{directory}: the same{'' if tolerance is None else f' within {tolerance:g}'}")
        return
    for line in differences[:20]:
        echo(line)
    if len(differences) > 20:
        echo(f"… and {len(differences) - 20} more")
    raise typer.Exit(1)


def _differences(held: Any, fresh: Any, path: str, tolerance: float | None) -> Iterator[str]:
    """Every place where two records differ, by its path; values of the record only, which hold no patient text."""
    if isinstance(held, dict) and isinstance(fresh, dict):
        for key in sorted({*held, *fresh}):
            yield from _differences(held.get(key), fresh.get(key), f"{path}.{key}" if path else key, tolerance)
    elif isinstance(held, list) and isinstance(fresh, list) and len(held) == len(fresh):
        for i, (one, other) in enumerate(zip(held, fresh, strict=True)):
            yield from _differences(one, other, f"{path}[{i}]", tolerance)
    elif held != fresh:
        numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (held, fresh))
        if not (numbers and tolerance is not None and abs(held - fresh) <= tolerance):
            yield f"{path}: recorded {json.dumps(held)[:80]}, now {json.dumps(fresh)[:80]}"


def clean(directory: Annotated[Path, typer.Argument(help="Run directory")]) -> None:
    """Remove the outputs, details and transcripts on a page of a run; the report stays."""
    from workup import runs

    removed = runs.clean(directory)
    left = runs.links_left(directory)
    if removed or not left:
        say(f"{directory}: removed {', '.join(removed)}" if removed else f"{directory}: nothing to remove")
    if left:
        raise RunError(
            f"{directory}: {', '.join(left)} is a link or no regular file or folder, which is not followed, so what it "
            "leads to is still there. To fix: remove it yourself."
        )
