"""Do charts run as long as designed, are stable years left in peace, and how long do charts of real windows run?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from sims.cohorts import SPREAD, STRETCH, Cohort, centre
from sims.repetitions import Cell, Outcome, Result, Size, within
from workup.stats import rank
from workup.stats.charts import run_lengths
from workup.stats.charts.baselines import share_se, standardise
from workup.stats.charts.control_charts import DECISION, LIMIT, cusum, ewma
from workup.stats.charts.family_limits import cusum_family_limit, family_limit

NAME = "run_lengths"
QUESTION = (
    "On normal input, do EWMA and CUSUM run within 5 % of their design, and are at least 95 % of stable years of 25 "
    "series quiet? And on windows of 50, 200 and 1,000 patients, whose z is only nearly normal (measured, not judged)?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "stats/charts/baselines.py",
    "stats/charts/control_charts.py",
    "stats/charts/family_limits.py",
    "stats/random.py",
    "stats/rank.py",
    "stats/charts/run_lengths.py",
]
MADE_BY = ["cohorts.py", "repetitions.py", "run_lengths.py"]

Floats = npt.NDArray[np.float64]

SERIES, YEAR = 25, 12
RUNS = 10_000
DESIGN_BAND = (0.95, 1.05)
LOOKS = (12, 60, 120, 371)  # windows after which a run of real windows is looked at; the last is the longest run
THRESHOLD = 0.3
KNOWN = "known"


def cells(size: Size) -> list[Cell]:
    """Stable years at family limits (judged) and at limits that forget something (measured), and real windows."""
    return [*_years(size), *_forgetful_years(size), *_real_windows(size)]


def _years(size: Size) -> list[Cell]:
    kinds = [("EWMA, steady limits", "ewma", False), ("EWMA, fast start", "ewma", True), ("CUSUM", "cusum", False)]
    found = []
    for words, chart, fast_start in kinds:
        for ratio in (np.inf, 40.0, 10.0):
            for correlation in (0.0, 0.6):
                settings = _year(chart, fast_start, ratio, correlation, known=ratio)
                name = f"{words}, {_baseline_words(ratio)}, series correlated by {correlation}"
                found.append(Cell(name, settings, size, band=(0.95, 1.0)))
    told = _year("ewma", False, 10.0, 0.6, known=10.0) | {"told": 0.6}
    name = f"EWMA, steady limits, {_baseline_words(10.0)}, series correlated by 0.6 and the limit told so"
    return [*found, Cell(name, told, size, band=(0.95, 1.0))]


def _forgetful_years(size: Size) -> list[Cell]:
    single = _year("ewma", True, np.inf, 0.0, known=np.inf) | {"limit": LIMIT}
    return [
        Cell("the limit of a single series on a family, fast start", single, size, band=None),
        *(
            Cell(
                f"EWMA, steady limits, {_baseline_words(ratio)}, its shared error left out",
                _year("ewma", False, ratio, 0.0, known=np.inf),
                size,
                band=None,
            )
            for ratio in (40.0, 10.0)
        ),
    ]


def _year(chart: str, fast_start: bool, ratio: float, correlation: float, *, known: float) -> dict[str, Any]:
    """`baseline_windows` is the truth, `counted_windows` what the limit was told; None is a baseline known exactly."""
    return {
        "kind": "year",
        "chart": chart,
        "fast_start": fast_start,
        "baseline_windows": None if np.isinf(ratio) else ratio,
        "counted_windows": None if np.isinf(known) else known,
        "correlation": correlation,
    }


def _baseline_words(ratio: float) -> str:
    return "baseline known" if np.isinf(ratio) else f"baseline of {ratio:.0f} windows"


def _real_windows(size: Size) -> list[Cell]:
    kinds = (("a run of", "run"), ("a year of 25 series at their family limit,", "real year"))
    return [
        Cell(
            name=f"{words} windows of {rows} rows, {_baseline_words(baseline)}",
            settings={"kind": kind, "rows": rows, "baseline_windows": None if np.isinf(baseline) else int(baseline)},
            size=size,
            band=None,
        )
        for words, kind in kinds
        for baseline in (np.inf, 10.0)
        for rows in (50, 200, 1000)
    ]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One stable year of a family, or one stable run of windows; "covered" is no signal, else its direction."""
    return {"year": _one_year, "run": _one_run, "real year": _one_real_year}[cell.settings["kind"]](cell.settings, rng)


