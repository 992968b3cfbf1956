"""Alerts that open, are acknowledged, close after quiet windows and reopen on relapse: one per cause, never two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from workup.errors import InputError
from workup.report import canonical

State = Literal["open", "acknowledged", "resolved"]
Severity = Literal["medium", "high"]


@dataclass(frozen=True)
class Finding:
    """What one window says of one cause: whether it fires, how large the effect is, and in which words.

    `fires` None means that the window could not tell: it neither feeds an alert nor counts as quiet.
    """

    type: str
    metric: str
    slice: Mapping[str, Any]
    window: str
    fires: bool | None
    effect: float | None = None
    severity: Severity = "medium"
    message: str = ""

    @property
    def cause(self) -> str:
        """What makes two findings the same alert."""
        return canonical([self.type, self.metric, self.slice])


@dataclass(frozen=True)
class Alert:
    """One alert through its life. `quiet` counts the windows since it last fired, `relapses` how often it came back.

    Effect, severity and message are those of the worst window since it opened, so that they agree with each other.
    """

    type: str
    metric: str
    slice: Mapping[str, Any]
    window: str  # in which it opened, or opened again
    severity: Severity
    effect: float
    state: State
    message: str
    worst_window: str = ""
    last_window: str = ""
    last_effect: float | None = None
    resolved_window: str = ""
    quiet: int = 0
    relapses: int = 0

    def as_row(self) -> dict[str, Any]:
        """Plain data, as the record holds it."""
        return dict(vars(self))


@dataclass(frozen=True)
class Alerts:
    """All alerts so far, by cause. `after` answers the alerts after one more window; nothing is changed in place.

    >>> seen = Alerts(quiet_windows=2)
    >>> for window, fires in [("May", True), ("June", True), ("July", False), ("August", False), ("September", True)]:
    ...     seen = seen.after([Finding("performance", "auroc", {}, window, fires, -0.07, message="AUROC fell")])
    ...     print(window, [(alert.state, alert.relapses) for alert in seen.listed()])
    May [('open', 0)]
    June [('open', 0)]
    July [('open', 0)]
    August [('resolved', 0)]
    September [('open', 1)]
    """

    quiet_windows: int = 3
    held: Mapping[str, Alert] = field(default_factory=dict)

    def after(self, findings: Iterable[Finding]) -> Alerts:
        """The alerts once these findings of one window are counted in.

        A window says one thing of each cause: of several findings, one that fires before one that does not.
        """
        said: dict[str, Finding] = {}
        for finding in findings:
            other = said.get(finding.cause)
            if other is None or _weight(finding) > _weight(other):
                said[finding.cause] = finding
        held = dict(self.held)
        for cause, finding in said.items():
            now = self._next(held.get(cause), finding)
            if now is not None:
                held[cause] = now
        return replace(self, held=held)

    def _next(self, before: Alert | None, finding: Finding) -> Alert | None:
        if finding.fires is None:
            return before
        if not finding.fires:
            return None if before is None else self._quieter(before, finding.window)
        if before is None or before.state == "resolved":
            return _opened(finding, relapses=0 if before is None else before.relapses + 1)
        assert finding.effect is not None
        fed = replace(before, last_window=finding.window, last_effect=finding.effect, quiet=0)
        if abs(finding.effect) <= abs(before.effect):
            return fed
        return replace(
            fed,
            effect=finding.effect,
            severity=finding.severity,
            message=finding.message,
            worst_window=finding.window,
        )

    def _quieter(self, alert: Alert, window: str) -> Alert:
        if alert.state == "resolved":
            return alert
        quiet = alert.quiet + 1
        if quiet < self.quiet_windows:
            return replace(alert, quiet=quiet)
        return replace(alert, quiet=quiet, state="resolved", resolved_window=window)

    def acknowledged(self, cause: str) -> Alerts:
        """The same with one open alert marked as seen by someone."""
        if cause not in self.held:
            raise InputError("an alert that was raised was expected", got="a cause without one")
        alert = self.held[cause]
        if alert.state != "open":
            return self
        return replace(self, held={**self.held, cause: replace(alert, state="acknowledged")})

    def listed(self) -> list[Alert]:
        """Alerts that are still open first, the severe ones before the others, then by cause."""
        order = {"open": 0, "acknowledged": 1, "resolved": 2}
        return [
            alert
            for _, alert in sorted(
                self.held.items(), key=lambda item: (order[item[1].state], item[1].severity != "high", item[0])
            )
        ]


def _weight(finding: Finding) -> tuple[int, float]:
    order = {None: 0, False: 1, True: 2}[finding.fires]
    return order, abs(finding.effect) if finding.effect is not None else 0.0


def _opened(finding: Finding, *, relapses: int) -> Alert:
    assert finding.effect is not None
    return Alert(
        finding.type,
        finding.metric,
        finding.slice,
        finding.window,
        finding.severity,
        finding.effect,
        "open",
        finding.message,
        worst_window=finding.window,
        last_window=finding.window,
        last_effect=finding.effect,
        relapses=relapses,
    )
