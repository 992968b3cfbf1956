"""Episodes again, by plain loops over the definition: slow, and written to be read beside it. Times are minutes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FATES = ("outside", "undated", "present", "after_event", "stopped", "late", "case", "control", "unknown")
JUDGED = ("case", "control", "unknown")


@dataclass
class Settings:
    """Settings in minutes; `horizon` None is the stay, `refractory` None one alert a stay."""

    horizon: int | None
    gap: int = 0
    present: int = 0
    recurrent: bool = False
    rest: int = 0
    discharge: str = "free"
    stop_at: tuple[str, ...] = ()
    as_of: int | None = None
    policy: str = "level"
    refractory: int | None = 0
    act_within: int = 360
    landmarks: tuple[int, ...] = ()
    stale: int = 1440


@dataclass
class Stay:
    """One encounter with all that belongs to it."""

    name: str
    patient: str
    predictions: list[tuple[int, float, str]] = field(default_factory=list)  # time, risk, ward
    events: list[tuple[str, int | None]] = field(default_factory=list)
    start: int = 0
    end: int = 0
    how: str = ""
    undated: bool = False
    present: bool = False
    onsets: list[int] = field(default_factory=list)
    merged: int = 0
    later: int = 0
    after_end: int = 0

    def times(self, *types: str) -> list[int]:
        return sorted(time for kind, time in self.events if kind in types and time is not None)

    def lay_out(self, s: Settings) -> None:
        """Span and onsets."""
        begins = self.times("start")
        self.start = begins[0] if begins else min(time for time, _, _ in self.predictions)
        ends = [
            (time, order, how)
            for order, (kind, how) in enumerate((("death", "death"), ("end", "discharge"), ("lost", "lost")))
            for time in self.times(kind)
            if time >= self.start
        ]
        if ends:
            self.end, _, self.how = min(ends)
        if not ends or (s.as_of is not None and s.as_of < self.end):
            assert s.as_of is not None
            self.end, self.how = s.as_of, "open"
        self.undated = any(kind == "target" and time is None for kind, time in self.events)
        self.onsets, self.merged, self.later, self.after_end = [], 0, 0, 0
        for time in self.times("target"):
            if time > self.end:
                self.after_end += 1
            elif self.onsets and (time == self.onsets[-1] or time - self.onsets[-1] < s.rest):
                self.merged += 1
            elif self.onsets and not s.recurrent:
                self.later += 1
            else:
                self.onsets.append(time)
        self.present = bool(self.onsets) and self.onsets[0] <= self.start + s.present

    def eligible(self, s: Settings) -> list[int]:
        return [] if self.undated else [onset for onset in self.onsets if onset > self.start + s.present]

    def next_onset(self, moment: int) -> int | None:
        return next((onset for onset in self.onsets if onset > moment), None)

    def fate(self, moment: int, s: Settings) -> str:
        """The one fate of a moment."""
        if moment < self.start or moment >= self.end:
            return "outside"
        if self.undated:
            return "undated"
        if self.present and (not s.recurrent or moment < self.onsets[0]):
            return "present"
        for onset in self.onsets:
            if onset <= moment and (not s.recurrent or moment < onset + s.rest):
                return "after_event"
        stops = self.times(*s.stop_at)
        if stops and moment >= stops[0]:
            return "stopped"
        onset_next = self.next_onset(moment)
        if onset_next is not None:
            lead = onset_next - moment
            if lead < s.gap:
                return "late"
            return "case" if s.horizon is None or lead <= s.horizon else "control"
        if s.horizon is not None and self.end - moment >= s.horizon:
            return "control"
        if self.how == "death" or (self.how == "discharge" and s.discharge == "free"):
            return "control"
        return "unknown"

    def inside(self, s: Settings) -> list[tuple[int, float, str]]:
        return [one for one in sorted(self.predictions) if self.fate(one[0], s) != "outside"]

    def alerts(self, threshold: float, s: Settings) -> list[int]:
        """When alerts fire."""
        fired: list[int] = []
        before: float | None = None
        for time, risk, _ in self.inside(s):
            crosses = before is None or before < threshold
            before = risk
            if risk < threshold or (s.policy == "crossing" and not crosses):
                continue
            if fired and (s.refractory is None or time - fired[-1] < s.refractory):
                continue
            fired.append(time)
        return fired

    def acted(self, alert: int, s: Settings) -> bool:
        return any(alert < time <= min(alert + s.act_within, self.end) for time in self.times("intervention"))


def placed(stays: list[Stay], loose: list[tuple[str, str, int]], s: Settings) -> int | None:
    """Give events without an encounter to the stay of their patient that they lie in; how many lie in none.

    None where one lies in two.
    """
    for one in stays:
        one.lay_out(s)
    nowhere, found = 0, []
    for patient, kind, time in loose:
        homes = [one for one in stays if one.patient == patient and one.start <= time <= one.end]
        if len(homes) > 1:
            return None
        nowhere += not homes
        found += [(one, kind, time) for one in homes]
    for one, kind, time in found:
        one.events.append((kind, time))
    for one in stays:
        one.lay_out(s)
    return nowhere


def counted(stays: list[Stay], threshold: float, s: Settings, ward: str | None = None) -> dict[str, Any]:
    """All additive counts at a threshold, of all or of one ward."""
    total: dict[str, Any] = dict.fromkeys(
        ("predictions", "minutes", "alerts", "suppressed", "acted_alerts", "true_alerts", "false_alerts"), 0
    )
    total |= dict.fromkeys(("neutral_alerts", "events", "scored_events", "flagged_events", "flagged_by_score"), 0)
    total |= dict.fromkeys(("judged_encounters", "true_encounters"), 0)
    total["leads"] = []
    for stay in stays:
        inside, alerts = stay.inside(s), stay.alerts(threshold, s)
        for place, (time, risk, at) in enumerate(inside):
            if ward not in (None, at):
                continue
            until = inside[place + 1][0] if place + 1 < len(inside) else stay.end
            total["predictions"] += 1
            total["minutes"] += until - time
            total["suppressed"] += risk >= threshold and time not in alerts
            if time in alerts:
                fate = stay.fate(time, s)
                total["alerts"] += 1
                total["acted_alerts"] += stay.acted(time, s)
                verdict = {"case": "true", "control": "false"}.get(fate, "neutral")
                total[f"{verdict}_alerts"] += 1
        if ward is None and inside:
            verdicts = [stay.fate(time, s) for time in alerts]
            total["judged_encounters"] += any(one in ("case", "control") for one in verdicts)
            total["true_encounters"] += "case" in verdicts
        for onset in stay.eligible(s):
            before = [at for time, _, at in inside if time <= onset]
            if ward not in (None, before[-1] if before else "missing"):
                continue
            mine = [
                (time, risk)
                for time, risk, _ in inside
                if stay.fate(time, s) == "case" and stay.next_onset(time) == onset
            ]
            flags = [time for time, _ in mine if time in alerts]
            total["events"] += 1
            total["scored_events"] += bool(mine)
            total["flagged_events"] += bool(flags)
            total["flagged_by_score"] += any(risk >= threshold for _, risk in mine)
            total["leads"] += [onset - flags[0]] if flags else []
    total["leads"].sort()
    return total


def cases(stays: list[Stay], unit: str, score: str, s: Settings) -> list[tuple[str, str, float, float | None]]:
    """Case rows as (patient, stay or landmark, risk, outcome), None where the outcome is not known."""
    known = {"case": 1.0, "control": 0.0, "unknown": None}
    rows: list[tuple[str, str, float, float | None]] = []
    timed: list[tuple[str, int, str, float, float | None]] = []
    for stay in stays:
        inside = stay.inside(s)
        judged = [(time, risk) for time, risk, _ in inside if stay.fate(time, s) in JUDGED]
        if unit == "prediction":
            rows += [(stay.patient, f"{stay.name} {time}", risk, known[stay.fate(time, s)]) for time, risk in judged]
            continue
        if unit == "landmark":
            for landmark in s.landmarks:
                moment = stay.start + landmark
                force = [risk for time, risk, _ in inside if moment - s.stale < time <= moment]
                if stay.fate(moment, s) in JUDGED and force:
                    rows.append((stay.patient, f"{stay.name} {landmark}", force[-1], known[stay.fate(moment, s)]))
            continue
        if score == "first":
            if judged:
                time, risk = judged[0]
                timed.append((stay.patient, time, stay.name, risk, known[stay.fate(time, s)]))
            continue
        eligible = stay.eligible(s)
        if eligible:
            judged = [(time, risk) for time, risk in judged if time < eligible[0] and time <= eligible[0] - s.gap]
        if judged:
            risk = _reduced([risk for _, risk in judged], score)
            outcome = 1.0 if eligible else 0.0 if stay.how in ("death", "discharge") else None
            timed.append((stay.patient, judged[0][0], stay.name, risk, outcome))
    if unit == "encounter":
        return [(patient, name, risk, outcome) for patient, _, name, risk, outcome in timed]
    for patient in sorted({one[0] for one in timed}):
        mine = sorted(one for one in timed if one[0] == patient)
        outcomes = [one[4] for one in mine]
        outcome = outcomes[0] if score == "first" else 1.0 if 1.0 in outcomes else None if None in outcomes else 0.0
        rows.append((patient, patient, _reduced([one[3] for one in mine], score), outcome))
    return rows


def _reduced(risks: list[float], score: str) -> float:
    if score == "mean":
        return sum(risks) / len(risks)
    return {"max": max(risks), "first": risks[0], "last": risks[-1]}[score]
