"""`workup score episodes`: repeated predictions against events that came later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import Progress
from workup.cli.shown import show


def episodes(
    predictions: Annotated[Path, typer.Argument(help="Table of predictions: patient, encounter, time, risk")],
    events: Annotated[Path, typer.Argument(help="Table of events: patient, encounter, type, time")],
    target: Annotated[list[str], typer.Option(help="Type of event that is predicted; repeat for several")],
    horizon: Annotated[str, typer.Option(help="How far ahead a prediction looks, such as 24h, or stay")],
    threshold: Annotated[list[float] | None, typer.Option(help="Risk that alerts; repeat for several")] = None,
    start: Annotated[list[str] | None, typer.Option(help="Type that begins a stay; repeat for several")] = None,
    end: Annotated[list[str] | None, typer.Option(help="Type that ends a stay alive; repeat for several")] = None,
    death: Annotated[list[str] | None, typer.Option(help="Type that means death; repeat for several")] = None,
    lost: Annotated[list[str] | None, typer.Option(help="Type from which on nothing is known")] = None,
    intervention: Annotated[list[str] | None, typer.Option(help="Type that answers an alert")] = None,
    alert: Annotated[list[str] | None, typer.Option(help="Type that is an alert really fired")] = None,
    gap: Annotated[str | None, typer.Option(help="Least useful warning, such as 1h")] = None,
    present: Annotated[str | None, typer.Option(help="An event so soon after the start was there already")] = None,
    refractory: Annotated[
        str | None, typer.Option(help="How long an alert silences the next, such as 8h, or encounter")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="When an alert fires: level, crossing or recorded")] = None,
    discharge: Annotated[str | None, typer.Option(help="Who leaves alive is free or censored")] = None,
    stop_at: Annotated[list[str] | None, typer.Option(help="Type from which on nothing is judged")] = None,
    recurrent: Annotated[bool, typer.Option("--recurrent", help="A stay may have several events")] = False,
    rest: Annotated[str | None, typer.Option(help="An onset so soon after another is the same event")] = None,
    as_of: Annotated[str | None, typer.Option(help="When the data were cut; stays without an end are open")] = None,
    unit: Annotated[str | None, typer.Option(help="encounter, prediction, patient or landmark")] = None,
    score: Annotated[str | None, typer.Option(help="Score of a stay: max, first, last or mean")] = None,
    landmark: Annotated[list[str] | None, typer.Option(help="Time after the start, such as 6h; repeat")] = None,
    lead: Annotated[list[str] | None, typer.Option(help="Warning time that is shown, such as 4h; repeat")] = None,
    model_version: Annotated[str | None, typer.Option(help="Version of the model to be judged")] = None,
    time_zone: Annotated[str | None, typer.Option(help="Zone of times without one, such as Europe/Berlin")] = None,
    patient: Annotated[str, typer.Option(help="Column of the patient id, in both tables")] = "patient",
    encounter: Annotated[str, typer.Option(help="Column of the stay, in both tables")] = "encounter",
    time: Annotated[str, typer.Option(help="Column of the prediction's time")] = "time",
    risk: Annotated[str, typer.Option(help="Column of the predicted risk, in [0, 1]")] = "risk",
    version: Annotated[str | None, typer.Option(help="Column of the model's version")] = None,
    site: Annotated[str | None, typer.Option(help="Column of the site")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of a design weight")] = None,
    event_type: Annotated[str, typer.Option(help="Column of the type of event")] = "type",
    event_time: Annotated[str, typer.Option(help="Column of the event's time")] = "time",
    by: Annotated[
        list[str] | None, typer.Option(help="Column to group by, or age:45,65,75 for bands; repeat for several")
    ] = None,
    time_format: Annotated[str | None, typer.Option(help="Form of the times, such as %d/%m/%Y %H:%M")] = None,
    gate: Annotated[list[str] | None, typer.Option(help='Rule such as "event_sensitivity.low >= 0.6"')] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole patients")] = 2000,
    smallest_cell: Annotated[
        int, typer.Option(help="Groups of fewer patients are withheld; 1 tells all, and may identify people")
    ] = 5,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score predictions made again and again during stays against events that came later."""
    from workup.score import score_episodes

    roles = {
        "start": start,
        "end": end,
        "death": death,
        "lost": lost,
        "intervention": intervention,
        "alert": alert,
    }
    said = {
        "gap": gap,
        "present": present,
        "refractory": refractory,
        "policy": policy,
        "discharge": discharge,
        "stop_at": stop_at,
        "recurrent": recurrent or None,
        "rest": rest,
        "as_of": as_of,
        "unit": unit,
        "score": score,
        "landmarks": landmark,
        "lead_hours": lead,
        "version": model_version,
        "time_zone": time_zone,
    }
    with Progress() as progress:
        report = score_episodes(
            predictions,
            events,
            target=target,
            horizon=horizon,
            columns={
                "patient": patient,
                "encounter": encounter,
                "time": time,
                "risk": risk,
                "version": version,
                "site": site,
                "weight": weight,
            },
            event_columns={"patient": patient, "encounter": encounter, "type": event_type, "time": event_time},
            roles={role: types for role, types in roles.items() if types},
            settings={name: value for name, value in said.items() if value is not None},
            by=by or (),
            thresholds=threshold or (),
            time_format=time_format,
            gates=gate or (),
            seed=seed,
            replicates=replicates,
            smallest_cell=smallest_cell,
            name=predictions.stem,
            watch=progress,
        )
    show(report, json=json, allow_unsure=allow_unsure)
