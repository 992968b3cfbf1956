"""Heart disease at four hospitals: a model built at Cleveland is put to Budapest, Switzerland and Long Beach.

    python examples/heart_sites/heart.py FOLDER -o OUT

FOLDER holds the four processed.*.data files of the UCI heart disease data. OUT gets the predictions of every hospital,
those of all four in one table, and the study that judges them. The data themselves stay where they are.
"""

import argparse
import csv
import shutil
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FILES = {"cleveland": "cleveland", "hungary": "hungarian", "switzerland": "switzerland", "long_beach": "va"}
FIELDS = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak",
          "slope", "ca", "thal", "num")  # fmt: skip
# Inputs of the model, by the names used here. What others could not measure is not among them: slope, vessels (ca) and
# thallium scan are hardly ever known outside Cleveland, cholesterol and fasting sugar mostly not in Switzerland.
INPUTS = {
    "age": "age",
    "male": "sex",
    "no_pain": "cp",
    "pressure": "trestbps",
    "heart_rate": "thalach",
    "exercise_angina": "exang",
    "st_depression": "oldpeak",
}
NOT_USED = {"cholesterol": "chol", "fasting_sugar": "fbs"}
ZERO_IS_MISSING = ("trestbps", "chol")  # nobody has a blood pressure or a cholesterol of 0


def read(folder):
    """One row per patient of the four hospitals; what is missing is nan."""
    table = {name: [] for name in ("patient", "site", "sex", "disease", *INPUTS, *NOT_USED)}
    for site, file in FILES.items():
        with (folder / f"processed.{file}.data").open(newline="", encoding="ascii") as lines:
            for number, cells in enumerate(csv.reader(lines), start=1):
                row = {name: _number(name, cell) for name, cell in zip(FIELDS, cells, strict=True)}
                table["patient"].append(f"{site}-{number:03d}")
                table["site"].append(site)
                table["sex"].append("M" if row["sex"] == 1 else "F")
                table["disease"].append(int(row["num"] > 0))
                for name, field in (INPUTS | NOT_USED).items():
                    # Chest pain has four kinds; the fourth, no pain at all, is the one that tells.
                    table[name].append(float(row["cp"] == 4) if field == "cp" else row[field])
    words = ("patient", "site", "sex")
    return {name: np.array(column, dtype=object if name in words else float) for name, column in table.items()}


def _number(name, cell):
    value = float("nan" if cell == "?" else cell)
    return float("nan") if value == 0 and name in ZERO_IS_MISSING else value


class Model:
    """A fitted model that takes the columns of `read` and gives risks, as a system under test does."""

    name, version = "logistic model of Cleveland", "1"

    def __init__(self, fitted):
        self._fitted = fitted

    def predict(self, table):
        """The risk of every row; a missing input has the median of the patients that the model was fitted on."""
        return self._fitted.predict_proba(_matrix(table))[:, 1]


def fit(table):
    """Logistic regression without a penalty."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps = SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(C=np.inf, tol=1e-9, max_iter=1000)
    return Model(make_pipeline(*steps).fit(_matrix(table), table["disease"].astype(float)))


def predictions(folder):
    """All patients with the risk that the model of Cleveland gives them."""
    table = read(folder)
    return {**table, "risk": fit(rows_of(table, "cleveland")).predict(table)}


def rows_of(table, site):
    """The rows of one hospital."""
    return {name: column[table["site"] == site] for name, column in table.items()}


def _matrix(table):
    return np.column_stack([np.asarray(table[name], dtype=float) for name in INPUTS])


def write(path, table):
    """A CSV; numbers in full, missing ones as empty cells."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow(["" if value != value else value for value in row])


def main():
    """Read, fit, and write what `workup` is then run on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("heart"))
    given = parser.parse_args()
    table = predictions(given.folder)
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "predictions.csv", table)
    for site in FILES:
        write(given.out / f"{site}.csv", rows_of(table, site))
    for name in ("study.yaml", "sites.csv"):
        shutil.copy(HERE / name, given.out / name)
    print(given.out / "study.yaml")


if __name__ == "__main__":
    main()
