"""Keys and maps on the command line: made, read and checked before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workup.cli.common import say
from workup.errors import InputError, named, visible
from workup.files.output_paths import said
from workup.redaction.files import Source, invented_before

_LARGEST_MAP = 2**31  # bytes; the cipher takes no more

if TYPE_CHECKING:
    from workup.redaction import Settings


def chosen_key(key_file: Path | None, new_key: Path | None) -> bytes | None:
    """The key of a file, a key that is made for a file to be, or none."""
    from workup.redaction.keys import new_key as made

    if key_file is not None and new_key is not None:
        raise InputError("either a key file or a new one was expected", got="both", remedy="leave one out")
    if new_key is not None:
        if new_key.exists() or new_key.is_symlink():
            raise InputError(
                "a new key goes to a new file, since the maps of the old one would be lost with it",
                where=str(new_key),
                got="one that is there",
                remedy="name another file",
            )
        return made().strip().encode("ascii")
    return None if key_file is None else read_key_file(key_file)


def read_key_file(path: Path) -> bytes:
    """The key of a file, with a word where others can read it."""
    from workup.packs import read_key

    key: bytes = read_key(path)
    if path.stat().st_mode & 0o077:
        say(f"{path}: others on this machine can read the key; chmod 600 keeps it yours")
    return key


def write_key(path: Path, key: bytes | None) -> None:
    """Put a new key in place, for its owner's eyes only."""
    from workup.files.disk import replace_whole

    assert key is not None
    with said(path):
        replace_whole(path, [key + b"\n"])
    say(f"{path}: a new key. Keep it apart from the texts; without it no map can be opened")


def map_content(path: Path) -> bytes:
    """The bytes of a map file."""
    from workup.files.received import content_of

    try:
        return content_of(path, most=_LARGEST_MAP, linked=True)
    except OSError as error:
        raise InputError(
            "a map that can be read was expected", where=str(path), got=error.strerror or type(error).__name__
        ) from None


def check_map(map: Path | None, *, key: bytes | None, out: Path | None) -> None:
    """Refuse, before any work, a map that could not be written, or would lie open or among the texts."""
    from workup.redaction.restore_map import check_cipher

    if map is None:
        return
    if key is None:
        raise InputError(
            "a map holds every original, so that it is written only under a key",
            where="--map",
            got="no key",
            remedy="make one with  workup redact --new-key FILE  and give it with --key-file",
        )
    check_cipher()
    if map.exists():
        raise InputError(
            "a map goes to a new file, since what the old one gives back would be lost",
            where=str(map),
            got="one that is there",
            remedy="name another file",
        )
    if out is not None and out.absolute().resolve() in (map.absolute().resolve(), *map.absolute().resolve().parents):
        raise InputError(
            "the map must be kept apart from the redacted texts", where=str(map), remedy="name a place outside"
        )


def entry_of(entries: Sequence[Any], name: str, content: bytes, map_name: str, *, where: str) -> Any:
    """The entry of a redacted file: by its bytes, and of several with the same bytes by its name."""
    from workup.redaction.restore_map import sha256

    hash = sha256(content)
    same = [entry for entry in entries if entry.redacted_sha256 == hash]
    named = [entry for entry in same if entry.name == name]
    if named or len({entry.original_sha256 for entry in same}) == 1:
        return (named or same)[0]
    if same:
        raise InputError(
            "a file must have the name that it was redacted under, since the map knows several with its bytes",
            where=where,
            got="another name",
        )
    known = any(entry.name == name for entry in entries)
    raise InputError(
        "a text that this map is of, unchanged, was expected",
        where=where,
        got="the bytes of another text" if known else "a file that the map does not know",
        remedy=f"check that {visible(map_name)} was written with it, and that nobody edited it since",
    )


def refuse_invented(paths: Sequence[Path], sources: Sequence[Source], settings: Settings) -> None:
    """By the record beside an input: surrogates look like originals, and only the record tells."""
    if not settings.invents:
        return
    from workup.redaction.restore_map import sha256

    before = invented_before(paths, {source.name: sha256(source.content) for source in sources})
    if before is not None:
        number = next((at for at, source in enumerate(sources, start=1) if source.name == before), None)
        raise InputError(
            "surrogates and shifted dates need text that was not redacted before",
            where=visible(before) if len(sources) == 1 else named("file", before, number=number),
            got="surrogates or shifted dates in it, by the record beside it",
            remedy="start from the original, which workup restore gives back",
        )
