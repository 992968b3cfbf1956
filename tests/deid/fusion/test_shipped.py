"""The tagger that ships: its files belong together, and it finds what rules alone miss."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from workup.deid import Deidentifier
from workup.deid.tagger.model import CARD, NETWORK, SHIPPED, Tagger, json_of
from workup.systems.spans.native import Native


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    return Deidentifier.load(tagger="on")


def masked(deid: Deidentifier, text: str) -> list[str]:
    return [text[one.start : one.end] for one in deid.detect([text])[0]]


def test_the_files_belong_together_and_are_small(deid: Deidentifier) -> None:
    assert deid.tagged and not deid.notes
    assert len((SHIPPED / NETWORK).read_bytes()) <= 16_000_000
    card = json_of(None, CARD)
    assert card["licence"] == card["base"]["licence"] == "Apache-2.0"
    assert Tagger.shipped() is Tagger.shipped()  # read once


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("saw him with his wife ngozi okonkwo yesterday", "ngozi okonkwo"),
        ("Transferred from Fairhaven Ortho overnight.", "Fairhaven Ortho"),
        ("spoke to margaret kowalczyk about her labs", "margaret kowalczyk"),
    ],
)
def test_what_has_neither_capital_nor_cue_is_found(deid: Deidentifier, text: str, said: str) -> None:
    assert any(said in one for one in masked(deid, text))


@pytest.mark.parametrize(
    "text",
    [
        "Foley placed, Homans sign negative, Penrose drain left in.",
        "Parkinson disease, Crohn's and Bell palsy are denied.",
        "grip 4/5 on the left, EF 55-60%, pain 5/10, K 4.1",
    ],
)
def test_what_identifies_nobody_stays(deid: Deidentifier, text: str) -> None:
    assert masked(deid, text) == []


def test_a_long_text_is_read_as_its_parts(deid: Deidentifier) -> None:
    line = "Seen with ngozi okonkwo in the afternoon; no pain, lungs clear, plan as before.\n\n"
    found = deid.detect([line * 60])[0]
    assert sum((line * 60)[one.start : one.end] == "ngozi okonkwo" for one in found) == 60


def test_it_travels_to_other_processes(deid: Deidentifier) -> None:
    system = Native(name="native", base=Path())
    again = pickle.loads(pickle.dumps(system))
    assert again.version == system.version and "tagger " in system.version
    assert again.detect(["saw ngozi okonkwo"]) == system.detect(["saw ngozi okonkwo"])
