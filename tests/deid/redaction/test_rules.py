"""Tokens, masks, hashes, and what Safe Harbor lets stand of postal codes and ages."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from workup.documents.labels import NAMES, branch_of
from workup.errors import InputError
from workup.redaction.keys import Secret
from workup.redaction.safe_harbor import RESTRICTED_ZIP3, SPARSE_ZIP3, age_of, ninety, zip3
from workup.redaction.tokens import HASH_DIGITS, hashed, highest, is_redacted, mask, token


def test_the_restricted_prefixes_are_the_seventeen_of_the_guidance() -> None:
    assert len(RESTRICTED_ZIP3) == 17
    assert {"036", "692", "878", "059", "790", "879", "063", "821", "884"} < RESTRICTED_ZIP3 <= SPARSE_ZIP3
    assert all(zip3(f"{prefix}01") == "000" for prefix in SPARSE_ZIP3)


def test_three_digits_of_a_zip_code() -> None:
    said = ["02115", "02115-1234", "02115 1234", "021151234", "021", "036", "03601-1234"]
    assert [zip3(one) for one in said] == ["021", "021", "021", "021", "021", "000", "000"]
    assert all(zip3(one) is None for one in ("0211", "SW1A 1AA", "", "02115-12", "٠٢١١٥"))


def test_ages() -> None:
    assert [age_of(said) for said in ("89", "90", "ninety", "one hundred four", "090")] == [89, 90, 90, 104, 90]
    assert age_of("95", after="-month-old") == 0 and age_of("95", after=" years") == 95
    assert age_of("90-95") is None and age_of("x" * 100) is None
    assert ninety("a 93-year-old") == "a 90+-year-old"


@pytest.mark.parametrize("label", [*(name for name in NAMES if branch_of(name) != "CLIN"), "PHI"])
def test_every_label_has_a_token_that_is_recognised(label: str) -> None:
    said = token(label, 12)
    assert is_redacted(f"Seen by {said}.") and list(highest(said).values()) == [12]
    assert is_redacted(hashed(label, "x", secret=Secret(b"0123456789abcdef")))


@pytest.mark.parametrize(
    "text",
    [
        "[NAME-1]",
        "<PERSON>",
        "<DATE_TIME>",
        "{{NAME}}",
        "[**2101-3-4**]",
        "[REDACTED]",
        "██████",
        "[MRN:0123456789abcdef]",
    ],
)
def test_redacted_texts_are_recognised(text: str) -> None:
    assert is_redacted(f"a {text} b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[ICU-2]",
        "[LAB]",
        "[DRUG-1]",
        "[DOCTOR] hi",
        "[1-3]",
        "<5 mg",
        "[x] done",
        "BP 120/80 ___",
        "NAME-1",
        "see [12]",
    ],
)
def test_plain_texts_are_not(text: str) -> None:
    assert not is_redacted(text)


def test_a_hash_is_keyed() -> None:
    one, other = Secret(b"0123456789abcdef"), Secret(b"fedcba9876543210")
    assert hashed("mrn", "123", secret=one) == hashed("mrn", "123", secret=one) != hashed("mrn", "123", secret=other)
    assert hashed("mrn", "123", secret=one) != hashed("mrn", "124", secret=one)
    assert hashed("name_patient", "lee", secret=one) == hashed("name_provider", "lee", secret=one)
    message = b"4:hash3:MRN3:123"
    assert hashed("mrn", "123", secret=one) == (
        f"[MRN:{hmac.new(b'0123456789abcdef', message, hashlib.sha256).hexdigest()[:HASH_DIGITS]}]"
    )


def test_names_of_a_draw_are_not_glued_together() -> None:
    secret = Secret(b"0123456789abcdef")
    assert secret.mac("ab", "c") != secret.mac("a", "bc") != secret.mac("abc")
    assert "0123456789" not in repr(secret)
    with pytest.raises(InputError, match="at least 16 bytes"):
        Secret(b"short")


def test_a_mask_keeps_lines_and_length() -> None:
    assert mask("Ann\r\nLee", character="*") == "***\r\n***"
