"""What each metric at a horizon is, in the order of the report: those of risk prediction, and two of its own."""

from __future__ import annotations

from workup.metric import Card
from workup.tasks.risk.cards import CARDS as OF_RISK

OBSERVED_RISK, C_INDEX = "observed_risk", "c_index"

_OWN = {
    OBSERVED_RISK: Card(
        title="observed risk",
        describe="share with the event by the horizon, where some are lost before it and others have a competing event "
        "first (Aalen and Johansen's estimate)",
        better="neither",
        section="overall",
        shown=("headline", "groups"),
    ),
    C_INDEX: Card(
        title="Uno's C",
        describe="chance that of two patients the one with the earlier event has the higher risk; it speaks of the "
        "order of events up to the horizon and not of the risk at it",
        scale="logit",
        section="overall",
    ),
}

# Left out at a horizon: AUPRC, Nagelkerke's R² and ECE have no form under censoring that others would recognise.
_NAMES = (
    *("auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio", OBSERVED_RISK, "brier", "scaled_brier"),
    *("ici", "e50", "e90", "emax", C_INDEX),
    *("sensitivity", "specificity", "ppv", "npv", "alert_rate", "net_benefit", "accuracy", "f1"),
)

CARDS = {name: {**OF_RISK, **_OWN}[name] for name in _NAMES}
