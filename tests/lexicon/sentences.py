"""Sixty written sentences in the manner of clinical notes, with the terms a reader would mark; none is from a patient.

Written for the measured error of the lexicon. A mark is `{words:category}`. Rules of marking: the whole name of the
thing without degree or side; anatomy only where it is not part of another mark; negated and family mentions are marked;
names of people, places and devices that look like terms are not; a sentence may hold no term at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Gold(NamedTuple):
    """One marked term: its place in the text and its category."""

    start: int
    end: int
    category: str


_MARK = re.compile(r"\{([^{}:]+):(disease|drug|procedure|anatomy|lab|vital)\}")

MARKED = (
    "67 yo man with {HTN:disease}, {type 2 diabetes:disease} and {hyperlipidemia:disease} admitted with {chest pain:disease}.",
    "He was started on {aspirin:drug}, {atorvastatin:drug} and a {heparin drip:drug} in the emergency room.",
    "{Troponin:lab} peaked at 4.2 and the {EKG:procedure} showed ST depressions in the lateral leads.",
    "{Cardiac catheterization:procedure} revealed a 90% {stenosis:disease} of the {LAD:anatomy}; a {drug-eluting stent:procedure} was placed.",
    "Vitals: {BP:vital} 142/88, {HR:vital} 96, {RR:vital} 18, {temp:vital} 98.6, {SpO2:vital} 97% on room air.",
    "Labs notable for {Na:lab} 128, {K:lab} 5.9, {creatinine:lab} 3.1 and {BUN:lab} 64.",
    "She denies {fever:disease}, {chills:disease}, {nausea:disease}, {vomiting:disease} or {shortness of breath:disease}.",
    "Mother had {breast cancer:disease} at 52 and her sister has {lupus:disease}.",
    "The {abdomen:anatomy} is soft, nontender, with no {hepatosplenomegaly:disease}.",
    "{CT:procedure} of the {abdomen:anatomy} and {pelvis:anatomy} showed {acute appendicitis:disease} without {abscess:disease}.",
    "Taken to the operating room for {laparoscopic appendectomy:procedure} by Dr. Foley.",
    "Continue {metformin:drug} 1000 mg twice daily; {A1c:lab} today is 7.2%.",
    "Patient with {COPD:disease} on home {oxygen:drug} presents with worsening {dyspnea:disease} and {cough:disease}.",
    "{Chest x-ray:procedure} shows a {left lower lobe:anatomy} infiltrate consistent with {pneumonia:disease}.",
    "Received {ceftriaxone:drug} and {azithromycin:drug} for {community-acquired pneumonia:disease}.",
    "Mr. Burns lives on Colon Street and works as a baker.",
    "{MRI:procedure} of the {lumbar spine:anatomy} demonstrates {disc herniation:disease} at {L4:anatomy}-{L5:anatomy} with {spinal stenosis:disease}.",
    "She reports {low back pain:disease} radiating to the left {leg:anatomy} with {numbness:disease} of the {foot:anatomy}.",
    "Trial of {gabapentin:drug} and {physical therapy:procedure} before considering {epidural steroid injection:procedure}.",
    "The left {knee:anatomy} has an {effusion:disease} and joint line {tenderness:disease}.",
    "Status post {total knee replacement:procedure} in 2019, now with {DVT:disease} on {apixaban:drug}.",
    "{Colonoscopy:procedure} found two {polyps:disease} in the {sigmoid colon:anatomy}, both removed.",
    "History of {GERD:disease}, controlled with {omeprazole:drug}; {EGD:procedure} in May was normal.",
    "Progress note: the patient feels well and has no new complaints today.",
    "{Hemoglobin:lab} dropped from 10.2 to 7.8 and two units were given by {transfusion:procedure}.",
    "{Melena:disease} for three days in a man with {cirrhosis:disease} and {esophageal varices:disease}.",
    "{INR:lab} 3.4 on {warfarin:drug}; hold the dose tonight and recheck tomorrow.",
    "New {atrial fibrillation:disease} with rapid rate, {diltiazem:drug} infusion started.",
    "{Echocardiogram:procedure} with an ejection fraction of 35%, {mitral regurgitation:disease} and no {pericardial effusion:disease}.",
    "{CHF exacerbation:disease} treated with IV {furosemide:drug}; {weight:vital} down 3 kg.",
    "She has {ESRD:disease} on {hemodialysis:procedure} through a left {arm:anatomy} fistula.",
    "{UTI:disease} with {E. coli:disease}, sensitive to {nitrofurantoin:drug}.",
    "Seen by telehealth for {COVID-19:disease}; {Paxlovid:drug} prescribed, {oxygen saturation:vital} 95% at home.",
    "Second dose of the {mRNA COVID-19 vaccine:drug} given in the left {deltoid:anatomy}.",
    "He has {depression:disease} and {anxiety:disease}, takes {sertraline:drug} 100 mg, and denies {suicidal ideation:disease}.",
    "{Bipolar disorder:disease} stable on {lithium:drug}; {lithium level:lab} 0.8.",
    "{Seizure:disease} at home lasting two minutes, loaded with {levetiracetam:drug}; {EEG:procedure} pending.",
    "Right sided {facial droop:disease} and {slurred speech:disease} concerning for {stroke:disease}; {CTA:procedure} of the {head:anatomy} and {neck:anatomy} ordered.",
    "{Parkinson's disease:disease} on {carbidopa/levodopa:drug}, {tremor:disease} improved.",
    "Newborn with {jaundice:disease}, {bilirubin:lab} 14, under {phototherapy:procedure}.",
    "{Cesarean section:procedure} for failure to progress; {Apgars:vital} 8 and 9, {placenta:anatomy} intact.",
    "32 weeks {pregnant:disease} with {preeclampsia:disease}, {magnesium sulfate:drug} running, {urine protein:lab} 2+.",
    "{Pap smear:lab} normal last year; {mammogram:procedure} due in June.",
    "{Asthma:disease} flare after a {viral infection:disease}; given {albuterol:drug} and {prednisone:drug}.",
    "{Rash:disease} and {hives:disease} after {amoxicillin:drug}; {penicillin allergy:disease} added to the chart.",
    "{TSH:lab} 8.9, so {levothyroxine:drug} was raised to 100 mcg for {hypothyroidism:disease}.",
    "Ms. Palmer drove from Washington, D.C., to see Dr. Wilson about billing.",
    "{Prostate cancer:disease} with a {PSA:lab} of 12; {prostate biopsy:procedure} Gleason 4+3.",
    "Cycle 3 of {chemotherapy:procedure} with {FOLFOX:drug} held for {neutropenia:disease}, {ANC:lab} 400.",
    "{Wound:disease} on the right {heel:anatomy} debrided; no {osteomyelitis:disease} on {x-ray:procedure}.",
    "{Blood cultures:lab} grew {MRSA:disease}; {vancomycin:drug} day 4 of 14.",
    "In {septic shock:disease} on {norepinephrine:drug}, {lactate:lab} 5.1, {MAP:vital} 58, {urine output:vital} 10 mL per hour.",
    "{Intubation:procedure} for {respiratory failure:disease}; {FiO2:vital} 60%, {ABG:lab} with {pH:lab} 7.21.",
    "{Cataract:disease} of the right {eye:anatomy}, scheduled for {phacoemulsification:procedure}.",
    "{Tympanic membranes:anatomy} are clear; {tonsils:anatomy} enlarged without exudate.",
    "{Sore throat:disease} with a positive {rapid strep:lab}; started {penicillin VK:drug}.",
    "{Gout:disease} of the {great toe:anatomy}, {uric acid:lab} 9.8, begin {allopurinol:drug} after {colchicine:drug}.",
    "{Fracture:disease} of the distal {radius:anatomy} treated by {closed reduction:procedure} and {splinting:procedure}.",
    "Follow up in two weeks with April Rose, NP; call the clinic at the number above with questions.",
    "{Crohn's disease:disease} on {infliximab:drug}, {CRP:lab} 4, {calprotectin:lab} pending, {weight:vital} 61 kg.",
)


def read(marked: str) -> tuple[str, list[Gold]]:
    """The text of a marked sentence and its marks."""
    text, gold, last = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[last : match.start()]
        gold.append(Gold(len(text), len(text) + len(match[1]), match[2]))
        text += match[1]
        last = match.end()
    return text + marked[last:], gold


SENTENCES = [read(marked) for marked in MARKED]
