"""What every command shares: its four options of voice, messages on standard error, progress, and safe writing."""

from __future__ import annotations

import functools
import inspect
import json
import sys
import time
import unicodedata
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from workup.cli.faults import Unforeseen, raised_here
from workup.errors import InputError, WorkupError, show_ids, typed_in_one_line, visible, visible_lines

if TYPE_CHECKING:
    from workup.report import Report

QUIET_SECONDS = 2.0  # anything longer shows progress


class Voice:
    """How loud a command is."""

    quiet = False
    verbose = False
    debug = False


VOICE = Voice()


def command(app: typer.Typer, *, name: str, example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with an example in its help and with --quiet, --verbose, --debug and --show-ids."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        flags = {
            "quiet": ("--quiet", "Say only what was asked for"),
            "verbose": ("--verbose", "Say more about what is done"),
            "debug": ("--debug", "Write the traceback of an error to a file of your own, and name it"),
            "show_ids": ("--show-ids", "Name documents and cases by their ids in messages, not by their places"),
        }
        own = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
        extra = [
            inspect.Parameter(
                flag,
                inspect.Parameter.KEYWORD_ONLY,
                default=False,
                annotation=Annotated[bool, typer.Option(text, help=help_)],
            )
            for flag, (text, help_) in flags.items()
        ]

        @functools.wraps(function)
        def wrapped(**given: Any) -> None:
            VOICE.quiet, VOICE.verbose = given.pop("quiet"), given.pop("verbose")
            VOICE.debug = given.pop("debug")
            show_ids(given.pop("show_ids"))
            try:
                function(**given)
            except KeyboardInterrupt:  # here, because typer would end silently
                sys.stderr.write(
                    "workup: stopped. What was answered so far is kept; the same command goes on from there.\n"
                )
                raise typer.Exit(130) from None
            except WorkupError:
                raise
            except BaseException as error:  # here, because typer would make exit code 1 of some, which is a verdict
                if isinstance(error, typer.Exit) and raised_here(error):
                    raise
                raise Unforeseen(error) from error

        parameters = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in own.parameters.values()]
        wrapped.__signature__ = own.replace(parameters=[*parameters, *extra])  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in [*parameters, *extra]}
        app.command(name, epilog=f"Example: {example}")(wrapped)
        return function

    return register


def say(message: str) -> None:
    """A line for the person at the terminal, on standard error so that standard output stays clean."""
    if not VOICE.quiet:
        sys.stderr.write(visible_lines(typed_in_one_line(message)) + "\n")


def say_names(report: Report, *, said: Collection[str] = ()) -> None:
    """Warnings about the names of groups, before anything of a report is printed."""
    from workup.disclosure.identifying import WARNING

    for note in dict.fromkeys(note for result in report.results.values() for note in result.notes):
        if note.startswith(WARNING) and note not in said:
            say(note)


def detail(message: str) -> None:
    """A line that only --verbose shows."""
    if VOICE.verbose and not VOICE.quiet:
        sys.stderr.write(visible_lines(message) + "\n")


def echo(message: str) -> None:
    """A line of the answer, on standard output; what would steer a terminal is shown as its number."""
    typer.echo(visible_lines(typed_in_one_line(message)))


def emit(text: str | bytes, target: str | None, *, private: bool = False) -> None:
    """Write a result: text to standard output for None, UTF-8 data for "-", else a file, whole or not at all.

    A private file is for its owner alone, because it holds text of patients. Where something else than a regular file
    stands, nothing is written.
    """
    from workup.files.disk import replace_whole

    if target == "-" and hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(_bytes(text))
        return
    if target in (None, "-"):
        sys.stdout.write(text if isinstance(text, str) else text.decode(errors="replace"))
        return
    assert target is not None
    try:
        replace_whole(Path(target), [_bytes(text)], mode=0o600 if private else 0o666)
    except (OSError, ValueError) as error:  # ValueError: a target such as / has no name
        raise InputError(
            "the output must be a place that can be written",
            where=target,
            got=getattr(error, "strerror", None) or "a name that no file can have",
        ) from None


def emit_json(text: str, target: str | None, *, private: bool = False) -> None:
    """Write a result that is JSON; on standard output with its numbers for characters that would steer a terminal."""
    emit(json_shown(text) if target in (None, "-") else text, target, private=private)


def json_shown(text: str) -> str:
    """The same JSON, in which characters that are not shown are written by their numbers.

    >>> json_shown('{"name": "a\u009b\u202e"}')
    '{"name": "a\\\\u009b\\\\u202e"}'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t\r" or unicodedata.category(c) == "Zs" else json.dumps(c)[1:-1] for c in text
    )


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


class Progress:
    """A bar with time left on a terminal, a plain line now and then elsewhere; silent for short work.

    Called as `progress(what, done, total)`.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._last = self._started
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._began: dict[str, tuple[float, int]] = {}  # when each part of the work began, and how much was done then

    def _left(self, what: str, done: int, total: int, now: float) -> str:
        """The time left at the rate so far, in words; what was recorded before this run began is not counted."""
        began, first = self._began[what]
        if done <= first or now <= began:
            return ""
        return f", about {duration((total - done) * (now - began) / (done - first))} left"

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        now, what = time.monotonic(), visible(what)
        self._began.setdefault(what, (now, done))
        if VOICE.quiet or now - self._started < QUIET_SECONDS:
            return
        if sys.stderr.isatty():
            self._draw(what, done, total)
        elif now - self._last > 10:
            self._last = now
            sys.stderr.write(f"{what}: {done:,} of {total:,}{self._left(what, done, total, now)}\n")

    def _draw(self, what: str, done: int, total: int) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bars(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(escape(what), total=total)
        self._bar.update(self._tasks[what], completed=done, total=total)


def duration(seconds: float) -> str:
    """A time as a person says it.

    >>> duration(40), duration(100), duration(7_500), duration(200_000)
    ('40 s', '2 min', '2.1 h', '2.3 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def verdict_code(outcomes: list[str], *, allow_unsure: bool = False) -> int:
    """The exit code of a set of verdicts: 1 if any failed, 3 if any is undecided, else 0."""
    if "fail" in outcomes:
        return 1
    if any(outcome in ("unsure", "not_assessed") for outcome in outcomes):
        return 0 if allow_unsure else 3
    return 0
