"""What one group would ask next: conditions, counts, tables, cohorts and means."""

import random
from typing import Final

from benchmarks.economy.groups import Group
from benchmarks.economy.questions import (
    PATIENTS,
    STAYS,
    Clause,
    Cohort,
    Condition,
    Meaning,
    Measure,
)
from benchmarks.economy.tables import COLUMNS, LISTS, NUMBERS

_ORDERED: Final = frozenset({"age_band", "a1c"})  # asked by ranges
_ELSEWHERE: Final = 0.25  # of conditions: those of a column beyond the group's own
_EVENTS: Final = (
    ("readmitted", "within 30 days"),
    ("a1c", "over 8"),
    ("insulin", "Up"),
)
_SUBJECTS: Final = (("patients", PATIENTS), ("stays", PATIENTS), ("stays", STAYS))


class Draws:
    """Draws meanings that stand by themselves."""

    def __init__(self, source: random.Random) -> None:
        self._random = source

    def count(self, group: Group) -> Meaning:
        """Return patients or stays under one to three conditions."""
        table, measure = self._subject(60, 25, 15)
        most = self._chosen((1, 2, 3), (3, 4, 3))
        where = self._clauses(group, table, most)
        return Meaning(table, measure, (*_about(group, table), *where))

    def table(self, group: Group) -> Meaning:
        """Return the same by one or two public attributes."""
        table, measure = self._subject(60, 20, 20)
        keys = self._columns(group, table, self._chosen((1, 2), (1, 1)), is_key=True)
        where = self._clauses(group, table, self._chosen((0, 1), (2, 1)), keys)
        return Meaning(table, measure, (*_about(group, table), *where), keys)

    def cohort(self, group: Group) -> Meaning:
        """Return patients by their stays, all of a patient's stays together."""
        where = self._clauses(group, "patients", self._chosen((0, 1, 2), (2, 3, 1)))
        stays = self._clauses(group, "stays", self._chosen((1, 2), (3, 1)))
        about = _about(group, "patients")
        if self._random.random() < 0.3:
            often = Cohort(stays[:1], least=self._random.randint(2, 4))
            return Meaning("patients", PATIENTS, about + where, cohort=often)
        cohort = Cohort(stays, absent=self._random.random() < 0.3)
        return Meaning("patients", PATIENTS, about + where, cohort=cohort)

    def rate(self, group: Group) -> Meaning:
        """Return the share of rows that something holds for."""
        measure = Measure("rate", *self._random.choice(_EVENTS))
        return self._mean(group, measure)

    def average(self, group: Group) -> Meaning:
        """Return an average of a number."""
        measure = Measure("average", self._random.choice(tuple(NUMBERS)))
        return self._mean(group, measure)

    def _mean(self, group: Group, measure: Measure) -> Meaning:
        table, _ = self._subject(70, 0, 30)
        keys = self._columns(
            group, table, self._chosen((0, 1), (1, 1)), {measure.column}, is_key=True
        )
        taken = (*keys, measure.column)
        where = self._clauses(group, table, self._chosen((0, 1), (1, 1)), taken)
        about = tuple(
            clause
            for clause in _about(group, table)
            if clause.conditions[0].column != measure.column
        )
        return Meaning(table, measure, about + where, keys)

    def _subject(self, *weights: int) -> tuple[str, Measure]:
        return self._random.choices(_SUBJECTS, weights)[0]

    def _chosen(self, sizes: tuple[int, ...], weights: tuple[int, ...]) -> int:
        return self._random.choices(sizes, weights)[0]

    def _clauses(
        self, group: Group, table: str, most: int, taken: tuple[str, ...] = ()
    ) -> tuple[Clause, ...]:
        columns = self._columns(group, table, most, set(taken))
        return tuple(Clause((self.condition(column),)) for column in columns)

    def _columns(
        self,
        group: Group,
        table: str,
        most: int,
        taken: set[str] = frozenset(),
        *,
        is_key: bool = False,
    ) -> tuple[str, ...]:
        said = {clause.conditions[0].column for clause in group.about} | taken
        fit = [
            column
            for column in COLUMNS[table]
            if column not in said and not (is_key and column == "medications")
        ]
        found: list[str] = []
        while len(found) < most:
            own = [c for c in group.columns if c in fit and c not in found]
            others = [c for c in fit if c not in found]
            elsewhere = not own or self._random.random() < _ELSEWHERE
            found.append(self._random.choice(others if elsewhere else own))
        return tuple(found)

    def condition(self, column: str) -> Condition:
        """Return a set of a column's declared values, a range of numbers."""
        if column in NUMBERS:
            return Condition(column, self._range(column))
        values = LISTS[column]
        many = self._random.randint(1, max(1, len(values) // 2))
        if column in _ORDERED:
            first = self._random.randint(0, len(values) - many)
            return Condition(column, values[first : first + many])
        chosen = set(self._random.sample(values, many))
        return Condition(column, tuple(v for v in values if v in chosen))

    def _range(self, column: str) -> tuple[int, int]:
        least, most = NUMBERS[column]
        step = 1 if most < 20 else 5
        middle = self._random.randrange(least + step, min(most, 35), step)
        form = self._random.randrange(3)
        if form == 0:
            return middle, most
        if form == 1:
            return least, middle
        return middle, min(middle + 2 * step, most)


def _about(group: Group, table: str) -> tuple[Clause, ...]:
    return tuple(
        clause
        for clause in group.about
        if clause.conditions[0].column in COLUMNS[table]
    )
