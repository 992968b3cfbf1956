"""A text folded to words: one case, plain signs, no markdown; marks stand for titles, items, labels and empty lines.

Nothing here depends on upper or lower case, so that a reply in capitals is read as the same reply.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from workup.tasks.conversation.read.sentence.vocabulary import words_of
from workup.text.unicode import without_marks

# Marks of structure, from the private area of Unicode: a title, an empty line, a line that opens with a label; and
# items of a list, whose code grows with how far they are set in.
TITLE, PARAGRAPH, LABEL, ITEM = "\ue000", "\ue001", "\ue002", "\ue010"
_DEEPEST = 15
MARKS = "".join(chr(code) for code in range(0xE000, 0xE020))
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)

# Typographic signs that mean the same as a plain one. Bullets become the one that opens an item.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u00ad", "-"),
        **dict.fromkeys("\u2012\u2013\u2212", "-"),
        **dict.fromkeys("\u2014\u2015", " \u2014 "),
        **dict.fromkeys("\u2022\u2023\u25e6\u25aa\u25cf\u2219\u00b7\u25cb\u25a0", "*"),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\t\x0b\x0c\x1c\x1d\x1e\x1f", " "),
        **dict.fromkeys("\u200b\u200c\u200d\ufeff" + MARKS, ""),
        **dict.fromkeys("\u2028\u2029\x85", "\n"),
        "\u2192": " \u2192 ",
        "\u21d2": " \u2192 ",
        "\u00bd": " 0.5",
        "\u00bc": " 0.25",
        "\u00be": " 0.75",
        "\u2026": ". ",
        "\u2705": " yes ",
        "\u2714": " yes ",
        "\u274c": " no ",
        "\u2718": " no ",
    }
)
# Every repetition is bounded or cannot overlap its neighbour, so that no text takes more than linear time.
_TAGS = re.compile(r"<(/?)(br|p|li|div|tr|ul|ol|h[1-6])\b[^<>\n]{0,80}>|</?[a-z][^<>\n]{0,80}>")
_LINKS = re.compile(r"\[([^\[\]\n]{0,200})\]\([^()\n]{0,400}\)")
_STRUCK = re.compile(r"~~[^~\n]{0,400}~~")
_BOLD_LINE = re.compile(
    r"^[ ]{0,20}(?:[-*+][ ]{1,3})?(\*\*|__)([^*_\n]{1,80}?)[ ]?:?[ ]?\1[ ]?:?[ ]{0,3}$", re.MULTILINE
)
_UNDERSCORES = re.compile(r"_+(?<![^\W_]_)|_+(?![^\W_])")
_ITEM_START = re.compile(
    r"^[ ]*(?:(?:[-*+>|\u2014]+[ ]+)+(?:\[[x ]\][ ]*)?|\(?\d{1,2}[.)][ ]+|\(?[a-z]\)[ ]+|\|)", re.MULTILINE
)
_HASHES = re.compile(r"^[ ]{0,3}#{1,6}[ ]{0,3}([^\n]{0,160}?)[ #:]{0,12}$", re.MULTILINE)
_LABEL_START = re.compile(r"^[ ]*(?=[^\W\d_][\w /&()',-]{0,40}:(?:\s|$))", re.MULTILINE)
_GAP_LINES = re.compile(r"\n[ ]*\n\s*")
_CONTRACTED = re.compile(r"n't\b")
_CLITICS = re.compile(r"'(?:s|ve|re|ll|d|m)\b")
_NOT_LIMITED = re.compile(r",? ?but (?:is |are )?not limited to,?")  # the one "but" that turns nothing
_DOT_AND_LETTER = re.compile(r"\.[^\W\d_](?!\w)")
_DOTTED = re.compile(r"(?<![\w.])[^\W\d_]\.[^\W\d_](?:\.[^\W\d_])*(?!\w)(\.?)")
_NEXT_WORD = re.compile(r"\s*([^\W_]+|[,;:)])")
_PREFIXED = re.compile(r"(?<![\w-])(non|ex|pre|anti|pseudo|hypo|hyper|peri|para)-(?=[^\W\d_])")
_HYPHEN = re.compile(r"-(?<=\w-)(?=\w)(?!(?<=\d-)\d)")
_DOUBT_MARK = re.compile(r"(?<![\w?)])\?(?=[^\W_])|\(\s*\?\s*\)")
_WORDS = r"[^\W\d_][^\W_]*(?:'[^\W\d_][^\W_]*)*|\d+(?:[.,]\d+)*|(?<![\d.])\.\d+|->|[^\w\s]|\n"
_TOKEN = re.compile(_WORDS)
_TOKEN_WITH_STROKES = re.compile(r"(?:w/o|h/o|s/p|r/o|d/c|c/o|b/c|y/o)(?!\w)|w/(?=\s|\w)|" + _WORDS)
_PREFIXES = ("non-", "ex-", "pre-", "anti-", "pseudo-", "hypo-", "hyper-", "peri-", "para-")
_SHORTEST_WRAP = 40
_LONGEST_KEPT = 10_000  # characters of a text whose words are kept for a while
_ENDS = (".", "!", "?")


def without_reasoning(text: str) -> str:
    """The text without what a model thought aloud; an unclosed block runs to the end.

    >>> without_reasoning("<think>Is it gout?</think>You have gout.")
    'You have gout.'
    """
    return _REASONING.sub(" ", text).strip() if "<" in text and _REASONING.search(text) else text


def tokens(text: str) -> list[str]:
    """Words, numbers and signs of a text in one form: folded, plain, markdown taken off, structure marked."""
    return list(_kept_tokens(text) if len(text) <= _LONGEST_KEPT else _tokens(text))


def _tokens(text: str) -> tuple[str, ...]:
    same = words_of("same_word")
    plain = _plain(text)
    pattern = _TOKEN_WITH_STROKES if "/" in plain else _TOKEN
    return tuple(same.get(word, word) for word in pattern.findall(plain))


_kept_tokens = lru_cache(maxsize=512)(_tokens)  # a reply is cut anew by each of those who look for something in it


def word_tokens(text: str) -> tuple[str, ...]:
    """Words and numbers alone, as for a name.

    >>> word_tokens("Crohn's disease (non-stricturing)")
    ('crohn', 'disease', 'non', 'stricturing')
    """
    return tuple(word for word in tokens(text) if word[0].isalnum())


def _plain(text: str) -> str:
    text = without_reasoning(text).replace("\r\n", "\n").replace("\r", "\n").casefold().translate(_PLAIN)
    if not text.isascii():
        text = without_marks(text, form="NFKD").casefold()
    if "<" in text:
        text = _TAGS.sub(lambda tag: "\n" if tag[2] else " ", text)
    if "[" in text:
        text = _LINKS.sub(r"\1", text)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    text = _structured(text)
    if "'" in text:
        text = _CLITICS.sub("", _CONTRACTED.sub(" not", text))
    if "cannot" in text:
        text = text.replace("cannot", "can not")
    if "limited to" in text:
        text = _NOT_LIMITED.sub(" ", text)
    if _DOT_AND_LETTER.search(text):
        text = _DOTTED.sub(_undotted, text)
    if "-" in text:
        if any(prefix in text for prefix in _PREFIXES):
            text = _PREFIXED.sub(_prefix, text)
        text = _HYPHEN.sub(" ", text)
    if _fused().search(text):
        text = _fused().sub(lambda word: words_of("fused_denials")[word[0]], text)
    if "?" in text:
        text = _DOUBT_MARK.sub(" possible ", text)
    return text


@cache
def _fused() -> re.Pattern[str]:
    """Words that deny in themselves: "afebrile" is no fever."""
    return re.compile(r"\b(?:" + "|".join(words_of("fused_denials")) + r")\b")


def _structured(text: str) -> str:
    """Marks for headings, items, labels and paragraphs in place of markdown and line ends."""
    if "\n" in text:
        text = _BOLD_LINE.sub(TITLE + r" \2 :", text)
        text = _HASHES.sub(TITLE + r" \1 :", text) if "#" in text else text
        text = _unwrapped(text)
        text = _ITEM_START.sub(_item, text)
        text = _LABEL_START.sub(LABEL, text)
        text = _GAP_LINES.sub(f"\n{PARAGRAPH}", text)
    else:
        text = _ITEM_START.sub("", text)
    text = text.replace("|", " : ").replace("*", "").replace("~", "").replace('"', "")
    return _UNDERSCORES.sub("", text) if "_" in text else text


def _item(match: re.Match[str]) -> str:
    inset = len(match[0]) - len(match[0].lstrip(" "))
    return chr(ord(ITEM) + min(inset, _DEEPEST)) + " "


def _unwrapped(text: str) -> str:
    """Paragraphs that were wrapped, joined again: two lines that end in a full stop, or more of one width.

    A wrapped line ends where the next word no longer fitted; lines of a list end where they please.
    """
    paragraphs = _GAP_LINES.split(text)
    joined = []
    for paragraph in paragraphs:
        lines = paragraph.strip("\n").split("\n")
        width = max(map(len, lines))
        if len(lines) == 2 and not _ITEM_START.search(paragraph) and not _LABEL_START.search(lines[1]):
            if lines[1].rstrip(" *_").endswith(_ENDS) and not lines[0].rstrip(" *_").endswith(_ENDS):
                paragraph = " ".join(lines)
        elif len(lines) > 2 and width >= _SHORTEST_WRAP and not _ITEM_START.search(paragraph):
            firsts = [line.split(" ", 1)[0] for line in lines[1:]]
            if all(len(line) + 1 + len(word) > width for line, word in zip(lines, firsts, strict=False)):
                paragraph = " ".join(lines)
        joined.append(paragraph)
    return "\n\n".join(joined)


def _undotted(match: re.Match[str]) -> str:
    letters = match[0].replace(".", "")
    following = _NEXT_WORD.match(match.string, match.end())
    if not match[1] or letters in words_of("abbreviations_never_last"):
        return letters + " "
    if letters in words_of("abbreviations_sometimes_last"):
        ends = following is None or not goes_on_behind(following[1])
    else:
        ends = following is None or following[1] in words_of("sentence_starters")
    return letters + ". " if ends else letters + " "


def goes_on_behind(word: str) -> bool:
    """Whether a word behind an abbreviation and a full stop goes on with the sentence: "bid. with meals"."""
    return word in words_of("going_on") or not word[0].isalpha()


def _prefix(match: re.Match[str]) -> str:
    # "non-smoker" denies a smoker and "ex-smoker" ends one; "pre-diabetes" and "anti-hypertensive" are other words.
    return match[1] + " " if match[1] in ("non", "ex") else match[1]
