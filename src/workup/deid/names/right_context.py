"""What is right after a name: ages, sexes, beds, numbers of records, days, verbs. Patterns only."""

from __future__ import annotations

import re

_UNITS = r"(?:[A-Z]{0,3}ICU|PACU|CCU|NICU|Room|Rm|Bed|Suite|Tower|Ward|Bay|Unit|Floor|Clinic)\b"
_RECORD = (
    r"(?:MRN|MR ?#|MR\b|Med(?:ical)?\.? Rec|(?:Record|Chart|Account|Case|Visit)(?!\. )|Acct|Accession|DOB|D\.O\.B|"
    r"Date of Birth|Born|Birth|Age\b|SSN|HAR|CSN|ID\b|PID)"
)
_DAY = r"(?:\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\d{4}-\d\d-\d\d|\d{1,2}[ -]?[A-Z][a-z]{2}[ -]?\d{2,4})"
# What follows a name in headers: an age, a sex, a number of a record, a bed.
HEADER_AFTER = re.compile(
    rf",?[ \t]{{0,4}}(?:[-|/(][ ]{{0,2}})?(?:{_UNITS}|(?i:{_RECORD})[^\n:#0-9]{{0,22}}[:#0-9])|"
    r",?[ \t]{0,2}(?:\(|,)?[ \t]{0,2}(?:aged? )?\d{1,3}[ -]{0,2}(?:y|yo|yr|year|[mfMF]\b)|,? ?[MF],? ?\d{1,3}\b|"
    r"[ \t]{2,4}(?:M|F|Male|Female|male|female)\b|,? \((?:M|F|male|female)\b"
)
NO_HEADER = frozenset("efgjklnoqtuwxyz")  # small letters after one blank with which none of these begins
DAY_AFTER = re.compile(rf",?[ \t]{{1,3}}(?:\(|\| )?{_DAY}")
IN_UNIT = re.compile(rf" in {_UNITS}")
COMPLAINS = re.compile(r" (?:c/o|s/p|p/w|w/ )")
AGED = re.compile(r": \d{1,3}[- ]?(?:y|mo)")
