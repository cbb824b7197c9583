"""Arithmetic on results: what is computed of the numbers that a row shows.

It reads noisy values alone and costs nothing (docs/proofs/computed.md).
"""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from privacy.schema import ColumnType
from query_lang.binding.results.moments import Within
from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    LiteralShown,
    NumberShown,
    Operation,
    Shown,
    WindowShown,
)
from query_lang.plans.expressions import Facts
from query_lang.plans.literals import LITERALS, NUMBERS, lone_constant, small_number
from query_lang.showing.arithmetic import ROUNDINGS
from query_lang.showing.values import SHOWN_DIGITS
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    Arithmetic,
    ArithmeticOperator,
    Cast,
    CountRows,
    FunctionCall,
    Negative,
    NullLiteral,
    NumberLiteral,
    Select,
    WindowCall,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.type_names import cast_target

MAX_OPERATIONS: Final = 40
"""In one computed value."""

_MOST_DIGITS: Final = 12
_OPERATORS: Final[dict[ArithmeticOperator, Operation]] = {
    "+": Operation.ADD,
    "-": Operation.SUBTRACT,
    "*": Operation.MULTIPLY,
    "/": Operation.DIVIDE,
}
_FUNCTIONS: Final[dict[str, Operation]] = {
    "abs": Operation.ABS,
    "ceil": Operation.CEILING,
    "ceiling": Operation.CEILING,
    "coalesce": Operation.COALESCE,
    "exp": Operation.EXP,
    "floor": Operation.FLOOR,
    "greatest": Operation.GREATEST,
    "least": Operation.LEAST,
    "ln": Operation.LN,
    "nullif": Operation.NULLIF,
    "round": Operation.ROUND,
    "sqrt": Operation.SQRT,
    "trunc": Operation.TRUNCATE,
}
_IRRATIONAL: Final = frozenset(
    {Operation.DIVIDE, Operation.EXP, Operation.LN, Operation.SQRT}
)
_NOT_NEGATIVE: Final = frozenset({Operation.ABS, Operation.EXP, Operation.SQRT})


def is_computed(tree: Tree) -> bool:
    """Whether an expression is computed of results, and is none itself."""
    if isinstance(tree, AggregateCall | CountRows):
        return False
    return speaks_of_results(tree)


def speaks_of_results(tree: object) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether it holds an aggregate that is no subquery's, or a window over results."""
    if isinstance(tree, AggregateCall | CountRows):
        return True
    if isinstance(tree, Select):
        return False
    if isinstance(tree, WindowCall):
        takes = getattr(tree.function, "arguments", ())
        numbers = isinstance(tree.function, FunctionCall) and not takes
        return numbers or speaks_of_results((*takes, *tree.order_by))
    if isinstance(tree, tuple):
        return any(speaks_of_results(part) for part in tree)
    parts = getattr(type(tree), "__dataclass_fields__", {})
    return any(speaks_of_results(getattr(tree, name)) for name in parts)


