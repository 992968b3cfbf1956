"""Facts met by names that their case does not give: brands, generic names, lay words; and what is not met."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher, outcome_of
from workup.tasks.conversation.read.names import ingredients, other_names

BRANDS = """
apixaban Eliquis|levetiracetam Keppra|empagliflozin Jardiance|insulin glargine|Lantus|omeprazole Prilosec
metoprolol Lopressor|lithium Lithobid|metformin Glucophage|lisinopril Zestril|furosemide Lasix|sertraline Zoloft
fluoxetine Prozac|amlodipine Norvasc|levothyroxine Synthroid|rivaroxaban Xarelto|sitagliptin Januvia
semaglutide Ozempic|albuterol Ventolin|montelukast Singulair|clopidogrel Plavix|atorvastatin Lipitor
rosuvastatin Crestor|gabapentin Neurontin|pregabalin Lyrica|tramadol Ultram|warfarin Coumadin|escitalopram Lexapro
bupropion Wellbutrin|quetiapine Seroquel|lamotrigine Lamictal|carbamazepine Tegretol|topiramate Topamax
alprazolam Xanax|lorazepam Ativan|zolpidem Ambien|pantoprazole Protonix|ondansetron Zofran|tamsulosin Flomax
prednisone Deltasone|azithromycin Zithromax
"""
LAY = """
hypertension=high blood pressure|myocardial infarction=heart attack|gastroesophageal reflux disease=acid reflux
atrial fibrillation=afib|hypothyroidism=underactive thyroid|hypercholesterolemia=high cholesterol
chronic obstructive pulmonary disease=COPD|nephrolithiasis=kidney stones|urticaria=hives|pertussis=whooping cough
herpes zoster=shingles|amblyopia=lazy eye|benign prostatic hyperplasia=enlarged prostate|dyspnea=shortness of breath
hyperglycemia=high blood sugar|deep vein thrombosis=DVT|heart failure=congestive heart failure
type 2 diabetes=type 2 diabetes mellitus|gastrointestinal bleeding=GI bleed|hypotension=low blood pressure
hypoglycemia=low blood sugar|rhinorrhea=runny nose|pyrexia=fever|pruritus=itching|emesis=vomiting|epistaxis=nosebleed
cerebrovascular accident=stroke|influenza=flu|varicella=chickenpox|conjunctivitis=pink eye|tinnitus=ringing in the ears
dysphagia=trouble swallowing|alopecia=hair loss|insomnia=trouble sleeping|cephalgia=headache|dysuria=painful urination
hyperthyroidism=overactive thyroid|osteoporosis=brittle bones|hemorrhoids=piles|celiac disease=coeliac disease
"""
# A brand or a name that is met by another: none is this one.
OTHERS = """
sertraline Celexa|celecoxib Celexa|citalopram Celebrex|bupropion Buspar|clonazepam Klonidine|hydroxyzine Hydralazine
metformin Metoprolol|lamotrigine Lamisil|levetiracetam Levaquin|apixaban Xarelto|warfarin Eliquis|omeprazole Nexium
prednisone Prednisolone|lisinopril Losartan|glipizide Glyburide|amlodipine Amiloride|atorvastatin Crestor
albuterol Advair|fluoxetine Paxil|escitalopram Celexa|zolpidem Lunesta|tramadol Trazodone|quetiapine Olanzapine
carbamazepine Trileptal|topiramate Toprol|metoprolol Topamax|furosemide Bumex|insulin lispro|Lantus|clopidogrel Brilinta
ondansetron Reglan|tamsulosin Cardura|levothyroxine Cytomel|hydroxychloroquine Hydroxyzine|azithromycin Biaxin
alprazolam Ativan|lorazepam Xanax|pregabalin Neurontin|gabapentin Lyrica|rosuvastatin Zocor|sitagliptin Jardiance
oxycodone Percocet
"""


def _drugs(text: str) -> list[tuple[str, str]]:
    found, held = [], ""
    for part in (part for line in text.strip().splitlines() for part in line.split("|")):
        if part.startswith("insulin"):
            held = part
        elif held:
            found.append((held, part))
            held = ""
        else:
            found.append(tuple(part.split(" ", 1)))  # type: ignore[arg-type]
    return found


def test_brands_and_lay_words_are_met_without_aliases() -> None:
    brands = [outcome_of(Fact("f", "medication", drug), f"You take {brand}.") for drug, brand in _drugs(BRANDS)]
    pairs = [part.split("=") for line in LAY.strip().splitlines() for part in line.split("|")]
    lay = [outcome_of(Fact("f", "diagnosis", name), f"You have {said}.") for name, said in pairs]
    assert (len(brands), len(lay)) == (40, 40)
    met = [one for one in brands + lay if one.outcome == "correct"]
    missed = [pair for pair, one in zip(_drugs(BRANDS) + pairs, brands + lay, strict=True) if one.outcome != "correct"]
    assert len(met) >= 76, missed
    assert {one.via for one in met} <= {"brand", "synonym", "abbreviation", "concept"}


def test_look_alikes_and_brands_of_other_drugs_are_not_met() -> None:
    pairs = _drugs(OTHERS)
    assert len(pairs) >= 40
    met = [pair for pair in pairs if outcome_of(Fact("f", "medication", pair[0]), f"You take {pair[1]}.").sentence == 0]
    assert met == []


def test_names_given_looks_for_nothing_else() -> None:
    facts = [Fact("f", "medication", "apixaban")]
    assert Matcher(facts).judge("You take Eliquis.")[0][0::5] == ("correct", "brand")
    assert Matcher(facts, names="given").judge("You take Eliquis.")[0].outcome == "omitted"


def test_a_brand_of_several_drugs_names_an_allergy_to_each_and_no_single_drug() -> None:
    assert ingredients("oxycodone acetaminophen") == ("oxycodone", "acetaminophen")
    allergy = Fact("f", "allergy", "oxycodone")
    assert outcome_of(allergy, "You are allergic to Percocet.").outcome == "correct"
    assert outcome_of(Fact("f", "medication", "oxycodone"), "You take Percocet.").outcome == "omitted"
    both = Fact("f", "medication", "oxycodone-acetaminophen")
    assert outcome_of(both, "You take Percocet.").outcome == "correct"


def test_a_name_that_the_case_gives_to_another_fact_is_dropped() -> None:
    facts = [Fact("one", "diagnosis", "hypertension"), Fact("two", "diagnosis", "high blood pressure", status="family")]
    assert [one.outcome for one in Matcher(facts).judge("Your mother had high blood pressure.")] == [
        "omitted",
        "correct",
    ]


@pytest.mark.parametrize("word", ["act", "attack", "cold", "surgery"])
def test_everyday_words_are_never_added(word: str) -> None:
    assert all(word != one.words for kind in ("diagnosis", "procedure") for one in other_names([word + " x"], kind))
