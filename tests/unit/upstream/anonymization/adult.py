"""The Adult table with ARX's hierarchies, as the reference answers were made of it."""

import csv
from functools import cache

import pytest

from upstream.anonymization.columns.columns import (
    category_column,
    hierarchy_column,
    number_column,
)
from upstream.anonymization.hierarchies.files import read_hierarchy
from upstream.anonymization.principles.principle import sensitive_column

COLUMNS = (
    *("age", "workclass", "education", "marital-status"),
    *("occupation", "race", "sex", "native-country"),
)


@cache
def rows_of(folder):
    path = folder / "adult" / "adult.csv"
    if not path.exists():
        pytest.skip("no Adult data")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def full_domain_columns(folder):
    rows = rows_of(folder)
    return [
        hierarchy_column(
            name,
            [row[name] for row in rows],
            read_hierarchy(folder / "adult" / f"adult_hierarchy_{name}.csv"),
        )
        for name in COLUMNS
    ]


def plain_columns(folder):
    rows = rows_of(folder)
    ages = number_column("age", [float(row["age"]) for row in rows])
    return [
        ages,
        *(category_column(name, [row[name] for row in rows]) for name in COLUMNS[1:]),
    ]


def income(folder):
    return sensitive_column("income", [row["salary-class"] for row in rows_of(folder)])
