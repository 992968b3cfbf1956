# ruff: noqa: E501 - a pattern is read more easily on one line
"""Words that tie a note to the calendar without being a date: weekdays, holidays, seasons, quarters, weeks of a year.

Beside a date that was moved they give the move away: a Monday leaves one shift in seven, Christmas leaves one. Found in
any text, whatever a detector found in it. Words that are mostly something else in a note (the sun, an O2 sat, a fall,
the verb may) are taken only where their neighbours make them a day. Every pattern looks at each character a fixed
number of times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from workup.text.calendar import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS
from workup.text.numbers import ordinal_words


class Anchor(NamedTuple):
    """A stretch of a text and the kind of calendar fact that it reveals."""

    start: int
    end: int
    kind: str
    doubtful: bool = False  # as a rule something else, unless the note has dates


_LONG = r"(?:mon|tues|wednes|wendes|wens|thurs|thrus|fri|satur|sater|sun)days?"
_SURE = rf"(?:{_LONG}|tues|thurs|thur|weds)"  # nothing else in English
_SHORT = rf"(?:{'|'.join(SHORT_WEEKDAYS).lower()})"
_ANY = rf"(?:{_LONG}|tues|thurs|thur|weds|{_SHORT}s?)"
_MONTH = rf"(?:{'|'.join((*MONTHS, 'Sept', *SHORT_MONTHS))})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)"
_YEAR = r"(?:19|20)\d\d"
_DAY_FOLLOWS = (
    rf"(?=(?:the\s)?{_NTH}\b|(?:0?[1-9]|1[0-2])[/-](?:0?[1-9]|[12]\d|3[01])(?![\d%])|{_YEAR}-\d\d"
    rf"|(?:[12]?\d|3[01])[/-](?:0?[1-9]|1[0-2])[/-]\d\d|{_MONTH}\b\.?\s\d|\d{{1,2}}[ -]{_MONTH}\b)"
)
# An oxygen sat, the sun, a monocyte count: what follows them where they are no days.
_NO_DAY = (
    r"(?![-'’]?\w|\s*[%:=<>]|\s*\d{2,3}\b(?!\s*[/-]\d)|\s+(?:of|is|was|were|at\s\d{2}|in\sthe\s[89]\d|exposure|burn"
    r"|damage|screen|light|probe|monitor\w*|level\w*|read\w*|up|down|down|still|upright|there|on|and\sor)\b)"
)
_TIE = r"(?:last|next|this|every|each|coming|following|past|previous|until|till|since|through|thru)"
_VISIT = (
    r"(?:[Ss]een|[Aa]dmitted|[Dd]ischarged|[Pp]resented|[Cc]ame|[Aa]rrived|[Aa]ppt|[Aa]ppointment|[Vv]isit|[Ff]/[Uu]"
    r"|[Ff]ollow[- ]?up|RTC|[Rr]eturns?|[Dd]ue|[Ss]cheduled|[Ss]urgery|[Dd]ialy[sz]ed|[Cc]linic|[Oo]ffice|E[DR])"
)
_PART_OF_DAY = r"(?:am|pm|a\.m|p\.m|morning|afternoon|evening|night|noon)"
_BESIDE = r"(?:on|at|since|before|after|around|near|over|during|until|till|by|for|last|this|next|past|every|each|the)"
_SEASON = r"(?:winter|spring|summer|autumn)"
_ZONE = r"(?:[ECMP][SD]T|BST|CES?T)"
_DOSES = r"(?!\s*(?:h|hrs?|hours?|d|days?|wks?|weeks?|months?|mins?|minutes?|shifts?|prn)\b)"

_HOLIDAYS = (  # nothing else in a note
    r"christmas(?:\s(?:eve|day)|\s?time)?(?!\s(?:tree|disease|factor))|x-?mas|thanksgiving(?:\sday)?|halloween|juneteenth"
    r"|new\syear['’]?s?(?:\s?['’])?(?:\s(?:eve|day))?|hanukkah|chanukah|kwanzaa|diwali|ramadan|passover|yom\skippur"
    r"|rosh\shashanah?|purim|sukkot|cinco\sde\smayo|mardi\sgras|lunar\snew\syear|chinese\snew\syear|good\sfriday"
    r"|palm\ssunday|ash\swednesday|black\sfriday|easter\s(?:sunday|monday|day|eve|weekend|holiday|break)"
    r"|super\s?bowl(?:\ssunday)?|boxing\sday|(?:winter|summer|vernal|autumnal|spring|fall)\s(?:solstice|equinox)"
    r"|(?:valentine|st\.?\spatrick|saint\spatrick|president|veteran)s?['’]?s?\sday|(?:mlk|martin\sluther\sking)"
    r"(?:,?\sjr\.?)?(?:['’]s)?\sday|(?:independence|columbus|groundhog|election|indigenous\speoples?['’]?)\sday"
    rf"|(?:the\s)?(?:fourth|4th)\sof\sjuly|july\s(?:the\s)?(?:fourth|4th)(?!,?\s{_YEAR})|leap\sday"
    r"|daylight[-\s]savings?(?:\stime)?|april\sfools?['’]?s?['’]?(?:\sday)?|(?:bonfire|guy\sfawkes)\s(?:night|day)"
    r"|(?:remembrance|armistice)\s(?:day|sunday)|(?:bastille|canada|australia|anzac|pancake)\sday"
    r"|bank\sholidays?|valentines|shrove\stuesday|whit\smonday"
    # A weekday that belongs to a name: moved by itself it would leave half of a holiday beside another day.
    r"|(?:cyber|plough|clean|pentecost)\smonday|(?:giving|super|fat)\stuesday|(?:maundy|holy)\sthursday|holy\ssaturday"
    r"|small\sbusiness\ssaturday|(?:mothering|trinity|pentecost|whit|divine\smercy)\ssunday|(?:first|second|third|fourth)"
    r"\ssunday\s(?:of|in)\s(?:advent|lent)|(?:tax|earth|patriot|pi|flag|arbor|d)\sday|v-day|(?:the\s)?ides\sof\s\w{3,9}"
    r"|(?:st\.?|saint)\spadd(?:y|ies)['’]?s(?:\sday)?"
)
_HOLIDAYS_BESIDE = (  # also a name, an acronym or two words of a sentence
    r"easter(?!\sseals?)|labor\sday|memorial\sday(?!\s(?:surg|care|hosp|clin|unit|proc))|(?:mother|father)s?['’]?s?\sday"
    r"(?![-\s]?(?:to|care|time))|lent|spring\sbreak|eid(?:\sal-(?:fitr|adha))?"
)

_ORDINAL = "(?:" + "|".join(ordinal_words(day).replace("-", r"[-\s]") for day in range(1, 32)) + ")"
_OF_MONTH = r"(?=\s?[.,;)](?!\w)|\s?$|\sof\s(?:the|this|last|next|that)\smonth|\sat\s\d)"
_WEEK_NUMBER = r"(?:0?[1-9]|[1-4]\d|5[0-3])"
_DAY_IN_NUMBERS = r"(?:\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}[.-]\d{1,2}[.-]\d{2,4}|\d{4}-\d\d-\d\d)"
_AGE_PARTS = r"\d{1,2}\s?m(?:o|os|onths?)?[,\s]{0,2}(?:and\s)?\d{1,2}\s?d(?:ays?)?\b"
# Weeks that are counted from something else than New Year, and counts of cells.
_COUNTED = re.compile(
    r"gestat|pregnan|\bGA\b|\bEGA\b|trimester|uterine|bed\s?rest|f[oe]e?t(?:al|us)|partum|chemo|cycle|post|\bs/p\b|therap|treatment|titrat"
    r"|taper|\bdos(?:e|ing)|\bmg\b|stud(?:y|ies)|trial|protocol|regimen|infusion|\bof\slife|\bafter\b|follow[- ]?up",
    re.IGNORECASE,
)
_CELLS = re.compile(r"\b(?:eos|baso|lymph|neut|seg|poly|wbc|mono|diff)", re.IGNORECASE)
_AROUND = 40  # characters on each side in which a word says from what a week is counted


def _i(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# A fall in which someone was hurt is no season.
_TRIP = re.compile(
    r"hit|head|fractur|injur|bruis|broke|trauma|hip\b|down|stair|risk|sustain|mechanic|syncop|witness|fell|ladder|hurt"
    r"|wound|lacerat|strike|struck|concuss|sprain|tor[en]|land|bump|broken|knee|wrist|ground|pain|loss|conscious|impact",
    re.IGNORECASE,
)
# The same day of the same month once more, close to the date that tells its year.
_DATED = re.compile(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d\d)(?![\d/-])")
_BARE = re.compile(r"(?<![\d/.-])(\d{1,2})[/-](\d{1,2})(?![\d/%-]|\.\d)")
_REACH = 24

# The stretch is the group v, or the whole match where there is none.
_FINDERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("holiday", _i(rf"(?<![\w-])(?:{_HOLIDAYS})(?![\w-])")),
    ("holiday", _i(rf"(?<![\w-]){_BESIDE}\s(?P<v>{_HOLIDAYS_BESIDE})(?![\w-])")),
    ("holiday", re.compile(r"(?<![\w-])(?:Labor Day|Memorial Day(?! (?:Surg|Care|Hosp|Clin|Unit))|Mother's Day|Father's Day)(?![\w-])")),
    ("weekday", _i(rf"(?<![\w-]){_SURE}(?:['’]s)?(?:\s?(?:[-–—/,&+]|to|through|thru|and|or)\s?{_ANY})*(?!\w)(?:,?\sthe\s{_NTH}\b)?")),
    ("weekday", _i(rf"(?<![\w-]){_SHORT}\.?(?:\s?(?:[-–—/&+]|to|through|thru)\s?{_ANY})+(?!\w)")),
    ("weekday", _i(rf"(?<![\w-])(?P<v>{_SHORT})\.?,?\s{_DAY_FOLLOWS}(?P<nth>(?:the\s)?{_NTH}\b)?")),
    ("weekday", _i(rf"\d[/-]\d{{1,2}}(?:[/-]\d{{2,4}})?\s?[,(]\s?(?P<v>{_SHORT})(?=[\s.,;)]|$){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-]){_TIE}\s(?P<v>{_SHORT}){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-])on\s(?P<v>mon|tue|wed|thu|fri){_NO_DAY}")),
    ("weekday", re.compile(rf"(?<![\w-])[Oo]n\s(?P<v>Sat|Sun|SAT|SUN){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-])(?P<v>{_SHORT})\.?\s(?={_PART_OF_DAY}\b)")),
    ("weekday", re.compile(r"(?<![\w-])(?P<v>Mon|Tue|Wed|Thu|Fri|Sat|Sun)\.?\sat\s(?:0?[1-9]|1[0-2])(?![\d.]|\s?%)")),
    ("weekday", re.compile(rf"(?<![\w-]){_VISIT}\s(?:on\s)?(?P<v>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)){_NO_DAY}")),
    ("weekday", re.compile(r"(?<![\w-])(?:M[-/, ]{0,2}W[-/, ]{0,2}F|Tu?e?[-/, ]{0,2}Thu?r?[-/, ]{0,2}Sa?t?)(?![\w-])")),
    ("weekday", re.compile(r"(?:HD|[Dd]ialysis|[Ss]chedule)(?: on)? (?P<v>TTS)(?![\w-])")),
    ("weekend", _i(rf"(?<!\w)weekend(?!\w)(?:\sof\s(?:the\s)?{_NTH}\b)?")),
    ("day_of_month", _i(rf"(?<!\w)week\sof\s(?P<v>the\s{_NTH})\b")),
    ("day_of_month", _i(rf"(?<!\w)(?:on|by|until|till|since|before|after|from|through|thru)\s(?P<v>the\s{_NTH})(?=\s?[.,;)](?!\w)|\s?$|\sof\s(?:the|this|last|next|that)\smonth|\sat\s\d)")),
    ("season", _i(rf"(?<!\w)(?:last|next|this(?:\spast|\scoming)?|past|previous|early|late|mid|the|in|since|during|every|each|until|by|over\sthe)[-\s](?P<v>{_SEASON})(?:time)?(?![\w-])(?!\s(?:break|solstice|equinox|ligament|loaded|type|coil|water|mattress))(?:\sof\s{_YEAR})?")),
    ("season", _i(rf"(?<!\w)(?:last|next|this\spast|this\scoming|early|late|mid)[-\s](?P<v>fall)(?![\w-])(?!\s(?:risk|was|occurred|happened|episode|in\sthe|at|on|from|down|resulted|with))(?:\sof\s{_YEAR})?")),
    ("season", _i(rf"(?<!\w)(?:{_SEASON}|fall)(?:\s(?:semester|holidays?|vacation)|,?\s(?:of\s)?{_YEAR})(?!\w)")),
    ("season", _i(rf"(?<!\w)(?:{_SEASON})\smonths?(?!\w)")),
    ("month", re.compile(rf"(?<!\w)(?:[Ii]n|[Ss]ince|[Ll]ast|[Nn]ext|[Ee]arly|[Ll]ate|[Mm]id|[Uu]ntil|[Dd]uring|[Tt]hrough|[Aa]round|[Bb]y|[Oo]f|[Ff]rom|[Ee]nd of|[Bb]eginning of)[-\s](?P<v>{_MONTH})\.?(?![\w'’/-]|\s?\d)(?!\.\s?[A-Z])")),
    ("month", _i(rf"(?<!\w)(?:in|since|last|next|early|late|until|during)\s(?P<v>{'|'.join(one for one in MONTHS if one not in ('March', 'May', 'August'))})(?!\w|\s?\d)")),
    ("quarter", re.compile(rf"(?<![\w-])Q[1-4](?:\s?(?:of\s|[/-]|['’]|FY)?\s?(?:{_YEAR}|['’]\d\d)|(?<=\b(?:in|of|by) Q[1-4]){_DOSES})(?!\w)")),
    ("quarter", _i(rf"(?<!\w)(?:first|second|third|fourth|1st|2nd|3rd|4th)\s(?:fiscal\s)?quarter\sof\s(?:the\syear|this\syear|last\syear|{_YEAR})(?!\w)")),
    ("week", _i(rf"(?<![\w-])(?:(?:iso|calendar)[-\s]?(?:week|wk)\s?(?:no\.?\s?|number\s|#)?\d{{1,2}}|(?:week|wk)\s\d{{1,2}}\sof\s{_YEAR}|{_YEAR}-?W\d\d(?:-?[1-7])?)(?!\w)")),
    ("week", re.compile(r"(?<![\w-])(?:CW|KW)\s?\d{1,2}(?![\w.])")),
    ("day_of_year", _i(rf"(?<![\w-])(?:day\s(?:no\.?\s|number\s|#)?\d{{1,3}}\sof\s(?:the\syear|{_YEAR})|(?:day[-\s]of[-\s](?:the[-\s])?year|doy|julian\s(?:day|date))[\s:#]{{1,2}}\d{{1,3}}|\d{{1,3}}(?:st|nd|rd|th)\sday\sof\s(?:the\syear|{_YEAR}))(?!\w)")),
    ("birth_year", _i(rf"(?<!\w)(?:born|birth|dob|d\.o\.b\.)[\s:]{{1,2}}(?:in\s|year[\s:]{{1,2}})?(?P<v>{_YEAR})(?![\w/.-]\d|\w)")),
    ("zone", _i(rf"\d(?::\d\d|\s?[ap]\.?m\b\.?|\s?h(?:ou)?rs)\s?(?:[ap]\.?m\b\.?)?\s?(?P<v>{_ZONE})(?!\w)")),
    ("holiday", re.compile(r"(?<![\w-])(?:NYE|May Day)(?![\w-])|(?<=\b[Oo]n )Holi(?![\w-])|(?<![\w-])(?:[Aa]t|[Dd]uring|[Bb]efore|[Aa]fter|[Ff]or|[Cc]elebrat(?:ed|ing)) Holi(?![\w-])")),
    ("holiday", re.compile(r"(?<![\w-])(?:[Ii]n|[Dd]uring|[Ff]or|[Oo]f|[Tt]hrough|[Oo]bserv(?:es|ed|ing)|[Kk]eep(?:s|ing))\s(?P<v>Lent)(?![\w-])")),
    ("holiday", re.compile(r"(?<![\w-])(?P<v>Lent)(?=\s(?:began|begins|started|starts|ended|ends|is|was)\b)")),
    ("season", _i(r"(?<![\w-])(?:equinox(?:es)?|solstice|mid-?(?:summer|winter)|(?:winter|summer|spring|autumn)-?time|(?:longest|shortest)\s(?:day|night)\sof\sthe\syear)(?![\w-])")),
    ("weekday", re.compile(r"(?<![\w-])(?:[Oo]n|[Ee]very|[Ee]ach|[Nn]ext|[Ll]ast)\s(?P<v>Tu)(?![\w-])(?!\s?\d)")),
    ("weekday", re.compile(r"(?<![\w/-])(?:Tu\s?[/&,-]?\s?Thu?|T\s?[/&]\s?Th|M[-–]F)(?![\w/-])(?!\s(?:trans|ratio|gender))")),
    ("weekday", _i(r"(?<![\w-])(?:weekdays?|sabbath|tgif)(?![\w-])")),
    ("weekday", re.compile(r"(?<!\w)(?:HD|[Hh]?(?:emo)?[Dd]ialy\w{1,6}|ESRD|[Ss]chedule|[Rr]uns|[Cc]hair)[^.\n]{0,24}(?<![\w-])(?P<v>TTS)(?![\w-])|(?<![\w-])TTS(?=\s(?:schedule|dialysis|HD|shift|chair)\b)")),
    ("day_of_month", _i(rf"(?<!\w)(?:(?:week|wk|month)\s(?:ending|ended|beginning|starting|commencing|of)|w/e)[\s:]{{1,2}}(?:on\s)?{_DAY_IN_NUMBERS}(?![\w/-])")),
    ("part_of_month", _i(rf"(?<!\w)(?:on|by|until|till|since|before|after|from)\s(?P<v>the\s{_ORDINAL})(?!,\s(?:and\s)?{_ORDINAL}){_OF_MONTH}")),
    ("part_of_month", _i(rf"(?<!\w)(?:last|final|{_ORDINAL}|{_NTH})\s(?:day\s)?of\s(?:the|this|last|next|that|each|every)\s(?:month|(?:calendar\s|fiscal\s)?year)(?!\w)")),
    ("part_of_year", _i(r"(?<!\w)(?:(?:end|start|beginning|middle|close)\sof\s(?:the\s)?(?:fiscal|financial|calendar|school|academic)\syear|fiscal\syear[-\s]end)(?!\w)")),
    ("part_of_year", _i(r"(?<![\w-])(?:day\s\d{1,3}\sof\s(?:this\s)?year|\d{1,3}(?:st|nd|rd|th)\sday\sof\sthis\syear|\d{1,3}\sdays\s(?:are\s)?(?:left|remaining|remain)\s(?:in|of)\s(?:the|this)\syear|\d{1,3}\sdays\s(?:until|till|to|before)\s(?:the\s)?(?:end\sof\sthe\syear|year[-\s]?end))(?!\w)")),
    ("part_of_year", re.compile(rf"(?<![\w-])H[12](?:\s(?:of\s)?|[/-])?{_YEAR}(?!\w)|(?<![\w-])[12]H['’]?(?:{_YEAR}|\d\d)(?!\w)")),
    ("quarter", re.compile(rf"(?<![\w-])(?:[1-4]Q[-\s]?['’]?(?:{_YEAR}|\d\d))(?!\w)")),
    ("part_of_year", re.compile(rf"(?<![\w-])(?:FY\s?['’]?(?:{_YEAR}|\d\d)[-/\s]?[QH][1-4]|{_YEAR}(?:[-/]?H[12]|[-/\s]?Q[1-4]{_DOSES}))(?!\w)")),
    ("week", _i(r"(?<![\w-])(?:epi(?:demiolog\w{1,6})?|mmwr|cdc)[-\s]?(?:week|wk)[\s#]{0,2}\d{1,2}(?!\w)")),
    ("summer_time", _i(r"(?<!\w)clocks?\s(?:have\s|had\s|were\s|are\s)?(?:changed?|(?:went|go|goes|gone|going|moved?|set|turned|put|jumped|fell)\s(?:forwards?|back|ahead))(?!\w)|(?<!\w)clock\schange(?!\w)|(?<!\w)(?:sprang|spring|sprung)\sforward(?!\w)|(?<!\w)DST(?=\s(?:in\seffect|began|begins|started|starts|ended|ends|change|switch|observed))")),
    ("summer_time", re.compile(r"(?<!\w)(?:UTC|GMT)\s?[+−–-]\s?\d{1,2}(?::?\d\d)?(?!\w)")),
    ("weekday", _i(rf"(?<![\w-])(?:yesterday|today|tomorrow|tonight)[\s,(]{{1,3}}(?:was\s|is\s|being\s)?(?:an?\s)?(?P<v>mon|tue|wed|thu|fri){_NO_DAY}")),
    ("weekday", re.compile(rf"(?<![\w-])(?:[Yy]esterday|[Tt]oday|[Tt]omorrow|[Tt]onight)[\s,(]{{1,3}}(?:was\s|is\s)?(?:an?\s)?(?P<v>Sat|Sun|SAT|SUN){_NO_DAY}")),
    ("weekday", re.compile(r"\d[/-]\d{1,2}[/-]\d{2,4}\s?[,(]\s?(?P<v>Mo|Tu|We|Th|Fr|Sa|Su)(?=\s?[).;]|\s?$)")),
    ("weekday", re.compile(r"(?<![\w-])(?:DOW|[Dd]ay of (?:the )?week)[:#\s]{1,2}[0-7](?!\w|\.\d)")),
    ("holiday", re.compile(rf"(?<!Mr\. )(?<!Ms\. )(?<!Mrs\. )(?<!Dr\. )(?<!Mr )(?<!Ms )(?<!Mrs )(?<!Dr )(?<![\w-])[Vv]alentine['’]s(?=\s?[,.;)]|\s?$|\s\(?{_DAY_IN_NUMBERS}|\s(?:weekend|week|dinner|party|night|eve)\b)")),
    ("holiday", re.compile(rf"(?<![\w-])Advent(?=\sSunday|\s?[,(]?\s?{_DAY_IN_NUMBERS})|(?<![\w-])(?:[Ii]n|[Dd]uring|[Ff]or|[Ss]unday of)\s(?P<v>Advent)(?![\w-]|\s(?:Health|Hosp))")),
    ("part_of_month", _i(r"(?<![\w-])(?:full|new|half)\smoon(?![\w-])(?!\s(?:fac|shap|bay))")),
    ("offset", re.compile(r"(?<![\d:])(?:\d\d:\d\d:\d\d(?:\.\d{1,9})?\s?|(?<=\dT)\d\d:\d\d)[+-](?:0\d|1[0-4]):?[0-5]\d(?![\w:])|(?<![\d:])\d\d:\d\d:\d\d[+-](?:0\d|1[0-4])(?![\w:])|(?<![\d:])\d\d:\d\d\+(?:0\d|1[0-4])(?::?[0-5]\d)?(?![\w:])")),
)  # fmt: skip
# Taken only in a note with dates, and where nothing around them says that they are something else.
_DOUBTFUL: tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...] = (
    ("week", _i(rf"(?<![\w/-])(?<!\bat\s)(?<!\bfor\s)(?<!\d\s)(?:week|wk)\s?#?{_WEEK_NUMBER}(?![\w:/%-]|\.\d|\s?(?:of|to|d|days?|h|hours?|visit)\b)"), _COUNTED),
    ("week", _i(rf"(?<![\w-])(?<!\bat\s)(?<!\bfor\s){_NTH}\s(?:week|wk)(?!\w)(?!\sof\s(?!the\syear))"), _COUNTED),
    ("quarter", re.compile(rf"(?<![\w-])Q[1-4](?![\w:/-]|\.\s?\w|\s(?:to|or|hourly|nights?|[ap]m|AM|PM|evening|morning)\b){_DOSES}"), None),
    ("quarter", _i(r"(?<![\w-])(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\s(?:fiscal\s|calendar\s)?quarter(?!\w|\s(?:of|inch|size|mile|century|moon|tablet|pill|dose))"), None),
    ("weekday", re.compile(r"(?<![\w-])(?:Mon|Tue|Wed|Thu|Fri|Sun|(?<=\b[Oo]n )Sat)\s(?:0?[1-9]|[12]\d|3[01])(?![\w%:/.-]|\s?%)"), _CELLS),
    ("season", _i(r"(?<!\w)(?:in|by)\sthe\s(?P<v>fall)(?![\w-])(?!\s(?:risk|was|occurred|happened|episode|in\sthe|at|on|from|down|resulted|with|prev|prec|she|he|and|asleep))"), _TRIP),
    ("part_of_year", _i(r"(?<![\w-])(?:end|start|beginning|close|middle|(?:first|last|final)\sday)\sof\s(?:the|this|last|next|that)\s(?:fiscal\s|calendar\s)?(?:quarter|year)(?!\w)|(?<![\w-])(?:quarter|year)[-\s]end(?!\w)"), None),
    ("part_of_month", _i(r"(?<![\w-])(?:end|start|beginning|close|middle)\sof\s(?:the|this|last|next|that)\smonth(?!\w)|(?<![\w-])month[-\s]end(?!\w)"), None),
    ("part_of_year", _i(rf"(?<!\w)\d{{1,3}}\s?y(?:rs?|ears?)?[,\s]{{0,2}}(?P<v>{_AGE_PARTS})"), None),
)  # fmt: skip
_HINT = _i(
    r"day|mon\b|tue|wed|thu|fri\b|sat\b|sun\b|mas\b|weekend|winter|spring|summer|autumn|fall\b|\bQ[1-4]|week|year|born|dob"
    r"|birth|d\.o\.b|st\b|nd\b|rd\b|th\b|M.{0,2}W.{0,2}F|TTS|T.{0,4}Th|W\d\d|CW|KW|doy|julian|[ecmp][sd]t\b|bst\b|ces?t\b"
    rf"|easter|lent\b|eid\b|hallo|teenth|kah\b|kwanz|diwali|ramadan|passover|kippur|purim|sukkot|mayo|gras|bowl|july"
    rf"|solstice|equinox|savings?|{_MONTH}|wk|\dQ|quarter|\bH[12]|\dH|FY|fiscal|fools|bonfire|fawkes|NYE|holi|christmas"
    r"|valentine|sabbath|tgif|time\b|\bTu|\bM\s?[-–]\s?F|month|clock|forward|DST|UTC|GMT|:\d\d|first|last"
    r"|\d\s?d\b|mid-?(?:summer|winter)|advent|moon|dow\b|ides\b|padd|\d/\d|[,(]\s?(?:mo|tu|we|th|fr|sa|su)\b"
)


def anchors(text: str) -> list[Anchor]:
    """Every word that fixes a day, a weekday or a part of the year, in order; none overlaps another.

    >>> [(one.kind, "seen on Monday, next on Sat. or at Easter"[one.start : one.end])
    ...  for one in anchors("seen on Monday, next on Sat. or at Easter")]
    [('weekday', 'Monday'), ('weekday', 'Sat'), ('holiday', 'Easter')]
    >>> anchors("sat 98 % on room air, sun exposure, fall risk, may spring back; Christmas tree rash; Mrs. Easter")
    []
    """
    if not _HINT.search(text):
        return []
    found = sorted(_all(text), key=lambda one: (one.start, -one.end))
    kept: list[Anchor] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _all(text: str) -> Iterator[Anchor]:
    for kind, pattern in _FINDERS:
        for match in pattern.finditer(text):
            start, end = match.span("v" if match.groupdict().get("v") else 0)
            if "nth" in pattern.groupindex and match["nth"]:
                end = match.end("nth")
            yield Anchor(start, end, kind)
    yield from _again(text)
    for kind, pattern, other in _DOUBTFUL:
        for match in pattern.finditer(text):
            start, end = match.span("v") if "v" in pattern.groupindex else match.span()
            if other is None or not (
                other.search(text, max(0, start - _AROUND), start) or other.search(text, end, end + _AROUND)
            ):
                yield Anchor(start, end, kind, doubtful=True)


def _again(text: str) -> Iterator[Anchor]:
    """A day and a month without a year, close behind the date that has them: it would stand as it was."""
    for dated in _DATED.finditer(text):
        told = {int(dated[1]), int(dated[3])}
        for bare in _BARE.finditer(text, dated.end(), min(len(text), dated.end() + _REACH)):
            if {int(bare[1]), int(bare[2])} == told and _BARE.match(text, bare.start()):  # with all that follows it
                yield Anchor(*bare.span(), "day_again")


def kinds_in(surface: str) -> frozenset[str]:
    """The kinds of anchors in what a detector called a date, which needs no neighbours to be one.

    >>> sorted(kinds_in("last Tuesday")), sorted(kinds_in("Sat")), sorted(kinds_in("two days ago"))
    (['weekday'], ['weekday'], [])
    """
    found = {one.kind for one in anchors(surface)} | {one.kind for one in anchors(f"on {surface}")}
    if _ALONE.fullmatch(surface.strip()):
        found.add("weekday")
    if _PART_OF_YEAR.search(surface):
        found.add("season")
    return frozenset(found)


_ALONE = _i(rf"{_ANY}\.?")
_PART_OF_YEAR = _i(rf"\b(?:{_SEASON}|fall)\b")
_OFFSET = re.compile(r"(?<=\d)\s?[+-]\d{2}:?\d{2}$|(?<=:\d\d:\d\d)-\d{2}$|(?<=\d)\+\d{2}$")
_AMERICAN, _EUROPEAN = re.compile(r"\b([ECMP])[SD]T\b"), re.compile(r"\b(?:BST|CES?T)\b")
_IS_ZONE = _i(_ZONE)


def without_zone(said: str) -> str:
    """A time without what reveals summer time: EDT becomes ET, and an offset from UTC is left out; Z stays.

    >>> without_zone("2021-03-04T14:30:00-05:00"), without_zone("14:30 EDT"), without_zone("2021-03-04T14:30:00Z")
    ('2021-03-04T14:30:00', '14:30 ET', '2021-03-04T14:30:00Z')
    """
    if ":" not in said and not _IS_ZONE.search(said):
        return said
    clock = _OFFSET.sub("", said) if ":" in said else said
    return _EUROPEAN.sub("local", _AMERICAN.sub(r"\1T", clock))


def is_zone(said: str) -> bool:
    """Whether a time zone is all that is given."""
    return _IS_ZONE.fullmatch(said) is not None