@dataclass(slots=True)
class ComputedBinder:
    """Binds arithmetic over what ``shown`` returns.

    Attributes:
        shown: The key or number that an expression is; refuses what is none.
        facts: The type of all that ``shown`` has returned; computed ones are added.
        least: The least that a number has in truth where it is not 0: 1 of counts; 0 of
            what is never negative; None of all else.
        warn: Told once a form that means something else to others.
        window: What a window over the answer's rows means.
    """

    shown: Callable[[Tree], Shown]
    facts: MutableMapping[Shown, Facts]
    least: Callable[[NumberShown], Fraction | None]
    warn: Callable[[str, str], None]
    window: Callable[[WindowCall], Shown]
    _operations: int = 0

    def bind(self, tree: Tree) -> Shown:
        """Return what a computed expression means.

        Raises:
            QueryError: It holds what is no number, or too much.
        """
        self._operations = 0
        return self._bind(tree)

    def _bind(self, tree: Tree) -> Shown:  # noqa: PLR0911 - an arm a form
        match tree:
            case Arithmetic(operator, left, right):
                return self._arithmetic(operator, left, right, tree)
            case Negative(value):
                return self._computed(Operation.NEGATE, (self._bind(value),), tree)
            case Within():
                parts = (tree.value, tree.low, tree.high)
                return self._function(Operation.WITHIN, parts, tree)
            case FunctionCall(name, arguments) if name in _FUNCTIONS:
                return self._function(_FUNCTIONS[name], arguments, tree)
            case Cast(value) if speaks_of_results(value):
                return self._cast(tree, value)
            case NumberLiteral() | NullLiteral():
                return self._literal(tree)
            case WindowCall():
                return self.window(tree)
            case _:
                return self._operand(tree)

    def _cast(self, tree: Cast, value: Tree) -> Shown:
        """Return a result as a whole number or with so many decimals: rounded to them.

        Without decimals written, ``::numeric`` and ``::float`` change nothing: results
        are exact.
        """
        target = cast_target(tree.type, tree.position)
        if target.type not in NUMBERS or (target.scale or 0) > _MOST_DIGITS:
            raise refuse(rules.COMPUTED_FORM, tree.position)
        own = self._bind(value)
        is_exact = target.type is ColumnType.DECIMAL and target.scale is None
        if is_exact or self.facts[own].type is target.type is ColumnType.INTEGER:
            return own
        digits = target.scale or 0
        facts = Facts(target.type, digits)
        return self._added(Operation.ROUND, (own,), tree, facts)

    def _operand(self, tree: Tree) -> Shown:
        if isinstance(tree, LITERALS):
            raise refuse(rules.COMPUTED_OPERAND, tree.position)
        if is_computed(tree):
            raise refuse(rules.COMPUTED_FORM, tree.position)
        found = self.shown(tree)
        if self.facts[found].type not in NUMBERS:
            raise refuse(rules.COMPUTED_OPERAND, tree.position)
        return found

    def _literal(self, tree: NumberLiteral | NullLiteral) -> Shown:
        constant = lone_constant(tree)
        value = constant.value
        number = None if value is None else Fraction(str(value))
        shown = LiteralShown(number)
        places = tree.text.partition(".")[2] if isinstance(tree, NumberLiteral) else ""
        kind = ColumnType.DECIMAL if places else ColumnType.INTEGER
        self.facts[shown] = Facts(kind, min(len(places), _MOST_DIGITS))
        return shown

    def _arithmetic(
        self, operator: ArithmeticOperator, left: Tree, right: Tree, tree: Tree
    ) -> Shown:
        operation = _OPERATORS.get(operator)
        if operation is None:
            raise refuse(rules.COMPUTED_FORM, tree.position)
        first, second = self._bind(left), self._bind(right)
        if operation is Operation.DIVIDE:
            return self._quotient(first, second, tree)
        return self._computed(operation, (first, second), tree)

    def _quotient(self, first: Shown, second: Shown, tree: Tree) -> Shown:
        if second == LiteralShown(Fraction(0)):
            raise refuse(rules.DIVISION_BY_ZERO, tree.position)
        types = {self.facts[each].type for each in (first, second)}
        if types == {ColumnType.INTEGER} and not _is_made_decimal(tree):
            self.warn(
                "exact_division",
                "/ between counts or whole numbers is exact here: 1 / 2 is 0.5, where "
                "PostgreSQL and SQL Server would cut it to 0",
            )
        return self._computed(
            Operation.DIVIDE, (first, second), tree, self.least_of(second)
        )

    def _function(
        self, operation: Operation, arguments: tuple[Tree, ...], tree: Tree
    ) -> Shown:
        if operation not in ROUNDINGS:
            return self._computed(
                operation, tuple(self._bind(each) for each in arguments), tree
            )
        digits = _digits(arguments[1:], tree)
        facts = Facts(ColumnType.DECIMAL if digits else ColumnType.INTEGER, digits)
        return self._added(operation, (self._bind(arguments[0]),), tree, facts)

    def _computed(
        self,
        operation: Operation,
        operands: tuple[Shown, ...],
        tree: Tree,
        least: Fraction | None = None,
    ) -> Shown:
        facts = self._facts(operation, operands)
        return self._added(operation, operands, tree, facts, least)

    def _added(
        self,
        operation: Operation,
        operands: tuple[Shown, ...],
        tree: Tree,
        facts: Facts,
        least: Fraction | None = None,
    ) -> Shown:
        self._operations += 1
        if self._operations > MAX_OPERATIONS:
            raise refuse(rules.COMPUTED_SIZE, tree.position)
        digits = facts.scale if facts.type is ColumnType.DECIMAL else 0
        shown = ComputedShown(operation, operands, digits, least)
        self.facts[shown] = facts
        return shown

    def _facts(self, operation: Operation, operands: tuple[Shown, ...]) -> Facts:
        """Return type and digits: whole numbers stay whole, decimals keep their places.

        What may have any number of digits is shown with six, or as many as its operands
        have.
        """
        known = [self.facts[each] for each in operands]
        scales = [each.scale for each in known]
        if operation in _IRRATIONAL:
            return Facts(ColumnType.DECIMAL, max(SHOWN_DIGITS, *scales))
        if all(each.type is ColumnType.INTEGER for each in known):
            return Facts(ColumnType.INTEGER)
        scale = max(scales)
        if operation is Operation.MULTIPLY:
            scale = min(sum(scales), max(SHOWN_DIGITS, scale))
        return Facts(ColumnType.DECIMAL, scale)

    # -- divisors -----------------------------------------------------------------

    def least_of(self, shown: Shown) -> Fraction | None:  # noqa: PLR0911 - a form each
        """Return the least that a divisor has in truth, 0 aside; None if unknown.

        A count or a sum of counts has at least 1; a sum, an average or a ratio of what
        is never negative more than 0.
        """
        match shown:
            case NumberShown():
                return self.least(shown)
            case AverageShown(_, _, lower):
                return Fraction(0) if lower >= 0 else None
            case WindowShown(name, operand) if operand is not None:
                least = self.least_of(operand)
                return _zero(least) if name == "avg" else least  # of 1, 0 and 0: 1/3
            case LiteralShown(value):
                return value if value is not None and value >= 0 else None
            case ComputedShown(operation, operands):
                return self._computed_least(operation, operands)
            case _:
                return None

    def _computed_least(
        self, operation: Operation, operands: tuple[Shown, ...]
    ) -> Fraction | None:
        if operation in _NOT_NEGATIVE:
            return Fraction(0)
        found = [self.least_of(each) for each in operands]
        if operation is Operation.WITHIN:
            found = [_zero(found[1])]
        known = [least for least in found if least is not None]
        if operation in _PERHAPS_LEAST:
            return _PERHAPS_LEAST[operation](operands, found)
        if operation not in _LEAST or len(known) < len(found):
            return None
        return _LEAST[operation](operands, known)


