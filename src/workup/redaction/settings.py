"""How a redaction is to be done, checked before anything is read. Knows no document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from workup.documents.labels import canonical_name
from workup.errors import InputError, near
from workup.redaction import tokens
from workup.redaction.keys import Secret

How = Literal["label", "mask", "surrogate", "hash"]
HOWS: tuple[str, ...] = get_args(How)
Scope = Literal["patient", "document"]
SCOPES: tuple[str, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is put in the place of a value, and which values stay.

    `rules` are those of Safe Harbor for what may stay: three digits of a ZIP code, 90+, bare years, ages below 90.
    `keep` are labels that stay in the text; clinical ones always do. `repeatable` says that the key came from a file,
    so that the same redaction can be done again.
    """

    how: How
    shifts: bool
    secret: Secret
    repeatable: bool
    rules: bool
    number_by: Scope
    whole_weeks: bool
    keep: frozenset[str]
    day_first: bool | None
    mask_with: str

    @classmethod
    def of(
        cls,
        *,
        how: str = "label",
        shift_dates: bool = False,
        key: bytes | None = None,
        rules: bool | None = None,
        number_by: str = "patient",
        whole_weeks: bool = False,
        keep: Iterable[str] = (),
        day_first: bool | None = None,
        mask_with: str = tokens.MASK,
    ) -> Settings:
        """The settings, or an error that says what is wrong with them.

        Surrogates always move dates; `rules` are followed unless values are masked or hashed, when they must be asked
        for. Without a key one is drawn for this run and kept nowhere.

        >>> Settings.of(how="surrogate").shifts, Settings.of(how="mask").rules
        (True, False)
        """
        if how not in HOWS:
            raise InputError(f"redaction is done as {', '.join(HOWS)}", got=repr(how[:40]), remedy=near(how, HOWS))
        if number_by not in SCOPES:
            raise InputError(
                "tokens are numbered by patient or by document",
                got=repr(number_by[:40]),
                remedy=near(number_by, SCOPES),
            )
        if how == "hash" and key is None:
            raise InputError(
                "a keyed hash needs a key",
                got="none",
                remedy="give one with --key-file; workup redact --new-key FILE makes one. A hash without a key, salted "
                "or not, is guessed in seconds",
            )
        shifts = shift_dates or how == "surrogate"
        if whole_weeks and not shifts:
            raise InputError("whole weeks are a way to shift dates", got="dates that are not shifted")
        return cls(
            how=how,  # type: ignore[arg-type]
            shifts=shifts,
            secret=Secret(key) if key is not None else Secret.fresh(),
            repeatable=key is not None,
            rules=how in ("label", "surrogate") if rules is None else rules,
            number_by=number_by,  # type: ignore[arg-type]
            whole_weeks=whole_weeks,
            keep=frozenset(canonical_name(label, where="keep") for label in keep),
            day_first=day_first,
            mask_with=tokens.check_mask(mask_with),
        )

    @property
    def invents(self) -> bool:
        """Whether the output holds values that look real, so that nobody can tell it from an original."""
        return self.how == "surrogate" or self.shifts
