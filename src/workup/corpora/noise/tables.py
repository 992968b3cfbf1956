"""What noise puts in the place of what: confusions of character recognition, keys, look-alikes, Unicode variants.

Plain tables. No replacement is punctuation unless what it replaces is, so a value never turns into ignorable marks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _table(rows: str) -> Mapping[str, tuple[str, ...]]:
    """Rows of what is replaced, an equals sign, and what may take its place, divided by strokes."""
    found = dict(row.split("=") for row in rows.split())
    return MappingProxyType({key: tuple(options.split("|")) for key, options in found.items()})


# Pairs that engines confuse in scanned typescript and faxes: one glyph read as one or two, two read as one.
OCR: Mapping[str, tuple[str, ...]] = _table("""
    0=O|o 1=l|I 2=Z|z 3=8 4=A 5=S|s 6=b|G 7=1 8=B|3 9=g|q
    A=4 B=8 C=G|O D=O|0 E=F F=P G=6|C H=N I=l|1 J=I K=X L=I M=N N=M|H O=0|Q P=F Q=O R=K S=5 T=I U=V V=U|Y W=VV X=K
    Y=V Z=2
    a=o|e b=h|6 c=e|o d=cl e=c|o f=t g=9|q h=b|li i=l|1 j=i k=lc l=1|I m=rn|nn n=u|ri o=0|c p=n q=g r=n s=5|a t=f|l
    u=n|ii v=y w=vv x=k y=v z=2
    rn=m cl=d vv=w li=h ri=n nn=m fi=h
    ,=. .=, :=; ;=: '=` -=~
""")

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> dict[str, str]:
    """Keys beside each key and in the next row, on the layout of the United States; capitals have capitals."""
    found: dict[str, str] = {}
    for number, row in enumerate(_ROWS):
        for place, key in enumerate(row):
            near = [row[i] for i in (place - 1, place + 1) if 0 <= i < len(row)]
            if not key.isdigit():  # a typo from letters into digits is rare, and from digits into letters too
                for other in (number - 1, number + 1):
                    if 1 <= other < len(_ROWS):
                        near += [_ROWS[other][i] for i in (place - 1, place) if 0 <= i < len(_ROWS[other])]
            found[key] = "".join(near)
            found[key.upper()] = "".join(near).upper()
    return found


KEYS: Mapping[str, str] = MappingProxyType(_neighbours())

# Cyrillic, Greek and other letters that most fonts draw like Latin ones (the everyday part of Unicode's confusables).
HOMOGLYPHS: Mapping[str, tuple[str, ...]] = _table("""
    A=А|Α B=В|Β C=С|Ϲ E=Е|Ε H=Н|Η I=І|Ι J=Ј K=К|Κ M=М|Μ N=Ν O=О|Ο P=Р|Ρ S=Ѕ T=Т|Τ X=Х|Χ Y=Ү|Υ Z=Ζ
    a=а c=с d=ԁ e=е g=ɡ h=һ i=і j=ј l=ӏ o=о|ο p=р q=ԛ s=ѕ u=υ v=ν w=ԝ x=х y=у 0=О|Ο 1=ӏ 3=З 6=б
""")

# Variants that the same text takes on its way through editors, exports and keyboards of other languages.
UNICODE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        " ": ("\u00a0", "\u2009", "\u202f"),
        **_table("""
            -=\u2010|\u2011|\u2013 '=\u2019|\u02bc "=\u201c|\u201d /=\u2044 ,=\u201a
            a=á|à|ä c=ç|č d=đ e=é|è|ë i=í|ï l=ł n=ñ|ń o=ó|ö r=ř s=š|ş t=ţ u=ú|ü y=ý z=ž
            A=Á|Ä C=Ç E=É|È I=Í N=Ñ O=Ó|Ö S=Š U=Ü
            0=０ 1=１ 2=２ 3=３ 4=４ 5=５ 6=６ 7=７ 8=８ 9=９
        """),
    }
)
