"""The parts of the matcher by themselves: sentences, names, values, misspellings, the published rule, the probes."""

from __future__ import annotations

import pytest

from tests.support.facts import ASTHMA, METFORMIN, PENICILLIN, WARFARIN
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher, outcome_of, outcomes
from workup.tasks.conversation.read.facts.names import names_of, stem
from workup.tasks.conversation.read.facts.probes import PARTS, Probe, measured_error, probes
from workup.tasks.conversation.read.facts.published_rule import published_outcome
from workup.tasks.conversation.read.sentence.doses import find_doses, number_of, read_number
from workup.tasks.conversation.read.sentence.frequencies import frequency_of, same_frequency
from workup.tasks.conversation.read.sentence.fuzzy import misspells
from workup.tasks.conversation.read.sentence.routes_sides_dates import (
    date_of,
    find_dates,
    route_of,
    same_date,
    same_route,
)
from workup.tasks.conversation.read.sentence.text import sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Seen by Dr. Ito. No fever.", ["seen by dr ito", "no fever"]),
        ("Take 2.5 mg. Rest.", ["take 2.5 mg", "rest"]),
        ("5 mg b.i.d. for gout", ["5 mg bid for gout"]),
        ("5 mg q.d. She is well.", ["5 mg qd", "she is well"]),
        ("St. John's wort", ["st john wort"]),
        ("1. Asthma\n2. Gout", ["asthma", "gout"]),
        ("Problems: 1. Asthma 2. Gout", ["problems", "asthma", "gout"]),
        ("- asthma\n- gout", ["asthma", "gout"]),
        ("* **Asthma**\n* _Gout_", ["asthma", "gout"]),
        ("No fever\nPenicillin allergy", ["no fever", "penicillin allergy"]),
        ("She denies any\nchest pain.", ["she denies any chest pain"]),
        ("E. coli in the urine. Treated.", ["e coli in the urine", "treated"]),
        ("Allergic to [penicillin](http://x.y/z).", ["allergic to penicillin"]),
        ("Gout<br>Asthma", ["gout", "asthma"]),
        ("He can't eat; he won't drink", ["he ca not eat ; he wo not drink"]),
        ("non-smoker, pre-diabetes, beta-blocker", ["non smoker , prediabetes , beta blocker"]),
        ("Wait... what?", ["wait", "what"]),
        ("~~Warfarin~~ Apixaban", ["apixaban"]),
        ("Sjögren’s syndrome", ["sjogren syndrome"]),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert [" ".join(sentence.words) for sentence in sentences(text)] == wanted


def test_headings_hold_for_their_items() -> None:
    found = sentences("## Stopped\n\n- warfarin\n\n## Continued\n\n- metformin\n\nDenies:\n- fever\n\nHe is well.")
    assert [(" ".join(one.words), " ".join(one.heading)) for one in found] == [
        ("stopped", ""),
        ("warfarin", "stopped :"),
        ("continued", ""),
        ("metformin", "continued :"),
        ("denies", ""),
        ("fever", "denies :"),
        ("he is well", ""),
    ]
    prose = sentences("## Resolved\n\nAsthma in childhood.\n\nGout in 2010.")
    assert [one.heading for one in prose] == [(), ("resolved", ":"), ("resolved", ":")]
    nested = sentences("- Stopped:\n  - warfarin\n- Metformin")
    assert [one.heading for one in nested] == [(), ("stopped", ":"), ()]
    assert sentences("Is it gout?")[0].question and not sentences("It is gout.")[0].question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BID", "twice daily"),
        ("BID", "q12h"),
        ("b.i.d.", "every 12 hours"),
        ("two times a day", "2x/day"),
        ("TID", "three times per day"),
        ("QID", "every six hours"),
        ("q8h", "every 8 hrs"),
        ("QHS", "at bedtime"),
        ("nightly", "every night at bedtime"),
        ("once daily", "at bedtime"),
        ("daily", "q24h"),
        ("weekly", "once a week"),
        ("weekly", "every 7 days"),
        ("every other day", "q48h"),
        ("monthly", "once a month"),
        ("in the morning and at bedtime", "BID"),
        ("as needed", "PRN"),
        ("q4h prn", "every four hours as needed"),
        ("OD", "once a day"),
        ("fortnightly", "every two weeks"),
    ],
)
def test_frequencies_that_are_the_same(one: str, other: str) -> None:
    first, second = frequency_of(one), frequency_of(other)
    assert first is not None and second is not None and same_frequency(first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BID", "daily"),
        ("daily", "weekly"),
        ("TID", "BID"),
        ("QHS", "every morning"),
        ("q6h", "q8h"),
        ("PRN", "daily"),
        ("every 3 months", "monthly"),
        ("QOD", "QD"),
    ],
)
def test_frequencies_that_differ(one: str, other: str) -> None:
    first, second = frequency_of(one), frequency_of(other)
    assert first is not None and second is not None and not same_frequency(first, second)
    assert frequency_of("whenever the moon is full") is None


