"""Our own parsed tree: what was written, where, and nothing of what it means."""

from dataclasses import dataclass
from typing import Literal

ComparisonOperator = Literal["=", "<>", "<", "<=", ">", ">="]
LiteralType = Literal["date", "timestamp"]


@dataclass(frozen=True, order=True, slots=True)
class Position:
    """A place in the text: line and column, both from 1, counted in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Name:
    """A column, perhaps with its table: ``e.age``."""

    name: str
    qualifier: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number as written, its minus included; never rounded."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A string, its doubled quotes resolved."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class TypedLiteral:
    """``DATE '2024-01-31'`` or ``TIMESTAMP '2024-01-31 08:00:00'``."""

    type: LiteralType
    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    """TRUE or FALSE."""

    value: bool
    position: Position


@dataclass(frozen=True, slots=True)
class NullLiteral:
    """NULL where a value could stand; binding refuses it with a hint."""

    position: Position


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class Between:
    """``value [NOT] BETWEEN low AND high``."""

    value: "Expression"
    low: "Expression"
    high: "Expression"
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class InList:
    """``value [NOT] IN (items)``."""

    value: "Expression"
    items: tuple["Expression", ...]
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class IsNull:
    """``value IS [NOT] NULL``."""

    value: "Expression"
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Not:
    """NOT in front of a condition."""

    item: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class And:
    """A chain of two or more conditions."""

    items: tuple["Expression", ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Or:
    """A chain of two or more alternatives."""

    items: tuple["Expression", ...]
    position: Position


@dataclass(frozen=True, slots=True)
class CountRows:
    """``COUNT(*)``."""

    position: Position


@dataclass(frozen=True, slots=True)
class CountDistinct:
    """``COUNT(DISTINCT value)``."""

    value: "Expression"
    position: Position


Expression = (
    Name
    | NumberLiteral
    | StringLiteral
    | TypedLiteral
    | BooleanLiteral
    | NullLiteral
    | Comparison
    | Between
    | InList
    | IsNull
    | Not
    | And
    | Or
    | CountRows
    | CountDistinct
)


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One output column and the name given to it, if any."""

    expression: Expression
    alias: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class TableName:
    """A table of the FROM clause."""

    name: str
    alias: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class Select:
    """A whole query."""

    items: tuple[SelectItem, ...]
    source: TableName
    where: Expression | None
    group_by: tuple[Expression, ...]
    position: Position


Node = Select | SelectItem | TableName | Position | Expression
