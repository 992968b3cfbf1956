"""States, by name or short form, and ZIP codes, with the town before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid import gazetteer
from workup.deid.finding import Finding
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.states import POSTAL_CODES

JOINS = frozenset((" ", "-", ". ", "\n"))
_OLD = (
    r"Ala|Ariz|Ark|Calif|Colo|Conn|Del|Fla|Ga|Ill|Ind|Kans|Ky|La|Md|Mass|Mich|Minn|Miss|Mo|Mont|Nebr?|Nev|"
    r"N\. ?H|N\. ?J|N\. ?M(?:ex)?|N\. ?Y|N\. ?C|N\. ?D(?:ak)?|Okla|Ore|Penna?|R\. ?I|S\. ?C|S\. ?D(?:ak)?|"
    r"Tenn|Tex|Vt|Va|Wash|W\. ?Va|Wis|Wyo|D\. ?C"
)
_STATE_AFTER = re.compile(
    r"(?:, ?| (?=[A-Z]{2} \d{5})|\n(?=[A-Z]{2} \d{5}))"
    rf"(?:(?P<code>[A-Z]{{2}})(?![A-Za-z]|\.[A-Za-z])|(?P<old>{_OLD})\.)"
)
_DEGREES = frozenset(("MD", "PA", "DO", "ID", "MA", "OR", "IN", "ME", "OK", "HI", "AA", "AS", "VI", "PR"))
_ZIP_AFTER = re.compile(r"\.?,?[ \t]{1,3}(?:ZIP|Zip|zip)?[: ]{0,2}(?P<v>\d{5}(?:[- ]?\d{4})?|\d{3})(?![\w/%]|[.-]\d)")


_ZIPS = re.compile(r"\d{5}(?:[- ]?\d{4})?(?![\w/%]|[.-]\d)|\d{3}(?![\w/%]|[.-]\d)")
# One digit too few or too many; a year is none. The line, or the address, must end with it.
_ZIP_TYPO = re.compile(
    r"(?!(?:19|20)\d\d(?!\d))(?:\d{4}|\d{6}|\d{8}|\d{10}|\d{4,6}[- ]\d{4}|\d{5}[- ]\d{3}|\d{5}[- ]\d{5})"
    r"(?=[ ]{0,2}(?:\n|$)|\.(?:\s|$))"
)
_ADDRESS_ENDS = re.compile(r"[ ]{0,2}(?:\n|$)|\.(?:\s|$)|[;)]")
_GAP_ZIP = re.compile(r"\.?,?[ ]{1,3}")
_STATES_OF_WORDS = 3


def states_before_zip(page: Page) -> Iterator[Finding]:
    """A state, by its name or a short form, before a ZIP code; then the town before the state."""
    for at in page.figures:
        length = len(page.words[at])
        if not at or not (length in (3, 5, 9) or (3 < length < 11 and page.cases[at - 1] in "tu")):
            continue
        code = _ZIPS.match(page.plain, page.starts[at]) or _ZIP_TYPO.match(page.plain, page.starts[at])
        if code is None or not _GAP_ZIP.fullmatch(page.leads[at]):
            continue
        first = _state_words(page, at - 1)
        if first is None and _nearly_a_state(page, at - 1) and _ADDRESS_ENDS.match(page.plain, code.end()):
            first = at - 1
        if first is None:
            continue
        towns = list(_town_before(page, page.starts[first]))
        if length not in (3, 5, 9) and (not towns or page.words[at - 1].upper() in _DEGREES):
            continue  # "Turner, MD 0907"
        short = len(code[0]) == 3
        if short and not towns and not re.match(r"[ ]{0,2}(?:\n|$)", page.plain[code.end() : code.end() + 3]):
            continue  # "Florida 203 patients"
        yield Finding(page.starts[first], page.ends[at - 1], "state", 0.9, "state.code", ("zip_after",))
        yield Finding(*code.span(), "zip", 0.95, "zip.state", ("state",))
        yield from towns


def _state_words(page: Page, last: int) -> int | None:
    """The first word of a state that ends at a word; None where it is none."""
    word, known = page.words[last], gazetteer.places()
    if page.cases[last] == "u" and word.upper() in POSTAL_CODES:
        return last
    if page.plain[page.ends[last] : page.ends[last] + 1] == ".":
        initial = last - 1 if page.cases[last] == "i" and last and page.cases[last - 1] == "i" else last
        if _OLD_FORMS.fullmatch(page.plain, page.starts[initial], page.ends[last]):
            return initial
    for first in range(last, max(-1, last - _STATES_OF_WORDS), -1):
        name = " ".join(page.words[first : last + 1])
        place = known.get(name)
        if name == "district of columbia" or (place is not None and "s" in place.kinds):
            return first
        if page.leads[first] != " ":
            break
    return None


def _nearly_a_state(page: Page, last: int) -> bool:
    """Two or three capitals after a comma and a word with a capital, where a short form of a state is due."""
    word = page.words[last].upper()
    if (
        page.cases[last] != "u"
        or len(word) > 3
        or not last
        or page.leads[last] != ", "
        or page.cases[last - 1] not in "tum"
    ):
        return False
    if word.lower() in _ROUTES or word.lower() in NO_VALUES:
        return False
    if len(word) == 3:
        return not POSTAL_CODES.isdisjoint((word[:2], word[0] + word[2], word[1:]))
    return any(sum(a != b for a, b in zip(word, code, strict=True)) < 2 for code in POSTAL_CODES)


_ROUTES = words("places.no_state")
NO_VALUES = words("places.no_value")
_OLD_FORMS = re.compile(_OLD)


def _town_before(page: Page, state: int) -> Iterator[Finding]:
    """The town right before a state with a ZIP code, in any case, where the gazetteer has it."""
    last = page.word_at(state) - 1
    if last < 0 or page.leads[last + 1] not in (", ", ",", " "):
        return
    for first in range(max(0, last - 3), last + 1):
        if all(page.gaps[word] in JOINS for word in range(first, last)):
            place = gazetteer.places().get(" ".join(page.words[first : last + 1]).replace("'", ""))
            if place is not None and "u" in place.kinds:
                yield Finding(page.starts[first], page.ends[last], "city", 0.9, "city.zip", ("gazetteer", "zip_after"))
                return
    if page.leads[last + 1][:1] == "," and page.cases[last] in "tum":  # words with capitals that no list has
        first = last
        while first and last - first < 3 and page.gaps[first - 1] in JOINS and page.cases[first - 1] in "tum":
            first -= 1
        yield Finding(page.starts[first], page.ends[last], "city", 0.85, "city.zip", ("state_after", "zip_after"))


def state_after(page: Page, end: int, *, announced: bool = False) -> re.Match[str] | None:
    """A state after a town; two letters that are a degree or a word besides need a ZIP code after them, or a town that
    words announce ("moved to Gary, IN")."""
    after = _STATE_AFTER.match(page.plain, end)
    if after is None or not (after["old"] or after["code"] in POSTAL_CODES):
        return None
    if after["old"] is None and after["code"] in _DEGREES and not announced:
        return after if _ZIP_AFTER.match(page.plain, after.end("code")) else None
    return after


def state_and_zip(page: Page, end: int, *, announced: bool = False) -> Iterator[Finding]:
    """The state after a town, and the ZIP code after that."""
    after = state_after(page, end, announced=announced)
    if after is None:
        zip_code = _ZIP_AFTER.match(page.plain, end)
        if zip_code is not None and len(zip_code["v"]) >= 5:
            yield Finding(*zip_code.span("v"), "zip", 0.85, "zip.place", ("place",))
        return
    group = "old" if after["old"] else "code"
    stop = after.end() if after["old"] else after.end(group)
    yield Finding(after.start(group), stop, "state", 0.9, "state.code", ("place",))
    zip_code = _ZIP_AFTER.match(page.plain, stop)
    if zip_code is not None:
        yield Finding(*zip_code.span("v"), "zip", 0.95, "zip.state", ("state",))