@pytest.mark.parametrize(
    ("text", "amounts", "unit"),
    [
        ("5 mg", (5.0,), "mg"),
        ("1,000 mg", (1000.0,), "mg"),
        ("2,5 mg", (2.5,), "mg"),
        (".5 mg", (0.5,), "mg"),
        ("5 to 10 mg", (5.0, 10.0), "mg"),
        ("875 / 125 mg", (875.0, 125.0), "mg"),
        ("twenty five units", (25.0,), "units"),
        ("one hundred fifty micrograms", (150.0,), "mcg"),
        ("two and a half mg", (2.5,), "mg"),
        ("half a mg", None, ""),
        ("two 250 mg tablets", (250.0, 500.0), "mg"),
        ("for 5 days", None, ""),
    ],
)
def test_doses(text: str, amounts: tuple[float, ...] | None, unit: str) -> None:
    words = text.split()
    found = find_doses(words, 0, len(words))
    if amounts is None:
        assert found == []
    else:
        assert found[-1].amounts == amounts and found[-1].unit is not None and found[-1].unit.name == unit


def test_numbers() -> None:
    assert number_of("abc") is None and number_of("1e5") is None and number_of("9" * 400) is None
    assert read_number(["mg"], 0) is None and read_number([], 0) is None


def test_routes_sides_and_dates() -> None:
    assert route_of("P.O.") == "oral" and same_route("injected", "subcutaneous") and not same_route("oral", "injected")
    assert date_of("14 March 2019") == [(2019, 3, 14)] == date_of("March 14th, 2019") == date_of("2019-03-14")
    assert date_of("3/2019") == [(2019, 3, 0)] and date_of("99") == [] and date_of("14/13/2019") == []
    assert same_date([(2019, 3, 0)], [(2019, 0, 0)]) and not same_date([(2019, 3, 0)], [(2018, 3, 0)])
    words = ["seen", "on", "2019", "-", "03", "-", "14", "again"]
    assert find_dates(words, 0, len(words))[0].readings == [(2019, 3, 14)]


@pytest.mark.parametrize(
    ("word", "name", "wanted"),
    [
        ("penicilin", "penicillin", True),
        ("metforman", "metformin", True),
        ("hydrochlorothiazid", "hydrochlorothiazide", True),
        ("hydroclorothiazde", "hydrochlorothiazide", True),
        ("amlodpine", "amlodipine", True),
        ("warfrin", "warfarin", True),  # the name has eight letters
        ("asprin", "aspirin", False),  # seven
        ("lisinoprl", "lisinopril", True),
        ("lisnoprl", "lisinopril", False),  # two apart, under twelve letters
        ("prednisolone", "prednisone", False),
        ("prednisone", "prednisolone", False),
        ("hydroxyzine", "hydralazine", False),
        ("hyperkalemia", "hypokalemia", False),
        ("hypotension", "hypertension", False),
        ("dysphasia", "dysphagia", False),
        ("fluoxetine", "paroxetine", False),
        ("vitamin12", "vitaminb12", False),
        ("ceftazidime", "cefotaxime", False),
        ("esomeprazole", "omeprazole", False),
    ],
)
def test_misspellings(word: str, name: str, wanted: bool) -> None:
    assert misspells(word, name) is wanted


def test_a_misspelled_mention_is_flagged_and_an_exact_one_is_not() -> None:
    assert outcome_of(PENICILLIN, "Allergic to penicilin.")[:5] == ("correct", 0, "affirmed", None, True)
    assert not outcome_of(PENICILLIN, "Allergic to penicilin. Penicillin allergy.").fuzzy
    assert outcome_of(METFORMIN, "Metforman 850 mg BID")[:5] == ("wrong_value", 0, "value_differs", "dose_value", True)


@pytest.mark.parametrize(
    ("reply", "attribute"),
    [
        ("warfarin 50 mg", "dose_value"),
        ("warfarin 5 g", "dose_unit"),
        ("warfarin 5 mg twice daily", "frequency"),
        ("warfarin 5 mg IV", "route"),
    ],
)
def test_which_attribute_differs(reply: str, attribute: str) -> None:
    assert outcome_of(WARFARIN, reply).attribute == attribute