def _one_year(of: Any, rng: np.random.Generator) -> dict[str, Outcome]:
    def drawn(count: int) -> Floats:
        shared = np.sqrt(of["correlation"]) * rng.standard_normal((1, count))
        return shared + np.sqrt(1 - of["correlation"]) * rng.standard_normal((SERIES, count))

    se = 0.0 if of["baseline_windows"] is None else of["baseline_windows"] ** -0.5
    z = standardise(drawn(YEAR), 1.0, baseline=se * drawn(1)[:, 0], baseline_se=se)
    counted = np.inf if of["counted_windows"] is None else of["counted_windows"]
    limit = of.get("limit") or _limit(of["chart"], of["fast_start"], counted, of.get("told"))
    if of["chart"] == "cusum":
        signal = cusum(z, limit=limit).signal
    else:
        signal = ewma(z, limit=limit, fast_start=of["fast_start"]).signal
    return {"quiet year": "above" if signal.any() else "covered"}


@cache
def _limit(chart: str, fast_start: bool, ratio: float, told: float | None) -> float:
    if chart == "cusum":
        return cusum_family_limit(SERIES, YEAR, baseline_windows=ratio)
    return family_limit(SERIES, YEAR, fast_start=fast_start, baseline_windows=ratio, correlation=told, seed=SEED)


def _one_run(of: Any, rng: np.random.Generator) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for name, z in _real_z(of, 1, LOOKS[-1], rng).items():
        chart = ewma(z[0])
        first = int(np.argmax(chart.signal)) if chart.signal.any() else LOOKS[-1]
        direction: Outcome = "above" if chart.statistic[min(first, LOOKS[-1] - 1)] > 0 else "below"
        for look in LOOKS:
            found[f"{name}: no signal in {look} windows"] = direction if first < look else "covered"
    return found


def _one_real_year(of: Any, rng: np.random.Generator) -> dict[str, Outcome]:
    limit = _limit("ewma", False, of["baseline_windows"] or np.inf, None)
    found: dict[str, Outcome] = {}
    for name, z in _real_z(of, SERIES, YEAR, rng).items():
        chart = ewma(z, limit=limit)
        high, low = (chart.signal & (chart.statistic > 0)).sum(), (chart.signal & (chart.statistic < 0)).sum()
        found[f"{name}: quiet year"] = "covered" if high + low == 0 else "above" if high >= low else "below"
    return found


def _real_z(of: Any, series: int, windows: int, rng: np.random.Generator) -> dict[str, Floats]:
    """z [series, window] of each statistic in a stable cohort, against the truth or against a baseline of so many
    windows' rows that each series has for itself."""
    rows, held = of["rows"], of["baseline_windows"]
    whole = None if held is None else _windows(rows * held, series, rng)
    found = {}
    for name, (value, se) in _windows(rows, series * windows, rng).items():
        value, se = value.reshape(series, windows), se.reshape(series, windows)
        baseline, baseline_se = (_truths()[name], 0.0) if whole is None else whole[name]
        if name == "alert_rate, SE of the baseline":
            se = share_se(np.full(value.shape, rows), baseline=baseline)
            baseline_se = 0.0 if whole is None else share_se(np.full(series, rows * held), baseline=baseline)
        found[name] = standardise(value, se, baseline=baseline, baseline_se=baseline_se)
    return found


