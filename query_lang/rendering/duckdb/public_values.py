"""Expressions over rows of a relation: the language's own rendering, without a query.

A published release is asked with the expressions of the language. They are evaluated
on the public values of its dimensions, by the SQL that an engine would run on rows, so
that an expression means the same in both places. A load computes derived columns so.
"""

from collections.abc import Mapping, Sequence

from privacy.schema import ColumnType, Hierarchy
from query_lang.plans.expressions import (
    ExistsInQuery,
    Expression,
    UnitInQuery,
    ValueInQuery,
)
from query_lang.rendering.duckdb.expressions import (
    SQL_TYPES,
    ExpressionRenderer,
    RenderContext,
    slot_name,
)
from query_lang.rendering.fragments import Fragment, identifier, listed
from query_lang.syntax.nodes import Position

_START = Position(1, 1)


def render_public_values(
    expressions: Sequence[Expression],
    source: Fragment,
    slots: frozenset[int],
    *,
    kept: Sequence[str],
    own: Mapping[str, Hierarchy],
) -> Fragment:
    """Return SQL that evaluates expressions on each row of public values.

    Args:
        expressions: Free of subqueries.
        source: A relation in brackets with a column a slot (``value_column``).
        slots: Those that the expressions may read.
        kept: Columns of the source that stand first in the result.
        own: Hierarchies of files.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    renderer = ExpressionRenderer(RenderContext(own, _START, _NoSubqueries()), slots)
    made = [
        renderer.render(expression) + Fragment(f" AS e{number}")
        for number, expression in enumerate(expressions)
    ]
    shown = [*(Fragment(identifier(name)) for name in kept), *made]
    query = Fragment("SELECT ") + listed(shown) + Fragment(" FROM ")
    return query + renderer.wrapped(source)


def value_column(slot: int) -> str:
    """Return the name of the column that holds a slot's values."""
    return slot_name(slot)


def sql_type(kind: ColumnType) -> str:
    """Return the SQL type in which values of a type are held; decimals as steps."""
    return SQL_TYPES[kind]


class _NoSubqueries:
    """Stands where subqueries are rendered: public values hold none."""

    def value(
        self, _: UnitInQuery | ValueInQuery | ExistsInQuery, __: ExpressionRenderer
    ) -> Fragment:
        """Raise: nothing that holds a subquery gets here."""
        message = "public values are evaluated without subqueries"
        raise AssertionError(message)

    def marked(
        self, _: Mapping[ExistsInQuery, str], __: Fragment, ___: frozenset[int]
    ) -> Fragment:
        """Raise: as above."""
        message = "public values are evaluated without subqueries"
        raise AssertionError(message)
