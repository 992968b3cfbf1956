"""What a study of span detectors says beside what every study says: what must be masked, when it counts as found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from workup.study import Study


class SpansStudy(Study):
    """A study of span detectors."""

    policies: tuple[str, ...] = Field(
        (), description="What must be masked: policies by name or file; as_annotated if none"
    )
    modes: tuple[str, ...] = Field(
        (),
        description="Matching modes such as strict, iou:0.5, full_mask; five if none",
        examples=[["strict", "full_mask"]],
    )
    levels: tuple[str, ...] = Field(
        (), description="Levels of labels compared: leaf, branch, phi; all if none", examples=[["leaf", "phi"]]
    )
    labels: str = Field(
        "", description="Mapping of the labels to canonical ones: a name, a file, or several joined by +"
    )
    ignore: tuple[str, ...] = Field((), description="Labels that count on neither side")
    equivalent: tuple[str, ...] = Field((), description="Types taken as equal in a second column, such as ORG=LOC")
    utility: Literal["none", "lexicon"] = Field(
        "none", description="What finds the clinical terms whose survival under masking is counted (retention)"
    )
