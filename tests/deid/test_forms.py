"""Forms that were missed once: headers, initials, relations, short dates, addresses of other countries, and what only
looks like them."""

from __future__ import annotations

import pytest

from tests.support.detected import found
from workup.deid import Deidentifier


def masked(text: str, surface: str) -> bool:
    start = text.index(surface)
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    covered = {i for one in findings for i in range(one.start, one.end)}
    return all(i in covered or not text[i].isalnum() for i in range(start, start + len(surface)))


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("Street, Paula N.  F 61y  MRN 20-33-118", "Street, Paula N."),
        ("Consult note - Winter, Harold\nSeen today", "Winter, Harold"),
        ("Went home with her sister May.", "May"),
        ("Her brother, Jesse Lake, confirms the story.", "Jesse Lake"),
        ("Copy went to June Whitfield at noon.", "June Whitfield"),
        ("Please call me Rose.", "Rose"),
        ("Valuables were sent home with Chance.", "Chance"),
        ("Sharon, your result is back.", "Sharon"),
        ("Bed 14: Delacroix c/o nausea", "Delacroix"),
        ("Reviewed with the team. Q.R.T.", "Q.R.T."),
        ("Ms. Le is stable.", "Le"),
        ("The patient, carlos medina, was extubated.", "carlos medina"),
        ("P. Fox, quick question", "P. Fox"),
        ("Mrs. Lopez, 93, was seen.", "93"),
        ("Best number for Mr. Haas: 45990, evenings", "45990"),
        ("Emergency contact: Ann Haas (mother), 555 0177", "555 0177"),
        ("Home health starts 11/28 at noon.", "11/28"),
        ("Transferred to BVGH in good condition.", "BVGH"),
        ("admitted to riverton memorial hospital twice", "riverton memorial hospital"),
        ("Employer: RTQ", "RTQ"),
        ("Mail goes to Elgin UT 841.", "841"),
        ("Write to kim.ho@example.com. Ms. Garcia will answer.", "kim.ho@example.com"),
        ("Logged in from home as kho12 yesterday", "kho12"),
    ],
)
def test_is_masked(text: str, surface: str) -> None:
    assert masked(text, surface)


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("Ship to 4596 Lindova 285\n Suite 578\n Ostrava\n Czech Republic 56655", "4596 Lindova 285"),
        ("Ship to 4596 Lindova 285\n Suite 578\n Ostrava\n Czech Republic 56655", "Ostrava\n Czech Republic 56655"),
        ("Meet me at the corner of Elm Street and Oak Drive.", "the corner of Elm Street and Oak Drive"),
        ("She lives on Birkenstrasse 19 now.", "Birkenstrasse 19"),
        ("Call 085 175 7641 after six.", "085 175 7641"),
        ("lodged on 24 January and 7 March 2002 with it", "24 January and 7 March 2002"),
        ("applications nos. 36244/06, 36245/06 and 3700/07 were joined", "36244/06, 36245/06 and 3700/07"),
        ("He was sentenced to three years and two months.", "three years and two months"),
        ("a Polish national, Mr Marek Zawada, complained", "Mr Marek Zawada"),
        ("reassessed in 1994, 1995 and 1997.", "1994, 1995 and 1997"),
    ],
)
def test_open_text(text: str, surface: str) -> None:
    assert masked(text, surface)


@pytest.mark.parametrize(
    "text",
    [
        "I'm fine and they're well; it isn't worse.",
        "CLINICIAN: How are you?\nPATIENT: Fine, thank you.\nCLINICIAN: Good.\nPATIENT: Well, mostly.",
        "He was seen by the nurse. Pain began at night.",
        "Helmet was worn. Odor has resolved.",
        "GI, GU and PT/PTT were unremarkable.",
        "Closed with Vicryl; a Judkins catheter was advanced; Ki-67 was 20%.",
        "Pain fell from 8/10 to 3/10; motor 5/5; vision 20/40.",
        "He took Yasmin 3 mg daily.",
        "BP 98/60, HR 63, RR 18 on arrival.",
        "A. Prostate, 14 cores. B. Colon, biopsy.",
        "D.O.B. unknown; p.r.n. and b.i.d. dosing.",
        "Dear Doctor, dear colleague,",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert found(text) == []


def test_an_address_with_a_state_is_no_signature() -> None:
    assert found("81 Pine Rd., Radnor, PA 18171")[:2] == [("81 Pine Rd.", "street_address"), ("Radnor", "city")]


def test_a_country_is_a_name_where_somebody_is_met() -> None:
    assert ("Israel", "name_patient") in found("Ride arranged with Israel for Monday.")
    assert ("Israel", "country") in found("They came from Israel in 1990.")


def test_findings_of_a_header_say_why() -> None:
    (findings,) = Deidentifier.load(tagger="off").detect(["Street, Paula N.  F 61y  MRN 20-33-118"])
    assert findings[0].rule.startswith("name.") and {"comma", "header"} <= set(findings[0].evidence)
