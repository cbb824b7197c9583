"""Answers one below the other: no row of one may be a row of another, added up.

``SELECT ward, COUNT(*) ... UNION ALL SELECT 'surgery', COUNT(*) ...`` has two rows
called surgery in SQL; as one question it would have one, the sum of both.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from privacy.schema import Scalar
from query_lang.binding.results.dependent_keys import literal_of, union_below
from query_lang.plans.domains import key_values, value_count
from query_lang.plans.nodes import (
    CountDistinctMeasure,
    MeasureKind,
    Node,
    UnionPart,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

_MOST_VALUES: Final = 100_000
"""Of a key; more make too many cells."""

_HINT = (
    "call it by a word that no group has, 'all', or number the answers: SELECT 1 AS "
    "part, ... UNION ALL SELECT 2, ..."
)


def check_apart(node: Node, keys: Sequence[int], position: Position) -> None:
    """Refuse answers of which two may have a row with the same keys.

    Args:
        node: The rows that are counted, those of all answers.
        keys: Of GROUP BY, by their slots.
        position: Of the text.

    Raises:
        SqlNotAllowedError: Rule ``set_operation``.
    """
    union = union_below(node)
    if union is None:
        return
    places = [union.columns.index(slot) for slot in keys if slot in union.columns]
    rows = [[_values(part, place) for place in places] for part in union.parts]
    for one, other in combinations(rows, 2):
        if all(map(_meet, one, other)):
            labels = [
                values for values in (*one, *other) if values and len(values) == 1
            ]
            raise _refused(next(iter(labels), None), position)


def check_units(
    node: Node,
    counted: Sequence[int],
    measures: Sequence[MeasureKind],
    position: Position,
) -> None:
    """Refuse answers whose rows are counted as units, where a unit may have several.

    Args:
        node: The rows that are counted, those of all answers.
        counted: Which answers count rows so.
        measures: Of the answers.
        position: Of the text.

    Raises:
        SqlNotAllowedError: Rule ``set_operation``.
    """
    union = union_below(node)
    rows = [part.node.rows_per_unit for part in union.parts] if union else []
    is_of_units = not any(isinstance(m, CountDistinctMeasure) for m in measures)
    if counted and not (is_of_units and all(rows[at] == 1 for at in counted)):
        raise refuse(rules.SET_OPERATION, position, detail=_MIXED, hint=_ALIKE)


_MIXED: Final = (
    "COUNT(*) beside COUNT(DISTINCT ...) of another answer counts rows, of which one "
    "unit may have several"
)
_ALIKE: Final = (
    "count alike in each: SELECT 'all' AS step, COUNT(DISTINCT patient_id) AS n FROM "
    "stays UNION ALL SELECT 'died', COUNT(DISTINCT patient_id) FROM deaths"
)
Values = frozenset[Scalar | None] | None
"""What a column of one answer may be; None: nothing is listed."""


def _values(part: UnionPart, place: int) -> Values:
    """Return what a column of one answer may be."""
    literal = literal_of(part, place)
    if literal is not None:
        return frozenset({literal.value})
    facts = part.items[place].facts
    count = value_count(facts)
    if count is None or count > _MOST_VALUES:
        return None
    return frozenset(key_values(facts))


def _meet(one: Values, other: Values) -> bool:
    return one is None or other is None or bool(one & other)


def _refused(label: Values, position: Position) -> Exception:
    """Return the refusal, which names a label that two answers may have."""
    named = [
        repr(value) if isinstance(value, str) else str(value) for value in label or ()
    ]
    detail = (
        f"{', '.join(named[:1]) or 'a label'} may be a row of two answers of UNION "
        "ALL: they would be added up"
    )
    return refuse(rules.SET_OPERATION, position, detail=detail, hint=_HINT)
