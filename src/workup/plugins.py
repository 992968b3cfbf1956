"""Names to objects: one mechanism, Python entry points, one group per noun. Knows nothing of what it finds."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from workup.errors import PluginError, StudyError, near

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
    return known[name].load()


def _load(noun: str, path: str) -> Any:
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise PluginError(f"cannot import '{module_name}' for {noun} '{path}': {error}.") from error
    except Exception as error:  # code of others, which raises what it pleases when it is imported
        raise PluginError(
            f"cannot import '{module_name}' for {noun} '{path}': it raised {type(error).__name__}. "
            "To fix: import it by itself to see where."
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise PluginError(
            f"module '{module_name}' has no '{attribute}' (asked for as {noun} '{path}'); "
            f"{near(attribute, (n for n in dir(module) if not n.startswith('_')))}."
        ) from None


def make(noun: str, use: str, settings: Mapping[str, Any], *, where: str, context: Mapping[str, Any]) -> Any:
    """Build a registered object from the settings of a study, refusing settings it does not take.

    `context` (such as the folder that relative paths start from) is passed on where the object asks for it.
    """
    factory = find(noun, use)
    parameters = inspect.signature(factory).parameters
    unknown = [key for key in settings if key not in parameters or key in context]
    if unknown:
        own = [key for key in parameters if key not in context]
        raise StudyError(f"{where}: '{use}' takes no setting '{unknown[0]}'; {near(unknown[0], own)}.")
    given = {**settings, **{key: value for key, value in context.items() if key in parameters}}
    missing = [
        key
        for key, parameter in parameters.items()
        if parameter.default is parameter.empty and key not in given and parameter.kind is not parameter.VAR_KEYWORD
    ]
    if missing:
        raise StudyError(f"{where}: '{use}' needs the setting '{missing[0]}'. To fix: add it under 'with:'.")
    return factory(**given)
