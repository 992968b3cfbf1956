"""Typos and scanning errors: what is taken for what, how far two words are apart, which word a misspelt one stands for.

Knows words only, nothing of where they stand. `distance` is Levenshtein's, for texts of any length; `apart` counts two
swapped neighbours as one edit and gives up early, for the short words that a list is searched with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from workup.text.wordlists import alternatives

# Pairs that engines confuse in scanned typescript and faxes: one glyph read as one or two, two read as one.
SCANNED = alternatives("""
    0=O|o 1=l|I 2=Z|z 3=8 4=A 5=S|s 6=b|G 7=1 8=B|3 9=g|q
    A=4 B=8 C=G|O D=O|0 E=F F=P G=6|C H=N I=l|1 J=I K=X L=I M=N N=M|H O=0|Q P=F Q=O R=K S=5 T=I U=V V=U|Y W=VV X=K
    Y=V Z=2
    a=o|e b=h|6 c=e|o d=cl e=c|o f=t g=9|q h=b|li i=l|1 j=i k=lc l=1|I m=rn|nn n=u|ri o=0|c p=n q=g r=n s=5|a t=f|l
    u=n|ii v=y w=vv x=k y=v z=2
    rn=m cl=d vv=w li=h ri=n nn=m fi=h
    ,=. .=, :=; ;=: '=` -=~
""")
# The way back, for figures: every letter that one may have been read as, and the Q that looks like an O.
FIGURES = {
    letter: figure for figure, read in SCANNED.items() if figure.isdigit() for letter in read if letter.isalpha()
} | {"Q": "0"}
# The way back, for words: two letters for one and one for two, the likelier first; digits for letters.
PAIRS = (("rn", "m"), ("nn", "m"), ("cl", "d"), ("vv", "w"), ("li", "h"), ("ri", "n"), ("ii", "u"), ("lc", "k"),
          ("m", "rn"), ("d", "cl"), ("h", "li"), ("n", "ri"), ("h", "fi"))  # fmt: skip
LETTERS_OF_DIGITS = {
    "0": "od", "1": "li", "2": "z", "3": "e", "4": "a", "5": "s", "6": "bg", "7": "t", "8": "b", "9": "g",
}  # fmt: skip
KEYBOARD = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")  # of the United States, row by row
_PLACE = {letter: (row, at) for row, letters in enumerate(KEYBOARD[1:]) for at, letter in enumerate(letters)}
_SHORT, _LONG = 4, 7  # words below the first are not read; from the second on two typos are


def distance(one: str, other: str) -> int:
    """Levenshtein's distance, exactly: characters inserted, deleted and replaced, each of them one; a swap is two.

    By the bit-parallel columns of Myers (1999) as simplified by Hyyrö (2003): a whole column of the table is one Python
    integer, so a text of some thousand characters takes milliseconds.

    >>> distance("kitten", "sitting"), distance("form", "from"), distance("", "abc")
    (3, 2, 3)
    """
    if one == other:
        return 0
    one, other = _differing(one, other)
    if not one or not other:
        return len(one) + len(other)
    if len(one) > len(other):
        one, other = other, one
    places: dict[str, int] = {}
    for i, character in enumerate(one):
        places[character] = places.get(character, 0) | (1 << i)
    everywhere = (1 << len(one)) - 1
    last = 1 << (len(one) - 1)
    rises, falls, found = everywhere, 0, len(one)
    for character in other:
        equal = places.get(character, 0)
        upright = equal | falls
        across = (((equal & rises) + rises) ^ rises) | equal
        up = falls | ~(across | rises)
        down = rises & across
        if up & last:
            found += 1
        elif down & last:
            found -= 1
        up = (up << 1) | 1
        rises = ((down << 1) | ~(upright | up)) & everywhere
        falls = up & upright & everywhere
    return found


def _differing(one: str, other: str) -> tuple[str, str]:
    """Both without what they share at the start and at the end, which no shortest edit touches."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


