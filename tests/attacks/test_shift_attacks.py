"""A reader with a calendar cannot work out by how many days a patient's dates were moved."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.calendar_attacker import EVERY, candidates
from tests.support.places import DATA
from tests.support.shell import call
from workup.documents.document import Document, Span
from workup.redaction import Settings, audits, redact_all
from workup.redaction.dates.anchors import anchors
from workup.redaction.dates.shifting import shift_of
from workup.redaction.keys import Secret

KEY = b"0123456789abcdef0123456789abcdef"
_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
# 3/14/2022 was a Monday, 12/25/2021 a Saturday, 11/24/2022 the fourth Thursday.
ANCHORED = {
    "weekday with the date": "Seen on Monday, 03/14/2022 for cough.",
    "weekday in the sentence": "Seen 03/14/2022, a Monday, for cough.",
    "weekday in lower case": "seen monday 03/14/2022 for cough.",
    "weekday short": "Mon 03/14/2022 clinic visit.",
    "weekday short in brackets": "Clinic visit 03/14/2022 (Mon) for cough.",
    "weekday of a saturday": "Seen in clinic Sat. at 9, 12/25/2021.",
    "last weekday": "Note of 03/14/2022: today is Monday and the fever began today.",
    "weekday the nth": "Seen Monday the 14th, note of 03/14/2022.",
    "weekend of the nth": "She fell on the weekend of the 5th, seen there 03/05/2022.",
    "schedule": "Dialysed 03/14/2022 on the MWF schedule.",
    "Christmas": "Admitted on Christmas Day, 12/25/2021.",
    "Christmas in lower case": "admitted on christmas, 12/25/2021.",
    "Thanksgiving": "Thanksgiving, 11/24/2022, chest pain at dinner.",
    "New Year's Eve": "Fell on New Year's Eve (12/31/2021).",
    "Fourth of July": "Burn on the Fourth of July (07/04/2022).",
    "Labor Day": "Seen on Labor Day, 09/05/2022.",
    "Memorial Day": "Seen on Memorial Day, 05/30/2022.",
    "Easter": "Choked at Easter, 04/17/2022.",
    "Halloween": "Fell on Halloween, 10/31/2022.",
    "season": "Rash this summer, seen 07/15/2022.",
    "season of the year": "Rash in the winter of 2022, seen 01/15/2022.",
    "month": "Rash in July, seen 07/15/2022.",
    "quarter": "Audit of Q3 2022 (visit 07/15/2022).",
    "ISO week": "Visit in ISO week 11, on 03/14/2022.",
    "day of the year": "Visit on day 73 of the year, 03/14/2022.",
    "nth of the month": "Back on the 14th; note of 03/14/2022.",
    "summer time": "Seen 07/15/2022 at 2:30 EDT.",
    "age at a birthday": "70-year-old born 03/14/1952. Seen 03/14/2022.",
    "year of birth": "71-year-old born in 1951. Seen 11/14/2022.",
}  # fmt: skip

# Forms that stand beside a moved date, and what must be gone of each.
TAKEN = {
    "Seen in week 40": "week 40", "Seen wk40": "wk40", "Seen wk 10": "wk 10", "Seen in the 11th week": "11th week",
    "Epiweek 12 report": "Epiweek 12",
    "For the week ending 03/21": "03/21", "Billed in Q1": "Q1", "Billed 1Q21": "1Q21",
    "Budget FY2021Q2": "FY2021Q2", "Budget H1 2021": "H1 2021", "Billed first quarter": "first quarter",
    "Seen at the end of fiscal year": "fiscal year", "Fell on April Fools": "April Fools",
    "Burn on Bonfire Night": "Bonfire Night", "Seen Remembrance Day": "Remembrance", "Seen on Bastille Day": "Bastille",
    "Closed for the bank holiday": "bank holiday", "Dinner on Valentines": "Valentines", "Fell on NYE": "NYE",
    "Paint in the eye on Holi": "Holi", "No meat during Lent": "Lent", "Sad at Christmastime": "Christmastime",
    "Seen on Groundhog Day": "Groundhog", "Fell watching the Superbowl": "Superbowl", "Seen at the equinox": "equinox",
    "Seen at the solstice": "solstice", "Seen at midsummer": "midsummer", "Worse in wintertime": "wintertime",
    "Better in summertime": "summertime", "Seen on the longest day of the year": "longest day", "Seen Mon 15": "Mon",
    "Infusion every Tu": "Tu", "Dialysed TuTh": "TuTh", "Clinic open M-F": "M-F", "It was a weekday": "weekday",
    "Fell on the Sabbath": "Sabbath", "TGIF she said": "TGIF", "Dialysis runs on TTS": "TTS",
    "Day 73 of year": "73", "Seen on the 75th day of the year": "75th", "290 days left in the year": "290",
    "Back on the fifteenth": "fifteenth", "Seen on the last day of the month": "last day",
    "Seen on the last day of the year": "last day", "Seen on the first of the month": "first of",
    "Late as the clocks went forward": "forward", "Late as the clocks went back": "went back",
    "Born on leap day": "leap day", "Aged 45 y 3 m 2 d": "3 m 2 d", "Aged 45y3m2d": "3m2d", "Call at 9 UTC+2": "UTC+2",
    "Call at 9 GMT+1": "GMT+1", "DST in effect": "DST", "Drawn 09:30:00-04:00": "-04:00", "Drawn 09:30+02": "+02",
}  # fmt: skip

# The same where a date stands right beside the words.
TAKEN_BESIDE = {
    "Flu shot in the fall, 10/10/2021.": "fall", "Seen 10/10/2021, back by the fall.": "fall",
    "Seen 03/14/2021, yesterday Sat.": "Sat", "Seen 03/14/2021 (Su).": "Su", "Seen 03/12/2021, Fr.": "Fr",
    "Seen 03/14/2021, DOW 7.": "DOW 7", "Seen Valentine's 02/14/2021.": "Valentine", "Seen 02/14/2021, V-day.": "V-day",
    "Cyber Monday 11/29/2021.": "Cyber", "Giving Tuesday 11/30/2021.": "Giving", "Maundy Thursday 04/01/2021": "Maundy",
    "Seen on tax day 04/15/2021.": "tax day", "Earth Day 04/22/2021.": "Earth", "On Patriot Day 09/11/2021.": "Patriot",
    "Advent 12/06/2020.": "Advent", "Seen 12/06/2020 during Advent.": "Advent", "Full moon 05/26/2021.": "moon",
    "Seen 03/15/2021, the Ides of March.": "Ides", "Seen 03/14/2021, which was Pi Day.": "Pi Day",
    "Seen 03/14/2021 (3 days before St Paddy's).": "Paddy", "Seen 03/31/2021, end of the quarter.": "quarter",
    "Seen 03/31/2021, at quarter-end.": "quarter", "Seen 03/31/2021, end of the month.": "month",
    "Seen 12/30/2021, the end of the year.": "end of", "Seen 11/11/2021 11/11.": "11/11", "Seen 3/4/2021 (3/4).": "3/4",
}  # fmt: skip


def _redacted(
    texts: list[str], *, patient: str = "P1", whole_weeks: bool = False
) -> tuple[list[str], dict[str, object]]:
    """Notes of one patient of which a detector found the dates and nothing else."""
    found = []
    for number, text in enumerate(texts):
        spans = [
            Span(*one.span(), "date_birth" if text[: one.start()].endswith("born ") else "date")
            for one in _DATE.finditer(text)
        ]
        found.append((Document(f"n{number}", text, patient=patient), spans))
    done = redact_all(found, Settings.of(shift_dates=True, key=KEY, whole_weeks=whole_weeks))
    for one, (document, _) in zip(done, found, strict=True):
        at, parts = 0, []
        for piece in one.pieces:  # what the map would hold gives the text back
            parts += [one.document.text[at : piece.new_start], document.text[piece.start : piece.end]]
            at = piece.new_end
        assert "".join([*parts, one.document.text[at:]]) == document.text
    report = {audit.metric: audit.record() for audit in audits(done)}["shift_candidates"]
    return [one.document.text for one in done], report


@pytest.mark.parametrize("name", ANCHORED)
@pytest.mark.parametrize("patient", ["P1", "P2", "P3"])
def test_no_word_of_the_calendar_narrows_the_shift(name: str, patient: str) -> None:
    texts, report = _redacted([ANCHORED[name]], patient=patient)
    left = candidates(texts)
    assert shift_of(Secret(KEY), f"patient {patient}") in left
    assert left == EVERY, texts
    assert (report["fewest_candidates"], report["candidates"]) == (730, 730) and report["value"] == 1.0


@pytest.mark.parametrize("words", TAKEN)
def test_forms_that_tell_the_part_of_a_year_a_month_or_a_week_are_taken(words: str) -> None:
    texts, report = _redacted([f"{words}, note of 03/14/2022."])
    assert TAKEN[words] not in texts[0] and report["value"] == 1.0
    assert report["loose_words"] == 0, texts


@pytest.mark.parametrize("patient", ["P1", "P2"])
@pytest.mark.parametrize("text", TAKEN_BESIDE)
def test_forms_that_tell_a_day_beside_its_date_are_taken(text: str, patient: str) -> None:
    texts, report = _redacted([text], patient=patient)
    assert TAKEN_BESIDE[text] not in texts[0], texts
    assert report["value"] == 1.0 and report["loose_words"] == 0


@pytest.mark.parametrize("weekday", ["Monday", "Tuesday", "Thursday"])
def test_a_holiday_that_ends_in_a_weekday_is_not_half_moved(weekday: str) -> None:
    name = {"Monday": "Cyber Monday", "Tuesday": "Giving Tuesday", "Thursday": "Maundy Thursday"}[weekday]
    texts, _ = _redacted([f"Seen {name}, 11/29/2021, for cough."])
    assert not re.search(rf"{name.split()[0]}|day\b", texts[0]), texts


@pytest.mark.parametrize("words", ["Seen in week 40", "Billed in the first quarter", "Grew 45 y 3 m 2 d"])
def test_words_that_are_mostly_something_else_stay_where_no_date_is_moved(words: str) -> None:
    assert _redacted([f"{words}."])[0] == [f"{words}."]


def test_a_name_found_in_a_part_of_a_holiday_does_not_keep_the_rest() -> None:
    text = "Seen on Groundhog Day, 02/02/2022, with Ann Day."
    spans = [Span(18, 21, "NAME"), Span(23, 33, "date"), Span(40, 47, "NAME")]
    done = redact_all([(Document("n", text, patient="P"), spans)], Settings.of(shift_dates=True, key=KEY))[0]
    assert "Groundhog" not in done.document.text and "[NAME-1]" in done.document.text
    assert "Day" not in done.document.text


@pytest.mark.parametrize("end", [10, 20, 29, 35])
def test_an_offset_goes_however_much_of_the_time_was_found(end: int) -> None:
    text = "Drawn 2021-07-14T09:30:00-04:00 in clinic."
    spans = [Span(6, min(6 + end, 31), "date")]
    done = redact_all([(Document("n", text, patient="P"), spans)], Settings.of(shift_dates=True, key=KEY))[0]
    assert "-04:00" not in done.document.text and "2021-07-14" not in done.document.text
    assert done.document.text.endswith(" in clinic.")


def test_notes_of_one_patient_are_read_together() -> None:
    texts, report = _redacted(list(ANCHORED.values()))
    assert candidates(texts) == EVERY and report["fewest_candidates"] == 730


def test_what_a_gold_keeps_is_counted_and_the_count_is_the_attackers() -> None:
    text = "Seen on Monday, a cold day (03/14/2022)."
    spans = [Span(8, 14, "date_relative", identifier="no_mask"), Span(28, 38, "date")]
    for patient in ("P1", "P2", "P3", "P4"):
        done = redact_all([(Document("n", text, patient=patient), spans)], Settings.of(shift_dates=True, key=KEY))
        record = {audit.metric: audit.record() for audit in audits(done)}["shift_candidates"]
        assert "Monday" in done[0].document.text
        left = candidates([done[0].document.text])
        assert len(left) == record["fewest_candidates"] < 730 / 6 and record["value"] == 0.0


def test_a_weekday_in_front_of_a_date_moves_with_it() -> None:
    texts, _ = _redacted(["Seen on Monday, 03/14/2022 and Tues 3/15/2022."])
    days = re.findall(r"(\w+),? (\d+)/(\d+)/(\d+)", texts[0])
    for name, month, day, year in days:
        assert datetime.date(int(year), int(month), int(day)).strftime("%A").startswith(name[:3])
    assert len(days) == 2


def test_whole_weeks_keep_weekdays_and_the_report_says_how_few_shifts_there_are() -> None:
    texts, report = _redacted(["Seen 03/14/2022, a Monday. Christmas was quiet."], whole_weeks=True)
    assert "a Monday" in texts[0] and "Christmas" not in texts[0]
    assert (report["fewest_candidates"], report["candidates"]) == (104, 104)


def test_offsets_from_utc_do_not_stand_beside_a_moved_time() -> None:
    document = Document("n", "Drawn 2022-07-15T14:30:00-04:00.", patient="P", time="2022-07-15T14:30:00-04:00")
    done = redact_all([(document, [Span(6, 31, "date")])], Settings.of(shift_dates=True, key=KEY))[0]
    assert "-04:00" not in done.document.text and "-04:00" not in (done.document.time or "")
    assert "T14:30:00" in done.document.text


@pytest.mark.parametrize(
    "text",
    ["O2 sat 98 % on room air", "sats in the 90s; sat 3 % lower", "avoid sun exposure, sun screen daily",
     "fall risk: high",
     "he may return", "MAY TAKE WITH FOOD", "spring ligament; the wound may spring open", "Christmas tree rash",
     "Christmas disease (haemophilia B)", "seen with Mrs. Easter", "Easter Seals program", "the march of time",
     "mon 8 %, eos 2 %", "she sat down on the bed", "Q4 hours as needed", "q3 days", "week 12 of gestation",
     "the 4th metatarsal", "on the 5th toe", "fracture in the fall", "during the fall she hit her head",
     "this fall was",
     "patient is wed to", "sun-damaged skin", "Sun Y-K, MD", "EST. 1:1 ratio", "2 CST done", "day 3 of therapy",
     "two days ago", "POD 3", "since 2019", "lent a hand", "EID screening", "Memorial Hospital day surgery",
     "week 2 of pregnancy", "at week 12, gestation normal", "GA 39, week 40", "week 6 of chemo", "wk 2 post-op",
     "1 wk 3 d", "Week 1: 25 mg", "week 12 visit", "weeks 1-4", "gel 2x/week 3 times", "11th week of pregnancy",
     "vitals q1h", "Q4-12 hours", "Q2 hourly", "day 3 post-op", "cycle 2 day 8", "H1 receptor", "since 2019 H2 blocker",
     "h1n1 in 2009 H1N1",
     "code XM-F2", "lot M-F/12", "he lent it", "pT2 Tu N0 staging", "Mon 8, eos 2", "DST was normal",
     "fentanyl TTS 25", "first quarter inch", "on the second toe", "the first of three", "seen 12:30-14:00",
     "open 08:30-11", "holiday heart", "UTC swab", "through the second, third, and fourth rings",
     "wobbly since the fall", "history of fall", "at the time of the fall", "injured in the fall",
     "head strike in the fall", "the advent of insulin", "Advent Health ER", "full moon face",
     "Mrs. Valentine's chart", "pain 5/10", "strength 5/5", "sat yesterday", "today sat 98 %",
     "yesterday sat up in bed",
     "quarter of the dose", "upper right quarter", "V-dayton plate",
     "on bedrest since her 34th week", "3 m walk, 2 d later", "she sat 15 minutes", "clock drawing"],
)  # fmt: skip
def test_words_that_are_no_days_stay(text: str) -> None:
    assert anchors(text) == [] and _redacted([f"{text}. Seen 03/14/2022."])[0][0].startswith(text)


def test_the_command_says_how_many_shifts_remain(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Seen on Christmas Day, Saturday 12/25/2021. Next visit Tuesday. Sat 98 %.\n")
    (tmp_path / "k").write_bytes(KEY + b"\n")
    out = tmp_path / "out.txt"
    done = call("redact", note, "--shift-dates", "--key-file", tmp_path / "k", "-o", out)
    assert done.code == 0, done.err
    assert "No known word of the calendar narrows a shift: 730 of 730 candidates remain for every patient" in done.err
    text = out.read_text()
    assert "Christmas" not in text and "Tuesday" not in text and "Sat 98 %" in text
    record = json.loads((tmp_path / "out.txt.redaction.json").read_text())
    told = next(one for one in record["audits"] if one["metric"] == "shift_candidates")
    assert told["fewest_candidates"] == len(candidates([text])) == 730


_OTHER_SENSE = re.compile(
    r"(?<![\w-])(?:sats?|sun|may|fall|falls|spring|march|mon|wed|christmas tree|easter)(?![\w-])", re.IGNORECASE
)


@pytest.mark.real_data
@pytest.mark.skipif(not (DATA / "mtsamples").is_dir(), reason="the MTSamples transcriptions are not beside the project")
def test_words_with_another_sense_stay_in_real_notes() -> None:
    csv.field_size_limit(10**8)
    with gzip.open(DATA / "mtsamples" / "mtsamples.csv.gz", "rt") as file:
        texts = sorted({row["transcription"] for row in csv.DictReader(file) if row["transcription"]})
    met, changed = Counter[str](), Counter[str]()
    for text in texts:
        taken = anchors(text)
        for match in _OTHER_SENSE.finditer(text):
            word = match[0].casefold()
            met[word] += 1
            changed[word] += any(one.start < match.end() and match.start() < one.end for one in taken)
    assert sum(met.values()) == 829
    assert changed["sat"] == changed["sats"] == changed["sun"] == changed["falls"] == changed["christmas tree"] == 0
    # 35 of 829, and each of them is a month or a season: "in May of 2005", "since March", "last fall"
    assert +changed == {"march": 15, "may": 10, "fall": 6, "spring": 4}
