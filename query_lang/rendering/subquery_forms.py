"""How subqueries run: what an EXISTS filters by itself, and what it asks of pairs.

For the rendering and for the cost alike.
"""

from dataclasses import dataclass

from query_lang.plans.expressions import (
    Call,
    ExistsInQuery,
    Expression,
    Function,
    conjunction,
    conjuncts,
    holds_subquery,
)
from query_lang.plans.nodes import Filter, Node, PublicFilter, PublicNode, PublicScan
from query_lang.rendering.placed_filters import parted


@dataclass(frozen=True, slots=True)
class ExistsParts:
    """EXISTS as it runs: inner rows that conditions of their own leave, then pairs.

    Attributes:
        inner: The inner rows, filtered by what reads nothing else.
        pairs: What is checked for each pair of rows, beside the ties, or None.
        nested: What holds a subquery and reads outer rows too, or None.
    """

    inner: Node | PublicNode
    pairs: Expression | None
    nested: Expression | None


def exists_parts(exists: ExistsInQuery) -> ExistsParts:
    """Return the parts of an EXISTS."""
    inner = exists.query
    if exists.condition is None:
        return ExistsParts(inner, None, None)
    own, rest = parted(exists.condition, inner)
    if own:
        below = conjunction(own)
        if isinstance(inner, PublicScan | PublicFilter):
            inner = PublicFilter(inner, below)
        else:
            inner = Filter(inner, below)
    nested = tuple(part for part in rest if holds_subquery(part))
    pairs = tuple(part for part in rest if not holds_subquery(part))
    return ExistsParts(
        inner,
        conjunction(pairs) if pairs else None,
        conjunction(nested) if nested else None,
    )


@dataclass(frozen=True, slots=True)
class HalfJoin:
    """A conjunct that is EXISTS or NOT EXISTS of one inner relation.

    Attributes:
        exists: Without a subquery that reads rows on both sides.
        anti: Whether rows without a match are kept.
    """

    exists: ExistsInQuery
    anti: bool


def half_join(conjunct: Expression) -> HalfJoin | None:
    """Return how a conjunct runs as a join of its own, or None."""
    anti = False
    if isinstance(conjunct, Call) and conjunct.function is Function.NOT:
        (conjunct,), anti = conjunct.operands, True
    if not isinstance(conjunct, ExistsInQuery) or not conjunct.outer:
        return None
    return None if exists_parts(conjunct).nested else HalfJoin(conjunct, anti)


def half_joins(condition: Expression) -> tuple[list[HalfJoin], Expression | None]:
    """Part a condition into joins and the rest, None where nothing is left."""
    parts = conjuncts(condition)
    joins = [join for part in parts if (join := half_join(part)) is not None]
    rest = tuple(part for part in parts if half_join(part) is None)
    return joins, conjunction(rest) if rest else None


def looked_up_by_unit(exists: ExistsInQuery) -> int | None:
    """Return the outer slot of a unit key that decides an EXISTS alone, or None."""
    if len(exists.ties) != 1 or set(exists.outer) != {exists.ties[0][1]}:
        return None
    parts = exists_parts(exists)
    alone = parts.pairs is None and parts.nested is None
    return exists.ties[0][1] if alone else None
