"""The time axis of a chart, with those at risk, the events and the competing events written under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.reports.charts.figure import HEIGHT, INK, Spec
from workup.reports.wording import count

_BELOW, _LINE = 58, 16  # from the axis down to the first line of figures, and from line to line
_SIDE = -26  # names of the lines end here, left of the axis


class Axis:
    """Days as a reader thinks of them: years beyond two of them, hours below two days, else days."""

    def __init__(self, longest: float) -> None:
        self.unit, self.length = (
            ("years", 365.25) if longest > 730 else ("hours", 1 / 24) if longest < 2 else ("days", 1.0)
        )

    def place(self, days: float) -> float:
        """Where a moment stands on the axis."""
        return days / self.length

    def x(self, longest: float) -> Spec:
        """The axis as an encoding; its field is `at`."""
        scale = {"domain": [0, self.place(longest)], "nice": False}
        title = f"{self.unit} since the prediction"
        return {"field": "at", "type": "quantitative", "title": title, "scale": scale}

    def under(
        self, lines: Mapping[str, Sequence[tuple[float, float | None]]], x: Spec, *, height: int = HEIGHT
    ) -> list[Spec]:
        """Lines of figures under the axis: a name, and a figure at each moment in days."""
        layers: list[Spec] = []
        for place, (name, figures) in enumerate(lines.items()):
            y = height + _BELOW + _LINE * place
            rows: list[dict[str, Any]] = [{"at": self.place(day), "n": count(value)} for day, value in figures]
            text = {"type": "text", "color": INK, "fontSize": 11, "baseline": "middle"}
            at = {"x": x, "y": {"value": y}, "text": {"field": "n"}}
            layers.append({"data": {"values": rows}, "mark": text, "encoding": at})
            left = {"x": {"value": _SIDE}, "y": {"value": y}, "text": {"field": "name"}}
            layers.append({"data": {"values": [{"name": name}]}, "mark": {**text, "align": "right"}, "encoding": left})
        return layers
