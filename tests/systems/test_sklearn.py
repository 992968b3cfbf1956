"""The scikit-learn adapter: the right column by class name, trust before loading, and no row dropped or guessed."""

from __future__ import annotations

import builtins
import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.risk.sklearn import SklearnModel

pytest.importorskip("sklearn", reason="the sklearn extra is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")

import joblib  # noqa: E402
import sklearn  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_warning")

RNG = np.random.default_rng(5)
AGE, LAB = RNG.normal(60, 10, 200), RNG.normal(0, 1, 200)
DIED = (RNG.random(200) < 1 / (1 + np.exp(-(AGE - 60) / 5 - LAB))).astype(int)
FRAME = pandas.DataFrame({"age": AGE, "lab": LAB})
TABLE = {"lab": LAB, "other": np.zeros(200), "age": AGE}  # not in the order of the model


def fitted(outcome: Any = DIED) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, outcome)


def saved(folder: Path, model: Any, *, by: Any = joblib) -> str:
    with (folder / "model.bin").open("wb") as file:
        by.dump(model, file)
    return hashlib.sha256((folder / "model.bin").read_bytes()).hexdigest()


def opened(folder: Path, **settings: Any) -> SklearnModel:
    return SklearnModel(name="m", base=folder, path="model.bin", trust=True, **settings)


@pytest.mark.parametrize("by", [joblib, pickle])
def test_a_saved_model_answers_as_the_model_itself(tmp_path: Path, by: Any) -> None:
    model = fitted()
    digest = saved(tmp_path, model, by=by)
    system = opened(tmp_path, sha256=digest.upper())
    assert system.predict(TABLE) == model.predict_proba(FRAME)[:, 1].tolist()
    assert system.version == f"Pipeline scikit-learn {sklearn.__version__} sha256:{digest[:12]}"
    assert system.notes == ()
    assert not system.recorded


def test_nothing_is_opened_without_trust(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return open, (str(tmp_path / "exploded"), "w")

    saved(tmp_path, Bomb(), by=pickle)
    with pytest.raises(InputError, match=r"runs code.*trust: true"):
        SklearnModel(name="m", base=tmp_path, path="model.bin")
    with pytest.raises(InputError, match="must match its sha256"):
        opened(tmp_path, sha256="0" * 64)
    assert not (tmp_path / "exploded").exists()


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        opened(tmp_path)
    (tmp_path / "model.bin").write_bytes(b"not a pickle")
    with pytest.raises(SystemFailure, match="could not be read"):
        opened(tmp_path)
    saved(tmp_path, fitted())
    whole = (tmp_path / "model.bin").read_bytes()
    (tmp_path / "model.bin").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SystemFailure, match="copied whole"):
        opened(tmp_path)
    saved(tmp_path, {"weights": [1, 2]})
    with pytest.raises(InputError, match="classifier with predict_proba; got a dict"):
        opened(tmp_path)


def test_a_class_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"cnowhere_module\nThing\n.")
    with pytest.raises(SystemFailure, match="No module named 'nowhere_module'"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("names", "positive"),
    [(["alive", "died"], "died"), (["event", "none"], "event"), ([2, 1], 1), ([False, True], True), ([0.0, 1.0], 1)],
)
def test_the_positive_class_is_found_by_name(names: list[Any], positive: Any) -> None:
    """The risk of the event is the same whether its class sorts first or last."""
    other = next(name for name in names if name != positive)
    outcome = np.where(DIED == 1, positive, other)
    system = SklearnModel.of(fitted(outcome), positive=positive)
    risks = np.array(system.predict(TABLE), dtype=float)
    assert np.allclose(risks, fitted().predict_proba(FRAME)[:, 1], atol=1e-6)
    assert risks[DIED == 1].mean() > risks[DIED == 0].mean()


def test_an_unknown_positive_class_lists_the_classes() -> None:
    model = fitted(np.where(DIED == 1, "died", "alive"))
    with pytest.raises(InputError, match=r"got 1 while the classes are 'alive', 'died'"):
        SklearnModel.of(model)
    with pytest.raises(InputError, match=r"got '1' while the classes are 0, 1"):
        SklearnModel.of(fitted(), positive="1")


def test_several_classes_are_one_against_the_rest_and_say_so() -> None:
    outcome = np.where(AGE > 70, "old", np.where(DIED == 1, "died", "alive"))
    system = SklearnModel.of(fitted(outcome), positive="died")
    assert system.predict(TABLE) == fitted(outcome).predict_proba(FRAME)[:, 1].tolist()
    assert "3 classes" in system.notes[0]


def test_models_without_probabilities_or_fit_are_refused() -> None:
    with pytest.raises(InputError, match="got a LinearSVC without it"):
        SklearnModel.of(LinearSVC().fit(FRAME, DIED))
    with pytest.raises(InputError, match="got a LinearRegression without it"):
        SklearnModel.of(LinearRegression().fit(FRAME, DIED))
    with pytest.raises(InputError, match="must be fitted"):
        SklearnModel.of(LogisticRegression())


