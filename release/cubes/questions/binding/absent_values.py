"""Literals that no value of a dimension equals: such a condition counts nothing."""

from collections.abc import Iterable, Iterator, Mapping

from privacy.schema import Scalar
from query_lang.binding.outside_domain import declared_instead
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    FieldRef,
    Function,
    slots_read,
)
from query_lang.plans.literals import is_outside_domain
from query_lang.syntax.nodes import Position, Query
from query_lang.syntax.refusals import refuse
from release.cubes.questions.binding import rules
from release.cubes.questions.binding.literal_places import literal_place
from release.cubes.questions.binding.question import AxisSlot, CubeQuestion

_EQUALITIES = frozenset({Function.EQ, Function.NE, Function.IN})


def refuse_absent_values(
    expressions: Iterable[Expression],
    slots: Mapping[int, AxisSlot],
    tree: Query,
) -> None:
    """Refuse equality with what a dimension does not have, naming what it has.

    A range may reach beyond the values: it counts those that it holds.

    Args:
        expressions: Of a question, in full.
        slots: That they read.
        tree: The question as it was written.

    Raises:
        SqlNotAllowedError: Rule ``absent_value``.
    """
    for reference, value in absent_values(expressions):
        instead = declared_instead(value, reference.facts, is_near_wanted=True)
        column = slots[reference.slot].name
        name = column.partition("#")[0]
        place = literal_place(tree, column, value, reference.facts)
        raise refuse(
            rules.ABSENT_VALUE,
            place or tree.select.position,
            detail=f"{name} is compared with a value that it does not have{instead}",
        )


def absent_values(
    expressions: Iterable[Expression],
) -> Iterator[tuple[FieldRef, Scalar]]:
    """Yield each dimension with a value that it is said to equal and never does."""
    for expression in expressions:
        if isinstance(expression, Call):
            reference, literals = _equated(expression)
            for value in literals:
                if reference and is_outside_domain(value, reference.facts):
                    yield reference, value
            yield from absent_values(expression.operands)


def absent_place(condition: Expression, question: CubeQuestion) -> Position:
    """Return where the first value of an equality that nothing meets stands."""
    operands = condition.operands if isinstance(condition, Call) else ()
    values = [each.value for each in operands if isinstance(each, Constant)]
    known = [value for value in values if value is not None]
    asked = [each for each in operands if isinstance(each, Call | FieldRef)]
    if question.tree is not None and known and len(asked) == 1:
        for slot in slots_read(asked[0]):
            column, facts = question.slots[slot].name, asked[0].facts
            place = literal_place(question.tree, column, known[0], facts)
            if place is not None:
                return place
    return question.position


def is_equality(expression: Expression) -> bool:
    """Whether an expression says that something equals one of some values."""
    equal = {Function.EQ, Function.IN}
    return isinstance(expression, Call) and expression.function in equal


def _equated(call: Call) -> tuple[FieldRef | None, list[Scalar]]:
    """Return the dimension that a call compares, and the literals it is to equal."""
    operands = call.operands
    if call.function is Function.SWITCH:
        operands = (operands[0], *operands[1:-1:2])
    elif call.function not in _EQUALITIES:
        return None, []
    references = [each for each in operands if isinstance(each, FieldRef)]
    literals = [each.value for each in operands if isinstance(each, Constant)]
    known = [value for value in literals if value is not None]
    return (references[0], known) if len(references) == 1 else (None, [])
