"""Words beside names: verbs of people, relations, words of forms. Lists only."""

from __future__ import annotations

from workup.deid.page import words_of

VERBS = words_of(
    "reports reported states stated denies denied presents presented is was has had will would says said lives lived "
    "works notes noted complains describes called calls feels felt remains agrees understands wants wishes requests "
    "requested asked asks tolerated underwent returns returned came arrived admits admitted endorses appears appeared "
    "did does takes took expressed verbalized saw seen signed wrote received joined needs"
)
KIN = words_of(
    "wife husband spouse mother father son daughter sister brother aunt uncle niece nephew cousin grandmother "
    "grandfather grandson granddaughter partner friend neighbor neighbour mom dad caregiver guardian girlfriend "
    "boyfriend fiance fiancee roommate proxy parent self sibling stepmother stepfather stepson stepdaughter patient "
    "attending surgeon nurse pcp resident poa"
)
FORM_WORDS = words_of(
    "home work cell mobile office phone telephone name date time age sex none self same see call low new old no yes na "
    "other all"
)
