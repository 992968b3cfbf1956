"""Charts of a chat model over its turns as Vega-Lite specs: recall by arm, the decay gap, and outcomes stacked.

Lines differ in dash and shape as well as in colour and carry their names; every string from the record is data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any

from workup.report import Estimate, Report
from workup.reports.charts.figure import FIRST, GRID, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.conversation.setting import Numbers, Setting, noun
from workup.reports.conversation.turns import (
    OUTCOMES,
    Tally,
    cases_by_turn,
    gap_table,
    outcomes_table,
    recall_table,
    sets_shown,
    tallies,
)
from workup.reports.conversation.words import SET_WORDS, ends, value_words
from workup.reports.spans.words import percent
from workup.reports.wording import number

WIDTH, HEIGHT = 310, 230
# Orange of Okabe and Ito: lighter than the vermilion beside it, so that the two differ in grey too.
THIRD = "#e69f00"
_STACK = (FIRST, GRID, THIRD, SECOND, MUTED)
_LINES = {"live": (FIRST, [1, 0], "circle"), "oracle": (SECOND, [6, 4], "square"), "naive": (MUTED, [2, 3], "diamond")}
_MORE_DASHES = ([8, 3, 2, 3], [4, 2], [10, 4], [3, 6])
_MOST_TICKS = 11
# Vega leaves out labels of a short axis unless it is told of many ticks.
ALL_LABELS = {"tickCount": 100, "labelOverlap": False, "labelFlush": False}
APART = 14  # pixels between two names beside each other's line
Point = dict[str, Any]


def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of their section."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    if numbers.turns < 2:
        return {}
    shown = sets_shown(numbers)
    made = {
        "recall-turns": [chart for kind in shown for chart in _recall(report, numbers, setting, kind)],
        "gap-turns": [chart for kind in shown for chart in _gap(numbers, kind, shown)],
        "outcome-turns": list(_outcomes(numbers, setting)),
    }
    return {key: charts for key, charts in made.items() if charts}


def look(arms: Sequence[str]) -> dict[str, tuple[str, list[int], str]]:
    """Colour, dash and shape of each arm; arms with neutral turns share a colour and differ in dash."""
    more = [arm for arm in arms if arm not in _LINES]
    extra = {arm: (INK, _MORE_DASHES[i % len(_MORE_DASHES)], "triangle-up") for i, arm in enumerate(more)}
    return {arm: _LINES.get(arm) or extra[arm] for arm in arms}


def along(turns: int, title: str = "turn", *, first: float = 1) -> Spec:
    """The axis of turns, with as many labels as there is room for."""
    step = ceil(turns / _MOST_TICKS)
    return {
        "field": "x",
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [first, turns], "nice": False, "zero": False},
        "axis": {"values": ticks(turns, step), "format": "d", "grid": False, **ALL_LABELS},
    }


def ticks(turns: int, step: int) -> list[int]:
    """Every turn, or every so many, the last always among them.

    >>> ticks(10, 1)[-1], ticks(30, 3)[:3], ticks(30, 3)[-2:]
    (10, [1, 4, 7], [25, 30])
    """
    found = [*range(1, turns + 1, step)]
    if found[-1] != turns:
        found = [turn for turn in found if turns - turn >= step] + [turns]
    return found


def _recall(report: Report, numbers: Numbers, setting: Setting, kind: str) -> Iterator[Figure]:
    told = {arm: _points(numbers.turn_ends("recall", kind, arm), arm) for arm in numbers.arms}
    told = {arm: points for arm, points in told.items() if any(point["value"] is not None for point in points)}
    if not told:
        return
    x = along(numbers.turns)
    y: Spec = {"field": "value", "type": "quantitative", "title": "recall", "scale": {"domain": [0, 1], "nice": False}}
    barred = kind == setting.kind and setting.horizon <= numbers.turns
    layer = [*_drawn(told, x, y), *(_bar(setting) if barred else ())]  # the first layer sets the axes
    layer += [*names(told, lambda value: (1 - value) * HEIGHT)]
    layer += list(_cases(report, kind, numbers.turns, x))
    says = ["Bands: 95 % intervals over " + noun(report) + "."]
    says[0] += f" Dotted across: the bar, asked for at turn {setting.horizon}." if barred else ""
    last = [f"{arm} {value_words(e)} ({ends(e)})" for arm, e in _last(numbers, kind, told)]
    says.append(f"At turn {numbers.turns}: " + ", ".join(last) + ".")
    if cases_by_turn(report, kind):
        says.append(f"The small figures above the plot count the {noun(report)} of each turn.")
    spec = {**base(width=WIDTH, height=HEIGHT), "layer": layer}
    table = recall_table(report, numbers, kind)
    yield Figure(f"recall-{kind}", f"Recall by turn, {SET_WORDS[kind]}", spec, tuple(says), table)


def _last(numbers: Numbers, kind: str, arms: Mapping[str, Any]) -> Iterator[tuple[str, Estimate]]:
    for arm in arms:
        e = numbers.get("recall", {"set": kind, "arm": arm, "turn": numbers.turns})
        if e is not None:
            yield arm, e


def _points(rows: Sequence[Estimate | None], name: str) -> list[Point]:
    return [
        {"x": i, "value": None if e is None else e.value, "which": name}
        | {"low": None if e is None else e.low, "high": None if e is None else e.high}
        for i, e in enumerate(rows, start=1)
    ]


def _drawn(told: Mapping[str, list[Point]], x: Spec, y: Spec) -> Iterator[Spec]:
    """A band, a line and its points for each, the first on top."""
    looks = look(list(told))
    for arm in reversed(list(told)):
        colour, dash, shape = looks[arm]
        data = {"values": told[arm]}
        band = {"type": "area", "opacity": 0.15, "color": colour, "clip": True}
        line = {"type": "line", "strokeWidth": 2.3, "color": colour, "strokeDash": dash, "clip": True}
        dot = {"type": "point", "filled": True, "size": 38, "opacity": 1, "color": colour, "shape": shape}
        yield {"data": data, "mark": band, "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}}
        yield {"data": data, "mark": line, "encoding": {"x": x, "y": y}}
        # In a long conversation a point at every turn would hide the dashes by which lines differ.
        kept = ticks(len(told[arm]), ceil(len(told[arm]) / _MOST_TICKS))
        spots = {"values": [point for point in told[arm] if point["x"] in kept]}
        yield {"data": spots, "mark": dot, "encoding": {"x": x, "y": y}}


def _bar(setting: Setting) -> Iterator[Spec]:
    mark = {"type": "rule", "color": INK, "strokeDash": [2, 2], "strokeWidth": 1}
    yield {"data": {"values": [{}]}, "mark": mark, "encoding": {"y": {"datum": setting.bar}}}
    place = (1 - setting.bar) * HEIGHT + 9
    yield written(f"bar {setting.bar:.2f}", 6, place, fontSize=10.5, color=MUTED)


def names(told: Mapping[str, list[Point]], place: Any) -> Iterator[Spec]:
    """Each line's name beside its end, moved apart where the ends lie close."""
    last = {
        name: next((point["value"] for point in reversed(points) if point["value"] is not None), None)
        for name, points in told.items()
    }
    at = spread({name: place(value) for name, value in last.items() if value is not None}, apart=APART)
    for name, pixels in at.items():
        yield written(name, WIDTH + 9, pixels)


