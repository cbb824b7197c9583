"""Names of output columns: the alias, the column, or the function."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from query_lang.binding.results.computed import is_computed
from query_lang.rewriting.trees import own_name
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    Arithmetic,
    CountRows,
    Expression,
    FunctionCall,
    Name,
    Negative,
    NumberLiteral,
    SelectItem,
)
from query_lang.syntax.refusals import refuse


def output_names(items: Sequence[SelectItem]) -> list[str]:
    """Return the name of each column, all different.

    Raises:
        SqlNotAllowedError: An operator has no name, or two columns have one.
    """
    unnamed: Counter[str] = Counter()
    names: list[str] = []
    for item in items:
        name = item.alias or _own_name(item.expression)
        if name is None:
            raise refuse(rules.NAME_NEEDED, item.position)
        if item.alias is None and _is_measured(item.expression):
            unnamed[name] += 1
            name = name if unnamed[name] == 1 else f"{name}_{unnamed[name]}"
        if name in names:
            raise refuse(
                rules.DUPLICATE_NAME,
                item.position,
                detail=f"two output columns are called {name}",
                hint=f"give one an alias: ... AS {name}_b",
            )
        names.append(name)
    return names


def _is_measured(tree: Expression) -> bool:
    return isinstance(tree, AggregateCall | CountRows) or is_computed(tree)


def _own_name(tree: Expression) -> str | None:
    if isinstance(tree, Arithmetic | Negative) and not is_computed(tree):
        return None
    return own_name(tree)


_OF_TEXTS: Final = frozenset({"left", "right", "substring", "upper", "lower", "trim"})


def call_of_texts(tree: Expression) -> str | None:
    """Return a call that makes a text of a column, as it is written; None of others.

    >>> from query_lang.syntax.nodes import Position
    >>> at = Position(1, 1)
    >>> three = NumberLiteral("3", at)
    >>> call_of_texts(FunctionCall("left", (Name("code", "d", at), three), at))
    'left(d.code, 3)'
    """
    if not isinstance(tree, FunctionCall) or tree.name not in _OF_TEXTS:
        return None
    column, *others = tree.arguments
    numbers = [each.text for each in others if isinstance(each, NumberLiteral)]
    if not isinstance(column, Name) or len(numbers) < len(others):
        return None
    name = f"{column.qualifier}.{column.name}" if column.qualifier else column.name
    return f"{tree.name}({', '.join([name, *numbers])})"
