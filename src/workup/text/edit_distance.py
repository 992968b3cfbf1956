"""Edit distance of two texts, exactly: inserted, deleted and replaced characters, each of them one.

A transposition is two. Knows nothing of noise."""

from __future__ import annotations


def distance(one: str, other: str) -> int:
    """Levenshtein's distance, by the bit-parallel columns of Myers (1999) as simplified by Hyyrö (2003).

    A whole column of the table is one Python integer, so a text of some thousand characters takes milliseconds.

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
