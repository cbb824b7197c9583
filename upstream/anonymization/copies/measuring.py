"""What a table lost and risks, as numbers that a custodian compares."""

from dataclasses import asdict, dataclass

import numpy as np

from upstream.anonymization.arrays import Floats
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.columns.columns import Column, HierarchyColumn
from upstream.anonymization.columns.tables import AnonymizedTable
from upstream.anonymization.copies.given import GivenTable
from upstream.anonymization.measures.loss import losses_of
from upstream.anonymization.measures.queries import draw_queries, query_precision
from upstream.anonymization.measures.risk import Risks, raw_classes, risks_of
from upstream.anonymization.principles.cells import (
    cells_of,
    patient_cells_of,
    patient_values_of,
    people_of,
)

QUERIES = 10_000
"""Range queries that precision is the mean of, as in HIDE 5.1.2."""
_SEED = 512  # queries are the same for every k, so that they can be compared
_NARROWEST = 2  # between bounds that are this far apart lies a whole number


@dataclass(frozen=True, slots=True)
class Measures:
    """Of a table; all but counts from 0 to 1.

    Attributes:
        classes: How many there are.
        suppressed: Rows that are not published.
        gcp: The mean penalty of values (global certainty penalty).
        lm: The mean loss of values (Iyengar).
        average_class: Rows of a class on average, over k; 1 is the best.
        discernibility: For each row the rows of its class, added up.
        prosecutor: 1 over the patients of the smallest class.
        marketer: The share of patients found if each is matched within his class.
        unique: The share of rows that are alone in their class.
        homogeneous: By sensitive column: the share of rows whose class has a value that
            all its patients have.
        precision: By column of numbers: the share of returned rows that are meant, in
            10,000 queries of ranges.
        together: 1 over the fewest patients that fit all rows of one patient, for who
            knows them all; None where nobody has several.
    """

    classes: int
    suppressed: int
    gcp: float
    lm: float
    average_class: float
    discernibility: int
    prosecutor: float
    marketer: float
    unique: float
    homogeneous: dict[str, float]
    precision: dict[str, float]
    together: float | None

    def document(self) -> dict[str, object]:
        """Return them with four digits."""
        return {name: _rounded(value) for name, value in asdict(self).items()}


def measures_of(given: GivenTable, table: AnonymizedTable, k: int) -> Measures:
    """Return what a table lost and risks.

    Args:
        given: What was read.
        table: What is published of it; at least one row.
        k: Patients that each class had to have.
    """
    lost = losses_of(table, k)
    risks = _risks_of(given, table.published_classes())
    return Measures(
        classes=lost.classes,
        suppressed=lost.suppressed,
        gcp=lost.gcp,
        lm=lost.lm,
        average_class=lost.average_class,
        discernibility=lost.discernibility,
        prosecutor=risks.prosecutor,
        marketer=risks.marketer,
        unique=risks.unique,
        homogeneous=_homogeneous(given, table),
        precision=_precisions(given, table),
        together=_together(given, table),
    )


def risks_as_is(given: GivenTable) -> Risks:
    """Return the risks if the quasi-identifiers were published as they are.

    Of patients, where they have several rows each; ``unique`` is of rows.
    """
    return _risks_of(given, raw_classes(given.columns))


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {name: _rounded(held) for name, held in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _risks_of(given: GivenTable, classes: Classes) -> Risks:
    """Return the risks of rows in classes, of patients where they have several."""
    own = risks_of(classes.sizes())
    if given.patients is None:
        return own
    people = risks_of(people_of(classes, given.patients))
    return Risks(people.prosecutor, people.journalist, people.marketer, own.unique)


def _homogeneous(given: GivenTable, table: AnonymizedTable) -> dict[str, float]:
    classes, sizes = table.published_classes(), table.sizes
    found = {}
    for name, (_, column) in given.sensitive.items():
        if given.patients is None:
            cells = cells_of(classes, column)
            is_one = np.bincount(cells.classes, minlength=classes.count) == 1
        else:
            told = patient_values_of(given.patients, column)
            own = patient_cells_of(classes, told)
            is_one = own.most() == own.people
        found[name] = float(sizes[is_one].sum() / sizes.sum())
    return found


def _precisions(given: GivenTable, table: AnonymizedTable) -> dict[str, float]:
    """Return by column of numbers how precisely ranges are queried."""
    found = {}
    for column in given.columns:
        values = _numbers(given, column)
        known = values[~np.isnan(values)]
        low, high = (
            np.floor(known.min(initial=np.inf)),
            np.ceil(known.max(initial=-np.inf)),
        )
        if not high - low >= _NARROWEST:
            continue
        random = np.random.default_rng(_SEED)
        queries = draw_queries(QUERIES, int(low), int(high), random)
        precision = query_precision(table, column.name, values, queries).precision
        if not np.isnan(precision):
            found[column.name] = precision
    return found


def _numbers(given: GivenTable, column: Column | HierarchyColumn) -> Floats:
    """Return the numbers of a column, none where it is of another kind."""
    if column.name not in given.numbers:
        return np.empty(0)
    return column.domain.bounds(column.codes, column.codes)[0]


def _together(given: GivenTable, table: AnonymizedTable) -> float | None:
    """Return 1 over the fewest patients that fit all rows of one patient."""
    if given.patients is None:
        return None
    cells = cells_of(table.published_classes(), given.patients)
    of_class = np.split(cells.values, cells.starts[1:])
    order = np.argsort(cells.values, kind="stable")
    patients, starts = np.unique(cells.values[order], return_index=True)
    held = np.split(cells.classes[order], starts[1:])
    least, seen = len(patients), set[bytes]()
    for classes in held:
        if classes.tobytes() in seen:
            continue
        seen.add(classes.tobytes())
        smallest = sorted(classes.tolist(), key=lambda one: len(of_class[one]))
        fitting = of_class[smallest[0]]
        for one in smallest[1:]:
            fitting = np.intersect1d(fitting, of_class[one], assume_unique=True)
        least = min(least, len(fitting))
    return 1 / least
