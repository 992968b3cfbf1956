"""`workup plan …`: how many patients a study needs, and what those at hand can show, before any data are seen."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from workup.cli.common import command
from workup.cli.plan_options import (
    Adjust,
    Allocation,
    Alpha,
    AsOf,
    Assurance,
    AtHand,
    Groups,
    Json,
    Name,
    Out,
    Power,
    Prevalence,
    Testing,
    parsed_groups,
    tell,
)
from workup.cli.plan_texts import decay, leak
from workup.errors import InputError

_EXAMPLES = {
    "proportions": "workup plan proportions --p1 0.80 --difference 0.05 --prevalence 0.1 --groups A:0.7 --groups B:0.3",
    "auc": "workup plan auc --auc1 0.80 --auc2 0.85 --prevalence 0.1",
    "precision": "workup plan precision --prevalence 0.1 --cstatistic 0.8 --threshold 0.1 --sensitivity 0.6 "
    "--specificity 0.8",
    "develop": "workup plan develop --prevalence 0.2 --parameters 10 --cox-snell 0.2",
    "leak": "workup plan leak --bound 0.01 --leak-rate 0.002 --icc 0.1 --golds-per-document 8",
    "decay": "workup plan decay --slope -0.02 --start 0.95 --turns 10 --facts 8 --slope-sd 0.03",
}


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(
        help="How many patients a study needs, and what those at hand can show.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    for function in (proportions, auc, precision, develop, leak, decay):
        name = function.__name__
        command(group, name=name, example=_EXAMPLES[name])(function)
    app.add_typer(group, name="plan")


def proportions(
    p1: Annotated[float, typer.Option(help="Proportion expected in the first group, such as its sensitivity")],
    p2: Annotated[float | None, typer.Option(help="Proportion in another group that is to be told apart")] = None,
    difference: Annotated[float | None, typer.Option(help="Gap that matters, planned in both directions")] = None,
    groups: Groups = None,
    prevalence: Prevalence = None,
    of: Annotated[
        str | None,
        typer.Option(help="What the proportion rests on: positives (sensitivity), negatives (specificity) or patients"),
    ] = None,
    alpha: Alpha = 0.05,
    power: Power = 0.8,
    allocation: Allocation = 1.0,
    testing: Testing = "all-pairs",
    adjust: Adjust = "bonferroni",
    method: Annotated[str, typer.Option(help="pooled, unpooled, continuity or arcsine")] = "pooled",
    n: AtHand = None,
    assurance: Assurance = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation behind a gatekeeper")] = 0,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """Patients that tell a proportion in one group from that in another."""
    from workup.lenses.power.plans import plan_proportions

    given: dict[str, Any] = {"of": of, "testing": testing, "adjust": adjust, "method": method}
    result = plan_proportions(
        p1,
        p2=p2,
        difference=difference,
        groups=parsed_groups(groups),
        prevalence=prevalence,
        alpha=alpha,
        power=power,
        allocation=allocation,
        n=n,
        assurance=assurance,
        seed=seed,
        **given,
    )
    tell(result, name=name, as_of=as_of, seed=seed, json=json, out=out)


def auc(
    auc1: Annotated[float, typer.Option(help="AUC expected in the first group, or of the first model")],
    auc2: Annotated[float | None, typer.Option(help="AUC that is to be told apart")] = None,
    difference: Annotated[float | None, typer.Option(help="Gap that matters, planned in both directions")] = None,
    prevalence: Prevalence = None,
    groups: Groups = None,
    correlation: Annotated[
        float | None, typer.Option(help="Correlation of the two AUCs, for two models on the same patients only")
    ] = None,
    scores: Annotated[
        str, typer.Option(help="Shape of the risks in either class: exponential (Hanley and McNeil) or normal")
    ] = "exponential",
    alpha: Alpha = 0.05,
    power: Power = 0.8,
    allocation: Allocation = 1.0,
    testing: Testing = "all-pairs",
    adjust: Adjust = "bonferroni",
    n: AtHand = None,
    assurance: Assurance = None,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """Patients that tell the AUC in one group from that in another, or two models on the same patients apart."""
    from workup.lenses.power.plans import plan_auc

    given: dict[str, Any] = {"testing": testing, "adjust": adjust, "scores": scores}
    result = plan_auc(
        auc1,
        auc2=auc2,
        difference=difference,
        prevalence=prevalence,
        groups=parsed_groups(groups),
        correlation=correlation,
        alpha=alpha,
        power=power,
        allocation=allocation,
        n=n,
        assurance=assurance,
        **given,
    )
    tell(result, name=name, as_of=as_of, json=json, out=out)


def precision(
    prevalence: Annotated[float, typer.Option(help="Share of patients with the outcome")],
    cstatistic: Annotated[float | None, typer.Option(help="C-statistic expected")] = None,
    lp_mean: Annotated[float | None, typer.Option(help="Mean of the linear predictors (log odds of risk)")] = None,
    lp_sd: Annotated[float | None, typer.Option(help="Standard deviation of the linear predictors")] = None,
    threshold: Annotated[float | None, typer.Option(help="Decision threshold of the net benefit")] = None,
    sensitivity: Annotated[float | None, typer.Option(help="Sensitivity expected at the threshold")] = None,
    specificity: Annotated[float | None, typer.Option(help="Specificity expected at the threshold")] = None,
    oe_width: Annotated[float, typer.Option(help="Width of the interval of observed / expected")] = 0.2,
    slope_width: Annotated[float, typer.Option(help="Width of the interval of the calibration slope")] = 0.2,
    auroc_width: Annotated[float, typer.Option(help="Width of the interval of the AUROC")] = 0.1,
    net_benefit_width: Annotated[float, typer.Option(help="Width for the standardised net benefit")] = 0.2,
    groups: Annotated[
        list[str] | None, typer.Option(help="name:share[:prevalence] for each; repeat, or separate by commas")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals")] = 0.95,
    assurance: Assurance = None,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """Patients with which a validation's intervals are as narrow as wanted, overall and in every group."""
    from workup.lenses.power.plans import plan_precision

    named = parsed_groups(groups) if groups else ()
    if isinstance(named, int):
        raise InputError(
            "groups of a precision plan need names and shares",
            where="plan precision",
            got=f"the number {named}",
            remedy="write --groups name:share:prevalence for each",
        )
    result = plan_precision(
        prevalence,
        cstatistic=cstatistic,
        lp_mean=lp_mean,
        lp_sd=lp_sd,
        threshold=threshold,
        sensitivity=sensitivity,
        specificity=specificity,
        oe_width=oe_width,
        slope_width=slope_width,
        auroc_width=auroc_width,
        net_benefit_width=net_benefit_width,
        groups=named,
        level=level,
        assurance=assurance,
    )
    tell(result, name=name, as_of=as_of, json=json, out=out)


def develop(
    prevalence: Annotated[float, typer.Option(help="Share of patients with the outcome")],
    parameters: Annotated[int, typer.Option(help="Candidate parameters of the model")],
    cox_snell: Annotated[float | None, typer.Option(help="Cox-Snell R² expected")] = None,
    nagelkerke: Annotated[float | None, typer.Option(help="Nagelkerke R² expected, in its place")] = None,
    cstatistic: Annotated[float | None, typer.Option(help="C-statistic expected, in their place")] = None,
    shrinkage: Annotated[float, typer.Option(help="Shrinkage of effects that is still accepted")] = 0.9,
    name: Name = "",
    as_of: AsOf = None,
    json: Json = None,
    out: Out = None,
) -> None:
    """The least patients to develop a model of a yes/no outcome."""
    from workup.lenses.power.plans import plan_develop

    result = plan_develop(
        prevalence,
        parameters=parameters,
        cox_snell=cox_snell,
        nagelkerke=nagelkerke,
        cstatistic=cstatistic,
        shrinkage=shrinkage,
    )
    tell(result, name=name, as_of=as_of, json=json, out=out)
