"""The United States by name and postal code, with people, ZIP prefixes, area codes and the older abbreviations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class State(NamedTuple):
    """A state: people in hundreds of thousands (2020), first three digits of its ZIP codes, area codes."""

    code: str
    name: str
    people: int
    zip_low: int
    zip_high: int
    area_codes: tuple[str, ...]


_STATES = """
AL Alabama 50 350-369 205 251 256 334|AK Alaska 7 995-999 907|AZ Arizona 72 850-865 480 520 602 623 928
AR Arkansas 30 716-729 479 501 870|CA California 395 900-961 209 213 310 408 415 510 619 714 916
CO Colorado 58 800-816 303 719 970|CT Connecticut 36 060-069 203 860|DE Delaware 10 197-199 302
DC District_of_Columbia 7 200-200 202|FL Florida 215 320-349 305 352 407 727 813 904 954
GA Georgia 107 300-319 404 478 706 770 912|HI Hawaii 15 967-968 808|ID Idaho 18 832-838 208
IL Illinois 128 600-629 217 309 312 618 708 815|IN Indiana 68 460-479 219 260 317 574 812
IA Iowa 32 500-528 319 515 563 641 712|KS Kansas 29 660-679 316 620 785 913|KY Kentucky 45 400-427 270 502 606 859
LA Louisiana 47 700-714 225 318 337 504 985|ME Maine 14 039-049 207|MD Maryland 62 206-219 240 301 410 443
MA Massachusetts 70 010-027 413 508 617 781 978|MI Michigan 101 480-499 231 248 313 517 616 734 810 906
MN Minnesota 57 550-567 218 320 507 612 651 763|MS Mississippi 30 386-397 228 601 662
MO Missouri 62 630-658 314 417 573 636 660 816|MT Montana 11 590-599 406|NE Nebraska 20 680-693 308 402
NV Nevada 31 889-898 702 775|NH New_Hampshire 14 030-038 603|NJ New_Jersey 93 070-089 201 609 732 856 908 973
NM New_Mexico 21 870-884 505 575|NY New_York 202 100-149 212 315 516 518 585 607 716 718 914
NC North_Carolina 104 270-289 252 336 704 828 910 919|ND North_Dakota 8 580-588 701
OH Ohio 118 430-459 216 330 419 513 614 740 937|OK Oklahoma 40 730-749 405 580 918|OR Oregon 42 970-979 503 541
PA Pennsylvania 130 150-196 215 412 570 610 717 724 814|RI Rhode_Island 11 028-029 401
SC South_Carolina 51 290-299 803 843 864|SD South_Dakota 9 570-577 605|TN Tennessee 69 370-385 423 615 731 865 901 931
TX Texas 291 750-799 210 214 254 361 409 512 713 806 817 903 915 956|UT Utah 33 840-847 435 801
VT Vermont 6 050-059 802|VA Virginia 86 220-246 276 434 540 703 757 804|WA Washington 77 980-994 206 253 360 425 509
WV West_Virginia 18 247-268 304|WI Wisconsin 59 530-549 262 414 608 715 920|WY Wyoming 6 820-831 307
"""


def _state(line: str) -> State:
    code, name, people, span, *areas = line.split()
    low, high = span.split("-")
    return State(code, name.replace("_", " "), int(people), int(low), int(high), tuple(areas))


STATES: tuple[State, ...] = tuple(_state(line) for line in _STATES.replace("\n", "|").split("|") if line.strip())
STATE: Mapping[str, State] = MappingProxyType({state.code: state for state in STATES})
# Territories, and the military's post abroad: they have postal codes and appear in addresses as states do.
OTHER_CODES = ("PR", "GU", "VI", "AS", "MP", "AE", "AP", "AA")
POSTAL_CODES = frozenset((*STATE, *OTHER_CODES))
OLD_ABBREVIATIONS: Mapping[str, str] = MappingProxyType(
    {
        "AL": "Ala.", "AZ": "Ariz.", "AR": "Ark.", "CA": "Calif.", "CO": "Colo.", "CT": "Conn.", "DE": "Del.",
        "FL": "Fla.", "GA": "Ga.", "IL": "Ill.", "IN": "Ind.", "KS": "Kans.", "KY": "Ky.", "LA": "La.", "MD": "Md.",
        "MA": "Mass.", "MI": "Mich.", "MN": "Minn.", "MS": "Miss.", "MO": "Mo.", "MT": "Mont.", "NE": "Nebr.",
        "NV": "Nev.", "NH": "N.H.", "NJ": "N.J.", "NM": "N. Mex.", "NY": "N.Y.", "NC": "N.C.", "ND": "N. Dak.",
        "OK": "Okla.", "OR": "Ore.", "PA": "Penna.", "RI": "R.I.", "SC": "S.C.", "SD": "S. Dak.", "TN": "Tenn.",
        "TX": "Tex.", "VT": "Vt.", "VA": "Va.", "WA": "Wash.", "WV": "W. Va.", "WI": "Wis.", "WY": "Wyo.",
        "DC": "D.C.",
    }
)  # fmt: skip
