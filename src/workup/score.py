"""Recorded answers scored at once: a study is made of what is given, and validated like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

from workup import plugins
from workup.documents.detections import GivenSpans
from workup.report import Report
from workup.study import Study
from workup.task import Watch
from workup.validate import validate


def score_risk(
    table: Any,
    *,
    outcome: str,
    risk: str,
    patient: str | None = None,
    by: Sequence[str] = (),
    site: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    thresholds: Sequence[float] = (),
    also: Sequence[str] = (),
    gates: Sequence[str] = (),
    seed: int = 0,
    replicates: int = 2000,
    name: str = "risk",
    smallest_cell: int = 5,
    time_format: str | None = None,
    largest_unpacked: int = 0,
    watch: Watch = lambda what, done, total: None,
) -> Report:
    """Score a table of recorded predictions: a path, a pandas, polars or pyarrow frame, or a mapping of columns.

    `largest_unpacked` is the most bytes that a packed file may become, 2 GiB where it is 0.

    >>> report = score_risk({"died": [0, 1, 0, 1] * 20, "p": [0.1, 0.8, 0.4, 0.3] * 20}, outcome="died", risk="p")
    >>> report.estimate("auroc").value
    0.75
    """
    columns = {"outcome": outcome, "risk": risk, "patient": patient, "site": site, "time": time, "weight": weight}
    path = Path(table) if isinstance(table, (str, Path)) else None
    content = {
        "name": name,
        "task": "risk",
        "seed": seed,
        "corpus": {} if path is None else {"path": path.name, "largest_unpacked": largest_unpacked},
        "columns": {**columns, "groups": list(by)},
        "time_format": time_format,
        "lenses": {"internal": {}, **({"subgroups": {}} if by else {})},
        "thresholds": list(thresholds),
        "also": list(also),
        "gates": list(gates),
        "bootstrap": {"replicates": replicates},
        "smallest_cell": smallest_cell,
    }
    study = Study.of(content, base=Path() if path is None else path.parent, where="score_risk")
    return validate(study, table=None if path else table, watch=watch)


def score_episodes(
    predictions: Any,
    events: Any,
    *,
    target: Sequence[str],
    horizon: str,
    columns: Mapping[str, Any] | None = None,
    event_columns: Mapping[str, Any] | None = None,
    roles: Mapping[str, Sequence[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
    by: Sequence[str] = (),
    thresholds: Sequence[float] = (),
    time_format: str | None = None,
    gates: Sequence[str] = (),
    seed: int = 0,
    replicates: int = 2000,
    name: str = "episodes",
    smallest_cell: int = 5,
    watch: Watch = lambda what, done, total: None,
) -> Report:
    """Score predictions that were made again and again before an event: two paths, or two tables in memory.

    `target` are the types of events that are predicted and `roles` those that start, end or answer a stay (start, end,
    death, lost, intervention, alert). `columns` and `event_columns` say which column is what where they are not named
    patient, encounter, time, risk and patient, encounter, type, time; `settings` are further ones of `episodes`, such
    as gap, refractory or unit.

    >>> hours = [f"2024-05-01T{hour:02}:00" for hour in (0, 4, 8, 9)]
    >>> scores = {"patient": ["a"] * 3, "encounter": ["s"] * 3, "time": hours[:3], "risk": [0.1, 0.6, 0.4]}
    >>> happened = {"patient": ["a"] * 2, "encounter": ["s"] * 2, "type": ["sepsis", "discharge"],
    ...             "time": [hours[3], "2024-05-03T00:00"]}
    >>> report = score_episodes(scores, happened, target=["sepsis"], horizon="12h", roles={"end": ["discharge"]},
    ...                         thresholds=[0.5], replicates=200)
    >>> report.estimate("event_sensitivity", threshold=0.5).value
    1.0
    """
    paths = [Path(one) if isinstance(one, (str, Path)) else None for one in (predictions, events)]
    base = Path() if paths[0] is None else paths[0].parent
    files = None
    if paths[0] is not None and paths[1] is not None:
        files = {"predictions": paths[0].name, "events": relpath(paths[1], base)}
    content = {
        "name": name,
        "task": "episodes",
        "seed": seed,
        "corpus": files or {},
        "columns": {**(columns or {}), "groups": list(by)},
        "events": {"columns": dict(event_columns or {}), "target": list(target), **(roles or {})},
        "episodes": {"horizon": horizon, **(settings or {})},
        "time_format": time_format,
        "lenses": {"internal": {}, **({"subgroups": {}} if by else {})},
        "thresholds": list(thresholds),
        "gates": list(gates),
        "bootstrap": {"replicates": replicates},
        "smallest_cell": smallest_cell,
    }
    study = Study.of(content, base=base, where="score_episodes")
    return validate(study, table=None if files else (predictions, events), watch=watch)


def score_horizon(
    table: Any,
    *,
    status: str,
    risk: Mapping[str, str],
    followup: str | None = None,
    event_time: str | None = None,
    unit: str = "",
    codes: Mapping[str, str] | None = None,
    patient: str | None = None,
    by: Sequence[str] = (),
    site: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    landmark: str | None = None,
    strata: Sequence[str] = (),
    cox: Sequence[str] = (),
    thresholds: Sequence[float] = (),
    also: Sequence[str] = (),
    gates: Sequence[str] = (),
    seed: int = 0,
    replicates: int = 2000,
    name: str = "horizon",
    smallest_cell: int = 5,
    time_format: str | None = None,
    watch: Watch = lambda what, done, total: None,
) -> Report:
    """Score recorded risks by one or several horizons against follow-up, some of it cut short.

    `risk` names a column for each horizon; `codes` says what each value of the status means where it is not 0
    (censored), 1 (event) or 2 (competing event). Censoring is estimated within `strata`, or by a `cox` model, of
    columns; over everyone without either.

    >>> days, ended = [100, 400, 200, 500] * 20, [1, 0, 0, 1] * 20
    >>> rows = {"days": days, "ended": ended, "p": [0.8, 0.2, 0.4, 0.3] * 20}
    >>> report = score_horizon(rows, followup="days", status="ended", risk={"365d": "p"})
    >>> report.estimate("observed_risk", horizon="365d").value
    0.25
    """
    path = Path(table) if isinstance(table, (str, Path)) else None
    timed = None if followup is None else {"column": followup, **({"unit": unit} if unit else {})}
    content = {
        "name": name,
        "task": "horizon",
        "seed": seed,
        "corpus": {} if path is None else {"path": path.name},
        "columns": {
            "followup": timed,
            "event_time": event_time,
            "status": {"column": status, "codes": dict(codes)} if codes else status,
            "risk": dict(risk),
            "patient": patient,
            "site": site,
            "time": time,
            "weight": weight,
            "landmark": landmark,
            "groups": list(by),
        },
        "censoring": {"strata": list(strata), "cox": list(cox)} if strata or cox else "marginal",
        "time_format": time_format,
        "lenses": {"internal": {}, **({"subgroups": {}} if by else {})},
        "thresholds": list(thresholds),
        "also": list(also),
        "gates": list(gates),
        "bootstrap": {"replicates": replicates},
        "smallest_cell": smallest_cell,
    }
    study = Study.of(content, base=Path() if path is None else path.parent, where="score_horizon")
    return validate(study, table=None if path else table, watch=watch)


def score_spans(
    gold: Any,
    pred: Any,
    *,
    format: str = "",
    modes: Sequence[str] = (),
    policies: Sequence[str] = (),
    labels: str = "",
    levels: Sequence[str] = (),
    ignore: Sequence[str] = (),
    equivalent: Sequence[str] = (),
    annotators: str = "each",
    trim: str = "",
    offsets: str = "codepoint",
    by: Sequence[str] = (),
    gates: Sequence[str] = (),
    primary: Mapping[str, Any] | None = None,
    seed: int = 0,
    replicates: int = 2000,
    show_text: bool = False,
    name: str = "spans",
    smallest_cell: int = 5,
    most_overlaps: int = 0,
    most_depth: int = 0,
    watch: Watch = lambda what, done, total: None,
) -> Report:
    """Score recorded predictions against golds: paths, or documents and the spans found in them, by their ids.

    `most_overlaps` and `most_depth` are the limits of one document (corpus in a study), the default where they are 0.

    >>> gold = [{"id": "a", "text": "Ann Lee, 9 May", "spans": [{"start": 0, "end": 7, "label": "name_patient"}]}]
    >>> found = {"a": [{"start": 0, "end": 3, "label": "name_patient"}]}
    >>> report = score_spans(gold, found, modes=["overlap"], levels=["leaf"])
    >>> report.estimate("recall", mode="overlap", level="leaf").value
    1.0
    """
    path = Path(gold) if isinstance(gold, (str, Path)) else None
    recorded = Path(pred).resolve() if isinstance(pred, (str, Path)) else None
    content = {
        "name": name,
        "task": "spans",
        "seed": seed,
        "corpus": {
            "path": None if path is None else path.name,
            "format": format,
            "annotators": annotators,
            "trim": trim,
            "offsets": offsets,
            "most_overlaps": most_overlaps,
            "most_depth": most_depth,
        },
        "systems": []
        if recorded is None
        else [{"name": "recorded", "use": "recorded", "with": {"path": recorded.name}}],
        "lenses": {"internal": {}, **({"subgroups": {"by": list(by)}} if by else {})},
        "modes": list(modes),
        "policies": list(policies),
        "labels": labels,
        "levels": list(levels),
        "ignore": list(ignore),
        "equivalent": list(equivalent),
        "primary": dict(primary or {}),
        "gates": list(gates),
        "bootstrap": {"replicates": replicates},
        "smallest_cell": smallest_cell,
    }
    study = Study.of(content, base=Path() if path is None else path.parent, where="score_spans")
    system: Any
    if recorded is None:
        system = GivenSpans(pred if isinstance(pred, Mapping) else {one["id"]: one["spans"] for one in pred or ()})
    else:
        make = plugins.find("systems", "recorded")
        system = make(name="recorded", base=recorded.parent, path=recorded.name, offsets=offsets)
    return validate(study, system=system, table=None if path else gold, show_text=show_text, watch=watch)


def score_conversation(
    cases: Any,
    transcripts: Any,
    *,
    format: str = "",
    matcher: str = "context",
    target_plans: str | None = None,
    ratings: str | None = None,
    judge: str | None = None,
    encoder: str | None = None,
    labelled: str | None = None,
    published: bool = False,
    by: Sequence[str] = (),
    gates: Sequence[str] | None = (),
    primary: Mapping[str, Any] | None = None,
    seed: int = 0,
    replicates: int = 2000,
    name: str = "conversation",
    smallest_cell: int = 5,
    watch: Watch = lambda what, done, total: None,
) -> Report:
    """Score recorded transcripts against the ledgers of their cases: paths, or records as the files hold them.

    `format` names recorded dialogues (aci_bench, mts_dialog), whose notes take the place of transcripts. `judge` and
    `encoder` are package.module:Object; `target_plans`, `ratings` and `labelled` are files beside the cases. Without
    gates nothing is judged; with `gates=None` the default ones are, at limits that a perfect model reaches on these
    cases. `published` also measures what published work did, to compare.

    >>> case = {"id": "a", "patient_summary": "", "critical_entities": ["penicillin allergy"],
    ...         "turns": [{"turn": 1, "message": "I am allergic to penicillin."}]}
    >>> asked = {"kind": "summary", "reply": "The patient is allergic to penicillin."}
    >>> said = [{"case": "a", "turn": 1, "reply": "Noted.", "probe": asked}]
    >>> report = score_conversation([case], said)
    >>> report.estimate("recall", set="critical", arm="live").value
    1.0
    """
    from workup.tasks.conversation.task import GivenTranscripts, RecordedDialogues

    path = Path(cases) if isinstance(cases, (str, Path)) else None
    recorded = Path(transcripts).resolve() if isinstance(transcripts, (str, Path)) else None
    content = {
        "name": name,
        "task": "conversation",
        "seed": seed,
        "corpus": {"path": None if path is None else path.name, "format": format},
        "systems": []
        if recorded is None
        else [{"name": "recorded", "use": "recorded", "with": {"path": recorded.name}}],
        "lenses": {"internal": {}, **({"subgroups": {"by": list(by)}} if by else {})},
        "conversation": {
            "matcher": matcher,
            "target_plans": target_plans,
            "ratings": ratings,
            "judge": judge,
            "encoder": encoder,
            "labelled": labelled,
            **({"published": True} if published else {}),
        },
        "primary": dict(primary or {}),
        "gates": list(gates or ()),
        "bootstrap": {"replicates": replicates},
        "smallest_cell": smallest_cell,
    }
    base = Path() if path is None else path.parent
    study = Study.of(content, base=base, where="score_conversation")
    if gates is None and transcripts is not None:
        content["gates"] = _default_gates(study, None if path else cases, recorded or transcripts)
        study = Study.of(content, base=base, where="score_conversation")
    system: Any
    if recorded is not None:
        make = plugins.find("systems", "recorded")
        system = make(name="recorded", base=recorded.parent, path=recorded.name)
    else:
        system = RecordedDialogues() if transcripts is None else GivenTranscripts(list(transcripts))
    return validate(study, system=system, table=None if path else cases, watch=watch)


def _default_gates(study: Any, cases: Any, transcripts: Any) -> list[str]:
    """The default gates of a chat model, as far as these cases and the arms of these transcripts can meet them."""
    from workup.tasks.conversation.attainable import default_gates
    from workup.tasks.conversation.talk.transcripts import read_transcripts
    from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

    corpus = ConversationTask().read(study, cases)
    if isinstance(transcripts, Path):
        said = read_transcripts(transcripts, corpus.conversations).said
    else:
        said = GivenTranscripts(list(transcripts)).of(corpus).said
    arms = tuple(dict.fromkeys(("live", *(one.arm for one in said))))
    settings = study.conversation.model_copy(update={"arms": arms})
    return [gate.rule for gate in default_gates(corpus, settings) if gate.rule]
