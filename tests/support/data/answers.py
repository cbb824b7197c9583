"""Compiled queries built by hand: cells, vectors and columns, and no SQL."""

from fractions import Fraction

from privacy.events import VectorSensitivity
from privacy.schema import ColumnType
from query_lang.plans.compiled import (
    CompiledQuery,
    KeyShown,
    Measure,
    NumberShown,
    OutputColumn,
    Presentation,
)
from query_lang.plans.costs import PlanCost
from query_lang.plans.rendered import RenderedPlan

ONE = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))

WIDE = (-(2**62), 2**62)
"""Bounds of an average that no test meets."""


def measure(scale=0, size=1, l1=1, weight=1):
    sensitivity = VectorSensitivity(Fraction(l1), Fraction(l1) ** 2, Fraction(l1))
    return Measure(sensitivity, Fraction(weight), scale, size)


def key(index, name="ward", kind=ColumnType.TEXT):
    return OutputColumn(name, "group", kind, None, 0, KeyShown(index))


def number(vector, name="n", kind=ColumnType.INTEGER, scale=0):
    unit = "rows" if kind is ColumnType.INTEGER else None
    return OutputColumn(name, "measure", kind, unit, scale, NumberShown(vector))


def column(shown, name="x", kind=ColumnType.DECIMAL):
    return OutputColumn(name, "measure", kind, None, 0, shown)


def compiled(columns, measures, cells=((),), **presentation):
    return CompiledQuery(
        columns=tuple(columns),
        measures=tuple(measures),
        rendered=RenderedPlan((), tuple(cells), len(measures), ("visits",)),
        canonical="{}",
        derivation="why",
        warnings=(),
        cost=PlanCost(0, 0, 0, 0),
        presentation=Presentation(**presentation),
    )
