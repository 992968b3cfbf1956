"""The command line: one file per group of commands. Nothing imports it."""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m workup.cli` puts the working directory first on the import path, where a file may have the name of a
    # library; the command `workup` does not.
    del sys.path[0]


def main() -> None:
    """Entry point of `workup`: whatever happens ends in an exit code and at most one message, never in a traceback.

    An error of ours is exit code 2, what nobody foresaw is 70; --debug names a file with the traceback of either.
    """
    from workup.cli.faults import EXIT_CODE, watched_threads
    from workup.cli.streams import guarded_streams

    with guarded_streams(), watched_threads() as threads:
        try:
            code = _ended(threads)
        except BaseException as error:  # while it told of another: out of memory, or stopped once more
            code = 130 if isinstance(error, KeyboardInterrupt) else EXIT_CODE
    raise SystemExit(code)


def _ended(threads: list[BaseException]) -> int:
    """Run the command and answer its exit code, with all that was said flushed."""
    from workup.cli.faults import Unforeseen, code_of, kept_traceback, of_thread, told, words_of
    from workup.errors import WorkupError, typed_in_one_line, visible

    debug = "--debug" in sys.argv
    try:
        code = _called()
        if threads and code != 2:  # a verdict that rests on the work of a thread that broke is none
            raise of_thread(threads[0])
        sys.stdout.flush()
        return code
    except WorkupError as error:
        said = typed_in_one_line(f"workup: {words_of(error)}")
        message = "\n".join(map(visible, said.split("\n"))) + "\n"
        sys.stderr.write(message + (kept_traceback(error) if debug else ""))
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("workup: stopped.\n")
        return 130
    except Unforeseen as carried:
        sys.stderr.write(told(carried.error, debug=debug))
        return code_of(carried.error)
    except BaseException as error:  # SystemExit too: no code of ours ends that way
        sys.stderr.write(told(error, debug=debug))
        return code_of(error)


def _called() -> int:
    import typer

    from workup.cli.app import app

    usage_error = typer.BadParameter.__mro__[2]  # click's own, or that of typer's copy of it
    try:
        code = app(prog_name="workup", standalone_mode=False)
    except usage_error as error:  # type: ignore[misc]
        error.show()
        return 2
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    main()