def test_the_longest_name_wins_across_facts() -> None:
    facts = [Fact("a", "diagnosis", "diabetes"), Fact("b", "diagnosis", "gestational diabetes", status="historical")]
    assert [one.outcome for one in outcomes(facts, "History of gestational diabetes.")] == ["omitted", "correct"]


def test_a_namesake_that_took_its_place_makes_a_bare_name_not_stale() -> None:
    old = Fact("old", "medication", "lisinopril 10 mg", retired=3, superseded_by="new")
    new = Fact("new", "medication", "lisinopril 20 mg", introduced=3)
    matcher = Matcher([old, new])
    for reply, wanted in (("Lisinopril.", ["retired_ok", "correct"]), ("Lisinopril 10 mg.", ["stale", "wrong_value"])):
        assert [one.outcome for one in matcher.judge(reply, turn=5)] == wanted
    other = Matcher([Fact("old", "medication", "metformin", retired=3, superseded_by="new"), new])
    assert other.judge("Continue metformin.", turn=5)[0].outcome == "stale"


def test_names_carry_their_own_words() -> None:
    assert [name.words for name in names_of(("allergic to sulfa drugs",), "allergy", "present")[0]] == [
        ("sulfa", "drugs"),
        ("sulfa",),
    ]
    assert names_of(("left knee pain",), "symptom", "present")[1] == {"laterality": "left"}
    assert stem("diabetic") == stem("diabetes") and stem("biopsies") == "biopsy" and stem("pus") == "pus"
    former = Fact("f", "social", "former smoker")
    assert outcome_of(former, "He is a former smoker.").outcome == "correct"


def test_the_published_rule_and_where_it_fails() -> None:
    dose = Fact("w", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"})
    for fact, reply, theirs, ours in (
        (PENICILLIN, "We started penicillin V.", "correct", "omitted"),
        (dose, "Warfarin 50 mg.", "correct", "wrong_value"),
        (ASTHMA, "No change in her asthma.", "reversed", "correct"),
        (ASTHMA, "Her mother has asthma.", "correct", "omitted"),
        (ASTHMA, "She denies asthma.", "reversed", "reversed"),
        (ASTHMA, "All is well.", "omitted", "omitted"),
    ):
        assert (published_outcome(fact, reply).outcome, outcome_of(fact, reply).outcome) == (theirs, ours)
    assert published_outcome(Fact("d", "diagnosis", "type 2 diabetes mellitus"), "type 2 diabetes").reason == "jaccard"


def test_the_shipped_probes_and_their_measured_error() -> None:
    shipped = probes()
    assert len(shipped) >= 200 and {probe.part for probe in shipped} == set(PARTS)
    held = [probe for probe in shipped if probe.part == "held_out"]
    tuned = [probe for probe in shipped if probe.part == "tuned"]
    assert len(tuned) // 2 - 1 <= len(held) <= len(tuned) // 2 + 1
    kinds = {probe.kind for probe in shipped}
    assert kinds >= {
        *("negation", "dose", "unit", "frequency", "route", "laterality", "family", "hypothetical", "historical"),
        *("retired", "look_alike", "contraction", "list", "question", "double_negation", "pseudo", "long_distance"),
        *("several", "markdown"),
    }
    error = measured_error()
    assert error.n == len(shipped) == sum(part.n for part in error.parts.values())
    assert error.sensitivity.value is not None and error.specificity.value is not None
    sizes = (97, 76, 85, 220, 101, 133, 59, 78, 69, 58, 57, 65, 61, 56, 67, 61, 64, 50)
    assert error.first_seen is not None and error.first_seen.agreement.n == sum(sizes)
    assert sum(probe.part == "seventeenth" for probe in shipped) == sizes[-1]
    # Below this a rule was broken; the report prints what is measured.
    assert error.sensitivity.value >= 0.98 and error.specificity.value >= 0.98


def test_measured_error_counts_by_hand() -> None:
    def probe(expected: str, reply: str) -> Probe:
        return Probe("p", ASTHMA, None, reply, expected, "kind", "fresh")

    labelled = [
        probe("correct", "She has asthma."),
        probe("correct", "Nothing here."),
        probe("reversed", "No asthma."),
        probe("omitted", "She has asthma."),
    ]
    error = measured_error(labelled)
    assert (error.sensitivity.right, error.sensitivity.n, error.specificity.right, error.specificity.n) == (1, 2, 1, 2)
    assert (error.agreement.right, error.agreement.n) == (2, 4)
    stale = next(one for one in error.outcomes if one.outcome == "stale")
    assert stale.sensitivity.value is None and stale.specificity.value == 1.0