@lru_cache(maxsize=1 << 14)
def apart(one: str, other: str, most: int) -> int:
    """Edits between two short words, neighbours swapped counting once; more than `most` is `most` + 1.

    >>> apart("hospital", "hopsital", 2), apart("clinic", "hospital", 2)
    (1, 3)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, against in enumerate(other, start=1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def beside(one: str, other: str) -> bool:
    """Whether two letters in lower case are neighbours on the keyboard of the United States.

    >>> beside("s", "d"), beside("n", "h"), beside("q", "m")
    (True, True, False)
    """
    if one not in _PLACE or other not in _PLACE:
        return False
    (row, at), (other_row, other_at) = sorted((_PLACE[one], _PLACE[other]))
    return one != other and other_row - row < 2 and abs(other_at - at) < 2


def as_letters(word: str) -> Iterator[str]:
    """Readings of a word in lower case with its digits taken for letters; few, since few digits are read.

    >>> list(as_letters("hosp1tal"))
    ['hospltal', 'hospital']
    """
    readings = [""]
    for character in word:
        letters = LETTERS_OF_DIGITS.get(character, character)
        readings = [reading + letter for reading in readings for letter in letters]
        if len(readings) > 8:
            return
    yield from readings


def misread(word: str) -> Iterator[str]:
    """What a word may have been before a scanner read two letters for one, or one for two.

    >>> "jan" in misread("jari")
    True
    """
    for pair, single in PAIRS:
        at = word.find(pair)
        while at >= 0:
            yield word[:at] + single + word[at + len(pair) :]
            at = word.find(pair, at + 1)


def _shortened(word: str, times: int) -> set[str]:
    found = {word}
    for _ in range(times):
        found |= {one[:i] + one[i + 1 :] for one in found for i in range(len(one))}
    return found


class Speller:
    """A list of words, ready to say which of them a misspelt word is.

    >>> speller = Speller(["hospital", "street"], twice=["november"])
    >>> speller.meant("hosoital"), speller.meant("nuvembar"), speller.meant("strect"), speller.meant("zzzz")
    ('hospital', 'november', 'street', None)
    """

    def __init__(self, words: Iterable[str], *, twice: Iterable[str] = (), rank: Callable[[str], float] = len) -> None:
        """`twice` are words that are known through two typos, where they are long; of two as near, `rank` decides."""
        self._twice = frozenset(word for word in twice if len(word) >= _LONG)
        self._words = self._twice | frozenset(word for word in words if len(word) >= _SHORT)
        near: dict[str, list[str]] = {}
        for word in sorted(self._words):
            for piece in _shortened(word, 2 if word in self._twice else 1):
                near.setdefault(piece, []).append(word)
        self._near = {piece: tuple(found) for piece, found in near.items()}
        self._known: dict[str, str | None] = {}
        self._rank = rank

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def meant(self, word: str) -> str | None:
        """The word of the list that a misspelt one stands for; None where none is near, or it is too short."""
        if word not in self._known:
            if len(self._known) > 50_000:
                self._known.clear()
            self._known[word] = self._read(word)
        return self._known[word]

    def _read(self, word: str) -> str | None:
        if not _SHORT - 1 <= len(word) <= 24:
            return None
        if any(map(str.isdigit, word)):
            if sum(map(str.isdigit, word)) * 3 > len(word):
                return None
            readings = list(as_letters(word))
            exact = next((one for one in readings if one in self._words), None)
            return exact or next((one for one in map(self._nearest, readings) if one), None)
        return next((read for read in misread(word) if read in self._words), None) or self._nearest(word)

    def _nearest(self, word: str) -> str | None:
        best: tuple[int, bool, float, str] | None = None
        for piece in _shortened(word, 2 if len(word) >= _LONG else 1):
            for one in self._near.get(piece, ()):
                most = 2 if one in self._twice else 1
                edits = apart(word, one, most)
                if edits <= most and (len(one) > _SHORT or word[0] == one[0] or word[-1] == one[-1]):
                    key = (edits, word[0] != one[0], -self._rank(one), one)
                    best = key if best is None or key < best else best
        return best[3] if best else None
