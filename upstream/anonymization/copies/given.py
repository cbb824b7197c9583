"""A table as it was read, and what is declared of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from upstream.anonymization.arrays import Text
from upstream.anonymization.columns.columns import Column, HierarchyColumn
from upstream.anonymization.columns.tables import AnonymizedTable
from upstream.anonymization.declared.columns import Number, QuasiIdentifier
from upstream.anonymization.declared.principles import (
    SensitiveSpec,
    patients_of,
    principle_of,
)
from upstream.anonymization.declared.values import (
    Located,
    column_of,
    generalized_column,
)
from upstream.anonymization.incognito.incognito import incognito
from upstream.anonymization.mondrian.cuts import Rule
from upstream.anonymization.mondrian.mondrian import mondrian
from upstream.anonymization.principles.principle import (
    Principle,
    Sensitive,
    sensitive_column,
)


@dataclass(frozen=True, slots=True)
class Method:
    """How classes are made.

    Attributes:
        name: ``mondrian``: each class publishes its own ranges, none is suppressed;
            ``incognito``: each column has one level, and rows may be suppressed.
        cuts: Which cut Mondrian takes.
        is_relaxed: Whether Mondrian parts rows of one value.
        suppression: The largest share of rows that Incognito suppresses.
    """

    name: Literal["mondrian", "incognito"] = "mondrian"
    cuts: Rule = "gain"
    is_relaxed: bool = False
    suppression: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class GivenTable:
    """A table with its quasi-identifiers in codes; all by row.

    Attributes:
        columns: The quasi-identifiers.
        patients: Whose each row is; None: each is another patient's.
        sensitive: By column: what is asked of it, and its values.
        numbers: Which of the quasi-identifiers are numbers, not all missing.
    """

    columns: Sequence[Column | HierarchyColumn]
    patients: Sensitive | None
    sensitive: Mapping[str, tuple[SensitiveSpec, Sensitive]]
    numbers: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return len(self.columns[0].codes)

    @property
    def people(self) -> int:
        """Return how many patients there are."""
        return self.rows if self.patients is None else self.patients.size

    def principle(self, k: int) -> Principle:
        """Return what every class must have for this k."""
        return principle_of(k, self.patients, self.sensitive)


@dataclass(frozen=True, slots=True)
class Made:
    """A table that was made.

    Attributes:
        table: What is published of the quasi-identifiers.
        levels: By column: Incognito's level, 0 as is; None of Mondrian's.
    """

    table: AnonymizedTable
    levels: Mapping[str, int] | None


def given_table(
    values: Mapping[str, Sequence[Text]],
    declared: tuple[Mapping[str, QuasiIdentifier], Mapping[str, SensitiveSpec]],
    patients: Sequence[Text] | None,
    how: tuple[Method, Located],
) -> GivenTable:
    """Return a table in codes.

    Args:
        values: By column, by row; None is missing.
        declared: Of the quasi-identifiers, at least one, and of sensitive columns.
        patients: Whose each row is; None: each is another patient's.
        how: How classes are made, and where hierarchies' files lie.

    Raises:
        HierarchyError: Values are not what was declared.
        ValueError: A sensitive value is not in its order.
    """
    quasi, sensitive = declared
    method, located = how
    make = generalized_column if method.name == "incognito" else column_of
    return GivenTable(
        [make(name, spec, values[name], located) for name, spec in quasi.items()],
        patients_of(patients),
        {
            name: (spec, sensitive_column(name, values[name], spec.order or None))
            for name, spec in sensitive.items()
        },
        frozenset(
            name
            for name, spec in quasi.items()
            if isinstance(spec, Number) and any(v is not None for v in values[name])
        ),
    )


def made_table(given: GivenTable, k: int, method: Method) -> Made:
    """Return the table in which every class has k patients, and what else is asked.

    Raises:
        UnreachableError: There is none.
        ValueError: The lattice of hierarchies is too large.
    """
    principle = given.principle(k)
    if method.name == "mondrian":
        table = mondrian(
            given.columns, principle, rule=method.cuts, is_relaxed=method.is_relaxed
        )
        return Made(table, None)
    columns = [one for one in given.columns if isinstance(one, HierarchyColumn)]
    found = incognito(columns, principle, suppression=method.suppression)
    levels = zip(columns, found.chosen, strict=True)
    return Made(found.table, {column.name: level for column, level in levels})
