"""Keys belong to sites: a pack of another site's key, an old one, one sent again, and one under two names are refused,
each by name; honest sites of one size are not."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.hospitals import hospital, report_of
from workup.errors import InputError, MissingExtra
from workup.packs import Pack, Seen, SiteKeys, check_together, make_key_pair, make_pack, read_pack
from workup.packs.compatible import NEAR_COPY, likeness
from workup.report import Report, digest
from workup.signing import sign, signed_by

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def pairs() -> dict[str, tuple[bytes, bytes]]:
    return {site: make_key_pair() for site in ("North", "South")}


@pytest.fixture
def table(pairs: dict[str, tuple[bytes, bytes]], tmp_path: Path) -> SiteKeys:
    for site, (_, public) in pairs.items():
        (tmp_path / f"{site}.pub").write_bytes(public)
    (tmp_path / "east.key").write_bytes(b"a shared secret of a site")
    content = {"North": "North.pub", "South": pairs["South"][1].decode(), "East": {"hmac": "east.key"}}
    return SiteKeys.of(content, where="sites.yaml", folder=tmp_path)


def write(folder: Path, pack: dict[str, Any], name: str = "pack.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(pack), encoding="utf-8")
    return path


def signed(pack: dict[str, Any], key: bytes) -> dict[str, Any]:
    found = {name: part for name, part in copy.deepcopy(pack).items() if name not in ("signature", "sha256")}
    found["sha256"] = digest(found)
    found["signature"] = sign(found, key)
    return found


def test_a_pack_of_its_own_key_is_read(
    report: Report, pairs: dict[str, tuple[bytes, bytes]], table: SiteKeys, tmp_path: Path
) -> None:
    made = make_pack(report, site="North", key=pairs["North"][0], sequence=3)
    assert made["signature"]["method"] == "Ed25519"
    assert read_pack(write(tmp_path, made), site_keys=table).site == "North"
    shared = make_pack(report, site="East", key=b"a shared secret of a site")
    assert read_pack(write(tmp_path, shared), site_keys=table).site == "East"


def test_a_pack_signed_with_the_key_of_another_site_is_refused_by_name(
    report: Report, pairs: dict[str, tuple[bytes, bytes]], table: SiteKeys, tmp_path: Path
) -> None:
    made = make_pack(report, site="North", key=pairs["South"][0])
    with pytest.raises(InputError, match=r"key of the site 'North'; got a signature of another site, 'South'"):
        read_pack(write(tmp_path, made), site_keys=table)
    stranger = make_pack(report, site="North", key=make_key_pair()[0])
    with pytest.raises(InputError, match="a signature of another key"):
        read_pack(write(tmp_path, stranger), site_keys=table)
    with pytest.raises(InputError, match="without a signature"):
        read_pack(write(tmp_path, make_pack(report, site="North")), site_keys=table)
    with pytest.raises(InputError, match="'West', which is not in it"):
        read_pack(write(tmp_path, make_pack(report, site="West", key=pairs["North"][0])), site_keys=table)


@pytest.mark.parametrize("field", ["site", "study", "sequence"])
def test_what_names_a_pack_is_signed(
    report: Report, pairs: dict[str, tuple[bytes, bytes]], table: SiteKeys, tmp_path: Path, field: str
) -> None:
    made = make_pack(report, site="North", key=pairs["North"][0])
    other = {"site": "South", "study": {"name": "another", "sha256": "0" * 64}, "sequence": 9}[field]
    moved = {**made, field: other}
    moved["sha256"] = digest({name: part for name, part in moved.items() if name not in ("sha256", "signature")})
    with pytest.raises(InputError, match="must be signed with the key"):
        read_pack(write(tmp_path, moved), site_keys=table)


def test_a_public_key_is_no_shared_secret(report: Report, pairs: dict[str, tuple[bytes, bytes]]) -> None:
    """Whoever has the public key could otherwise sign with it as if it were a secret."""
    import hashlib
    import hmac

    from workup.report import canonical

    made = make_pack(report, site="North")
    public = pairs["North"][1]
    value = hmac.new(public.rstrip(b"\n"), canonical(made).encode(), hashlib.sha256).hexdigest()
    made["signature"] = {"method": "HMAC-SHA256", "value": value}
    assert not signed_by(made, [public]) and not signed_by(made, [public.rstrip(b"\n")])
    with pytest.raises(InputError, match="private Ed25519 key"):
        make_pack(report, site="North", key=public)


def test_tables_of_keys_that_cannot_be_used(pairs: dict[str, tuple[bytes, bytes]], tmp_path: Path) -> None:
    (tmp_path / "private.key").write_bytes(pairs["North"][0])
    (tmp_path / "secret.key").write_bytes(b"a shared secret of a site")
    public = pairs["North"][1].decode()
    cases: list[tuple[Any, str]] = [
        ([], "expected a table of sites"),
        ({}, "expected a table of sites"),
        ({"North": "private.key"}, "a private key, which belongs to the site alone"),
        ({"North": {"hmac": "private.key"}}, "no secret that two share"),
        ({"North": "secret.key"}, "hmac: FILE"),
        ({"North": "none.key"}, "No such file"),
        ({"North": 3}, "expected the key of a site"),
        ({"North": public, "South": public}, "the key of 'North' again"),
        ({"North": public[:60]}, "cannot be read"),
    ]
    for content, said in cases:
        with pytest.raises(InputError, match=said):
            SiteKeys.of(content, where="sites.yaml", folder=tmp_path)


def test_the_library_of_keys_is_named_where_it_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtra, match=r"\[sign\]"):
        make_key_pair()


# ---- replayed and older packs ----------------------------------------------------------------------------------------


def numbered(report: Report, number: int) -> Pack:
    return Pack("north.json", make_pack(report, site="North", sequence=number))


def test_older_and_repeated_packs_are_refused_by_name(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    path.write_text(Seen().with_packs([numbered(report, 2)]).to_json(), encoding="utf-8")
    seen = Seen.read(path)
    seen.check([numbered(report, 3)])
    with pytest.raises(InputError, match=r"site 'North' has a number above 2; got an older pack, number 1"):
        seen.check([numbered(report, 1)])
    with pytest.raises(InputError, match=r"the same pack again.*--again"):
        seen.check([numbered(report, 2)])
    seen.check([numbered(report, 2)], again=True)
    other = Pack("north.json", make_pack(report, site="North", sequence=2, facts={"type": "rural"}))
    with pytest.raises(InputError, match="number 2 again"):
        seen.check([other], again=True)


def test_a_file_of_packs_seen_that_is_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    for damage in ("", "[]", '{"seen_version": 2, "packs": []}', '{"seen_version": 1, "packs": [1]}', "[" * 100_000):
        path.write_text(damage, encoding="utf-8")
        with pytest.raises(InputError, match="expected the file of packs seen"):
            Seen.read(path)


# ---- version 1 -------------------------------------------------------------------------------------------------------


def test_packs_of_the_version_before_are_read_and_pooled_with_new_ones(report: Report) -> None:
    old = read_pack(HERE / "pack_of_version_1.json", keys=[b"a shared secret of a site"])
    assert old.site == "Elder" and old.record["pack_version"] == 1
    assert any(e.status == "ok" for e in old.evidence.estimates)
    check_together([old, Pack("new.json", make_pack(report_of(hospital(300, seed=8)), site="North"))])
    with pytest.raises(InputError, match="needs a sequence number"):
        Seen().check([old])


# ---- one pack under two names ----------------------------------------------------------------------------------------


def renamed(pack: dict[str, Any], rng: np.random.Generator, *, changed: float, rounded: int | None) -> dict[str, Any]:
    """A copy under another name with some numbers changed, and all of them rounded."""
    found = copy.deepcopy(pack)
    found["site"] = "South"
    for row in found["estimates"]:
        if row["status"] != "ok":
            continue
        for name in ("value", "low", "high", "se", "numerator", "denominator"):
            if isinstance(row[name], float) and rounded is not None:
                row[name] = round(row[name], rounded)
        if rng.random() < changed:
            row["value"] *= 1 + rng.normal(0, 0.1)
            row["n_events"] = None if row["n_events"] is None else row["n_events"] + 3
    return found


@pytest.mark.parametrize(("changed", "rounded"), [(0.0, None), (0.05, None), (0.3, None), (0.0, 4), (0.1, 4)])
def test_nearly_the_same_figures_under_two_names_are_refused(
    report: Report, changed: float, rounded: int | None
) -> None:
    made = make_pack(report, site="North")
    copied = renamed(made, np.random.default_rng(1), changed=changed, rounded=rounded)
    with pytest.raises(InputError, match=r"one\.json and two\.json.*same figures under two names.*North.*South"):
        check_together([Pack("one.json", made), Pack("two.json", copied)])


def test_honest_sites_of_one_size_are_not_refused() -> None:
    """Ten hospitals of one model and one size: none of the 45 pairs comes near to being held for one."""
    packs = [make_pack(report_of(hospital(300, seed=seed)), site=f"S{seed}") for seed in range(20, 30)]
    alike = [likeness(one, other) for i, one in enumerate(packs) for other in packs[:i]]
    assert max(alike) < NEAR_COPY / 2
    check_together([Pack(pack["site"], pack) for pack in packs])
