"""Modules beside a study, for `use: my_module:Object`: found by those who may ask for them, and by nobody by accident.

The folder of a study is not on the import path. A file in it that has the name of a library, installed or not, would
otherwise be run by the first who imports that library, and a folder of data is often received from somebody else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

# Who may look beside the study: what reads `use:`, what brings it to a worker, and what reads a pickle, which names its
# classes by their module. Modules of the folder may import each other.
_MAY_ASK = frozenset({"workup.plugins", "workup.engines.supervised", "pickle"})
_IMPORTERS = ("importlib", "_frozen_importlib", "_frozen_importlib_external")


def look_beside(folder: Path) -> None:
    """Let modules in this folder be named; whatever is installed under the same name goes before them."""
    place = folder.resolve()
    if place not in looked_beside():
        sys.meta_path.insert(0, _Beside(place))


def looked_beside() -> list[Path]:
    """The folders whose modules can be named."""
    return [finder.folder for finder in sys.meta_path if isinstance(finder, _Beside)]


class _Source(SourceFileLoader):
    """Runs the source that can be read there: no bytecode that lies beside it, and none is written."""

    def path_stats(self, path: Any) -> Any:
        """Not told, without which no bytecode is looked for."""
        raise OSError


class _Beside(MetaPathFinder):
    """Finds the modules of one folder, and those of the packages in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, where it is asked for by one who may, and not installed."""
        if path is not None:
            places = [place for place in path if self._holds(place)]
        else:
            asking = _asking(sys._getframe(1))
            named = asking.get("__name__") in _MAY_ASK or self._holds(asking.get("__file__"))
            places = [str(self.folder)] if named and not _installed(fullname) else []
        for place in places:
            found = FileFinder(place, (_Source, [".py"])).find_spec(fullname)
            if found is not None:
                return found
        return None

    def _holds(self, file: object) -> bool:
        return isinstance(file, str) and Path(file).is_relative_to(self.folder)


def _asking(frame: FrameType | None) -> dict[str, Any]:
    """The names of the module whose code imports, which the import system itself does not pass on."""
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _IMPORTERS:
        frame = frame.f_back
    return {} if frame is None else frame.f_globals


def _installed(name: str) -> bool:
    others = (finder for finder in sys.meta_path if not isinstance(finder, _Beside))
    specs = (finder.find_spec(name, None) for finder in others if hasattr(finder, "find_spec"))
    return any(spec is not None and spec.loader is not None for spec in specs)  # a mere folder has no loader
