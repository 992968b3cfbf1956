"""Facts that several tests speak of."""

from __future__ import annotations

from workup.tasks.conversation.cases.facts import Fact

PENICILLIN = Fact("penicillin", "allergy", "penicillin", ("PCN",))
WARFARIN = Fact(
    "warfarin",
    "medication",
    "warfarin",
    ("Coumadin",),
    attributes={"dose_value": 5, "dose_unit": "mg", "frequency": "once daily", "route": "oral"},
)
METFORMIN = Fact(
    "metformin", "medication", "metformin", attributes={"dose_value": 500, "dose_unit": "mg", "frequency": "BID"}
)
ASTHMA = Fact("asthma", "diagnosis", "asthma")
NO_CHEST_PAIN = Fact("chest_pain", "symptom", "chest pain", status="absent")
OLD_STROKE = Fact("stroke", "diagnosis", "stroke", status="historical")
FAMILY_CANCER = Fact("cancer", "diagnosis", "breast cancer", status="family")
POSSIBLE_PE = Fact("pe", "diagnosis", "pulmonary embolism", ("PE",), status="uncertain")
LEFT_KNEE = Fact("knee", "symptom", "knee pain", attributes={"laterality": "left"})
SMOKER = Fact("smoker", "social", "smoker")
ALL = (
    PENICILLIN,
    WARFARIN,
    METFORMIN,
    ASTHMA,
    NO_CHEST_PAIN,
    OLD_STROKE,
    FAMILY_CANCER,
    POSSIBLE_PE,
    LEFT_KNEE,
    SMOKER,
)
