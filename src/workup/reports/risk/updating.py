"""An update as sections: the verdict, honest figures beside the apparent ones, the test, groups, thresholds, refusals.

Reads what `workup update` tells, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.reports.layout import Section, Table
from workup.reports.wording import count, number, percent

Row = Mapping[str, Any]
_NEARLY_NOTHING = 0.001

_VERDICTS = {
    "better": "BETTER: on patients who did not make it, the updated risks are closer to what happened.",
    "worse": "WORSE: on patients who did not make it, the updated risks are farther from what happened. Do not use it.",
    "no gain shown": "NO GAIN SHOWN: on patients who did not make it, these data do not show that the update helps.",
    "none needed": "NONE NEEDED: these data do not speak against the risks as they are, and nothing was changed.",
    "too few": "NO UPDATE: these data speak against the risks as they are, and are too few to mend them.",
    "untested": "NO UPDATE: nothing could be fitted to these rows, so nothing is known of the risks.",
    "as named": "NOTHING WAS CHANGED, as was asked; the risks are those of the system.",
    "backwards": "THE RISK RUNS BACKWARDS: higher risks go with fewer events. No update mends that, and none was made.",
}
_HOW = {
    "validate": "Judged on another table, with the same system",
    "temporal": "Judged on the later side of the temporal split",
    "cross-fitted": "Judged by 10-fold cross-fitting: whole patients are left out in turn, and test, choice and fit "
    "are made anew without them",
}
_METHODS = {
    "none": "none: the risks as they are",
    "in_the_large": "in the large: all log odds moved by one number",
    "recalibration": "recalibration: log odds stretched by a slope and moved",
    "beta": "beta calibration: log odds bent at either end",
    "isotonic": "isotonic: steps that never fall",
    "refit": "refit: the log odds of the risk and the predictors, weighed anew",
}
_TITLES = {
    "brier": "Brier score",
    "oe_ratio": "observed / expected",
    "calibration_in_the_large": "calibration in the large",
    "calibration_slope": "calibration slope",
    "auroc": "AUROC",
    "oe_distance": "|ln observed / expected|",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "PPV",
    "alert_rate": "alert rate",
    "net_benefit": "net benefit",
    "alerts_per_day": "alerts per day",
}


def sections(told: Row) -> list[Section]:
    """The report of one update, in the order in which it should be read."""
    found = [_verdict(told), _test(told)]
    if told["verdict"] != "backwards":
        found[1:1] = [_figures(told), *_groups(told)]
        found += [*_thresholds(told)]
    return [*found, *_refused(told), _notes(told)]


def threshold_sections(told: Row) -> list[Section]:
    """Thresholds alone, of risks that nobody thought of changing."""
    if told["verdict"] == "backwards":
        return sections(told)
    [one] = told["updates"]
    said = [f"Chosen on the risks as they are: {_size(told)}."]
    if one["pointed_to"] not in (None, "none"):
        said.append(
            f"These data speak against the risks as they are: the closed test points to {_plain(one['pointed_to'])}. A "
            "threshold does not make up for that; update first ('workup update'), then choose."
        )
    head = Section("Thresholds", tuple(said), key="thresholds")
    return [head, *_thresholds(told), *([_notes(told, untold=False)] if told["notes"] else [])]


def _size(of: Row) -> str:
    return f"{count(of['events'])} events in {count(of['rows'])} rows of {count(of['patients'])} patients"


def _verdict(told: Row) -> Section:
    said = []
    if told["by"] is not None:
        said.append(
            f"UPDATED BY GROUP: each level of '{told['by']}' has an update of its own, because --by asked for it; two "
            "patients with the same risk may get two different ones."
        )
    if told["verdict"] == "backwards":
        said += [_VERDICTS["backwards"], *filter(None, told["alarm"])]
        said += [f"{_of_level(told, one)}{_sentence(one['reason'])}" for one in told["updates"] if one["reason"]]
    else:
        said.append(_VERDICTS[_headline(told)])
        said += list(_why(told))
    rows = [
        ("Study", told["study"]),
        ("System", " ".join(filter(None, dict.fromkeys((told["system"]["name"], told["system"]["version"]))))),
        ("Updated on", _size(told) + (f", {told['days'][0]} to {told['days'][1]}" if told["days"] else "")),
        *((f"Update{_level(told, one)}", _METHODS[one["method"]]) for one in told["updates"]),
        *((f"Parameters{_level(told, one)}", _parameters(one)) for one in told["updates"] if one["parameters"]),
    ]
    return Section("Update", tuple(said), (Table(("", ""), tuple(rows)),), key="update")


def _headline(told: Row) -> str:
    if all(one["method"] == "none" for one in told["updates"]):
        if told["asked"] == "none":
            return "as named"
        if told["verdict"] != "none needed":
            return "too few" if any(one["test"] for one in told["updates"]) else "untested"
    return str(told["verdict"])


def _why(told: Row) -> Iterator[str]:
    """How each method came about."""
    for one in told["updates"]:
        whose = _of_level(told, one)
        if one["chosen_by"] == "named":
            other = one["pointed_to"]
            beside = f" The test points to {_plain(other)}." if other and other != one["method"] else ""
            yield f"{whose}The method was named, and not chosen by the test.{beside}"
        elif one["reason"]:
            yield f"{whose}{_sentence(one['reason'])}"
        elif one["method"] == "none":
            first = one["test"][0] if one["test"] else None
            seen = "" if first is None or first["p"] is None else f" (p = {_p(first['p'])} against the largest model)"
            yield f"{whose}The closed test does not refuse the risks as they are{seen}."
        else:
            yield f"{whose}The closed test chose {_plain(one['method'])}: the least change that it does not refuse."


def _figures(told: Row) -> Section:
    honest = told["honest"]
    said = [f"{_HOW[honest['how']]}: {_size(honest)}."]
    for level, methods in (honest["methods"] or {}).items():
        whose = f"{told['by']} {level}: " if level else ""
        said.append(f"{whose}Methods that the folds chose: {_tally(methods)}.")
    columns = {name: {e["metric"]: e for e in part} for name, part in told["figures"].items()}
    if _unchanged(told):
        table = tuple((_TITLES[metric], _figure(e)) for metric, e in columns["original"].items())
        own = Table(("", "as they are"), table, "Figures with 95 % intervals")
        return Section("The risks as they are", (f"On {_size(told)}.",), (own,), key="honest")
    corrected = {e["metric"]: e for e in told["optimism"]}
    heads = ["", "before", "after, on others", "after, on those who made it"]
    if corrected:
        heads.append("the same less its optimism")
    rows = []
    for metric, after in columns["honest"].items():
        cells = [_figure(columns["original"][metric]), _figure(after), _figure(columns["apparent"][metric])]
        rows.append((_TITLES[metric], *cells, *([_figure(corrected.get(metric, {}))] if corrected else [])))
    paired = [
        (
            _TITLES[row["metric"]],
            _number(row["first"]),
            _number(row["second"]),
            _figure(row, signed=True),
            _said_of(row),
        )
        for row in told["compared"]
    ]
    points = ["The column 'on those who made it' flatters: it is shown beside the honest one, and never alone."]
    if told["keeps_order"]:
        points.append("The AUROC cannot change: the update keeps the order of the risks.")
    tables = (
        Table(tuple(heads), tuple(rows), "Figures with 95 % intervals", titled=True),
        Table(
            ("after less before, on others", "before", "after", "difference", ""),
            tuple(paired),
            "Paired differences by patients; below 0 is better",
            titled=True,
        ),
    )
    return Section("What it does for patients who did not make it", tuple(said), tables, tuple(points), key="honest")


def _unchanged(told: Row) -> bool:
    """Was nothing changed, and nothing judged on other rows?"""
    kept = all(one["method"] == "none" for one in told["updates"])
    return kept and told["honest"]["how"] == "cross-fitted"


def _said_of(row: Row) -> str:
    if row["low"] is None or row["high"] is None:
        return row["reason"] or "no interval"
    return "better" if row["high"] < 0 else "worse" if row["low"] > 0 else "not shown either way"


def _groups(told: Row) -> Iterator[Section]:
    if not told["groups"] or _unchanged(told):
        return
    margin = told["groups"][0]["margin"]
    rows = []
    for one in told["groups"]:
        moved = one["differences"].get("oe_distance", {})
        rows.append(
            (
                f"{one['group']} {one['level']}",
                count(one["n_patients"]),
                _figure(one["original"]),
                _figure(one["updated"]),
                _figure(moved, signed=True) if moved else "–",
                one["verdict"],
            )
        )
    told_of = [one for one in told["groups"] if one["verdict"] in ("outside its margin", "leaves its margin")]
    said = [
        f"Disparity: {one['group']} {one['level']} {_beyond(one)} ({1 - margin:g} to {1 + margin:g}); O/E "
        f"{number(one['original']['value'])} before and {number(one['updated']['value'])} after."
        for one in told_of
    ]
    said = said or [f"After the update no group's O/E is shown to be outside {1 - margin:g} to {1 + margin:g}."]
    heads = ("group", "patients", "O/E before", "O/E after", "|ln O/E|, after less before", "margin")
    shown = len(heads) if told_of else len(heads) - 1
    table = Table(heads[:shown], tuple(row[:shown] for row in rows), "Observed over expected by group, on others")
    yield Section("By group", tuple(said), (table,), key="groups")


def _beyond(one: Row) -> str:
    if one["verdict"] == "leaves its margin":
        return "was within its margin before the update and is not after it"
    return "is outside its margin after the update"


def _test(told: Row) -> Section:
    rows = []
    kinds = []
    for one in told["updates"]:
        for row in one["test"]:
            p = "is the largest model" if row["p"] is None else _p(row["p"])
            kept = "" if row["p"] is None else "refused" if row["p"] <= told["alpha"] else "not refused"
            level = (f"{told['by']} {one['level']}",) if told["by"] is not None else ()
            rows.append((*level, _plain(row["candidate"]), number(row["statistic"]), str(row["df"]), p, kept))
            kinds.append(row["kind"])
    kind = ", ".join(dict.fromkeys(kinds))
    terms = ["an intercept", "the log odds of the risk", *told["predictors"]]
    largest = f"{', '.join(terms[:-1])} and {terms[-1]}"
    said = (
        f"Each candidate against the largest model ({largest}), {kind}; the first with p above "
        f"{told['alpha']:g} is chosen."
        if rows
        else "No test could be made: no model has a finite fit to these rows.",
    )
    heads = (*(("group",) if told["by"] is not None else ()), "candidate", "statistic", "df", "p", "")
    return Section("The closed test", said, (Table(heads, tuple(rows)),) if rows else (), key="test")


def _thresholds(told: Row) -> Iterator[Section]:
    for one in told["thresholds"]:
        yield _threshold(one, "risk" if _unchanged(told) else "updated risk")


def _threshold(one: Row, noun: str) -> Section:
    title = f"Threshold {one['name']}: {one['rule']}"
    said = []
    beside, naive = one["beside"] or {}, one["naive"]
    if one["value"] is None:
        said.append(f"None: {_sentence(one['reason'])}")
    else:
        chance = (
            "" if one["chance"] is None else f" It meets the rule on new patients with probability {_p(one['chance'])}."
        )
        said.append(f"Flag a patient whose {noun} is {one['value']:.12g} or more.{chance}")
    if naive is not None:
        chance = (
            ""
            if naive["chance"] is None
            else f" It meets the rule on new patients with probability {_p(naive['chance'])}."
        )
        said.append(
            f"The threshold that just meets the rule on these rows is {naive['value']:.12g}.{chance} It is not taken."
        )
    if "next_flagged" in beside:
        low, high = beside["next_flagged"]
        said.append(f"Of the next 100 events it will flag {low} to {high}, with probability 0.95.")
    if "busiest" in beside:
        said.append(
            f"Over {count(beside['days'])} whole days, those without an alert among them. One day in twenty has "
            f"{count(beside['busiest'])} alerts or more; {percent(beside['above_budget'])} of days are above the "
            f"budget. A budget per day moves with the number of patients; this one is {number(beside['per_100'])} "
            f"alerts per 100 {beside['unit']}."
        )
    if "assured" in beside:
        found = beside["assured"]
        said.append(
            f"The rule asks for the mean alone. From {found['value']:.12g} on it is met with probability "
            f"{_p(found['chance'])}: write @0.95 behind the rule to have that one."
        )
    if "search" in beside:
        found = beside["search"]
        said.append(
            f"Searched: net benefit {number(found['apparent'])} on these rows, of which {number(found['optimism'])} is "
            f"luck of the search. The threshold that follows from the cost ratio is {number(found['from_costs'])}, "
            f"with a net benefit of {number(found['at_costs'])}."
        )
    if one["method"]:
        said.append(f"{_sentence(one['method'])}")
    columns = [("", {})] if one["value"] is None else [(f"{one['value']:.4g}", _by_metric(one["expected"]))]
    if naive is not None:
        columns.append((f"{naive['value']:.4g} (just met here)", _by_metric(naive["expected"])))
    columns = [(head, held) for head, held in columns if held]
    metrics = list(dict.fromkeys(metric for _, held in columns for metric in held))
    rows = tuple((_TITLES[metric], *(_figure(held.get(metric, {})) for _, held in columns)) for metric in metrics)
    heads = ("on new patients", *(head for head, _ in columns))
    tables = (Table(heads, rows, "What the threshold will do on new patients"),) if rows else ()
    return Section(title, tuple(said), tables, key=f"threshold:{one['name']}")


def _by_metric(estimates: Sequence[Row]) -> dict[str, Row]:
    return {e["metric"]: e for e in estimates}


def _refused(told: Row) -> Iterator[Section]:
    rows = tuple(
        (
            *((f"{told['by']} {one['level']}",) if told["by"] is not None else ()),
            _plain(method),
            reason.replace("in_the_large", "in the large"),
        )
        for one in told["updates"]
        for method, reason in one["refused"].items()
    )
    if rows:
        heads = (*(("group",) if told["by"] is not None else ()), "method", "why")
        yield Section("Not offered", (), (Table(heads, rows),), key="refused")


def _notes(told: Row, *, untold: bool = True) -> Section:
    points = (*told["notes"], *((told["untold"],) if untold and "untold" in told else ()))
    return Section("To be read with it", points=points, key="notes")


# ---- words -----------------------------------------------------------------------------------------------------------


def _plain(method: str) -> str:
    return method.replace("_", " ")


def _tally(methods: Sequence[str]) -> str:
    counts = {name: list(methods).count(name) for name in dict.fromkeys(methods)}
    return ", ".join(f"{_plain(name)} {n} of {len(methods)}" for name, n in counts.items())


def _of_level(told: Row, one: Row) -> str:
    return "" if told["by"] is None else f"{told['by']} {one['level']}: "


def _level(told: Row, one: Row) -> str:
    return "" if told["by"] is None else f", {told['by']} {one['level']}"


def _sentence(text: str) -> str:
    text = text.replace("in_the_large", "in the large")
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _parameters(one: Row) -> str:
    held = one["parameters"]
    if one["method"] == "isotonic":
        return f"{len(held['x'])} points"
    if one["method"] == "refit":
        names = ("intercept", "log odds", *held["columns"])
        return ", ".join(f"{name} {value:.4g}" for name, value in zip(names, held["coefficients"], strict=True))
    return ", ".join(f"{name} {value:.4g}" for name, value in held.items())


def _figure(seen: Row, *, signed: bool = False) -> str:
    if seen.get("value") is None:
        return "–"

    def form(x: float) -> str:
        return f"{x:+.4f}" if signed else _number(x)

    ends = "" if seen.get("low") is None else f" ({form(seen['low'])} to {form(seen['high'])})"
    return form(seen["value"]) + ends


def _number(value: float | None) -> str:
    """A figure; one that was fitted to be 0, and is so but for rounding or the folds, is not written as 6.8e-05."""
    return f"{abs(value):.3f}" if value is not None and abs(value) < _NEARLY_NOTHING else number(value)


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1g}"
