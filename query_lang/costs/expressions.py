"""What an expression costs a row: as many times as its rendering repeats it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from privacy.schema import (
    Column,
    ColumnType,
    Hierarchy,
    HierarchyDomain,
    ValuesDomain,
)
from query_lang import hierarchies
from query_lang.costs.amounts import Widths
from query_lang.costs.constants import (
    AGE_STEPS,
    BAND_STEPS,
    BYTES_A_STEP,
    CODE_STEPS,
    DATE_STEPS,
    DIVIDE_STEPS,
    DOT_STEPS,
    EACH_STEPS,
    ITEM_STEPS,
    LEVEL_STEPS,
    NUMBER_BYTES,
    READ_BYTE_STEPS,
    READ_TEXT_STEPS,
    SEARCHED_BYTE_STEPS,
    SIMPLE_STEPS,
    TEXT_BYTES,
    VALUE_STEPS,
    WIDE_STEPS,
    WRITE_TEXT_STEPS,
)
from query_lang.costs.texts import STEPS, reading_as_written
from query_lang.plans.dates.day_names import NAMES, PADDED_NAME
from query_lang.plans.expressions import (
    Call,
    CompareAverage,
    Constant,
    ExistsInQuery,
    Expression,
    Facts,
    FieldRef,
    Function,
    UnitInQuery,
    ValueInQuery,
)
from query_lang.plans.scalars.texts import most_bytes
from query_lang.syntax.automata import Reading

Subquery = UnitInQuery | ValueInQuery | ExistsInQuery

_INLINE = 12  # bytes of a text that lie inside its reference
_CODE = 9  # of a built-in system: a category, a dot, up to four more
_BAND = 48
_WRITTEN = 26  # a moment with six places; numbers are shorter
_ANY_WIDTH = 2**62  # of a text of which nothing is listed
_MOST_MEASURED = 256  # texts of a list
_WIDE = 2 * NUMBER_BYTES
_MOST_USES = 4
_MONTH_USES = 11  # of a date that is moved by months

_OWN_STEPS: Mapping[Function, int] = {
    Function.ADD: WIDE_STEPS,
    Function.SUBTRACT: WIDE_STEPS,
    Function.MULTIPLY: WIDE_STEPS,
    Function.DIVIDE: DIVIDE_STEPS,
    Function.DIVIDE_DECIMAL: 3 * DIVIDE_STEPS,
    Function.MODULO: DIVIDE_STEPS,
    Function.NEGATE: WIDE_STEPS,
    Function.RESCALE: WIDE_STEPS,
    Function.ABS: WIDE_STEPS,
    Function.SIGN: SIMPLE_STEPS,
    **dict.fromkeys(
        (Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE),
        2 * DIVIDE_STEPS,
    ),
    Function.WIDTH_BUCKET: DIVIDE_STEPS + WIDE_STEPS,
    Function.ADD_DAYS: 2 * DATE_STEPS,
    Function.SUBTRACT_DAYS: 2 * DATE_STEPS,
    Function.DAYS_BETWEEN: SIMPLE_STEPS,
    Function.MONTHS_BETWEEN: 2 * DATE_STEPS,
    Function.YEARS_BETWEEN: DATE_STEPS,
    Function.AGE_YEARS: AGE_STEPS,
    Function.EXTRACT: DATE_STEPS,
    Function.DATE_OF: SIMPLE_STEPS,
    Function.MIDNIGHT_OF: SIMPLE_STEPS,
    Function.CAST_NUMBER: 2 * WIDE_STEPS,
    Function.AGE_MONTHS: AGE_STEPS,
    Function.ADD_MONTHS: 12 * DATE_STEPS,
    Function.ADD_MICROSECONDS: 3 * DATE_STEPS,
    Function.TIME_BETWEEN: 2 * SIMPLE_STEPS,
    Function.PERIOD: 3 * DATE_STEPS,
    Function.LAST_OF_MONTH: 2 * DATE_STEPS,
    Function.AGE_BAND: BAND_STEPS,
}
_REPEATS = frozenset(
    {
        Function.BETWEEN,
        Function.ADD,
        Function.SUBTRACT,
        Function.MULTIPLY,
        Function.DIVIDE,
        Function.DIVIDE_DECIMAL,
        Function.MODULO,
        Function.NEGATE,
        Function.RESCALE,
        Function.ABS,
        Function.FLOOR,
        Function.CEILING,
        Function.ROUND,
        Function.TRUNCATE,
        Function.WIDTH_BUCKET,
        Function.ADD_DAYS,
        Function.SUBTRACT_DAYS,
        Function.MONTHS_BETWEEN,
        Function.AGE_YEARS,
        Function.AGE_BAND,
        Function.CAST_NUMBER,
        Function.READ,
        Function.TEXT_OF,
        Function.AGE_MONTHS,
        Function.ADD_MONTHS,
        Function.ADD_MICROSECONDS,
        Function.WRITTEN_DAY,
    }
)
"""What writes its operands up to four times where they cannot be computed below."""


def column_bytes(column: Column) -> int:
    """Return the most bytes that a stored value has, its reference included."""
    if column.type is not ColumnType.TEXT:
        return NUMBER_BYTES
    match column.domain:
        case ValuesDomain() as listed:
            longest = max((_utf8(value) for value in listed.all_values()), default=0)
        case HierarchyDomain(name) if name in hierarchies.BUILT_IN:
            longest = _CODE
        case _:  # own codes may be written with any number of dots
            longest = column.max_length
    return text_width(min(longest, column.max_length))


def _listed_width(facts: Facts) -> int:
    """Return the bytes of the longest text of a list, such as WHERE may hold."""
    listed = facts.domain.all_values() if isinstance(facts.domain, ValuesDomain) else ()
    if not 0 < len(listed) <= _MOST_MEASURED:
        return _ANY_WIDTH
    return text_width(max(map(_utf8, listed)))


def text_width(length: int) -> int:
    """Return the bytes of a text of so many bytes, its reference included."""
    return TEXT_BYTES + (length if length > _INLINE else 0)


def is_text(value: Expression) -> bool:
    """Whether an expression gives texts."""
    forms = FieldRef | Call | Constant
    return isinstance(value, forms) and value.facts.type is ColumnType.TEXT


def _written_width(piece: str) -> int:
    """Return the most bytes of a piece of a day's text."""
    return PADDED_NAME if piece in NAMES else max(4, _utf8(piece))


