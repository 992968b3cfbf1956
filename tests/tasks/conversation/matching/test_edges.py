"""Edges of the rules, one reply each: denied, ended, past, doubted, supposed, whose it is, and with which value."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import outcome_of
from workup.tasks.conversation.read.facts.probes import probes

FACTS = {probe.fact.id: probe.fact for probe in probes()}
TURNS = {probe.fact.id: probe.turn for probe in probes()}
FACTS.update(
    mi=Fact("mi", "diagnosis", "MI", ("myocardial infarction", "heart attack"), status="historical"),
    amox=Fact(
        "amox", "medication", "amoxicillin", attributes={"dose_value": 500, "dose_unit": "mg", "frequency": "TID"}
    ),
    htn=Fact("htn", "diagnosis", "hypertension"),
    celexa=Fact("celexa", "medication", "Celexa"),
    gout=Fact("gout", "diagnosis", "gout"),
    copd=Fact("copd", "diagnosis", "COPD"),
    alb=Fact(
        "alb",
        "medication",
        "albuterol",
        attributes={"dose_value": 2, "dose_unit": "puffs", "frequency": "q4h prn", "route": "inhaled"},
    ),
    preg=Fact("preg", "social", "pregnancy"),
    alcohol=Fact("alcohol", "social", "alcohol use", ("drinks alcohol", "alcohol")),
    nausea=Fact("nausea", "symptom", "nausea"),
    ssri=Fact("ssri", "medication", "fluoxetine"),
    fampd=Fact("fampd", "diagnosis", "diabetes", status="family"),
    susp_ca=Fact("susp_ca", "diagnosis", "lung cancer", status="uncertain"),
    pen2=Fact("pen2", "allergy", "penicillin allergy"),
    warf2=Fact("warf2", "medication", "warfarin 5 mg"),
    nocp=Fact("nocp", "symptom", "no chest pain", status="absent"),
    dig=Fact("dig", "medication", "digoxin", attributes={"dose_value": 125, "dose_unit": "mcg"}),
    histtb=Fact("histtb", "diagnosis", "tuberculosis", ("TB",), status="historical"),
    latex=Fact("latex", "allergy", "latex"),
    hep=Fact(
        "hep",
        "medication",
        "heparin",
        attributes={"dose_value": 5000, "dose_unit": "units", "frequency": "q8h", "route": "SC"},
    ),
    rbreast=Fact("rb", "diagnosis", "breast mass", attributes={"laterality": "right"}),
    cabg=Fact("cabg", "procedure", "CABG", status="historical", attributes={"date": "1991"}),
    peanut=Fact("peanut", "allergy", "peanuts"),
)
# fact | outcome | reply
REPLIES = """
mi|correct|He had a heart attack in 2012.
mi|correct|Status post MI.
mi|reversed|He is currently having a heart attack.
mi|reversed|No prior MI.
mi|omitted|He is at risk for MI.
mi|omitted|His father had a heart attack at 50.
amox|wrong_value|Amoxicillin 500 mg BID
amox|correct|Amoxicillin 500 mg three times daily
amox|correct|amoxicillin 500mg q8h
amox|wrong_value|amoxicillin 250 mg three times a day
amox|correct|If she develops a rash, stop the amoxicillin.
amox|reversed|Amoxicillin was discontinued due to rash.
amox|omitted|She was given ampicillin.
celexa|omitted|She takes Celebrex for pain.
celexa|correct|Celexa continued.
gout|reversed|Gout was ruled out.
gout|omitted|Possible gout.
gout|omitted|Suspicious for gout.
gout|reversed|His gout resolved.
gout|correct|He has gout but no fever.
gout|correct|No fever but he has gout.
gout|reversed|No fever or gout.
copd|correct|COPD; no wheezing.
copd|reversed|Denies COPD.
copd|omitted|His brother has COPD.
copd|correct|Not only COPD, but also CHF.
copd|omitted|Does he have COPD?
alb|correct|Albuterol 2 puffs every 4 hours as needed
alb|wrong_value|Albuterol 4 puffs every 4 hours as needed
alb|correct|albuterol inhaler, two puffs q4h PRN
preg|correct|She is pregnant.
preg|reversed|She isn't pregnant.
alcohol|reversed|He does not drink alcohol.
alcohol|correct|He drinks alcohol on weekends.
alcohol|reversed|He quit alcohol last year.
nausea|reversed|Denies nausea or vomiting.
nausea|correct|She is nauseated this morning.
nausea|correct|Nausea without vomiting.
nausea|correct|no vomiting, though nausea persists
ssri|omitted|She takes duloxetine.
ssri|omitted|She takes paroxetine.
ssri|correct|She takes fluoxetin daily.
fampd|correct|Her father has diabetes.
fampd|correct|Diabetes in her father.
fampd|reversed|No family history of diabetes.
fampd|reversed|She has diabetes.
fampd|omitted|Her father has asthma.
susp_ca|correct|Concern for lung cancer.
susp_ca|reversed|Lung cancer was ruled out.
susp_ca|correct|Lung cancer remains a possibility.
susp_ca|reversed|Biopsy confirmed lung cancer.
susp_ca|reversed|No evidence of lung cancer.
pen2|correct|Penicillin allergy.
pen2|omitted|started penicillin V
pen2|reversed|No penicillin allergy.
pen2|omitted|She is allergic to amoxicillin.
pen2|correct|Patient reports allergy to penicillin.
pen2|correct|PMH: asthma. Allergies - penicillin.
pen2|reversed|patient denies being allergic to penicillin
pen2|reversed|Allergies: none
pen2|reversed|No known allergies.
pen2|omitted|No other known allergies.
pen2|omitted|Give penicillin 500 mg.
pen2|omitted|Penicillin is the drug of choice here.
pen2|correct|Penicillin is contraindicated given the allergy.
warf2|correct|warfarin 5 mg
warf2|wrong_value|warfarin 50 mg
warf2|wrong_value|warfarin 0.5 mg
nocp|correct|no chest pain
nocp|correct|Chest pain is absent.
nocp|reversed|chest pain
nocp|omitted|possible chest pain
nocp|correct|Her chest pain has resolved.
nocp|correct|She no longer has chest pain.
dig|correct|Digoxin 0.125 mg daily
dig|wrong_value|Digoxin 0.25 mg daily
dig|wrong_value|digoxin 125 mg
histtb|correct|Remote history of TB.
histtb|reversed|Active TB.
histtb|correct|TB, treated in 1998
histtb|reversed|Never had TB.
histtb|omitted|No active TB.
latex|correct|Latex: hives
latex|reversed|not allergic to latex
hep|correct|Heparin 5,000 units subcutaneously every 8 hours
hep|wrong_value|Heparin 50,000 units subcutaneously every 8 hours
hep|wrong_value|Heparin 5000 units IV every 8 hours
rbreast|wrong_value|Mass in the left breast: breast mass, left.
rbreast|correct|Breast mass on the right side
cabg|correct|CABG in 1991
cabg|wrong_value|CABG in 2001
cabg|reversed|He has never had CABG.
peanut|correct|She is allergic to peanuts and shellfish.
peanut|correct|Peanut allergy
peanut|reversed|She can eat peanuts; no peanut allergy.
asthma|correct|She has a history of asthma.
asthma|correct|Asthma since childhood.
asthma|correct|h/o asthma
asthma|reversed|She doesn't have a history of asthma.
asthma|reversed|Asthma has been excluded.
asthma|omitted|Rule out asthma.
asthma|correct|She was diagnosed with asthma in 2009.
asthma|correct|Asthma - on inhalers
asthma|omitted|She has asthma-like symptoms.
asthma|correct|Asthma (mild), no exacerbations
asthma|reversed|Asthma? No.
asthma|correct|Asthma? Yes.
asthma|correct|Yes, the patient has asthma.
asthma|reversed|No, the patient does not have asthma.
asthma|correct|No, she does have asthma.
asthma|correct|There is no question that she has asthma
asthma|reversed|I don't see any asthma in the record.
asthma|reversed|There's no mention of asthma in your history.
asthma|correct|She reports no fevers. She has asthma.
asthma|omitted|Her brother, who has asthma, visited.
asthma|correct|Her husband says she has asthma.
asthma|correct|Asthma is poorly controlled
asthma|correct|She has had no asthma attacks since starting the inhaler.
warfarin|correct|She is anticoagulated with warfarin.
warfarin|correct|Warfarin was restarted.
warfarin|reversed|She never started warfarin.
warfarin|reversed|She refuses warfarin.
warfarin|reversed|Warfarin has been on hold since Monday.
warfarin|correct|Take warfarin at 5 PM.
warfarin|correct|Warfarin was stopped in 2019 but restarted in 2020.
warfarin|reversed|Warfarin → apixaban
warfarin|reversed|She was switched from Coumadin to Eliquis.
warfarin|reversed|Apixaban instead of warfarin.
warfarin|correct|Increase warfarin to 10 mg.
warfarin|correct|Warfarin (Coumadin) 5 mg daily; aspirin 81 mg daily.
warfarin|correct|Aspirin 81 mg, warfarin 5 mg.
warfarin|correct|Aspirin 81 mg and warfarin.
warfarin|wrong_value|Her warfarin, previously 5 mg, is now 7.5 mg.
warfarin|correct|Her warfarin, previously 7.5 mg, is now 5 mg.
warfarin|omitted|Warfarin interacts with many drugs.
warfarin|omitted|Consider warfarin.
warfarin|omitted|Would you like to discuss warfarin?
warfarin|correct|You should keep taking warfarin unless told otherwise.
warfarin|correct|Remember to take your warfarin.
warfarin|reversed|You were taken off warfarin.
warfarin|reversed|Warfarin is not on her list.
warfarin|reversed|she's off warfarin
smoker|reversed|Tobacco use: never
smoker|reversed|ex-smoker
smoker|reversed|He stopped smoking.
smoker|correct|Tobacco use: 1 pack per day
smoker|reversed|never smoker
smoker|omitted|His wife smokes.
smoker|correct|Smoking cessation was advised because he smokes.
depression|reversed|No depression.
depression|correct|Depression, on sertraline.
depression|correct|She is depressed.
left_knee_pain|wrong_value|pain: right knee pain
left_knee_pain|correct|knee pain (left)
left_knee_pain|reversed|Left knee pain has resolved.
stopped_metformin|stale|She is taking metformin 500 mg.
stopped_metformin|retired_ok|Metformin (stopped in May).
stopped_metformin|retired_ok|She is no longer on metformin.
stopped_metformin|retired_ok|Metformin was replaced with insulin.
stopped_metformin|stale|Metformin, lisinopril and aspirin.
penicillin_allergy|omitted|No allergies to foods.
penicillin_allergy|reversed|No known allergies to medications.
penicillin_allergy|reversed|No allergies were reported.
warfarin|omitted|No medications were changed today.
warfarin|omitted|No new medications.
asthma|reversed|She does not smoke, drink or have asthma.
cough|reversed|She denies any problems with cough.
metformin|correct|She denies any problems with metformin.
asthma|omitted|MGF with h/o asthma.
hypertension|correct|The headache was likely caused by his uncontrolled hypertension.
hypertension|correct|Hypertension, hyperlipidemia, BPH with questionable cancer.
smoker|reversed|Tobacco use: former
asthma|correct|Asthma, former smoker.
cough|correct|His parents are concerned because he had a cough.
warfarin|reversed|Apixaban rather than warfarin.
warfarin|correct|Warfarin and aspirin at 5 mg and 81 mg respectively.
warfarin|correct|She takes warfarin. The dose is 5 mg.
warfarin|wrong_value|She takes warfarin. The dose is 50 mg.
warfarin|reversed|She was on warfarin. It was stopped in May.
asthma|reversed|She had asthma but it has resolved.
possible_pe|reversed|A PE was suspected but was ruled out.
penicillin_allergy|reversed|She does not need to avoid penicillin, she has no penicillin allergy.
"""


@pytest.mark.parametrize("line", REPLIES.strip().splitlines())
def test_edge(line: str) -> None:
    name, expected, reply = line.split("|", 2)
    assert outcome_of(FACTS[name], reply, turn=TURNS.get(name)).outcome == expected
