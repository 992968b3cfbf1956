"""What training never sees, so that the study can be scored on it: source texts and names, chosen by their own hash.

No list is kept: whoever holds a text or a name can say by themselves which side it is on, and a second copy of it with
other line ends or capitals falls on the same side. A full name is held out if any of its parts is, so training text
that drops held-out names holds no part of the names that the study asks for, which are held out in every part.
"""

from __future__ import annotations

import hashlib
import unicodedata

TEXTS = 0.55
"""Share of source texts that are kept for the study."""

PHRASING = "b"
"""The half of the generator's templates that is kept for the study: layouts and lines that the other half shares none
of. A generated note says which it was written with in `groups["phrasing"]`."""

NAMES = 0.30
"""Share of given names and surnames that are kept for the study."""


PHRASES = 1 / 6
"""Share of the training phrases that are kept for weighing rules and tagger against each other."""


def _share(kind: str, value: str) -> float:
    """Where a value falls between 0 and 1, the same on every machine."""
    digest = hashlib.sha256(f"{kind}:{value}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def held_out(text: str) -> bool:
    """Whether a source text is kept for the study; blanks, line ends and capitals do not count."""
    return _share("text", " ".join(text.casefold().split())) < TEXTS


def held_out_phrase(line: str) -> bool:
    """Whether a training phrase is kept from training, so that the weighing sees what the tagger did not."""
    return _share("phrase", line) < PHRASES


def _plain(name: str) -> str:
    """A name without accents, marks and capitals: José and JOSE are one name."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in apart if letter.isalnum())


def held_out_name(name: str) -> bool:
    """Whether a name is kept for the study: a given name, a surname, or a full name with a part that is."""
    parts = [plain for part in name.replace("-", " ").split() if len(plain := _plain(part)) > 1]
    return any(_share("name", part) < NAMES for part in parts)
