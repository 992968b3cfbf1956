"""The command protocol, against real programs: right answers, and every way in which a program can go wrong."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError, SystemFailure
from workup.systems.any.command import Command

READ = "import json, sys\nrows = [json.loads(line) for line in sys.stdin]\n"


def program(folder: Path, code: str, **settings: Any) -> Command:
    (folder / "score.py").write_text(code)
    return Command(name="model", base=folder, run=[sys.executable, "score.py"], **settings)


def answering(*lines: str) -> str:
    """A program that reads everything, then writes these lines."""
    return READ + f"sys.stdout.write({''.join(line + chr(10) for line in lines)!r})\n"


def table(rows: int = 3) -> dict[str, np.ndarray]:
    return {"age": np.linspace(40, 80, rows)}


def good(row: int, risk: str = "0.5") -> str:
    return f'{{"id": "{row}", "risk": {risk}}}'


def test_rows_arrive_as_json_and_risks_come_back_in_order(tmp_path: Path) -> None:
    code = READ + (
        "json.dump(rows, open('seen.json', 'w'))\n"
        "for row in rows:\n"
        "    risk = None if row['age'] is None else row['age'] / 100\n"
        "    print(json.dumps({'id': row['id'], 'risk': risk}))"
    )
    cells = {
        "age": np.array([63.0, np.nan, 0.1 + 0.2]),
        "seen": np.array(["2024-02-29T08:30", "NaT", "2020-01-01"], dtype="datetime64[us]"),
        "ward": np.array(["Ä \n{", None, np.float64(2)], dtype=object),
    }
    assert program(tmp_path, code).predict(cells) == [0.63, None, (0.1 + 0.2) / 100]
    assert json.loads((tmp_path / "seen.json").read_text()) == [
        {"id": "1", "age": 63.0, "seen": "2024-02-29T08:30:00", "ward": "Ä \n{"},
        {"id": "2", "age": None, "seen": None, "ward": None},
        {"id": "3", "age": 0.1 + 0.2, "seen": "2020-01-01T00:00:00", "ward": 2.0},
    ]


def test_send_chooses_the_columns(tmp_path: Path) -> None:
    code = READ + "for row in rows: print(json.dumps({'id': row['id'], 'risk': len(row) / 10}))"
    cells = {**table(2), "name": np.array(["a", "b"], dtype=object)}
    assert program(tmp_path, code).predict(cells) == [0.3, 0.3]
    assert program(tmp_path, code, send=["age"]).predict(cells) == [0.2, 0.2]
    with pytest.raises(InputError, match="did you mean 'age'"):
        program(tmp_path, code, send=["aeg"]).predict(cells)
    with pytest.raises(InputError, match="cannot be called 'id'"):
        program(tmp_path, code).predict({**cells, "id": np.array([1.0, 2.0])})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([good(1), "Loading model…", good(3)], "answer line 2: must be JSON"),
        ([good(1), "", good(2)], "answer line 2: must be JSON"),
        ([good(1), good(2, "NaN")], "answer line 2: must be JSON"),
        ([good(1), "[" * 100_000], "answer line 2: must be JSON"),
        ([good(1), "[0.5]"], "answer line 2: must be a JSON object; got a list"),
        ([good(1), '{"risk": 0.5}'], "answer line 2: has no 'id'"),
        ([good(1), '{"id": 2, "risk": 0.5}'], "answer line 2: 'id' must be the text that was sent; got a number"),
        ([good(1), good(1)], "answer line 2: answers row 1 a second time"),
        ([good(1), good(3)], "answer line 2: answers row 3 where row 2 was due"),
        ([good(1), '{"id": "Smith", "risk": 0.5}'], "answer line 2: has an 'id' that was not sent"),
        ([good(1), '{"id": "2"}'], "answer line 2: has no 'risk'"),
        ([good(1), good(2, '"high"')], "answer line 2: 'risk' must be a number .*; got a text"),
        ([good(1), good(2, "true")], "answer line 2: 'risk' must be a number .*; got true or false"),
        ([good(1), good(2, "50")], "answer line 2: 'risk' must lie from 0 to 1"),
        ([good(1), good(2, "-0.01")], "answer line 2: 'risk' must lie from 0 to 1"),
        ([good(1), good(2, "1" + "0" * 400)], "answer line 2: 'risk' must lie from 0 to 1"),
        ([good(1), good(2), good(3), good(4)], "answer line 4: there must be one answer for each of the 3 rows"),
    ],
)
def test_an_answer_out_of_form_names_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(SystemFailure, match=message) as failed:
        program(tmp_path, answering(*lines)).predict(table())
    assert "Smith" not in str(failed.value)


def test_whole_numbers_nulls_and_a_missing_last_newline_are_fine(tmp_path: Path) -> None:
    code = READ + f"sys.stdout.write({chr(10).join([good(1, '0'), good(2, '1'), good(3, 'null')])!r})"
    assert program(tmp_path, code).predict(table()) == [0.0, 1.0, None]


def test_output_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    code = READ + "sys.stdout.buffer.write(b'\\xff\\xfe{}\\n')"
    with pytest.raises(SystemFailure, match="answer line 1: must be JSON"):
        program(tmp_path, code).predict(table())


def test_an_early_exit_tells_the_code_and_shows_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = READ + f"print({good(1)!r}); print('no licence for Smith', file=sys.stderr); sys.exit(7)"
    with pytest.raises(SystemFailure, match="exit code 7 after 1 of 3 answers, so line 2 is missing") as failed:
        program(tmp_path, code).predict(table())
    assert "Smith" not in str(failed.value)
    assert "no licence for Smith" in capfd.readouterr().err


def test_half_a_line_before_a_crash_is_an_early_exit(tmp_path: Path) -> None:
    half = good(1) + "\n" + good(2)[:10]
    code = READ + f"import os\nsys.stdout.write({half!r})\nsys.stdout.flush()\nos.abort()"
    with pytest.raises(SystemFailure, match=r"signal SIGABRT after 1 of 3 answers \(line 2 is cut off\)"):
        program(tmp_path, code).predict(table())


def test_a_bad_exit_code_after_all_answers_is_not_trusted(tmp_path: Path) -> None:
    code = answering(good(1), good(2), good(3)) + "sys.stdout.flush(); sys.exit(3)"
    with pytest.raises(SystemFailure, match="answered every row but ended with exit code 3"):
        program(tmp_path, code).predict(table())


def test_a_program_that_never_reads_its_input(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match="exit code 0 after 0 of 50000 answers"):
        program(tmp_path, "").predict(table(50_000))


def test_a_chatty_program_that_answers_as_it_reads_cannot_block(tmp_path: Path) -> None:
    # Far more than a pipe holds, in both directions and on stderr.
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    print(json.dumps({'id': row['id'], 'risk': 0.25, 'note': 'x' * 300}), flush=True)\n"
    )
    assert program(tmp_path, code, timeout=60).predict(table(3000)) == [0.25] * 3000


def test_a_timeout_ends_the_program_and_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > pid; echo '{good(1)}'; wait"
    system = Command(name="model", base=tmp_path, run=["sh", "-c", script], timeout=1.5)
    with pytest.raises(SystemFailure, match=r"not finished after 1\.5 s, with 1 of 3 rows answered"):
        system.predict(table())
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_wrong_answer_stops_a_program_at_once(tmp_path: Path) -> None:
    code = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nprint('hello', flush=True)\ntime.sleep(600)"
    with pytest.raises(SystemFailure, match="answer line 1: must be JSON"):
        program(tmp_path, code, timeout=300).predict(table())
    assert gone(int((tmp_path / "pid").read_text()))


def test_endless_output_is_cut_short(tmp_path: Path) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    with pytest.raises(SystemFailure, match="answer line 1: must be JSON"):
        program(tmp_path, code, timeout=300).predict(table())


def test_programs_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match=r"'\./absent' was not found"):
        Command(name="m", base=tmp_path, run=["./absent"]).predict(table())
    script = tmp_path / "plain"
    script.write_text("echo hello")
    with pytest.raises(SystemFailure, match="cannot be executed"):
        Command(name="m", base=tmp_path, run=["./plain"]).predict(table())
    script.chmod(0o755)
    with pytest.raises(SystemFailure, match="cannot be executed"):
        Command(name="m", base=tmp_path, run=["./plain"]).predict(table())
    with pytest.raises(SystemFailure, match="does not exist"):
        Command(name="m", base=tmp_path / "nowhere", run=["true"]).predict(table())


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="list of words"):
        Command(name="m", base=tmp_path, run="python score.py")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="list of words"):
        Command(name="m", base=tmp_path, run=[])
    with pytest.raises(InputError, match="timeout"):
        Command(name="m", base=tmp_path, run=["x"], timeout=0)
    with pytest.raises(InputError, match="finite"):
        Command(name="m", base=tmp_path, run=["x"]).predict({"age": np.array([1.0, np.inf])})


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text(
        READ + "risk = int(sys.argv[1] == '$HOME; *')\n"
        "for row in rows: print(json.dumps({'id': row['id'], 'risk': risk}))"
    )
    system = Command(name="m", base=tmp_path, run=[sys.executable, "score.py", "$HOME; *"])
    assert system.predict(table(2)) == [1.0, 1.0]


def test_no_rows_start_no_program(tmp_path: Path) -> None:
    assert Command(name="m", base=tmp_path, run=["./absent"]).predict({"age": np.array([])}) == []


def test_the_version_follows_the_content_of_the_script(tmp_path: Path) -> None:
    first = program(tmp_path, "print(1)").version
    assert program(tmp_path, "print(1)").version == first
    assert program(tmp_path, "print(2)").version != first


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds; one that nobody has buried yet has ended."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
