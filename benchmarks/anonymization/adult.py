"""The Adult table (30,162 rows, 8 quasi-identifiers) in the ways that it is published.

Of UCI (CC BY 4.0), with the hierarchies of ARX (Apache-2.0), as ``adult/SOURCE.md`` of
the test data says.
"""

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from upstream.anonymization.columns.columns import (
    Column,
    HierarchyColumn,
    category_column,
    hierarchy_column,
    number_column,
    ordered_column,
)
from upstream.anonymization.hierarchies.files import read_hierarchy
from upstream.anonymization.principles.principle import Sensitive, sensitive_column

COLUMNS = (
    *("age", "workclass", "education", "marital-status"),
    *("occupation", "race", "sex", "native-country"),
)


@dataclass(frozen=True)
class Adult:
    """The table in codes.

    Attributes:
        by_text: Ages as numbers, categories in the order of their texts, as the figures
            to beat had them.
        listed: Categories as lists of values.
        generalized: All along hierarchies, ages too.
        income: The sensitive column.
    """

    by_text: Sequence[Column]
    listed: Sequence[Column]
    generalized: Sequence[HierarchyColumn]
    income: Sensitive


def read_adult(folder: Path) -> Adult:
    """Read the table; ends the program where it is missing."""
    path = folder / "adult.csv"
    if not path.exists():
        sys.exit(f"{path} is missing: name its folder with --data")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    values = {name: [row[name] for row in rows] for name in COLUMNS}
    age = number_column("age", [float(each) for each in values["age"]])
    others = COLUMNS[1:]
    return Adult(
        [age, *(ordered_column(n, values[n], sorted({*values[n]})) for n in others)],
        [age, *(category_column(name, values[name]) for name in others)],
        [
            hierarchy_column(
                name,
                values[name],
                read_hierarchy(folder / f"adult_hierarchy_{name}.csv"),
            )
            for name in COLUMNS
        ],
        sensitive_column("income", [row["salary-class"] for row in rows]),
    )


def drawn_like(columns: Sequence[Column], rows: int, seed: int) -> list[Column]:
    """Return columns of more rows, each value drawn as often as in the table.

    Columns are drawn apart from each other: more rows are alone than in real tables.
    """
    random = np.random.default_rng(seed)
    return [replace(c, codes=random.choice(c.codes, size=rows)) for c in columns]
