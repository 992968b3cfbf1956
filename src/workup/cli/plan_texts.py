"""`workup plan leak` and `workup plan decay`: sizes of corpora of texts and of conversations."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from workup.cli.plan_options import AsOf, Confidence, Json, Name, Out, Power, tell


def leak(
    bound: Annotated[float | None, typer.Option(help="Leak rate that is to be ruled out")] = None,
    leak_rate: Annotated[float, typer.Option(help="True leak rate expected, under the bound")] = 0.0,
    recall1: Annotated[float | None, typer.Option(help="Recall in one group, for a gap instead of a bound")] = None,
    recall2: Annotated[float | None, typer.Option(help="Recall in the other group")] = None,
    icc: Annotated[float | None, typer.Option(help="Correlation of golds within a document, from a pilot")] = None,
    design_effect: Annotated[float | None, typer.Option(help="Design effect of a pilot, in its place")] = None,
    golds_per_document: Annotated[float, typer.Option(help="Golds in a document on average")] = 1.0,
    assurance: Annotated[float, typer.Option(help="Chance of showing the bound, at the leak rate expected")] = 0.8,
    level: Annotated[float, typer.Option(help="Level of the interval")] = 0.95,
    sides: Annotated[str, typer.Option(help="one or two: whose upper end is held to the bound")] = "two",
    bound_method: Annotated[str, typer.Option(help="wilson or clopper-pearson")] = "wilson",
    alpha: Confidence = 0.05,
    power: Power = 0.8,
    method: Annotated[str, typer.Option(help="pooled, unpooled, continuity or arcsine, for a gap")] = "pooled",
    n: Annotated[int | None, typer.Option("--n", help="Golds at hand, in each group: shows what they reach")] = None,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """Golds and documents that rule out a leak rate, or that show a gap in recall."""
    from workup.lenses.power.plans import plan_leak

    given: dict[str, Any] = {"sides": sides, "bound_method": bound_method, "method": method}
    result = plan_leak(
        bound=bound,
        leak_rate=leak_rate,
        recall1=recall1,
        recall2=recall2,
        icc=icc,
        design_effect=design_effect,
        golds_per_document=golds_per_document,
        assurance=assurance,
        level=level,
        alpha=alpha,
        power=power,
        n=n,
        **given,
    )
    tell(result, name=name, as_of=as_of, json=json, out=out)


def decay(
    slope: Annotated[float | None, typer.Option(help="Change of recall a turn that matters, such as -0.02")] = None,
    start: Annotated[float, typer.Option(help="Recall expected at the first turn")] = 0.95,
    turns: Annotated[int, typer.Option(help="Turns of a conversation")] = 10,
    facts: Annotated[float, typer.Option(help="Facts in a case")] = 8.0,
    slope_sd: Annotated[float, typer.Option(help="Spread of slopes between cases, from a pilot")] = 0.0,
    live: Annotated[float | None, typer.Option(help="Recall live at one turn, for a gap instead of a slope")] = None,
    oracle: Annotated[float | None, typer.Option(help="Recall with the whole history given")] = None,
    icc: Annotated[float, typer.Option(help="Correlation of facts within a case, for a gap")] = 0.0,
    correlation: Annotated[float, typer.Option(help="Correlation between turns, or of live and oracle")] = 0.0,
    alpha: Confidence = 0.05,
    power: Power = 0.8,
    n: Annotated[int | None, typer.Option("--n", help="Cases at hand: shows what they reach")] = None,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """Cases with which a decay over turns, or a gap at one turn, is found."""
    from workup.lenses.power.plans import plan_decay

    result = plan_decay(
        slope=slope,
        start=start,
        turns=turns,
        facts=facts,
        slope_sd=slope_sd,
        live=live,
        oracle=oracle,
        icc=icc,
        correlation=correlation,
        alpha=alpha,
        power=power,
        n=n,
    )
    tell(result, name=name, as_of=as_of, json=json, out=out)