def written(words: str, x: float, y: float, **mark: Any) -> Spec:
    """A word at a place of the chart, in pixels."""
    kind = {"type": "text", "align": "left", "baseline": "middle", "color": INK, "fontSize": 12, **mark}
    place = {"x": {"value": x}, "y": {"value": y}, "text": {"field": "words"}}
    return {"data": {"values": [{"words": words}]}, "mark": kind, "encoding": place}


def spread(places: Mapping[str, float], *, apart: float) -> dict[str, float]:
    """Places moved as little as it takes to lie `apart` from each other, in their order.

    >>> spread({"a": 10, "b": 12, "c": 100}, apart=14)
    {'a': 4.0, 'b': 18.0, 'c': 100.0}
    """
    groups: list[tuple[list[str], float]] = []  # names in order, and the middle of their places
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        members, middle = [name], float(place)
        while (
            groups
            and middle - (len(members) - 1) * apart / 2 < groups[-1][1] + (len(groups[-1][0]) - 1) * apart / 2 + apart
        ):
            before, at = groups.pop()
            middle = (at * len(before) + middle * len(members)) / (len(before) + len(members))
            members = before + members
        groups.append((members, middle))
    return {
        name: middle + (i - (len(members) - 1) / 2) * apart
        for members, middle in groups
        for i, name in enumerate(members)
    }


def _cases(report: Report, kind: str, turns: int, x: Spec) -> Iterator[Spec]:
    """How many cases a turn rests on, above the plot."""
    cases = cases_by_turn(report, kind)
    room = 11 if max(cases.values(), default=0) < 1000 else 7
    shown = [{"x": turn, "words": number(cases[turn])} for turn in ticks(turns, ceil(turns / room)) if turn in cases]
    if shown:
        mark = {"type": "text", "baseline": "bottom", "color": MUTED, "fontSize": 10.5}
        encoding = {"x": x, "y": {"value": -6}, "text": {"field": "words"}}
        yield {"data": {"values": shown}, "mark": mark, "encoding": encoding}


