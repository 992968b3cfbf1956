"""Writes docs/api.md from the public names themselves: signature and first paragraph; with --check, only compares.

python scripts/build_api.py
python scripts/build_api.py --check
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ForwardRef

import workup

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
WIDTH = 110

HEAD = """# The public names

Made by `scripts/build_api.py` from the code; do not edit it by hand. What stands here changes only under the
[deprecation policy](../CONTRIBUTING.md#deprecation); every other module may change at any time.
"""
CLASSES = "*"  # in a list of names: every public class that the module defines
PARTS = (
    ("workup", "What `import workup` offers.", "workup", tuple(n for n in workup.__all__ if n != "__version__")),
    ("workup.testing", "Conformance tests that authors of plug-ins call.", "workup.testing", ("check_system",)),
    (
        "workup.task",
        "What systems, tasks and engines must be able to do: protocols.",
        "workup.task",
        (CLASSES,),
    ),
    ("workup.metric", "What a metric is made of.", "workup.metric", (CLASSES, "ratio", "mean", "linear")),
    ("workup.report", "What a lens answers with.", "workup.report", ("LensResult", "Verdict")),
    (
        "Formats of spans",
        "What a format of documents must be able to do.",
        "workup.corpora.formats.spans.any_format",
        ("SpanFormat",),
    ),
)


class _Bare:
    """Text that a signature shows as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def page() -> str:
    """The whole page; a name that two parts hold stands in the first of them."""
    seen: set[int] = set()
    lines = [line for part in PARTS for line in _part(*part, seen=seen)]
    return "\n".join([HEAD, *lines, *_errors()])


def _part(title: str, about: str, home: str, names: Sequence[str], *, seen: set[int]) -> Iterator[str]:
    module = importlib.import_module(home)
    yield from (f"## {title}", "", about, "")
    for name in (one for named in names for one in (_classes(module) if named == CLASSES else [named])):
        value = getattr(module, name)
        if id(value) not in seen:
            seen.add(id(value))
            yield from _entry(name, value)


def _classes(module: ModuleType) -> list[str]:
    """Public classes of a module that are its own, in the order of its text."""
    held = ((name, value) for name, value in vars(module).items() if inspect.isclass(value))
    return [name for name, value in held if not name.startswith("_") and value.__module__ == module.__name__]


def _entry(name: str, value: Any) -> Iterator[str]:
    yield from (f"### {name}", "")
    shown = _shown(name, value)
    if shown:
        yield from ("```text", shown, "```", "")
    yield from (_first_paragraph(value), "")
    if inspect.isclass(value):
        listed = [f"* `{_shown(member, found)}` – {_first_paragraph(found)}" for member, found in _members(value)]
        yield from (*listed, "") if listed else ()


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """Public methods that a class defines itself, in the order of its text."""
    for name, member in vars(value).items():
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        own = inspect.isfunction(plain) and plain.__module__ == value.__module__  # not what a library put there
        if own and not name.startswith("_") and plain.__doc__:
            yield name, plain


def _shown(name: str, value: Any) -> str:
    """A name with its parameters, on one line where they fit in it."""
    signature = _signature(value)
    if signature is None:
        return ""
    method = inspect.isfunction(value) and "." in value.__qualname__
    return f"{name}{signature}" if method else _folded(name, signature)


def _folded(name: str, signature: inspect.Signature) -> str:
    if len(f"{name}{signature}") <= WIDTH:
        return f"{name}{signature}"
    parts, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        parts.append(str(parameter))
    listed = "".join(f"    {part},\n" for part in parts)
    answer = signature.return_annotation
    return f"{name}(\n{listed})" + ("" if answer is signature.empty else f" -> {answer!r}")


def _signature(value: Any) -> inspect.Signature | None:
    """As the code has it: annotations without quotes, defaults that are functions or objects by name."""
    if inspect.isclass(value) and (getattr(value, "_is_protocol", False) or hasattr(value, "model_fields")):
        return None  # nobody makes a protocol, and the fields of a study are on a page of their own
    held = inspect.signature(value)
    parameters = [
        parameter.replace(annotation=_bare(parameter.annotation), default=_default(parameter.default))
        for parameter in held.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    answer = inspect.Signature.empty if inspect.isclass(value) else _bare(held.return_annotation)
    return held.replace(parameters=parameters, return_annotation=answer)


def _bare(annotation: Any) -> Any:
    written = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    return _Bare(written) if isinstance(written, str) else annotation


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if inspect.isfunction(value) and value.__name__.isidentifier():
        return _Bare(value.__name__)
    opaque = repr(value) == "<factory>" or " at 0x" in repr(value) or dataclasses.is_dataclass(value)
    return _Bare("…") if opaque else value


def _first_paragraph(value: Any) -> str:
    text = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return re.sub(r"\s+", " ", text).strip()


def _errors() -> Iterator[str]:
    """The tree of errors, as its module draws it."""
    from workup import errors

    yield from ("## workup.errors", "", "```text", (inspect.getdoc(errors) or "").strip(), "```", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with --check say whether it is that of the code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where the page is stale")
    chosen = parser.parse_args(arguments)
    made = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == made:
        return 0
    if chosen.check:
        sys.stderr.write("docs/api.md is stale. To fix: python scripts/build_api.py\n")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
