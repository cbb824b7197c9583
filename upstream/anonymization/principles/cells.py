"""How often each sensitive value is in each class, by rows and by patients."""

from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.principle import Sensitive

_DENSE = 8  # cells for each entry, up to which counting is faster than sorting


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The classes' sensitive values, without those that are not there.

    Attributes:
        classes: By cell: its class, never falling.
        values: By cell: its sensitive value, rising within a class.
        counts: By cell: how many rows.
        starts: By class: its first cell.
    """

    classes: Ints
    values: Ints
    counts: Ints
    starts: Ints


def cells_of(classes: Classes, sensitive: Sensitive) -> Cells:
    """Return the cells of classes; each class has at least one."""
    key = classes.codes.astype(np.int64) * sensitive.size
    key += sensitive.codes[classes.rows]
    return _counted(key, classes.weights, (classes.count, sensitive.size))


def _counted(key: Ints, weights: Ints | None, sizes: tuple[int, int]) -> Cells:
    """Return the cells of keys: a class times how many values there are, and a value.

    Args:
        key: By entry.
        weights: By entry: for how many it counts; None if each is one.
        sizes: How many classes there are, and how many values.
    """
    count, values = sizes
    if count * values <= _DENSE * len(key):
        counts = np.bincount(key, weights=weights, minlength=count * values)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, places = np.unique(key, return_inverse=True)
        counts = np.bincount(places, weights=weights)
    of_class = keys // values
    starts = np.flatnonzero(np.diff(of_class, prepend=-1))
    return Cells(of_class, keys % values, counts.astype(np.int64), starts)


@dataclass(frozen=True, slots=True, eq=False)
class PatientValues:
    """Which patients have which sensitive values, where some have several rows.

    Attributes:
        patients: Whose each row is.
        column: The sensitive column.
        pairs: By row of the table: which pair of a patient and a value it has.
        owners: By pair, never falling: the patient.
        values: By pair: the value.
    """

    patients: Sensitive
    column: Sensitive
    pairs: Ints
    owners: Ints
    values: Ints


def patient_values_of(patients: Sensitive, column: Sensitive) -> PatientValues:
    """Return which patients have which values."""
    key = patients.codes.astype(np.int64) * column.size + column.codes
    keys, pairs = np.unique(key, return_inverse=True)
    return PatientValues(
        patients, column, pairs, keys // column.size, keys % column.size
    )


@dataclass(frozen=True, slots=True, eq=False)
class PatientCells:
    """How many patients of each class have each value; one may have several.

    Attributes:
        cells: Counts are of patients.
        people: By class: its patients.
    """

    cells: Cells
    people: Ints

    def most(self, but: Flags | None = None) -> Ints:
        """Return by class how many patients have the value that most have.

        Args:
            but: By value: those that are left out.
        """
        counts = self.cells.counts
        if but is not None:
            counts = np.where(but[self.cells.values], 0, counts)
        return np.maximum.reduceat(counts, self.cells.starts)


def patient_cells_of(classes: Classes, told: PatientValues) -> PatientCells:
    """Return how many patients of classes have each value; each class has at least one.

    A patient counts once in a class for a value, however many rows say it.
    """
    of_class, pairs = _distinct(classes, told.pairs, len(told.values))
    owners = told.owners[pairs]
    is_first = np.diff(of_class, prepend=-1) != 0
    is_first |= np.diff(owners, prepend=-1) != 0
    people = np.bincount(of_class[is_first], minlength=classes.count)
    values = told.column.size
    key = of_class * values + told.values[pairs]
    return PatientCells(_counted(key, None, (classes.count, values)), people)


def people_of(classes: Classes, patients: Sensitive) -> Ints:
    """Return by class how many patients it has."""
    known = classes.counted.get(id(patients))
    if known is None:
        of_class, _ = _distinct(classes, patients.codes, patients.size)
        known = np.bincount(of_class, minlength=classes.count)
        classes.counted[id(patients)] = known
    return known


def are_lacked(classes: Classes, told: PatientValues, least: int) -> Flags:
    """Return by class whether some of its patients lack each value, whichever it is.

    Args:
        classes: The classes; each has at least one entry.
        told: Which patients have which values.
        least: How many patients.
    """
    # No more patients have a value than rows: most classes are decided by that alone.
    cells = cells_of(classes, told.column)
    most = np.maximum.reduceat(cells.counts, cells.starts)
    are: Flags = people_of(classes, told.patients) - most >= least
    if not are.all():
        own = patient_cells_of(classes.kept(~are), told)
        are[~are] = own.people - own.most() >= least
    return are


def _distinct(classes: Classes, codes: Codes, size: int) -> tuple[Ints, Ints]:
    """Return the distinct pairs of a class and a code in it, both rising.

    Args:
        classes: The classes.
        codes: By row of the table.
        size: How many codes there are.
    """
    key = classes.codes.astype(np.int64) * size
    key += codes[classes.rows]
    if classes.count * size <= _DENSE * len(key):
        is_there = np.zeros(classes.count * size, bool)
        is_there[key] = True
        key = np.flatnonzero(is_there)
    else:
        key.sort()
        key = key[np.diff(key, prepend=-1) != 0]
    of_class = key // size
    return of_class, key - of_class * size
