"""Folding, once: what each room folded by itself before is what the floor gives now, for every character there is."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from workup.corpora.noise.tables import UNICODE
from workup.text.unicode import HOMOGLYPHS, caseless, compatibility_caseless, folded, lowered, unaccented, without_marks

EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
ACCENTED = "áéíóúñÁÉÍÓÚÑ"
# As the de-identifier wrote them, look-alike and plain letter side by side.
LOOK_ALIKE = """
АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX ҮY аa сc ԁd еe ɡg һh іi јj ӏl оo рp ԛq ѕs уy ԝw хx З3 б6
ΑA ΒB ϹC ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ΥY ΖZ οo υu νv łl đd øo ßs æa œo ıi ŁL ĐD ØO
‐- ‑- ‒- –- —- ―- −- ﹣- ’' ‘' ʼ' ´' `' ′' “" ”" „" ⁄/ ∕/ ‚, ．. ：: ＠@
"""


def first_letter(character: str) -> str:
    """The old rule of the vocabularies and of the de-identifier for one accented letter."""
    first = unicodedata.normalize("NFD", character)[0]
    return first if first < "\x80" else character


def test_accents_go_letter_for_letter_as_the_vocabularies_took_them() -> None:
    assert [unaccented(one) for one in EVERY] == [first_letter(one) for one in EVERY]
    assert unaccented(ACCENTED) == "aeiounAEIOUN"  # what names in the tables of values were folded by


def test_look_alikes_are_those_of_the_de_identifier() -> None:
    pairs = {pair[0]: pair[1] for pair in LOOK_ALIKE.split()}
    blanks = dict.fromkeys(map(chr, (160, 8199, 8200, 8201, 8202, 8194, 8195, 8239, 12288)), " ")
    wide = {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}
    table = pairs | blanks | wide
    assert [folded(one) for one in EVERY if one > "\x7f"] == [
        first_letter(table.get(one, one)) for one in EVERY if one > "\x7f"
    ]


def test_what_noise_writes_is_what_folding_takes_back() -> None:
    for plain, alike in (*HOMOGLYPHS.items(), *UNICODE.items()):
        for glyph in alike:
            assert folded(glyph) in ({plain, "O", "l"} if plain in "01" else {plain}), glyph


@given(st.text())
def test_one_character_for_one(text: str) -> None:
    for fold in (folded, unaccented, lowered):
        assert len(fold(text)) == len(text)
    # The page of the de-identifier cut longer lower-case forms to one letter; once folded, no letter has one.
    assert lowered(folded(text)) == "".join(c.lower()[:1] for c in folded(text)) or "Σ" in folded(text)


def test_spellings_are_compared_as_before() -> None:
    for one in EVERY:
        assert caseless(one) == unicodedata.normalize("NFKD", one).casefold()
        apart = unicodedata.normalize("NFD", one)
        assert without_marks(one) == "".join(c for c in apart if not unicodedata.combining(c))
    assert without_marks("½ ﬁ é", form="NFKD") == "1⁄2 fi e"


def test_caseless_by_compatibility_is_settled_after_one_call() -> None:
    for one in EVERY:
        once = compatibility_caseless(one)
        assert once == compatibility_caseless(once)
