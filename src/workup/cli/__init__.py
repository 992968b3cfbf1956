"""The command line: one file per group of commands. Nothing imports it."""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m workup.cli` puts the working directory first on the import path, where a file may have the name of a
    # library; the command `workup` does not.
    del sys.path[0]


def main() -> None:
    """Entry point of `workup`: an error of ours is one message and exit code 2, never a traceback (unless --debug)."""
    from workup.cli.app import app
    from workup.errors import WorkupError, visible

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows its number and not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="workup")
    except WorkupError as error:
        if "--debug" in sys.argv:
            raise
        sys.stderr.write("\n".join(map(visible, f"workup: {error}".split("\n"))) + "\n")
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
