"""The types of fact that rates are sliced by, in the order of a page: what harms first."""

from __future__ import annotations

DOSE, SAFETY = "dose", "safety"
BY_TYPE = (
    *("allergy", "medication", DOSE, "risk", SAFETY),
    *("diagnosis", "symptom", "result", "procedure", "social", "plan"),
)
# Slices that a gate names by default: they say why there is nothing to judge, where there is not.
ALWAYS_SHOWN = ("allergy", DOSE, SAFETY)
FEWEST_CLUSTERS_OF_TYPE = 5  # with a fact of the type, below which a rate is shown and nothing is judged by it