def _zero(least: Fraction | None) -> Fraction | None:
    return None if least is None else Fraction(0)


def _of_greatest(
    operands: tuple[Shown, ...], found: list[Fraction | None]
) -> Fraction | None:
    """Return the least of the greatest: NULL is left out, and 0 gives way to any other.

    So an operand of the text, or one that is never NULL, alone holds from below.
    """
    floors = [
        least if isinstance(each, LiteralShown) else Fraction(0)
        for each, least in zip(operands, found, strict=True)
        if least is not None and isinstance(each, LiteralShown | NumberShown)
    ]
    known = [least for least in found if least]  # a literal 0 is 0 itself
    if None not in found and known and not _nears_zero(operands, found):
        floors.append(min(known))
    return max(floors, default=None if None in found else Fraction(0))


def _nears_zero(operands: tuple[Shown, ...], found: list[Fraction | None]) -> bool:
    """Whether some operand may be above 0 by however little."""
    pairs = zip(operands, found, strict=True)
    return any(
        least == 0 and not isinstance(each, LiteralShown) for each, least in pairs
    )


def _of_product(operands: tuple[Shown, ...], known: list[Fraction]) -> Fraction:
    literals = any(isinstance(each, LiteralShown) for each in operands)
    return known[0] * known[1] if literals else Fraction(0)


def _of_quotient(operands: tuple[Shown, ...], known: list[Fraction]) -> Fraction:
    by_literal = isinstance(operands[1], LiteralShown) and known[1] > 0
    return known[0] / known[1] if by_literal else Fraction(0)


def _of_sum(operands: tuple[Shown, ...], known: list[Fraction]) -> Fraction:
    """Return the least of either; with a number of the text, that number at least."""
    literals = [
        least
        for each, least in zip(operands, known, strict=True)
        if isinstance(each, LiteralShown)
    ]
    return max(literals) if literals else min(known)


_Found = list[Fraction | None]
_PERHAPS_LEAST: Final[
    dict[Operation, Callable[[tuple[Shown, ...], _Found], Fraction | None]]
] = {
    Operation.GREATEST: _of_greatest,
    Operation.NULLIF: lambda _, found: found[0],
    **dict.fromkeys(ROUNDINGS, lambda _, found: _zero(found[0])),
}
"""Where an operand may be unknown."""
_LEAST: Final[
    dict[Operation, Callable[[tuple[Shown, ...], list[Fraction]], Fraction]]
] = {
    Operation.ADD: _of_sum,
    Operation.MULTIPLY: _of_product,
    Operation.DIVIDE: _of_quotient,
    Operation.LEAST: lambda _, known: min(known),
    Operation.COALESCE: lambda _, known: min(known),
    Operation.WITHIN: lambda _, known: known[0],
}


def _is_made_decimal(tree: Tree) -> bool:
    """Whether a cast in arithmetic asks for decimals: nobody would cut them there.

    Nor the sum of counts over groups, which is a numeric there.
    """
    match tree:
        case WindowCall(AggregateCall("sum" | "avg")):
            return True
        case Cast():
            return cast_target(tree.type, tree.position).type is ColumnType.DECIMAL
        case Arithmetic(_, left, right):
            return _is_made_decimal(left) or _is_made_decimal(right)
        case _:
            return False


def _digits(written: tuple[Tree, ...], tree: Tree) -> int:
    if not written:
        return 0
    found = small_number(written[0], _MOST_DIGITS)
    if found is None:
        raise refuse(rules.ROUND_DIGITS, tree.position)
    return found
