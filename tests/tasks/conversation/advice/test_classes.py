"""The class map: every member is a drug that a reply can name, and classes hold what they must and nothing alike."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import statements_of
from workup.tasks.conversation.read.advice.forbidden import covers, forbidden_by
from workup.tasks.conversation.read.advice.targets import LIFE, generic_names, members, parts_of, plain, thing_of
from workup.tasks.conversation.read.sentence.vocabulary import data_file, table

CLASSES = sorted(table("advice_classes"))


@pytest.mark.parametrize("key", CLASSES)
def test_class_names_its_source_and_has_members(key: str) -> None:
    record = table("advice_classes")[key]
    assert record["source"]
    assert members(key)
    assert not set(record) - {"source", "names", "members", "includes", "but", "low_dose"}
    for name in record.get("members", ()):
        thing = thing_of(name)
        assert thing is not None, name
        assert thing.kind == "drug", name
    for other in record.get("includes", ()):
        assert other in CLASSES


@pytest.mark.parametrize(
    ("key", "inside", "outside"),
    [
        ("penicillins", "amoxicillin dicloxacillin penicillin piperacillin", "penicillamine cephalexin azithromycin"),
        ("cephalosporins", "cephalexin ceftriaxone cefdinir", "ciprofloxacin amoxicillin"),
        ("nsaids", "ibuprofen naproxen celecoxib ketorolac aspirin", "acetaminophen prednisone tramadol"),
        ("ace_inhibitors", "lisinopril enalapril ramipril", "losartan amlodipine"),
        ("arbs", "losartan valsartan", "lisinopril"),
        ("statins", "atorvastatin rosuvastatin", "nystatin"),
        ("fluoroquinolones", "ciprofloxacin levofloxacin", "dicloxacillin oxacillin"),
        ("macrolides", "azithromycin erythromycin", "clindamycin gentamicin"),
        ("tetracyclines", "doxycycline minocycline", "cyclobenzaprine"),
        ("opioids", "oxycodone codeine tramadol", "naloxone naltrexone"),
        ("benzodiazepines", "lorazepam alprazolam", "carbamazepine zolpidem"),
        ("beta_blockers", "metoprolol propranolol timolol", "albuterol omeprazole"),
        ("triptans", "sumatriptan rizatriptan", "amitriptyline"),
        ("sulfonamides", "sulfamethoxazole sulfasalazine", "furosemide celecoxib glyburide"),
        ("thiazides", "hydrochlorothiazide chlorthalidone", "furosemide"),
        ("potassium_sparing_diuretics", "spironolactone triamterene", "furosemide"),
        ("anticoagulants", "warfarin apixaban heparin", "aspirin clopidogrel"),
        ("antiplatelets", "aspirin clopidogrel", "warfarin"),
        ("pde5_inhibitors", "sildenafil tadalafil", "nitroglycerin"),
        ("maois", "phenelzine linezolid", "sertraline"),
        ("ssris", "sertraline fluoxetine", "bupropion venlafaxine"),
        (
            "teratogens",
            "warfarin isotretinoin lisinopril losartan methotrexate doxycycline",
            "acetaminophen aspirin labetalol",
        ),
        ("qt_prolonging", "amiodarone azithromycin citalopram", "sertraline amoxicillin"),
    ],
)
def test_what_a_class_holds(key: str, inside: str, outside: str) -> None:
    found = members(key)
    assert set(inside.split()) <= found
    assert not set(outside.split()) & found


def test_no_class_name_stands_for_two_classes() -> None:
    seen: dict[str, str] = {}
    for key, record in table("advice_classes").items():
        for name in (key, *record.get("names", ())):
            written = plain(name)
            assert seen.setdefault(written, key) == key, written


def test_what_bears_on_drugs_names_classes_and_drugs_that_exist() -> None:
    bearing = table("advice_bearing")
    named = [
        name for record in bearing["conditions"] for key in ("caution", "indication") for name in record.get(key, ())
    ]
    sides = ("too_high", "too_low", "normal_means")
    named += [
        name
        for record in bearing["results"]
        for side in sides
        for direction, listed in record.get(side, {}).items()
        for name in listed
        if direction in ("away", "toward")
    ]
    named += [name for pair in bearing["together"] for side in pair for name in side]
    named += [name for record in bearing["held_for"] for name in record["drugs"]]
    named += [name for listed in bearing["watched"].values() for name in listed]
    named += [name for record in bearing["ways_of_life"].values() for name in record["drugs"]]
    assert [name for name in named if name not in CLASSES and generic_names().get(plain(name)) is None] == []
    assert set(bearing["allergy_classes"]) <= set(CLASSES)


def test_what_bears_on_other_things_names_slots_that_exist() -> None:
    bearing, things = table("advice_bearing"), table("advice_things")
    assert set(bearing["ways_of_life"]) == {slot for kind in LIFE for slot in things[kind]}
    assert set(bearing["watched"]) <= set(things["test"])
    assert set(bearing["parts_of_specialties"]) <= set(things["referral"])
    assert set(things["acts"]) <= set(bearing["ways_of_life"])


def test_no_clinician_has_reviewed_the_tables_until_one_has() -> None:
    for name in ("advice_bearing", "advice_classes"):
        assert "no clinician has" in " ".join(data_file(name).replace("#", " ").split())


def test_a_combination_has_all_its_ingredients() -> None:
    assert parts_of("acetaminophen aspirin caffeine") >= {"acetaminophen", "aspirin"}
    assert parts_of("trimethoprim sulfamethoxazole") >= {"trimethoprim", "sulfamethoxazole"}
    assert parts_of("warfarin") == {"warfarin"}


def test_brands_of_the_table_have_one_generic_name() -> None:
    seen: dict[str, str] = {}
    for generic, names in table("advice_drugs")["names"].items():
        for name in names:
            assert seen.setdefault(plain(name), generic) == generic, name
            assert generic_names()[plain(name)] == generic


@pytest.mark.parametrize("key", CLASSES)
def test_every_member_is_caught_and_its_denial_is_not(key: str) -> None:
    fact = Fact("f", "risk", "a risk", harm_tag=f"avoid_class:{key}")
    rule = forbidden_by(fact)
    assert rule is not None
    for drug in members(key):
        started = [one for one in statements_of(f"You should start {drug}.") if one.firm]
        assert [one.action for one in started] == ["start"], drug
        assert covers(rule, started[0]), drug
        denied = [one.action for one in statements_of(f"Do not take {drug}.") if one.firm]
        assert denied == ["avoid"], drug
