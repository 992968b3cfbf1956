"""From three hospitals' reports to one pooled report, through the commands alone."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import SECRET, Done, call, cohort, differing, risk_words, write
from workup.report import Report

SITES = ("North", "South", "East")
KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of each site, and a pack of each in the same folder."""
    folder = tmp_path_factory.mktemp("sites")
    for seed, site in enumerate(SITES):
        table = write(folder / f"{site}.csv", cohort(300, seed=seed))
        done = call(
            *risk_words(table, "--patient", "patient", "--by", "sex", "--threshold", "0.3"),
            "--json", folder / f"{site}.report.json",
        )  # fmt: skip
        assert done.code == 0, done.err
        made = pack(folder, site, "--facts", f"type={'rural' if site == 'East' else 'academic'}")
        assert made.code == 0, made.err
    return folder


def pack(folder: Path, site: str, *more: str | Path, out: str = "") -> Done:
    return call(
        "site-pack", folder / f"{site}.report.json", "-o", folder / (out or f"{site}.json"), "--site", site, *more
    )


def packs(folder: Path) -> list[Path]:
    return [folder / f"{site}.json" for site in SITES]


def test_a_pack_is_private_and_holds_no_ids(hospitals: Path) -> None:
    for path in packs(hospitals):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text(encoding="utf-8")
        assert SECRET not in text and ".csv" not in text
        assert json.loads(text)["pack_version"] == 2


