"""What each metric of episodes is, in the order of the report: alarms and events first, then the risks as such."""

from __future__ import annotations

from workup.metric import Card, Concern
from workup.tasks.risk.cards import CARDS as RISK_CARDS

EVENTS, ALARMS, STAYS = "events", "alarms", "stays"

EPISODE_CARDS = {
    "event_sensitivity": Card(
        title="events flagged in time",
        describe="share of all events before which an alert fired early enough; an event that was never scored is a "
        "miss",
        scale="logit",
        unit="share",
        section=EVENTS,
        shown=("headline", "groups", "gaps", "cards", "latest", "forests"),
    ),
    "alert_ppv": Card(
        title="PPV of alerts",
        describe="share of judged alerts that the event followed in time",
        scale="logit",
        unit="share",
        section=ALARMS,
        shown=("headline", "groups", "gaps", "cards", "latest", "forests"),
    ),
    "nne": Card(
        title="alerts per true alert",
        describe="judged alerts that have to be looked at for each true one",
        better="lower",
        scale="log",
        section=ALARMS,
        pooled=False,
    ),
    "alarm_rate": Card(
        title="alarms per 100 patient-days",
        describe="all alerts fired in a hundred days of patients watched, after the event too, since nurses hear those",
        better="lower",
        scale="log",
        concern=Concern(medium=10, high=25, in_group=15),
        section=ALARMS,
        shown=("headline", "groups", "cards", "latest", "forests"),
    ),
    "lead_time_median": Card(
        title="median lead time",
        describe="hours from the first useful alert to the event, of flagged events only; it rises when late ones are "
        "lost",
        section=EVENTS,
        shown=("cards",),
        pooled=False,
    ),
    "flagged_before": Card(
        title="events flagged so long before",
        describe="share of all events flagged at least so many hours before",
        scale="logit",
        unit="share",
        section=EVENTS,
        shown=("groups",),
    ),
    "lead_time_mean": Card(
        title="mean lead time, a miss as 0",
        describe="hours of warning per event, where an event that was not flagged had none",
        section=EVENTS,
        pooled=False,
    ),
    "event_sensitivity_scored": Card(
        title="scored events flagged",
        describe="share flagged of the events that were scored in time at all",
        scale="logit",
        unit="share",
        section=EVENTS,
    ),
    "event_coverage": Card(
        title="events scored",
        describe="share of events with a prediction in time, flagged or not",
        scale="logit",
        unit="share",
        section=EVENTS,
        shown=("groups",),
    ),
    "event_sensitivity_by_score": Card(
        title="events above the threshold",
        describe="share of events with a score in time at or above the threshold, whether or not its alert was "
        "silenced; what is more than the flagged is what silencing hides",
        scale="logit",
        unit="share",
        section=EVENTS,
    ),
    "encounter_ppv": Card(
        title="PPV of stays with alerts",
        describe="share of stays with a judged alert in which at least one was true",
        scale="logit",
        unit="share",
        section=STAYS,
        shown=("headline", "groups"),
    ),
    "nne_encounter": Card(
        title="stays per stay with a true alert",
        describe="stays with judged alerts for each in which one was true",
        better="lower",
        scale="log",
        section=STAYS,
        pooled=False,
    ),
    "alerts_per_flagged_event": Card(
        title="judged alerts per flagged event",
        describe="judged alerts for each event that was flagged",
        better="lower",
        scale="log",
        section=ALARMS,
        pooled=False,
    ),
    "alert_acted_share": Card(
        title="alerts acted on",
        describe="share of alerts that an intervention followed soon",
        better="neither",
        scale="logit",
        unit="share",
        section=ALARMS,
    ),
}
CARDS = {**EPISODE_CARDS, **RISK_CARDS}
