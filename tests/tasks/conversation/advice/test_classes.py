"""The class map: every member is a drug that a reply can name, and classes hold what they must and nothing alike."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import statements_of
from workup.tasks.conversation.read.advice.forbidden import covers, forbidden_by
from workup.tasks.conversation.read.advice.targets import generic_names, members, parts_of, plain, thing_of
from workup.tasks.conversation.read.sentence.vocabulary import table

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


def test_conditions_bear_on_classes_and_drugs_that_exist() -> None:
    for record in table("advice_bearing")["conditions"]:
        for name in record["drugs"]:
            assert name in CLASSES or generic_names().get(name) == name, name
    assert set(table("advice_bearing")["allergy_classes"]) <= set(CLASSES)


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
