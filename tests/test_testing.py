"""The conformance test for systems: it passes what fits, finds each fault by itself, and lists them all at once."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError, PluginError
from workup.testing import check_system

TABLE = {
    "age": np.array([30.0, 50.0, 70.0, np.nan, 90.0]),
    "seen": np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-04", "2024-01-05"], dtype="datetime64[us]"),
    "ward": np.array(["A", "B", None, "A", "B"], dtype=object),
    "beds": np.array([1, 2, 3, 4, 5]),
}


class Fits:
    """Age as a percentage, None where it is missing."""

    name, version = "fits", "1"

    def predict(self, table: Any) -> Any:
        return [None if np.isnan(age) else float(age) / 100 for age in table["age"]]


class Refuses(Fits):
    def predict(self, table: Any) -> Any:
        if np.isnan(table["age"]).any():
            raise InputError("ages must be known")
        return super().predict(table)


class Numpy(Fits):
    def predict(self, table: Any) -> Any:
        return np.full(len(table["age"]), np.float32(0.5))


class Nameless(Fits):
    name = ""


class Versionless(Fits):
    version = 3  # type: ignore[assignment]


class Short(Fits):
    def predict(self, table: Any) -> Any:
        return super().predict(table)[1:]


class Percent(Fits):
    def predict(self, table: Any) -> Any:
        return [risk and risk * 100 for risk in super().predict(table)]


class NotANumber(Fits):
    def predict(self, table: Any) -> Any:
        return [np.nan if risk is None else risk for risk in super().predict(table)]


class Labels(Fits):
    def predict(self, table: Any) -> Any:
        return [age > 50 for age in table["age"]]


class Text(Fits):
    def predict(self, table: Any) -> Any:
        return ["0.5"] * len(table["age"])


class NoList(Fits):
    def predict(self, table: Any) -> Any:
        return {"risk": 0.5}


class Moody(Fits):
    calls = 0

    def predict(self, table: Any) -> Any:
        self.calls += 1
        return [0.5 / self.calls] * len(table["age"])


class ByPlace(Fits):
    def predict(self, table: Any) -> Any:
        return [(place % 2) / 2 for place in range(len(table["age"]))]


class ByBatch(Fits):
    """Standardises each batch by itself: the classic leak."""

    def predict(self, table: Any) -> Any:
        age = np.nan_to_num(table["age"])
        return list(age / max(age.max(), 1))


class OnlyMany(Fits):
    def predict(self, table: Any) -> Any:
        risks = super().predict(table)
        return risks if len(risks) > 1 else risks[0]


class Writes(Fits):
    def predict(self, table: Any) -> Any:
        risks = super().predict(table)
        table["age"][:] = np.nan_to_num(table["age"])
        return risks


class Adds(Fits):
    def predict(self, table: Any) -> Any:
        table["risk"] = table["age"] / 100
        return super().predict(table)


class Crashes(Fits):
    def predict(self, table: Any) -> Any:
        if any(ward is None for ward in table["ward"][:1]):
            raise KeyError("Smith")
        return super().predict(table)


class Absent:
    name, version = "absent", "1"


@pytest.mark.parametrize("system", [Fits(), Numpy()])
def test_what_fits_passes(system: Any) -> None:
    before = {name: column.copy() for name, column in TABLE.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(system, table=TABLE)
    for name, column in TABLE.items():
        np.testing.assert_array_equal(column, before[name])


def test_missing_values_may_be_refused_with_an_error_of_ours() -> None:
    complete = {name: column[[0, 1, 4]] for name, column in TABLE.items()}
    check_system(Refuses(), table=complete)
    with pytest.raises(PluginError, match=r"the whole table: predict\(\) refused it, saying: ages must be known"):
        check_system(Refuses(), table=TABLE)


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        (Nameless(), "'name' must be a text that is not empty; got an empty text"),
        (Versionless(), "'version' must be a text that is not empty; got one of type int"),
        (Absent(), r"must have a method predict\(table\)"),
        (Short(), "one risk per row; got 4 for 5 rows"),
        (Percent(), "got a number outside"),
        (NotANumber(), "got NaN"),
        (Labels(), "got one of type bool"),
        (Text(), "got one of type str"),
        (NoList(), "must answer a list; got dict"),
        (Moody(), "a second call with the same table must give the same answers"),
        (ByPlace(), "must not depend on the batch"),
        (ByBatch(), "must not depend on the batch"),
        (OnlyMany(), r"a table of one row: predict\(\) must answer a list; got float"),
        (Writes(), "must not change the table"),
        (Adds(), "must not change the table"),
        (Crashes(), r"a missing value in the column 'ward': predict\(\) raised KeyError"),
    ],
)
def test_each_fault_is_found(system: Any, fault: str) -> None:
    with pytest.raises(PluginError, match=fault) as failed:
        check_system(system, table=TABLE)
    assert type(system).__name__ in str(failed.value)
    assert "Smith" not in str(failed.value)


def test_order_alone_is_found_where_batches_are_of_even_length() -> None:
    even = {name: column[[0, 1, 2, 4]] for name, column in TABLE.items()}
    with pytest.raises(PluginError, match="must not depend on the order of the rows") as failed:
        check_system(ByPlace(), table=even)
    assert "(2)" not in str(failed.value)


def test_all_faults_stand_in_one_message() -> None:
    class Worst(Writes, Moody):
        name, version = "", None  # type: ignore[assignment]

    with pytest.raises(PluginError) as failed:
        check_system(Worst(), table=TABLE)
    expected = (
        "(1) 'name'",
        "(2) 'version'",
        "(3) predict() must not change",
        "(4) a second call",
        "(5) a table of one",
    )
    assert [part for part in expected if part not in str(failed.value)] == []


def test_what_cannot_travel_is_warned_of() -> None:
    system = Fits()
    system.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match=r"Fits cannot be pickled \(TypeError\)"):
        check_system(system, table=TABLE)


def test_a_table_is_made_from_the_features_of_the_system() -> None:
    class Listed(Fits):
        features = ("sodium", "age")

        def predict(self, table: Any) -> Any:
            assert list(table) == ["sodium", "age"]
            return [0.5] * len(table["sodium"])

    with pytest.warns(UserWarning, match="cannot be pickled"):  # a class inside a function does not travel
        check_system(Listed())


def test_the_call_itself_is_checked() -> None:
    with pytest.raises(PluginError, match=r"no task 'rsik'; did you mean 'risk'"):
        check_system(Fits(), task="rsik")
    for table in ({}, {"age": np.ones(1)}, {"age": np.ones(3), "lab": np.ones(2)}):
        with pytest.raises(PluginError, match="two rows or more, with columns of one length"):
            check_system(Fits(), table=table)