def test_features_come_from_the_model_or_the_study() -> None:
    bare = LogisticRegression().fit(FRAME.to_numpy(), DIED)
    with pytest.raises(InputError, match="fitted without column names"):
        SklearnModel.of(bare)
    with pytest.raises(InputError, match="each of the 2 columns"):
        SklearnModel.of(bare, features=["age"])
    assert (
        SklearnModel.of(bare, features=["age", "lab"]).predict(TABLE)
        == bare.predict_proba(FRAME.to_numpy())[:, 1].tolist()
    )
    # A model that knows its names takes them in its own order, however the study lists them.
    assert SklearnModel.of(fitted(), features=["lab", "age"]).features == ["age", "lab"]
    with pytest.raises(InputError, match="a difference in lab, labs"):
        SklearnModel.of(fitted(), features=["age", "labs"])


def test_a_missing_column_names_the_near_one() -> None:
    with pytest.raises(InputError, match=r"needs the column 'age'.*did you mean 'aged'"):
        SklearnModel.of(fitted()).predict({"aged": AGE, "lab": LAB})


def test_rows_with_a_gap_are_refused_or_passed_on() -> None:
    age = AGE.copy()
    age[[0, 7]] = np.nan
    table = {"age": age, "lab": LAB}
    model = DecisionTreeClassifier(max_depth=3).fit(FRAME, DIED)
    refused = SklearnModel.of(model).predict(table)
    passed = SklearnModel.of(model, missing="pass").predict(table)
    assert [row for row, risk in enumerate(refused) if risk is None] == [0, 7]
    assert None not in passed
    assert [a for a, b in zip(passed, refused, strict=True) if b is not None] == [r for r in refused if r is not None]
    assert SklearnModel.of(model).predict({"age": np.full(3, np.nan), "lab": np.zeros(3)}) == [None] * 3


def test_text_columns_and_their_gaps() -> None:
    ward = np.array(["A", "B"], dtype=object)[(LAB > 0).astype(int)]
    frame = pandas.DataFrame({"age": AGE, "ward": ward})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["ward"]), remainder="passthrough"), LogisticRegression(max_iter=1000)
    ).fit(frame, DIED)
    with_gap = ward.copy()
    with_gap[1] = None
    risks = SklearnModel.of(model).predict({"ward": with_gap, "age": AGE})
    assert risks[1] is None
    assert risks[0] == model.predict_proba(frame)[0, 1]
    # A level the model has not seen fails; the cell is in scikit-learn's message and not in ours.
    with_gap[1] = "Smith"
    with pytest.raises(SystemFailure, match="predict_proba failed on a batch of 200 rows") as failed:
        SklearnModel.of(model).predict({"ward": with_gap, "age": AGE})
    assert "Smith" not in str(failed.value)
    assert failed.value.__suppress_context__


def hide(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """From here on these libraries cannot be imported."""
    real = builtins.__import__

    def importing(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] in libraries:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", importing)


def test_without_pandas_arrays_do_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    expected = model.predict_proba(FRAME)[:, 1].tolist()
    seen: list[type] = []
    ask = model.predict_proba
    monkeypatch.setattr(model, "predict_proba", lambda rows: seen.append(type(rows)) or ask(rows))
    hide(monkeypatch, "pandas")
    assert SklearnModel.of(model).predict(TABLE) == pytest.approx(expected, abs=1e-12)
    assert seen == [np.ndarray]


def test_without_scikit_learn_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, fitted())
    hide(monkeypatch, "sklearn", "joblib")
    with pytest.raises(MissingExtra, match=r"\[sklearn\]"):
        opened(tmp_path)


def test_another_version_becomes_one_note(tmp_path: Path) -> None:
    content = pickle.dumps(fitted(), protocol=0)
    here = sklearn.__version__.encode()
    assert here in content  # once, shared by the pipeline and its steps, each of which warns
    (tmp_path / "model.bin").write_bytes(content.replace(here, b"1.0.2"))
    system = opened(tmp_path)
    assert len(system.notes) == 1
    assert f"saved with scikit-learn 1.0.2 and read with {sklearn.__version__}" in system.notes[0]


class Odd:
    """A classifier that answers what it is told to."""

    classes_ = np.array([0, 1])

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict_proba(self, rows: Any) -> Any:
        return self.answer


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1.01, -0.01])
def test_answers_that_are_no_risks(wrong: float) -> None:
    system = SklearnModel.of(Odd([[0.5, 0.5], [0.5, wrong]]), features=["age"])
    with pytest.raises(SystemFailure, match="got 1 of 2 in a batch"):
        system.predict({"age": AGE[:2]})


def test_answers_of_the_wrong_shape_and_within_rounding() -> None:
    with pytest.raises(SystemFailure, match=r"2 rows by 2 classes; got an array of shape \(2,\)"):
        SklearnModel.of(Odd([0.1, 0.2]), features=["age"]).predict({"age": AGE[:2]})
    near = [[0.0, 1.0 + 2e-16], [1.0, -1e-17]]
    assert SklearnModel.of(Odd(near), features=["age"]).predict({"age": AGE[:2]}) == [1.0, 0.0]


def test_a_model_in_memory_has_a_name_and_a_version_and_travels() -> None:
    system = SklearnModel.of(fitted())
    assert system.name == "Pipeline"
    assert system.version.startswith(f"Pipeline scikit-learn {sklearn.__version__} sha256:")
    assert SklearnModel.of(fitted(1 - DIED)).version != system.version
    assert pickle.load(io.BytesIO(pickle.dumps(system))).predict(TABLE) == system.predict(TABLE)


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match="refuse or pass"):
        SklearnModel.of(fitted(), missing="drop")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1 row"):
        SklearnModel.of(fitted(), batch=0)
