"""The store on both databases: migrations, batches that may be sent twice, alerts, tokens and the lease."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError, RunError
from workup.monitor.columns import Columns, Hidden, checked_outcomes, checked_predictions, columns_of_rows
from workup.monitor.store import alerts, audit, ingest, lease, models, tables, tokens
from workup.monitor.store.database import Store, migrate, open_store, revision_of

NOW = 1_700_000_000_000_000
COLUMNS = Columns(site="site", acted="acted", groups=("sex",), inputs=("age",), data_version="feed")


def table(count: int = 4, **changed: Any) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "id": [f"p{i}" for i in range(count)],
        "time": [f"2025-01-{1 + i % 28:02}T08:00:00Z" for i in range(count)],
        "risk": [round(0.1 + 0.01 * (i % 80), 3) for i in range(count)],
        "site": ["north"] * count,
        "acted": [None, 0, 1, True] * (count // 4) + [0] * (count % 4),
        "sex": ["F", "M", None, "F"] * (count // 4) + ["M"] * (count % 4),
        "age": [70.5, None, 61, "old"] * (count // 4) + [50] * (count % 4),
        "feed": ["2"] * count,
    }
    return columns | changed


def registered(store: Store) -> int:
    return models.register_model(store, "readmission", task="risk", now=NOW, who="test")


def sent(store: Store, model: int, count: int = 4, *, atomic: bool = True, **changed: Any) -> ingest.Ingested:
    batch = checked_predictions(table(count, **changed), COLUMNS, version="1")
    return ingest.ingest_predictions(store, model, batch, now=NOW, atomic=atomic)


def answered(store: Store, model: int, outcomes: dict[str, int], **options: Any) -> ingest.Ingested:
    batch = checked_outcomes({"id": list(outcomes), "outcome": list(outcomes.values())}, COLUMNS)
    return ingest.ingest_outcomes(store, model, batch, now=NOW, **options)


def counted(store: Store, which: sqlalchemy.Table) -> int:
    with store.read() as connection:
        return int(connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(which)).scalar_one())


# ---- migrations ------------------------------------------------------------------------------------------------------


def test_migrations_go_up_and_down_and_up_again(store_url: str) -> None:
    store = open_store(store_url, migrated=False)
    assert revision_of(store) is None
    for _ in range(2):
        migrate(store)
        names = set(sqlalchemy.inspect(store.engine).get_table_names())
        assert set(tables.METADATA.tables) <= names
        assert revision_of(store) is not None
        migrate(store, "base")
        assert set(sqlalchemy.inspect(store.engine).get_table_names()) <= {"alembic_version"}
    store.close()


def test_the_migrations_make_the_tables_that_the_code_knows(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.read() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), tables.METADATA)
    assert differences == []


def test_a_store_of_a_later_version_is_left_alone(store: Store) -> None:
    with store.write() as connection:
        connection.execute(sqlalchemy.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(RunError, match="later version"):
        migrate(store)


def test_programs_that_start_together_make_the_tables_once(store_url: str) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            open_store(store_url).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_an_sqlite_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_store(str(tmp_path / "monitor.db")).close()
    assert (tmp_path / "monitor.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("url", ["mysql://root:secret@host/db", "sqlite://", "://", "oracle://x"])
def test_another_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InputError) as error:
        open_store(url)
    assert "secret" not in str(error.value)


def test_a_database_that_cannot_be_reached_is_said_in_words_without_its_password() -> None:
    with pytest.raises(RunError, match="cannot be used now") as error:
        open_store("postgresql://someone:secret@127.0.0.1:1/none")
    assert "secret" not in str(error.value)


# ---- predictions -----------------------------------------------------------------------------------------------------


def test_the_same_batch_twice_changes_nothing(store: Store) -> None:
    model = registered(store)
    first, second = sent(store, model, 40), sent(store, model, 40)
    assert (first.new, first.known) == (40, 0)
    assert (second.new, second.known, second.batch) == (0, 40, 0)
    assert counted(store, tables.PREDICTIONS) == 40
    assert counted(store, tables.BATCHES) == 1


def test_an_id_with_other_content_is_a_named_conflict_and_nothing_is_stored(store: Store) -> None:
    model = registered(store)
    sent(store, model, 4)
    with pytest.raises(ingest.ConflictError, match="rows 2") as error:
        sent(store, model, 8, risk=[0.1, 0.9, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17])
    assert "p1" not in str(error.value)
    assert [fault.row for fault in error.value.faults] == [2]
    assert counted(store, tables.PREDICTIONS) == 4


def test_a_partial_batch_keeps_the_rows_that_can_be(store: Store) -> None:
    model = registered(store)
    sent(store, model, 4)
    found = sent(store, model, 8, atomic=False, risk=[0.1, 0.9, 0.12, 0.13, 2.0, 0.15, 0.16, 0.17])
    assert (found.new, found.known, len(found.conflicts), len(found.refused)) == (3, 3, 1, 1)
    assert counted(store, tables.PREDICTIONS) == 7


def test_an_id_twice_in_a_batch_is_one_row_or_a_conflict(store: Store) -> None:
    model = registered(store)
    same = {name: [column[0]] * 2 for name, column in table().items()}
    batch = checked_predictions(same, COLUMNS, version="1")
    assert ingest.ingest_predictions(store, model, batch, now=NOW).new == 1
    other = checked_predictions(same | {"id": ["q", "q"], "risk": [0.1, 0.2]}, COLUMNS, version="1")
    with pytest.raises(ingest.ConflictError):
        ingest.ingest_predictions(store, model, other, now=NOW)


def test_two_models_may_use_the_same_ids(store: Store) -> None:
    one = registered(store)
    other = models.register_model(store, "sepsis", task="risk", now=NOW, who="test")
    assert sent(store, one).new == sent(store, other, risk=[0.5] * 4).new == 4


def test_writers_at_once_lose_and_double_nothing(store: Store) -> None:
    model = registered(store)
    failures: list[BaseException] = []

    def send(part: int) -> None:
        try:
            for batch in range(5):
                ids = [f"{(part % 2) * 5 + batch}-{i}" for i in range(20)]  # every batch is sent by two of them
                sent(store, model, 20, id=ids)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert counted(store, tables.PREDICTIONS) == 200
    assert counted(store, tables.BATCHES) == 10


def test_ids_are_hashed_with_a_key_where_that_is_asked_for(store: Store) -> None:
    model = registered(store)
    hidden = Hidden(b"0123456789abcdef")
    plan = COLUMNS.model_copy(update={"patient": "sex"})
    batch = checked_predictions(table(4, sex=["Lee", "Lee", "Ray", None]), plan, version="1", hidden=hidden)
    ingest.ingest_predictions(store, model, batch, now=NOW)
    outcomes = checked_outcomes({"id": ["p0"], "outcome": [1]}, COLUMNS, hidden=hidden)
    ingest.ingest_outcomes(store, model, outcomes, now=NOW)
    with store.read() as connection:
        rows = connection.execute(sqlalchemy.select(tables.PREDICTIONS.c["id", "patient"])).all()
        joined = connection.execute(
            sqlalchemy.select(tables.OUTCOMES.c.id).join(
                tables.PREDICTIONS, tables.PREDICTIONS.c.id == tables.OUTCOMES.c.id
            )
        ).all()
    assert len(joined) == 1
    assert not any("p" in row.id or "Lee" in row.patient for row in rows)
    assert len({row.patient for row in rows}) == 3


def test_only_the_named_columns_are_kept() -> None:
    rows = [{"id": "a", "time": "2025-01-01", "risk": 0.5, "note": "Mr Lee came in", "sex": "F"}]
    found = columns_of_rows(rows, COLUMNS)
    assert "note" not in found


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", ""), ("id", None), ("id", "x" * 201), ("id", "a\0b"), ("id", ["a"]), ("id", {"a": 1}), ("id", True),
        ("id", "\ud800"), ("id", float("nan")),
        ("time", "yesterday"), ("time", None), ("time", 5), ("time", "0001-01-01"), ("time", "9999-12-31"),
        ("risk", 1.01), ("risk", -0.1), ("risk", float("inf")), ("risk", "0.5"), ("risk", True), ("risk", [0.5]),
        ("acted", 2), ("acted", "yes"), ("acted", {}),
        ("sex", "x" * 201), ("sex", ["F"]), ("sex", "a\0"),
        ("age", float("inf")), ("age", {"a": 1}), ("age", "x" * 201),
        ("site", []),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_a_fault_of_its_row_and_column(column: str, value: Any) -> None:
    found = checked_predictions(
        table(4, **{column: [*table()[column][:2], value, table()[column][3]]}), COLUMNS, version="1"
    )
    assert [(fault.row, fault.column) for fault in found.faults] == [(3, column)]
    assert found.id == ["p0", "p1", "p3"]
    assert found.rows.tolist() == [1, 2, 4]


@given(
    st.dictionaries(
        st.sampled_from(list(table())),
        st.lists(
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            ),
            min_size=3,
            max_size=3,
        ),
    )
)
def test_whatever_a_batch_holds_is_read_or_refused_in_words(given: dict[str, list[Any]]) -> None:
    content = {name: column[:3] for name, column in table().items()} | given
    found = checked_predictions(content, COLUMNS, version="1")
    assert len(found) + len({fault.row for fault in found.faults}) == 3


def test_a_missing_column_names_the_near_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'risk'"):
        checked_predictions(table() | {}, COLUMNS.model_copy(update={"risk": "riks"}), version="1")


# ---- outcomes --------------------------------------------------------------------------------------------------------


def test_an_outcome_may_come_twice_and_changes_only_as_a_correction(store: Store) -> None:
    model = registered(store)
    sent(store, model)
    assert answered(store, model, {"p0": 1, "p1": 0}).new == 2
    assert answered(store, model, {"p0": 1, "p1": 0}).known == 2
    with pytest.raises(ingest.ConflictError, match="corrected"):
        answered(store, model, {"p0": 0})
    found = answered(store, model, {"p0": 0}, corrections=True)
    assert (found.new, found.known) == (1, 0)
    with store.read() as connection:
        now = connection.execute(sqlalchemy.select(tables.OUTCOMES).where(tables.OUTCOMES.c.id == "p0")).one()
        before = connection.execute(sqlalchemy.select(tables.CORRECTED)).one()
    assert (now.outcome, now.revision, before.outcome, before.revision) == (0, 1, 1, 0)


def test_what_was_done_may_be_told_after_the_outcome_and_before_it(store: Store) -> None:
    model = registered(store)
    answered(store, model, {"p0": 1})
    later = checked_outcomes({"id": ["p0", "p1"], "acted": [1, 0]}, COLUMNS)
    assert ingest.ingest_outcomes(store, model, later, now=NOW).new == 2
    assert answered(store, model, {"p1": 0}).new == 1
    with store.read() as connection:
        rows = connection.execute(sqlalchemy.select(tables.OUTCOMES).order_by(tables.OUTCOMES.c.id)).all()
    assert [(row.outcome, row.acted, row.revision) for row in rows] == [(1, 1, 0), (0, 0, 0)]


def test_an_outcome_that_says_nothing_is_a_fault() -> None:
    found = checked_outcomes({"id": ["a", "b"], "outcome": [1, None]}, COLUMNS)
    assert [fault.row for fault in found.faults] == [2]


# ---- alerts, audit, plans --------------------------------------------------------------------------------------------


def version_of(store: Store, model: int) -> int:
    with store.write() as connection:
        return models.register_version(connection, model, "1", now=NOW, who="test")


def raised(store: Store, version: int, **changed: Any) -> None:
    key = {"version": version, "watch": "w", "cause": "c", "relapse": changed.pop("relapse", 0)}
    values = {
        "kind": "performance", "metric": "auroc", "slice": "{}", "state": "open", "severity": "medium",
        "effect": -0.06, "message": "fell", "opened_window": "2025-01", "last_window": "2025-01", "quiet": 0,
        "resolved_window": "",
    }  # fmt: skip
    plan = {"owner": "Dr Ray", "action": "look", "escalation": "board", "plan": 1}
    with store.write() as connection:
        alerts.keep_alert(connection, key, values | changed, plan, now=NOW)


def only(store: Store, now: int = NOW) -> dict[str, Any]:
    with store.read() as connection:
        [alert] = alerts.alerts(connection, now=now)
    return alert


def test_an_alert_is_opened_once_and_lives_through_its_states(store: Store) -> None:
    version = version_of(store, registered(store))
    raised(store, version)
    raised(store, version)
    alert = only(store)
    assert (alert["shown"], alert["owner"], alert["model"]) == ("open", "Dr Ray", "readmission")
    alerts.acknowledge_alert(store, alert["id"], now=NOW + 1, who="ann")
    alerts.acknowledge_alert(store, alert["id"], now=NOW + 2, who="bob")
    assert (only(store)["shown"], only(store)["acknowledged_by"]) == ("acknowledged", "ann")
    raised(store, version, quiet=1)
    assert only(store)["state"] == "acknowledged"
    raised(store, version, quiet=3, state="resolved", resolved_window="2025-04")
    assert (only(store)["state"], only(store)["resolved_by"]) == ("resolved", "worker")
    with store.read() as connection:
        assert [e["what"] for e in alerts.alert_events(connection, alert["id"])] == [
            "opened",
            "acknowledged",
            "resolved",
        ]
        said = [line["what"] for line in audit.audit_lines(connection)]
    assert said[:3] == ["resolve alert", "acknowledge alert", "open alert"]
    with pytest.raises(InputError, match="not resolved"):
        alerts.acknowledge_alert(store, alert["id"], now=NOW, who="ann")
    raised(store, version, relapse=1)
    with store.read() as connection:
        assert len(alerts.alerts(connection, now=NOW)) == 2
        assert len(alerts.alerts(connection, now=NOW, unresolved=True)) == 1


def test_a_mute_has_an_end_and_a_reason(store: Store) -> None:
    version = version_of(store, registered(store))
    raised(store, version)
    number = only(store)["id"]
    with pytest.raises(InputError, match="future"):
        alerts.mute_alert(store, number, now=NOW, until=NOW, who="ann", reason="known")
    with pytest.raises(InputError, match="reason"):
        alerts.mute_alert(store, number, now=NOW, until=NOW + 10, who="ann", reason="  ")
    alerts.mute_alert(store, number, now=NOW, until=NOW + 10, who="ann", reason="a new coding system")
    assert (only(store)["shown"], only(store, NOW + 10)["shown"]) == ("muted", "open")
    assert alerts.end_mutes(store, now=NOW + 5) == 0
    assert alerts.end_mutes(store, now=NOW + 10) == 1
    assert only(store)["muted_until"] is None


def test_a_person_resolves_with_a_reason_and_the_worker_knows(store: Store) -> None:
    version = version_of(store, registered(store))
    raised(store, version)
    alerts.resolve_alert(store, only(store)["id"], now=NOW, who="ann", reason="recalibrated")
    with store.read() as connection:
        assert alerts.resolved_by_people(connection, version, "w") == {("c", 0)}
    raised(store, version)  # the lens still holds it open until the next window
    assert only(store)["state"] == "resolved"
    with pytest.raises(InputError, match="no alert"):
        alerts.resolve_alert(store, 99, now=NOW, who="ann", reason="none")


def test_a_plan_is_kept_once_and_never_changed(store: Store) -> None:
    model = registered(store)
    numbers = [
        models.keep_plan(store, model, content={"a": a}, sha256=str(a) * 64, now=NOW, who="ann") for a in (1, 1, 2, 1)
    ]
    assert numbers == [1, 1, 2, 3]
    with store.read() as connection:
        held = models.last_plan(connection, model)
    assert held is not None and held["content"] == {"a": 1}


def test_versions_of_the_model_and_of_the_data_are_counted_against_each_other(store: Store) -> None:
    model = registered(store)
    sent(store, model, 4, feed=["1", "2", "2", None])
    answered(store, model, {"p1": 1})
    with store.read() as connection:
        rows = models.versions_by_data(connection, model)
    assert [(row["data_version"], row["rows"], row["labelled"]) for row in rows] == [
        ("", 1, 0),
        ("1", 1, 0),
        ("2", 2, 1),
    ]


def test_a_model_keeps_its_task_and_an_unknown_one_names_the_near_ones(store: Store) -> None:
    assert registered(store) == registered(store)
    with pytest.raises(InputError, match="keeps its task"):
        models.register_model(store, "readmission", task="spans", now=NOW, who="test")
    with store.read() as connection, pytest.raises(InputError, match="did you mean 'readmission'"):
        models.model_number(connection, "readmision")


# ---- tokens and the lease --------------------------------------------------------------------------------------------


def test_a_token_is_known_until_it_expires_or_is_revoked(store: Store) -> None:
    text = tokens.create_token(store, "feed", ["ingest"], now=NOW, expires=NOW + 100, who="ann")
    with store.read() as connection:
        held = tokens.checked_token(connection, text, now=NOW)
        assert held is not None and held.may("ingest") and not held.may("read")
        assert tokens.checked_token(connection, text, now=NOW + 100) is None
        wrong = (
            text + "x",
            text[:-1],
            text.upper(),
            "",
            "wkm__",
            "wkm_" + "a" * 16 + "_b",
            "\udc80" * 10,
            "x" * 10_000,
        )
        assert not any(tokens.checked_token(connection, one, now=NOW) for one in wrong)
        [listed] = tokens.tokens(connection)
    assert "hash" not in listed
    tokens.revoke_token(store, held.id, now=NOW, who="ann")
    with store.read() as connection:
        assert tokens.checked_token(connection, text, now=NOW) is None
    with pytest.raises(InputError, match="in use"):
        tokens.revoke_token(store, held.id, now=NOW, who="ann")


def test_a_token_needs_known_scopes(store: Store) -> None:
    for scopes in ([], ["root"]):
        with pytest.raises(InputError, match="scopes"):
            tokens.create_token(store, "x", scopes, now=NOW, who="ann")


def test_the_lease_has_one_holder_until_it_runs_out(store: Store) -> None:
    assert lease.take_lease(store, "a", now=NOW, until=NOW + 10)
    assert not lease.take_lease(store, "b", now=NOW + 9, until=NOW + 20)
    assert lease.take_lease(store, "a", now=NOW + 9, until=NOW + 19)
    assert lease.take_lease(store, "b", now=NOW + 19, until=NOW + 30)
    lease.give_lease(store, "a")
    assert lease.lease_holder(store, now=NOW + 20) == "b"
    lease.give_lease(store, "b")
    assert lease.lease_holder(store, now=NOW + 20) == ""
