"""Notes broken by hand of chance: signs put in, taken out, doubled and turned."""

from __future__ import annotations

import random

SIGNS = (
    *"\0\t\n\r\x0b\x0c\x1f\x7f\x85\xa0\xad",
    *"\u0301\u200b\u200d\u202e\u2028\u2029\ufeff\ufffd\ud800\udfff\U0001f9d1\U000e0001",
    *"ßİıŁæﬁ①Ⅳ٣۴०ʼ’“”–—‐·•…／：＠．",
    *"漢字かな한국어עבריתالعربيةдоктор",
)
PIECES = (
    *("Dr.", "MRN:", "DOB", "03/14/2021", "(617) 555-0142", "a.b@c.example", "John", "O'Neil", "St.", "90", "[NAME-1]"),
    *("http://", "123-45-6789", "Apt 4B", "Boston, MA 02115", "@@@", "1/2/3/4/5", "----", "((((", "aaaa" * 20),
)


def broken(draw: random.Random, notes: list[str]) -> str:
    """A piece of a note with signs put in, taken out, doubled and turned; or nothing but signs."""
    if draw.random() < 0.2:
        return "".join(draw.choice((*SIGNS, *PIECES, " ")) for _ in range(draw.randrange(60)))
    note = draw.choice(notes)
    start = draw.randrange(max(1, len(note) - 200))
    signs = list(note[start : start + draw.randrange(1, 200)])
    for _ in range(draw.randrange(1, 12)):
        place = draw.randrange(len(signs) + 1)
        match draw.randrange(4):
            case 0:
                signs.insert(place, draw.choice(SIGNS))
            case 1:
                signs.insert(place, draw.choice(PIECES))
            case 2:
                del signs[place : place + draw.randrange(3)]
            case _:
                signs[place : place + 4] = reversed(signs[place : place + 4])
    return "".join(signs)