# ---- the gap ---------------------------------------------------------------------------------------------------------


def _gap(numbers: Numbers, kind: str, shown: Sequence[str]) -> Iterator[Figure]:
    rows = numbers.turn_ends("decay_gap", kind, "live")
    points = _points(rows, "D")
    # One scale for all sets: they stand beside each other.
    every = [point for one in shown for point in _points(numbers.turn_ends("decay_gap", one, "live"), "D")]
    seen = [point[key] for point in every for key in ("low", "value", "high") if point[key] is not None]
    if all(point["value"] is None for point in points):
        return
    low, high = floor(10 * min([-0.1, *seen])) / 10, ceil(10 * max([0.1, *seen])) / 10
    x = along(numbers.turns)
    scale = {"domain": [low, high], "nice": False}
    y: Spec = {"field": "value", "type": "quantitative", "title": "D(t) = live − oracle", "scale": scale}
    zero = {"type": "rule", "color": INK, "strokeWidth": 1}
    layer = [
        *_drawn({"live": points}, x, y),
        {"data": {"values": [{}]}, "mark": zero, "encoding": {"y": {"datum": 0}}},
    ]
    says = ["On the line at 0 the conversation costs nothing; below it, facts. Band: 95 % intervals."]
    last = next((e for e in reversed(rows) if e is not None and e.value is not None), None)
    if last is not None:
        says.append(f"At turn {last.slice['turn']}: {value_words(last)} ({ends(last)}).")
    spec = {**base(width=WIDTH, height=HEIGHT), "layer": layer}
    yield Figure(f"gap-{kind}", f"Decay gap by turn, {SET_WORDS[kind]}", spec, tuple(says), gap_table(numbers, kind))


# ---- outcomes --------------------------------------------------------------------------------------------------------


def _outcomes(numbers: Numbers, setting: Setting) -> Iterator[Figure]:
    told = [one for one in tallies(numbers, setting.kind, setting.arm) if one.facts]
    if not told:
        return
    words = [name for _, name in OUTCOMES]
    wide = 0.41 if numbers.turns <= 30 else 0.5
    data = [piece for one in told for piece in _pieces(one, wide)]
    x = along(numbers.turns)
    x["scale"] = {"domain": [0.5, numbers.turns + 0.5], "nice": False, "zero": False}
    y: Spec = {
        "field": "from",
        "type": "quantitative",
        "title": "share of the facts due",
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {"format": ".0%"},
    }
    present = [name for name in words if any(one.counts[name] for one in told)]
    legend = {
        "symbolType": "square",
        "symbolSize": 130,
        "columns": 3,
        "symbolStrokeColor": MUTED,
        "symbolStrokeWidth": 0.8,
    }
    colours = [_STACK[words.index(name)] for name in present]
    sides = {
        "x": {**x, "field": "left"},
        "x2": {"field": "right"},
        "y": y,
        "y2": {"field": "to"},
        "color": {"field": "which", "scale": {"domain": present, "range": colours}, "legend": legend},
    }
    bars = {"type": "rect", "stroke": MUTED, "strokeWidth": 0.6, "opacity": 1}
    axis = {"data": {"values": []}, "mark": "point", "encoding": {"x": x, "y": {**y, "field": "to"}}}
    layer = [{"data": {"values": data}, "mark": bars, "encoding": sides}, axis]
    first, last = told[0], told[-1]
    says = [f"{_told(first)} {_told(last)}" if last is not first else _told(first)]
    never = [name for name in words if name not in present]
    if never:
        says.append(f"Never seen: {', '.join(never)}.")
    spec = {**base(width=WIDTH + 60, height=HEIGHT), "layer": layer}
    title = f"Outcomes of {setting.kind} facts by turn, arm {setting.arm}"
    yield Figure("outcomes", title, spec, tuple(says), outcomes_table(numbers, setting))


def _pieces(one: Tally, wide: float) -> Iterator[Point]:
    below = 0
    for _, name in OUTCOMES:
        count = one.counts[name]
        if count:
            yield {
                "left": one.turn - wide,
                "right": one.turn + wide,
                "from": below / one.facts,
                "to": (below + count) / one.facts,
                "which": name,
            }
        below += count


def _told(one: Tally) -> str:
    parts = [f"{percent(one.counts[name] / one.facts)} {name}" for _, name in OUTCOMES if one.counts[name]]
    return f"Turn {one.turn}: {', '.join(parts)} of {number(one.facts)} facts."
