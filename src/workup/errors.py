"""One tree of errors. Every message says what was expected, what was got and what to do; none holds patient text.

WorkupError                anything Workup itself refuses; the command line exits with 2
├── InputError             a table, a file or an argument that cannot be used as it is
├── StudyError             a study.yaml that does not say what it must
├── PluginError            a name that is not registered, or an object that does not fit
│   └── MissingExtra       a library behind an extra is not installed
├── SystemFailure          the system under test crashed, hung or answered out of form
├── RunError               a run directory that is locked, damaged or not one of ours
├── GateError              a gate rule that cannot be read
└── ReportError            a report.json that cannot be read
"""

from __future__ import annotations

import difflib
import re
import sys
import traceback
import unicodedata
from collections.abc import Iterable
from pathlib import Path


class WorkupError(Exception):
    """Base of every error that Workup raises on purpose."""


class InputError(WorkupError):
    """Input that cannot be used; says where it is, what was expected, what was got and what to do.

    >>> print(InputError("outcome must be 0 or 1", where="cohort.csv, column 'died'", got="values -1 and 1",
    ...                  remedy="recode -1 to 0"))
    cohort.csv, column 'died': outcome must be 0 or 1; got values -1 and 1. To fix: recode -1 to 0.
    """

    def __init__(self, expected: str, *, where: str = "", got: str = "", remedy: str = "") -> None:
        self.expected, self.where, self.got, self.remedy = expected, where, got, remedy
        message = f"{where}: {expected}" if where else expected
        if got:
            message += f"; got {got}"
        message += "."
        if remedy:
            message += f" To fix: {remedy}."
        super().__init__(message)


class StudyError(WorkupError):
    """A study that cannot be run as written."""


class PluginError(WorkupError):
    """A name that is not registered, or an object that does not fit its place."""


class MissingExtra(PluginError):
    """A library behind an extra is needed and absent."""

    def __init__(self, library: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the library '{library}', which is not installed. To fix: in the folder of Workup's "
            f"source, run  pip install -e '.[{extra}]'  (or install '{library}' by itself)."
        )


class SystemFailure(WorkupError):
    """The system under test failed: a crash, a hang, or an answer that is out of form."""


class RunError(WorkupError):
    """A run directory that cannot be used."""


class GateError(WorkupError):
    """A gate rule that cannot be read or that names an unknown metric."""


class ReportError(WorkupError):
    """A record that cannot be read."""


def visible(text: str) -> str:
    """Names come from users' files: a control or bidirectional character must not steer a terminal.

    >>> visible("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """A text of several lines for a terminal or a log: line ends, tabs and blanks of any width stay.

    >>> visible_lines("a\\r\\nb\\u202ec")
    'a\\\\r\\nb\\\\u202ec'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c if c in "\n\t" or unicodedata.category(c) == "Zs" else visible(c) for c in text)


def typed_in_one_line(text: str) -> str:
    """A text in which what was typed at the terminal, such as a path with a line end in it, is shown on one line."""
    for typed in sys.argv[1:]:
        value = typed.partition("=")[2] if typed.startswith("--") else typed
        if not value.isprintable():
            for one in dict.fromkeys((value, str(Path(value)), Path(value).name)):
                text = text.replace(one, visible(one)) if one and not one.isspace() else text
    return text


def raised(error: BaseException) -> str:
    """What code of others raised: its kind and place, never its message, which may hold anything.

    Of a module that is not there its name is told, which is what the user must mend.

    >>> try:
    ...     import no_such_module
    ... except ImportError as error:
    ...     print(raised(error))
    ModuleNotFoundError: No module named 'no_such_module'
    """
    name = getattr(error, "name", None)
    if isinstance(error, ModuleNotFoundError) and isinstance(name, str) and _DOTTED.fullmatch(name):
        return f"ModuleNotFoundError: No module named '{name}'"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {visible(Path(frames[-1].filename).name)}:{frames[-1].lineno}" if frames else ""
    return f"{visible(type(error).__name__)}{place}"


def in_our_words(error: BaseException, *, throughout: bool = False) -> bool:
    """Whether an error was raised by a line of Workup; `throughout`, also with no line of others on the way to it.

    Anybody can raise an error of our kind, or have our code raise one with their words in it; libraries call back, and
    so may stand on the way where nobody's plug-in was called.
    """
    modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not throughout:
        return not modules or _is_ours(modules[-1])
    return all(_is_ours(name) or name.partition(".")[0] in sys.stdlib_module_names for name in modules)


def _is_ours(module: str) -> bool:
    return module == "workup" or module.startswith("workup.")


_DOTTED = re.compile(r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,8}", re.ASCII)


class _Ids:
    shown = False


def show_ids(shown: bool = True) -> None:
    """Whether messages name documents, cases and patients by their ids. Not by default: ids are often personal."""
    _Ids.shown = shown


def ids_shown() -> bool:
    """Whether messages name things by their ids."""
    return _Ids.shown


def named(kind: str, id: object, *, number: int | None = None) -> str:
    """What a message calls a document, a case or a file: by its number, and by its id only where ids are shown.

    Empty where there is no number either: the place that stands before it (a file and its line) has to do.

    >>> named("document", "Lee-00482913", number=17), named("document", "Lee-00482913")
    ('document 17', '')
    """
    if _Ids.shown:
        return f"{kind} '{visible(str(id)[:80])}'"
    return "" if number is None else f"{kind} {number:,}"


def within(*parts: str) -> str:
    """Where something is, from the file inwards; parts that are empty are left out.

    >>> within("notes.jsonl, line 17", "", "span 3")
    'notes.jsonl, line 17, span 3'
    """
    return ", ".join(filter(None, parts))


def near(name: str, known: Iterable[str]) -> str:
    """Say which names are known, nearest first, so that a typing error is mended at a glance.

    >>> near("subgroup", ["internal", "subgroups"])
    "did you mean 'subgroups'? Known: internal, subgroups"
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    known_names = f"Known: {', '.join(names)}" if names else "None is known"
    return f"did you mean '{close[0]}'? {known_names}" if close else known_names
