"""Vega-Lite spec → inline SVG: no script, no style attribute, no link, and the same text every time it is drawn."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_VEGA_LITE = "5.21"
_ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "circle", "defs", "clipPath"}
# Classes and roles that Vega writes for scripts and screen readers; the figure carries its own words instead.
_DROPPED = {"class", "role", "version", "pointer-events"}


def available() -> bool:
    """Is the library that draws charts installed?"""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def svg(spec: Mapping[str, Any], *, name: str) -> str:
    """The chart as an SVG element; `name` sets its inner names apart from those of other charts on the page."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(_drawn(json.dumps(_finite(spec), allow_nan=False)))
    _cleaned(root)
    _renamed(root, name)
    width, height = root.attrib.pop("width"), root.attrib.pop("height")
    # A size in the element itself keeps the shape where no style sheet applies; the page makes it shrink.
    root.attrib |= {"width": width, "height": height, "aria-hidden": "true", "focusable": "false"}
    return ElementTree.tostring(root, encoding="unicode")


def _finite(value: Any) -> Any:
    """Without numbers that JSON lacks: in a record they are null, in a report that was never written they are not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value


@lru_cache(maxsize=256)
def _drawn(spec: str) -> str:
    """As the library draws it; a page and its print ask for the same charts one after the other."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[]))


def _cleaned(element: ElementTree.Element) -> None:
    """Only shapes and words stay, whatever a later version of the library may write."""
    for child in list(element):
        tag = child.tag.removeprefix(f"{{{_SVG}}}")
        if tag not in _ELEMENTS or _invisible(child):
            element.remove(child)
        else:
            _cleaned(child)
    for key in list(element.attrib):
        if key in _DROPPED or key.startswith(("on", "aria", "style", "{")) or "href" in key:
            del element.attrib[key]
    if "transform" in element.attrib or "d" in element.attrib:
        for key in ("transform", "d"):
            if key in element.attrib:
                element.attrib[key] = _short(element.attrib[key])


def _invisible(element: ElementTree.Element) -> bool:
    """Shapes that Vega keeps for interaction, and labels it hides because they would overlap."""
    if element.attrib.get("display") == "none" or element.attrib.get("opacity") == "0":
        return True
    return element.attrib.get("class") == "background" and not {"fill", "stroke"} & set(element.attrib)


def _short(numbers: str) -> str:
    """Two decimals of a pixel are more than anyone sees."""
    return re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", numbers)


def _renamed(root: ElementTree.Element, name: str) -> None:
    """Ids are counted over the life of the process: number them afresh, so that one record gives one text."""
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    fresh: Sequence[tuple[str, str]] = [(old, f"{name}-{i}") for i, old in enumerate(ids)]
    new = dict(fresh)
    for element in root.iter():
        if "id" in element.attrib:
            element.attrib["id"] = new[element.attrib["id"]]
        clip = element.attrib.get("clip-path", "")
        if clip.startswith("url(#"):
            element.attrib["clip-path"] = f"url(#{new[clip[5:-1]]})"