def _windows(rows: int, count: int, rng: np.random.Generator) -> dict[str, tuple[Floats, Floats]]:
    """Value and standard error of each statistic in windows of a stable cohort; NaN where it has none."""
    drawn = Cohort(rows * count).draw(rng)
    y, p = (drawn[name].reshape(count, rows) for name in ("outcome", "risk"))
    share = (p >= THRESHOLD).mean(axis=1)
    own = np.sqrt(share * (1 - share) / rows)
    areas = [rank.delong(one, other) for one, other in zip(y, p, strict=True)]
    auc, se = np.array([one.auc for one in areas]), np.sqrt([one.variance for one in areas])
    usable = (auc > 0) & (auc < 1) & (se > 0)
    auc, se = np.where(usable, auc, np.nan), np.where(usable, se, np.nan)
    return {
        "alert_rate, SE of the window": (share, own),
        "alert_rate, SE of the baseline": (share, own),
        "auroc": (auc, se),
        "auroc, logit scale": (special.logit(auc), se / (auc * (1 - auc))),
    }


@cache
def _truths() -> dict[str, float]:
    prevalence = Cohort(1).prevalence
    share = float(special.ndtr((centre(prevalence) - special.logit(THRESHOLD) / STRETCH) / SPREAD))
    auc = Cohort(1).truth(THRESHOLD)["auroc"]
    return {
        "alert_rate, SE of the window": share,
        "alert_rate, SE of the baseline": share,
        "auroc": auc,
        "auroc, logit scale": float(special.logit(auc)),
    }


def summarise(results: Sequence[Result]) -> list[Result]:
    """Mean run lengths: simulated over designed on normal input (judged), and of real windows with a known baseline."""
    return [*designs(), *_mean_run_lengths(results)]


def designs(runs: int = RUNS) -> list[Result]:
    """Run lengths of EWMA and CUSUM on standard normal input over those they were designed for."""
    made = {
        f"EWMA 0.2, {LIMIT}, steady limits": (
            run_lengths.ewma_run_length(),
            run_lengths.simulated_ewma_run_lengths(runs=runs, seed=SEED),
        ),
        f"EWMA 0.2, {LIMIT}, fast start": (
            run_lengths.ewma_run_length(fast_start=True),
            run_lengths.simulated_ewma_run_lengths(fast_start=True, runs=runs, seed=SEED),
        ),
        f"CUSUM 0.5, {DECISION}": (
            run_lengths.cusum_run_length(),
            run_lengths.simulated_cusum_run_lengths(runs=runs, seed=SEED),
        ),
    }
    found = []
    for name, (design, lengths) in made.items():
        rate, se = float(lengths.mean() / design), float(lengths.std(ddof=1) / np.sqrt(runs) / design)
        row = {"cell": name, "metric": "run length over design", "design": design, "runs": runs}
        found.append({**row, "rate": rate, "se": se, "band": list(DESIGN_BAND), "ok": within(rate, se, DESIGN_BAND)})
    return found


def _mean_run_lengths(results: Sequence[Result]) -> list[Result]:
    quiet: dict[tuple[str, str], dict[int, float]] = {}
    for one in results:
        if one["kind"] == "run" and one["baseline_windows"] is None:
            name, _, look = one["metric"].partition(": no signal in ")
            quiet.setdefault((one["cell"], name), {})[int(look.split()[0])] = one["rate"]
    design = run_lengths.ewma_run_length()
    return [
        {
            "cell": cell,
            "metric": name,
            "design": design,
            "mean_run_length": mean_run_length(LOOKS, [rates[look] for look in LOOKS]),
            "ok": None,
        }
        for (cell, name), rates in quiet.items()
    ]


def mean_run_length(looks: Sequence[int], quiet: Sequence[float]) -> float | None:
    """Mean run length from the shares still quiet at a few looks, the risk of a signal constant between two of them
    and after the last. None when the last interval saw no signal, and so says nothing of what follows."""
    times, shares = np.array([0.0, *looks]), np.array([1.0, *quiet])
    before, after, width = shares[:-1], shares[1:], np.diff(times)
    fallen = (after > 0) & (after < before)
    hazard = np.log(np.where(fallen, before / np.where(after > 0, after, 1.0), 1.0)) / width
    area = np.where(fallen, (before - after) / np.where(fallen, hazard, 1.0), width * (before + after) / 2)
    if shares[-1] == 0:
        return float(area.sum() + 0.5)
    return float(area.sum() + shares[-1] / hazard[-1] + 0.5) if fallen[-1] else None