def _utf8(value: object) -> int:
    return len(str(value).encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class ExpressionCost:
    """Sums up what expressions over one relation cost a row.

    Attributes:
        widths: Of the relation's slots, and of those of rows around it.
        own: The dataset's own hierarchies.
        names: Whether the rendering computes once what it needs more than once.
        steps: Of everything added so far, subqueries left out.
        arithmetic: Expressions of numbers and dates among them.
        subqueries: Those met, each with how often it is rendered.
        patterns: Those met, each with how often it is rendered and the bytes that it
            is held against.
    """

    widths: Widths
    own: Mapping[str, Hierarchy]
    names: bool = True
    steps: int = 0
    arithmetic: int = 0
    subqueries: list[tuple[Subquery, int]] = field(default_factory=list)
    patterns: list[tuple[Reading, int, int]] = field(default_factory=list)

    def add(self, expression: Expression, times: int = 1) -> None:
        """Add what one expression takes, rendered that many times."""
        match expression:
            case FieldRef() | Constant():
                self.steps += times * VALUE_STEPS
            case Call():
                self._call(expression, times)
            case CompareAverage():
                self.steps += times * 2 * WIDE_STEPS
            case UnitInQuery() | ValueInQuery() | ExistsInQuery():
                self.subqueries.append((expression, times))
            case _:  # two unit keys
                self.steps += times * SIMPLE_STEPS

    def _call(self, call: Call, times: int) -> None:
        own = _OWN_STEPS.get(call.function)
        cost = self._special(call) if own is None else own
        self.steps += times * cost
        self.arithmetic += times * (own is not None)
        if call.function is Function.MATCHES:
            width = self.width(call.operands[0])
            self.patterns.append((reading_as_written(call), times, width))
        uses = self._uses(call)
        for place, operand in enumerate(call.operands):
            again = uses if place == 0 or call.function in _REPEATS else 1
            self.add(operand, times * (1 if self.names else again))

    def _uses(self, call: Call) -> int:
        """Return how often an operand is written where it has no name."""
        if call.function is Function.SWITCH:
            return len(call.operands) // 2
        if call.function is Function.WRITTEN_DAY:
            return len(call.parameters)
        if call.function is Function.ADD_MONTHS:
            return _MONTH_USES
        return _MOST_USES if call.function in _REPEATS else 1

    def _special(self, call: Call) -> int:
        if call.function in STEPS:
            own, byte = STEPS[call.function]
            read = sum(map(self.width, call.operands)) + self.width(call)
            return own + byte * read
        special = _SPECIAL.get(call.function)
        return self._compared(call) if special is None else special(self, call)

    def _compared(self, call: Call) -> int:
        """Return the steps of a comparison, AND, OR, NOT, IS NULL or COALESCE."""
        many = len(call.operands)
        if call.function is Function.IS_NULL:
            return SIMPLE_STEPS
        if call.operands[0].facts.type is ColumnType.TEXT:
            return many * (SIMPLE_STEPS + self._compared_bytes(call) // BYTES_A_STEP)
        scales = {operand.facts.scale for operand in call.operands}
        return many * (SIMPLE_STEPS if len(scales) == 1 else WIDE_STEPS)

    def _compared_bytes(self, call: Call) -> int:
        """Return how far two texts can be alike; a choice copies the longest."""
        value, *others = map(self.width, call.operands)
        if call.function is Function.COALESCE:
            return max(value, *others)
        return min(value, max(others, default=value))

    def _in(self, call: Call) -> int:
        value, *items = call.operands
        longest = max((self.width(item) for item in items), default=0)
        looked_at = min(self.width(value), longest) // (4 * BYTES_A_STEP)
        return SIMPLE_STEPS + len(items) * (ITEM_STEPS + looked_at)

    def _ends(self, call: Call) -> int:
        return SIMPLE_STEPS + self.width(call.operands[0]) // BYTES_A_STEP

    def _searched(self, call: Call) -> int:
        return SIMPLE_STEPS + self.width(call.operands[0]) * SEARCHED_BYTE_STEPS

    def _chosen(self, call: Call) -> int:
        """Return the steps of CASE beside those of its parts: a copy an arm."""
        arms = len(call.operands) // 2 + 1
        copied = self.width(call) // BYTES_A_STEP
        compared = self.width(call.operands[0]) // BYTES_A_STEP
        if call.function is Function.CASE:
            compared = 0
        return arms * (2 * SIMPLE_STEPS + compared) + copied + EACH_STEPS

    def _text_read(self, call: Call) -> int:
        """Return the steps of the forms that a text is held against."""
        return READ_TEXT_STEPS + self.width(call.operands[0]) * READ_BYTE_STEPS

    def _level(self, call: Call) -> int:
        read = self.width(call.operands[0])
        name = str(call.parameters[0])
        if name in hierarchies.BUILT_IN:
            return LEVEL_STEPS + read
        dots = min(read, hierarchies.longest_code(self.own[name]))
        return LEVEL_STEPS + dots * DOT_STEPS + len(self.own[name].codes) * CODE_STEPS

    # -- widths ----------------------------------------------------------------

    def width(self, expression: Expression) -> int:  # noqa: PLR0911 - an arm a form
        """Return the most bytes that a value has, a text's reference included."""
        match expression:
            case FieldRef(slot, facts) if facts.type is ColumnType.TEXT:
                return min(self.widths[slot], _listed_width(facts))
            case FieldRef(slot):
                return self.widths[slot]
            case Constant(str() as text):
                return text_width(_utf8(text))
            case Call() if expression.facts.type is ColumnType.TEXT:
                return self._text_width(expression)
            case _:
                return _WIDE

    def _text_width(self, call: Call) -> int:  # noqa: PLR0911 - an arm a form
        match call.function:
            case Function.LEVEL:
                name, level = map(str, call.parameters)
                return text_width(_longest_level(name, level, self.own))
            case Function.AGE_BAND:
                return text_width(_BAND)
            case Function.TEXT_OF:
                return text_width(_WRITTEN)
            case function if function in STEPS:
                return text_width(
                    most_bytes(call, list(map(self.width, call.operands)))
                )
            case Function.WRITTEN_DAY:
                return text_width(sum(_written_width(str(p)) for p in call.parameters))
            case _:
                return max(map(self.width, _results(call)))


def _results(call: Call) -> list[Expression]:
    """Return the operands that a choice may yield."""
    match call.function:
        case Function.CASE:
            return [*call.operands[1:-1:2], call.operands[-1]]
        case Function.SWITCH:
            return [*call.operands[2:-1:2], call.operands[-1]]
        case _:
            return list(call.operands)


def _longest_level(name: str, level: str, own: Mapping[str, Hierarchy]) -> int:
    values = hierarchies.level_values(HierarchyDomain(name), level, own)
    return max(map(_utf8, values), default=0)


_SPECIAL: Mapping[Function, Callable[[ExpressionCost, Call], int]] = {
    Function.IN: ExpressionCost._in,  # noqa: SLF001 - a table of its own arms
    Function.PREFIX: ExpressionCost._ends,  # noqa: SLF001
    Function.SUFFIX: ExpressionCost._ends,  # noqa: SLF001
    Function.INFIX: ExpressionCost._searched,  # noqa: SLF001
    Function.CASE: ExpressionCost._chosen,  # noqa: SLF001
    Function.SWITCH: ExpressionCost._chosen,  # noqa: SLF001
    Function.READ: ExpressionCost._text_read,  # noqa: SLF001
    Function.TEXT_OF: lambda *_: WRITE_TEXT_STEPS,
    Function.WRITTEN_DAY: lambda _, call: len(call.parameters) * WRITE_TEXT_STEPS,
    Function.LEVEL: ExpressionCost._level,  # noqa: SLF001
}
