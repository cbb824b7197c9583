"""Rows in the text that meet no row of a table: aggregates must not count them.

``generate_series(2018, 2027) AS s(y) LEFT JOIN encounters AS e ...``: SQL has a row for
a year without stays, all of whose columns of e are NULL. Here that row is not there, so
each aggregate must ignore it: what it takes is NULL where all columns of e are.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Final

from query_lang.rewriting.calls import filtered, other_call
from query_lang.rewriting.trees import mapped, parts
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    Filtered,
    OtherCall,
    QuantileAt,
    WithinGroup,
    WrittenSelect,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Arithmetic,
    Between,
    BooleanLiteral,
    Case,
    Cast,
    Comparison,
    CountRows,
    Expression,
    Extract,
    FunctionCall,
    InList,
    IsNull,
    Join,
    Like,
    Name,
    Negative,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Select,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_COUNTED = (
    "count a column of what is joined, COUNT(e.encounter_id): a row without a match is "
    "a row to COUNT(*), to COALESCE and to CASE with ELSE"
)
_TAKES_NULL: Final = frozenset({"coalesce", "greatest", "least", "concat"})
"""Functions that have a value where one of their operands is NULL."""

AGGREGATES = (AggregateCall, CountRows, WithinGroup, QuantileAt)
_STRICT = (Arithmetic, Negative, Cast, Extract, Comparison, Between, Like)

IsLiteral = Callable[[Name], bool]
"""Whether a name is a column of rows in the text, or of a listed table."""


def column_of(named: Mapping[str, AbstractSet[str]]) -> IsLiteral:
    """Return what tells a column of some tables, alone or with its table's name."""
    every = frozenset[str]().union(*named.values())

    def is_one(name: Name) -> bool:
        columns = every if name.qualifier is None else named.get(name.qualifier, ())
        return name.name in columns

    return is_one


def ties(join: Join, is_column: IsLiteral) -> bool:
    """Whether ON or USING of a join speaks of a column of some tables."""
    names = [part for part in parts(join.condition) if isinstance(part, Name)]
    names += [Name(name, None, join.position) for name in join.using]
    return join.is_natural or any(map(is_column, names))


def check_unmatched(select: Select, is_literal: IsLiteral) -> None:
    """Refuse aggregates that would count a literal without a match.

    Raises:
        SqlNotAllowedError: Rule ``constant_rows``.
    """
    said = (select.items, select.having, select.order_by, select.kept)
    plain = mapped(said, in_own_words)
    windows = {
        id(part.function) for part in parts(plain) if isinstance(part, WindowCall)
    }
    rows = _Unmatched(is_literal)
    for part in parts(plain, (Select,)):
        if not isinstance(part, AGGREGATES) or id(part) in windows:
            continue
        if not rows.ignored_by(part):
            detail = "this aggregate has a value where a row meets none"
            raise refuse(
                rules.CONSTANT_ROWS, part.position, detail=detail, hint=_COUNTED
            )
    written = select.groups_by_all if isinstance(select, WrittenSelect) else False
    if not select.group_by and not written:
        detail = "rows in the text that stay without a match are groups of GROUP BY"
        raise refuse(rules.CONSTANT_ROWS, select.position, detail=detail)


def in_own_words(node: object) -> object:
    """Return an aggregate of another dialect as one of the language."""
    if isinstance(node, OtherCall):
        return other_call(node)
    return filtered(node) if isinstance(node, Filtered) else node


class _Unmatched:
    """What expressions are in a row of which every private column is NULL."""

    def __init__(self, is_literal: IsLiteral) -> None:
        self._is_literal = is_literal

    def ignored_by(
        self, tree: AggregateCall | CountRows | WithinGroup | QuantileAt
    ) -> bool:
        """Whether an aggregate ignores the row."""
        match tree:
            case AggregateCall():
                is_left_out = self._adds_nothing if tree.name == "sum" else self.is_null
                return any(map(is_left_out, tree.arguments))
            case WithinGroup():
                return all(self.is_null(item.expression) for item in tree.order_by)
            case QuantileAt():
                return self.is_null(tree.value)
            case CountRows():
                return False

    def _adds_nothing(self, tree: Expression) -> bool:
        """Whether an expression is NULL or 0, which add nothing to a sum."""
        if self.is_null(tree):
            return True
        if isinstance(tree, NumberLiteral):
            return Decimal(tree.text) == 0
        if not isinstance(tree, Case) or tree.operand is not None:
            return False
        rest = [tree.otherwise] if tree.otherwise is not None else []
        return all(
            self._fails(branch.condition) or self._adds_nothing(branch.result)
            for branch in tree.branches
        ) and all(map(self._adds_nothing, rest))

    def is_null(self, tree: Expression) -> bool:  # noqa: C901, PLR0911, PLR0912 - an arm a form
        """Whether an expression is NULL; if not, nothing is known of it."""
        if isinstance(tree, Name):
            return not self._is_literal(tree)
        if isinstance(tree, _STRICT):
            return any(map(self.is_null, _OPERANDS[type(tree)](tree)))
        match tree:
            case NullLiteral():
                return True
            case Not(item):
                return self.is_null(item)
            case InList(value):
                return self.is_null(value)
            case And(items) | Or(items):
                return all(map(self.is_null, items))
            case Case():
                return self._is_null_case(tree)
            case FunctionCall():
                return self._is_null_call(tree)
            case _:
                return False

    def _is_null_call(self, tree: FunctionCall) -> bool:
        found = [self.is_null(each) for each in tree.arguments]
        if tree.name in _TAKES_NULL:
            return bool(found) and all(found)
        return any(found[:1] if tree.name == "nullif" else found)

    def _is_null_case(self, tree: Case) -> bool:
        if tree.otherwise is not None and not self.is_null(tree.otherwise):
            return False
        if tree.operand is not None and self.is_null(tree.operand):
            return True  # it equals nothing
        return all(
            self.is_null(branch.result)
            or (tree.operand is None and self._fails(branch.condition))
            for branch in tree.branches
        )

    def _fails(self, tree: Expression) -> bool:  # noqa: PLR0911 - an arm a form
        """Whether a condition is FALSE or NULL."""
        match tree:
            case And(items):
                return any(map(self._fails, items))
            case Or(items):
                return all(map(self._fails, items))
            case IsNull(value, True):
                return self.is_null(value)
            case BooleanLiteral(False):
                return True
            case _:
                return self.is_null(tree)


_OPERANDS: Mapping[type, Callable[..., tuple[Expression, ...]]] = {
    Arithmetic: lambda tree: (tree.left, tree.right),
    Comparison: lambda tree: (tree.left, tree.right),
    Like: lambda tree: (tree.value, tree.pattern),
    Between: lambda tree: (tree.value,),
    **dict.fromkeys((Negative, Cast, Extract), lambda tree: (tree.value,)),
}
