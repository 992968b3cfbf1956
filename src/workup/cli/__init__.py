"""The command line: one file per group of commands. Nothing imports it."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `workup`: an error of ours is one message and exit code 2, never a traceback (unless --debug)."""
    from workup.cli.app import app
    from workup.errors import WorkupError

    try:
        app()
    except WorkupError as error:
        if "--debug" in sys.argv:
            raise
        sys.stderr.write(f"workup: {error}\n")
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        sys.stderr.write("workup: stopped. What was answered so far is kept; the same command goes on from there.\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
