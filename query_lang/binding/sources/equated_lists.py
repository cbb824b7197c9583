"""Columns that ON equates with a value of a declared list, on either side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from privacy.schema import ValuesDomain
from query_lang.binding.scope import Relation, RelationColumn, ValueColumn
from query_lang.plans.expressions import Expression, FieldRef, is_equality


def with_equated_lists(
    relation: Relation, conditions: Sequence[Expression]
) -> Relation:
    """Return a public table whose columns without a list have that of what they equal.

    In each row that meets one: where ON finds none the text is NULL.

    Args:
        relation: Of the public table.
        conditions: Conjuncts of ON.

    Proof: docs/proofs/public_join.md.
    """
    lists: dict[int, ValuesDomain] = {}
    for slot, domain in _lists(conditions):
        lists.setdefault(slot, domain)
    columns = {
        name: _listed(column, lists) for name, column in relation.columns.items()
    }
    return replace(relation, columns=columns)


def list_equated(relations: list[Relation], conditions: Sequence[Expression]) -> None:
    """Give columns of an INNER join without a list that of the value they equal.

    Args:
        relations: Of FROM, each of whose rows meets the conditions.
        conditions: Conjuncts of ON.

    Proof: docs/proofs/public_join.md.
    """
    relations[:] = [with_equated_lists(each, conditions) for each in relations]


def _lists(conditions: Sequence[Expression]) -> Iterator[tuple[int, ValuesDomain]]:
    """Yield the slots that are equated with a value of a list, and the list."""
    for condition in filter(is_equality, conditions):
        one, two = condition.operands
        for column, value in ((one, two), (two, one)):
            facts, own = value.facts, column.facts
            is_alike = (facts.type, facts.scale) == (own.type, own.scale)
            if not is_alike or not isinstance(column, FieldRef):
                continue
            if isinstance(facts.domain, ValuesDomain):
                yield column.slot, ValuesDomain(facts.domain.all_values())


def _listed(column: RelationColumn, lists: dict[int, ValuesDomain]) -> RelationColumn:
    if not isinstance(column, ValueColumn) or column.facts.domain is not None:
        return column
    return replace(column, facts=replace(column.facts, domain=lists.get(column.slot)))
