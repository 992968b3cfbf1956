"""Names to objects: one mechanism, Python entry points, one group per noun. Knows nothing of what it finds."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, get_origin, get_type_hints

from pydantic import ConfigDict, Field, create_model

from workup.errors import PluginError, StudyError, SystemFailure, WorkupError, in_our_words, near, raised, visible
from workup.settings import Part

NOUNS = ("tasks", "lenses", "systems", "engines", "formats", "generators", "metrics")


@cache
def registered(noun: str) -> dict[str, EntryPoint]:
    """Every name registered for a noun, whoever registered it.

    >>> sorted(registered("lenses"))[:2]
    ['drift', 'internal']
    """
    if noun not in NOUNS:
        raise PluginError(f"there are no plug-ins called '{noun}'; {near(noun, NOUNS)}.")
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"workup.{noun}"):
        other = found.get(point.name)
        if other is not None and other.value != point.value:
            raise PluginError(
                f"two packages register the {noun[:-1]} '{point.name}': {other.value} and {point.value}. "
                "To fix: uninstall one of them, or name the object directly as package.module:Object."
            )
        found[point.name] = point
    return found


def find(noun: str, name: str) -> Any:
    """The object registered under a name, or at `package.module:Object` when the name has that form."""
    if ":" in name:
        return _load(noun, name)
    known = registered(noun)
    if name not in known:
        raise PluginError(f"'{name}' is not one of the installed {noun}; {near(name, known)}.")
    try:
        return known[name].load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, which raises what it pleases when it is imported
        if isinstance(error, WorkupError) and in_our_words(error):
            raise
        raise PluginError(
            f"the {noun[:-1]} '{name}' is registered but cannot be loaded ({raised(error)}). To fix: install the "
            "package anew, or uninstall it; --debug shows what was raised."
        ) from error


def named_by_record(noun: str, name: str) -> Any:
    """The object that a record or a pack names. A record is data: it never has code imported.

    `package.module:Object` is found only where a study of the user's own has imported that module before.
    """
    if ":" not in name:
        return find(noun, name)
    module, _, attribute = name.partition(":")
    found = vars(sys.modules[module]).get(attribute) if module in sys.modules else None
    if not inspect.isclass(found):
        raise PluginError(
            f"the record names its {noun[:-1]} as code, '{visible(name[:60])}', and reading a record imports no code. "
            f"To fix: if it is your own, install it under a name (an entry point of workup.{noun})."
        )
    return found


def _load(noun: str, path: str) -> Any:
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, which raises what it pleases when it is imported
        raise PluginError(
            f"cannot import '{visible(module_name)}' for {noun} '{visible(path)}': it raised {raised(error)}. "
            "To fix: import it by itself, or see all with --debug."
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise PluginError(
            f"module '{module_name}' has no '{attribute}' (asked for as {noun} '{path}'); "
            f"{near(attribute, (n for n in dir(module) if not n.startswith('_')))}."
        ) from None


class Settings(Part):
    """Settings of a plug-in: `"5"`, `true` and `5.0` are no whole numbers, and NaN is no number."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


@cache
def settings_of(factory: Any) -> type[Settings]:
    """The typed settings of a plug-in, read off its signature, which declares each of them once.

    A parameter that is annotated with a pydantic field, as in `retries: Annotated[int, Field(ge=0, le=100)] = 4`, is
    checked like a field of the study. One with a plain annotation, or none, is handed over as the study has it.
    """
    try:
        hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names that only a type checker sees
        hints = {}
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(factory).parameters.items()
        if get_origin(hints.get(name)) is Annotated
    }
    return create_model(f"{factory.__name__}Settings", __base__=Settings, **fields) if fields else Settings


def check(
    noun: str, use: str, settings: Mapping[str, Any], *, where: str, context: Mapping[str, Any]
) -> dict[str, Any]:
    """All that a plug-in is built from, each setting of its type, or one error that names the faults. Builds nothing.

    `context` (such as the folder that relative paths start from) is passed on where the object asks for it.
    """
    factory = find(noun, use)
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        raise PluginError(
            f"{where}: '{use}' must be a class or function that takes its settings as keyword arguments; got "
            f"{type(factory).__name__}."
        ) from None
    own = [key for key in parameters if key not in context]
    for key in settings:
        if key not in own:
            raise StudyError(f"{where}: '{use}' takes no setting '{visible(str(key))[:60]}'; {near(str(key), own)}.")
    given = {**settings, **{key: value for key, value in context.items() if key in parameters}}
    missing = [
        key
        for key, parameter in parameters.items()
        if parameter.default is parameter.empty and key not in given and parameter.kind is not parameter.VAR_KEYWORD
    ]
    if missing:
        raise StudyError(f"{where}: '{use}' needs the setting '{missing[0]}'. To fix: add it under 'with:'.")
    part = settings_of(factory)
    typed = part.checked({key: given[key] for key in part.model_fields if key in given}, where=where)
    return {**given, **{key: getattr(typed, key) for key in typed.model_fields_set}}