def test_the_site_is_told_what_stays_there(hospitals: Path, tmp_path: Path) -> None:
    done = call("site-pack", hospitals / "North.report.json", "-o", tmp_path / "p.json", "--k", "60", "--site", "North")
    assert (done.code, done.out.strip()) == (0, str(tmp_path / "p.json"))
    cells = len(json.loads((tmp_path / "p.json").read_text())["withheld"])
    assert f"Withheld: {cells} cells (k = 60)." in done.err
    assert "sex missing: figures" in done.err and "Not signed" in done.err
    quiet = call("site-pack", hospitals / "North.report.json", "-o", tmp_path / "q.json", "--site", "N", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")


def test_the_same_report_gives_the_same_bytes(hospitals: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        call("site-pack", hospitals / "North.report.json", "-o", tmp_path / name, "--site", "North")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_pooling_writes_a_record_that_any_order_of_files_gives(hospitals: Path, tmp_path: Path) -> None:
    words = ("--limit", "auroc=0.6", "--intended-setting", "rural", "--intended-setting", "community")
    done = call("pool", *packs(hospitals), "-o", tmp_path / "one", *words)
    assert done.code == 0, done.err
    again = call("pool", *packs(hospitals)[::-1], "-o", tmp_path / "two", *words)
    assert again.out == done.out
    for name in ("report.json", "report.html", "report.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    report = Report.read(tmp_path / "one")
    assert (report.corpus["name"], report.corpus["n_cases"], report.corpus["n_patients"]) == ("3 sites", 900, 900)
    [row] = [row for row in report.results["sites"].pooled if row["metric"] == "auroc" and not row["slice"]]
    assert row["k"] == 3 and row["pi_low"] < row["low"] < row["value"] < row["high"] < row["pi_high"]
    assert row["verdict"] in ("adequate", "inconclusive")
    settings = {one["setting"]: one["status"] for one in report.results["sites"].tables["settings"]}
    assert settings == {"rural": "validated", "community": "not validated"}
    assert "External validation report" in done.out
    assert str(tmp_path) not in (tmp_path / "one" / "report.json").read_text()


def test_json_on_standard_output_is_clean(hospitals: Path) -> None:
    done = call("pool", *packs(hospitals), "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["system"]["name"] == "recorded" and list(record["results"]) == ["sites"]


def test_methods_change_the_answer(hospitals: Path) -> None:
    found = {}
    for method, test in (("REML", "adhoc"), ("DL", "adhoc"), ("REML", "z")):
        done = call("pool", *packs(hospitals), "--method", method, "--test", test, "--json", "-")
        rows = json.loads(done.out)["results"]["sites"]["pooled"]
        found[method, test] = next(row for row in rows if row["metric"] == "auroc" and not row["slice"])
    assert found["DL", "adhoc"]["method"] == "DL"
    narrow, wide = found["REML", "z"], found["REML", "adhoc"]
    assert wide["high"] - wide["low"] > narrow["high"] - narrow["low"]


def test_a_table_of_sites_and_an_internal_report(hospitals: Path, tmp_path: Path) -> None:
    (tmp_path / "sites.csv").write_text(
        "site,region,volume\nNorth,upper,900\nSouth,lower,400\nEast,lower,300\nWest,x,1\n"
    )
    done = call("pool", *packs(hospitals), "--sites", tmp_path / "sites.csv", "--internal",
                hospitals / "North.report.json", "--moderator", "volume", "--json", "-")  # fmt: skip
    assert done.code == 0, done.err
    assert "without evidence: West" in done.err
    result = json.loads(done.out)["results"]["sites"]
    assert {row["region"] for row in result["tables"]["sites"]} == {"upper", "lower"}
    assert result["comparisons"][0]["against"] == "internal report"
    assert {row["moderator"] for row in result["tables"]["meta_regression"]} == {"volume"}


def test_packs_and_published_tables_are_pooled_together(hospitals: Path, tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("Study,n,died,c,e\nAlpha,5000,500,0.74,480\nBeta,3000,200,0.71,260\n")
    columns = ("site=Study", "events=died", "auroc=c", "expected=e")
    words = [word for column in columns for word in ("--columns", column)]
    done = call("pool", *packs(hospitals), tmp_path / "published.csv", *words, "--json", "-")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["results"]["sites"]["pooled"]
    [auroc] = [row for row in rows if row["metric"] == "auroc" and not row["slice"]]
    assert auroc["sites"] == ["Alpha", "Beta", "East", "North", "South"]
    alone = call("pool", tmp_path / "published.csv", *words, "--json", "-")
    assert json.loads(alone.out)["corpus"]["n_patients"] == 8000
    (tmp_path / "twice.csv").write_text("site,n,events,auroc\nnorth,500,50,0.7\n")
    done = call("pool", *packs(hospitals), tmp_path / "twice.csv")
    assert done.code == 2 and "both as a pack and in a published table" in done.err


def test_keys_are_asked_for_where_one_is_given(hospitals: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "other").write_text(KEY[::-1])
    for site in SITES:
        done = call("site-pack", hospitals / f"{site}.report.json", "-o", tmp_path / f"{site}.json", "--site", site,
                    "--key-file", tmp_path / "key")  # fmt: skip
        assert "Signed" in done.err and KEY not in done.err + done.out + (tmp_path / f"{site}.json").read_text()
    signed = packs(tmp_path)
    assert call("pool", *signed, "--key-file", tmp_path / "other", "--key-file", tmp_path / "key").code == 0
    wrong = call("pool", *signed, "--key-file", tmp_path / "other")
    assert wrong.code == 2 and "a signature of another key" in wrong.err
    unsigned = call("pool", *signed[:2], hospitals / "East.json", "--key-file", tmp_path / "key")
    assert unsigned.code == 2 and "East.json" in unsigned.err and "without a signature" in unsigned.err


def keyed(hospitals: Path, folder: Path) -> Path:
    """A key pair and a signed pack of each site, and the centre's table of sites and keys."""
    lines = []
    for site in SITES:
        made = call("site-key", "-o", folder / f"{site}.key")
        assert made.code == 0, made.err
        assert stat.S_IMODE((folder / f"{site}.key").stat().st_mode) == 0o600
        done = call("site-pack", hospitals / f"{site}.report.json", "-o", folder / f"{site}.json", "--site", site,
                    "--key-file", folder / f"{site}.key", "--ledger", folder / f"{site}.ledger")  # fmt: skip
        assert done.code == 0 and "Signed (Ed25519)" in done.err, done.err
        lines.append(f"{site}: {site}.pub\n")
    (folder / "sites.yaml").write_text("".join(lines), encoding="utf-8")
    return folder / "sites.yaml"


def test_each_site_signs_with_its_own_key(hospitals: Path, tmp_path: Path) -> None:
    table = keyed(hospitals, tmp_path)
    assert call("pool", *packs(tmp_path), "--keys", table).code == 0
    # South signs a pack as North
    forged = tmp_path / "forged.json"
    call("site-pack", hospitals / "North.report.json", "-o", forged, "--site", "North",
         "--key-file", tmp_path / "South.key")  # fmt: skip
    done = call("pool", forged, *packs(tmp_path)[1:], "--keys", table)
    assert done.code == 2 and "a signature of another site, 'South'" in done.err and "'North'" in done.err
    # North's own figures under the name and key of East
    call("site-pack", hospitals / "North.report.json", "-o", forged, "--site", "East",
         "--key-file", tmp_path / "East.key")  # fmt: skip
    done = call("pool", *packs(tmp_path)[:2], forged, "--keys", table)
    assert done.code == 2 and "the same figures under two names, 'East' and 'North'" in done.err
    again = call("site-key", "-o", tmp_path / "North.key")
    assert again.code == 2 and "there already" in again.err


def test_packs_seen_before_and_older_ones_are_refused(hospitals: Path, tmp_path: Path) -> None:
    table = keyed(hospitals, tmp_path)
    old = tmp_path / "old.json"
    old.write_bytes((tmp_path / "North.json").read_bytes())
    words = ("--keys", table, "--seen", tmp_path / "seen.json")
    assert call("pool", *packs(tmp_path), *words).code == 0
    assert stat.S_IMODE((tmp_path / "seen.json").stat().st_mode) == 0o600
    repeated = call("pool", *packs(tmp_path), *words)
    assert repeated.code == 2 and "the same pack again" in repeated.err
    assert call("pool", *packs(tmp_path), *words, "--again").code == 0
    for site in SITES:
        done = call("site-pack", hospitals / f"{site}.report.json", "-o", tmp_path / f"{site}.json", "--site", site,
                    "--key-file", tmp_path / f"{site}.key", "--ledger", tmp_path / f"{site}.ledger")  # fmt: skip
        assert "pack 2" in done.err, done.err
    assert call("pool", *packs(tmp_path), *words).code == 0
    replayed = call("pool", old, *packs(tmp_path)[1:], *words, "--again")
    assert replayed.code == 2 and "site 'North' has a number above 2; got an older pack, number 1" in replayed.err


def test_a_ledger_is_private_whole_and_of_one_site(hospitals: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "north.ledger"
    words = ("site-pack", hospitals / "North.report.json", "--ledger", ledger)
    assert call(*words, "-o", tmp_path / "a.json", "--site", "North").code == 0
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    first = ledger.read_bytes()
    wrong = call(*words, "-o", tmp_path / "b.json", "--site", "South")
    assert wrong.code == 2 and "belongs to one site" in wrong.err and not (tmp_path / "b.json").exists()
    both = call(*words, "-o", tmp_path / "b.json", "--site", "North", "--sequence", "4")
    assert both.code == 2 and "a ledger numbers the packs itself" in both.err
    lost = call(*words, "-o", tmp_path / "no" / "b.json", "--site", "North")
    assert lost.code == 2 and ledger.read_bytes() == first, "a pack that cannot be written is not remembered"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "north.ledger"]
    without = call("site-pack", hospitals / "North.report.json", "-o", tmp_path / "c.json", "--site", "N")
    assert "No ledger" in without.err


def test_refusals_are_one_message_and_exit_2(hospitals: Path, tmp_path: Path) -> None:
    north = hospitals / "North.json"
    changed = tmp_path / "changed.json"
    text = north.read_text(encoding="utf-8")
    changed.write_text(re.sub(r'"k": 11', '"k": 10', text), encoding="utf-8")
    assert changed.read_text(encoding="utf-8") != text
    cases: list[tuple[tuple[Any, ...], str]] = [
        (("pool", changed), "changed after it was made"),
        (("pool", north, north), "two packs of the site 'North'"),
        (("pool", hospitals / "North.report.json"), "a file of another kind"),
        (("pool", tmp_path / "none.json"), "No such file"),
        (("pool", north, "--limit", "auroc"), "a limit is a number"),
        (("pool", north, "--limit", "aurok=0.7"), "auroc"),
        (("pool", north, "--method", "MAGIC"), "method"),
        (("pool", north, "--columns", "site=Study"), "published"),
        (("site-pack", hospitals / "North.report.json", "-o", tmp_path / "no" / "x.json"), "can be written"),
        (("site-pack", hospitals / "North.report.json", "-o", tmp_path / "x.json", "--facts", "rural"), "name=value"),
        (("site-pack", north, "-o", tmp_path / "x.json"), "schema_version"),
    ]
    for words, said in cases:
        done = call(*words)
        assert done.code == 2 and said in done.err, (words, done.err)
        assert "Traceback" not in done.err and done.out == ""
    assert not (tmp_path / "x.json").exists()


def test_the_pooled_report_can_be_redrawn_and_its_bytes_are_its_own(hospitals: Path, tmp_path: Path) -> None:
    call("pool", *packs(hospitals), "-o", tmp_path / "run", "--name", "winter")
    first = json.loads((tmp_path / "run" / "report.json").read_text())
    done = call("report", tmp_path / "run", "-f", "text")
    assert done.code == 0 and "winter" in done.out
    call("pool", *packs(hospitals), "-o", tmp_path / "run", "--name", "summer")
    second = json.loads((tmp_path / "run" / "report.json").read_text())
    assert differing(first, second) == {"study.name", "sha256"}
