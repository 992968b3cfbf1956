"""YAML as it comes in users' files: plain data within limits, and the line of every field.

A few bytes of YAML can unfold into gigabytes (aliases of aliases), crash a parser (brackets nested without end) or keep
one busy for hours. So what a text would make is counted event by event, before any of it is made.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workup.errors import StudyError

LARGEST_FILE = 1_000_000  # bytes
DEEPEST = 64  # lists and mappings within one another
MOST_NODES = 100_000
LONGEST_SCALAR = 100_000  # characters: numbers of hours and minutes (1:30:00) take the square of their length to read


def _plain_truth(loader: Any) -> Any:
    """A loader for which true and false alone are truth values, as in YAML 1.2: yes, no, on and off are texts.

    A switch that is a permission must be turned on by that word and no other.
    """

    class Plain(loader):  # type: ignore[misc]
        pass

    Plain.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if tag != _TRUTH]
        for first, known in loader.yaml_implicit_resolvers.items()
    }
    Plain.add_implicit_resolver(_TRUTH, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
    return Plain


_TRUTH = "tag:yaml.org,2002:bool"
_PLAIN = _plain_truth(yaml.SafeLoader)
_FAST = _plain_truth(getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class YamlFault(Exception):
    """What is wrong with a text, and in which line, counted from 1; 0 where no line can be named."""

    def __init__(self, problem: str, *, line: int = 0) -> None:
        self.problem, self.line = problem, line
        super().__init__(problem)


Lines = dict[tuple[str, ...], int]


def parse_yaml(text: str, *, fast: bool = False) -> tuple[Any, Lines]:
    """Plain data and the line of every field, or YamlFault; `fast` reads with libyaml where PyYAML was built with it.

    >>> parse_yaml("name: demo\\nseeds: [1, 2]")[0]
    {'name': 'demo', 'seeds': [1, 2]}
    """
    kind = _FAST if fast else _PLAIN
    try:
        _count(text, kind)
        loader = kind(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, {}
            lines = dict(_lines(node, ()))
            return loader.construct_document(node), lines
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = f"not valid YAML: {getattr(error, 'problem', None) or 'unreadable'}"
        raise YamlFault(problem, line=mark.line + 1 if mark else 0) from None
    except ValueError as error:  # a date or number that YAML takes for one and Python cannot make
        what = str(error).partition(":")[0]  # behind the colon Python repeats the value
        raise YamlFault(f"not valid YAML: {what}. To fix: put the value in quotes") from None
    except (LookupError, TypeError, AttributeError, ArithmeticError):  # a tag such as !!bool before another value
        what = "a value that is not of the type its tag (!!int, !!bool …) says"
        raise YamlFault(f"not valid YAML: {what}. To fix: leave the tag out") from None


def read_yaml(file: Path, *, noun: str = "study", fast: bool = False) -> tuple[Any, Lines]:
    """Content and the line of every field of a file of this kind, or one StudyError."""
    try:
        return parse_yaml(_text(file, noun), fast=fast)
    except YamlFault as fault:
        line = f", line {fault.line}" if fault.line else ""
        raise StudyError(f"{file}{line}: {fault.problem}.") from None


def _text(file: Path, noun: str) -> str:
    try:
        about = file.stat()
        if stat.S_ISDIR(about.st_mode):
            raise StudyError(f"{file}: this is a folder. To fix: name the {noun} file in it.")
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for, and a device read without end
            raise StudyError(f"{file}: a {noun} file is a plain file; got a pipe or a device.")
        with file.open("rb") as opened:
            content = opened.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise StudyError(f"{file}: a {noun} file is at most {LARGEST_FILE:,} bytes; got {about.st_size:,}.")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        made = " To fix: 'workup new risk' (spans, conversation) makes one." if noun == "study" else ""
        raise StudyError(f"{file}: there is no such {noun} file.{made}") from None
    except OSError as error:
        raise StudyError(
            f"{file}: the {noun} file cannot be read ({error.strerror or type(error).__name__})."
        ) from None
    except UnicodeDecodeError:
        raise StudyError(f"{file}: the {noun} file must be UTF-8 text.") from None


def _count(text: str, loader: Any) -> None:
    """Refuse a text that would make too much. Events are asked for one by one, so that it ends where a limit does."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise YamlFault("YAML aliases (*name) are not allowed. To fix: write the value out", line=line)
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            nodes += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
            if depth > DEEPEST:
                raise YamlFault(f"lists and mappings are nested too deeply; at most {DEEPEST} are read", line=line)
            if nodes > MOST_NODES:
                raise YamlFault(f"too many values; at most {MOST_NODES:,} are read", line=line)
            if isinstance(event, yaml.ScalarEvent) and len(event.value) > LONGEST_SCALAR:
                raise YamlFault(f"a value is too long; at most {LONGEST_SCALAR:,} characters are read", line=line)


def _lines(node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """(path, line) of every field, and a fault for a key written twice, which YAML would silently overwrite."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise YamlFault(f"the field '{name}' is written twice", line=key.start_mark.line + 1)
            seen.add(name)
            yield (*path, name), key.start_mark.line + 1
            yield from _lines(value, (*path, name))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield (*path, str(i)), value.start_mark.line + 1
            yield from _lines(value, (*path, str(i)))