def fitting(noun: str, use: str, made: Any, *members: str) -> Any:
    """The same object, where it has what its place needs: package.module:Object may be anything.

    >>> fitting("engines", "os:sep", "/", "map")
    Traceback (most recent call last):
    workup.errors.PluginError: 'os:sep' does not fit here: one of the engines with 'map' was expected; got a str.
    """
    for member in members:
        if not _has(made, member, use):
            raise PluginError(
                f"'{visible(use[:200])}' does not fit here: one of the {noun} with '{member}' was expected; got a "
                f"{made.__name__ if inspect.isclass(made) else type(made).__name__}."
            )
    return made


def _has(made: Any, member: str, use: str) -> bool:
    try:
        return hasattr(made, member)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _unreadable(use, member, error) from error


def _unreadable(use: str, member: str, error: BaseException) -> SystemFailure:
    return SystemFailure(
        f"'{visible(use[:200])}' failed when its '{member}' was read ({raised(error)}). Its message may hold patient "
        "values and is not repeated. To fix: read it by itself, or see all with --debug."
    )


_READ_AS: Mapping[str, Callable[[Any], object]] = {
    "name": str,
    "version": str,
    "notes": lambda notes: [str(note) for note in notes],
    "batch": lambda size: int(size or 0),
    "timings": lambda counted: {**counted},
    "versioned": bool,
    "recorded": bool,
    "mapping": lambda mapping: str(mapping or ""),
    "emits": lambda labels: None if labels is None else [str(label) for label in labels],
}


def looked_at(use: str, made: Any) -> Any:
    """The same object, after everything that is read of a system beside its answers was read once.

    A property is code of others, which may raise; it is asked here, where that is told as a failure of the system.
    """
    if type(made).__module__.partition(".")[0] == "workup":
        return made
    for member, read in _READ_AS.items():
        try:
            if hasattr(made, member):
                read(getattr(made, member))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _unreadable(use, member, error) from error
    return made


class Generated(Part):
    """What `generate` says of any generator; the rest is the generator's own."""

    model_config = ConfigDict(strict=True)

    kind: str = Field(min_length=1, max_length=500, description="Registered generator, or package.module:Object")
    seed: int = Field(ge=0, le=2**63 - 1, description="Seed of every draw; the study's own when absent")


def generated(settings: Mapping[str, Any], *, kind: str, seed: int, where: str, gives: str) -> tuple[Any, str, int]:
    """What a generator makes, with its kind and seed; those given are used where the settings name none.

    `gives` is the member that the caller needs of it: a generator may be one for another task.
    """
    own = {key: value for key, value in settings.items() if key not in Generated.model_fields}
    said = {key: value for key, value in settings.items() if key in Generated.model_fields}
    chosen = Generated.checked({"kind": kind, "seed": seed, **said}, where=where)
    made = make("generators", chosen.kind, own, where=where, context={"seed": chosen.seed})
    fitting("generators", chosen.kind, made, gives)
    return made, chosen.kind, chosen.seed


def make(noun: str, use: str, settings: Mapping[str, Any], *, where: str, context: Mapping[str, Any]) -> Any:
    """Build a registered object from the settings of a study, which `check` looks at first."""
    factory, given = find(noun, use), check(noun, use, settings, where=where, context=context)
    try:
        return factory(**given)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        ours = str(getattr(factory, "__module__", "")).partition(".")[0] == "workup"
        if isinstance(error, WorkupError) and in_our_words(error, throughout=not ours):
            raise
        if ours and not isinstance(error, WorkupError):
            raise  # a fault of ours, to be told as one
        raise PluginError(
            f"{where}: '{visible(use)}' could not be built from its settings ({raised(error)}). Its message is not "
            "repeated, since it may hold anything. To fix: build it by itself, or see all with --debug."
        ) from error
