"""Columns that each count one value of a column, as groups of it.

``COUNT(*) FILTER (WHERE sex = 'f') AS f, COUNT(*) FILTER (WHERE sex = 'm') AS m`` are
two numbers, which share the loss. As groups of ``sex`` they are one count: a row is in
one group, so that each of them has all of the loss.
"""

import re
from collections.abc import Sequence
from typing import Final

from query_lang.advising.clauses import Outermost, Part, is_of

_VALUE: Final = (
    r"(?P<operand{n}>[\w.\"]+)\s*=\s*(?P<value{n}>'(?:[^']|'')*'|-?\d+(?:\.\d+)?)"
)
_FORMS: Final = (
    r"COUNT\s*\(\s*(?:\*|1)\s*\)\s*FILTER\s*\(\s*WHERE\s+{value}\s*\)",
    r"SUM\s*\(\s*CASE\s+WHEN\s+{value}\s+THEN\s+1\s+(?:ELSE\s+0\s+)?END\s*\)",
    r"COUNT\s*\(\s*CASE\s+WHEN\s+{value}\s+THEN\s+1\s+(?:ELSE\s+NULL\s+)?END\s*\)",
    r"COUNT_?IF\s*\(\s*{value}\s*\)",
)
_ONE_VALUE: Final = re.compile(
    '(?:{})(?:\\s+(?:AS\\s+)?[\\w"]+)?'.format(
        "|".join(
            form.replace("{value}", _VALUE.replace("{n}", str(number)))
            for number, form in enumerate(_FORMS)
        )
    ),
    re.IGNORECASE,
)
_KEPT: Final = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "ORDER"})
_ROWS_LEFT_OUT: Final = frozenset({"TOP", "DISTINCT"})


def grouped_values(text: Outermost) -> tuple[str, str] | None:
    """Return a text whose groups are the columns of another, and what groups it.

    None where its columns are not one value each of one column, with its keys beside.
    """
    if not text.clauses.keys() <= _KEPT or any(_is_place(key) for key in text.keys):
        return None
    if "--" in text.sql or text.clauses["SELECT"].tokens[1].word in _ROWS_LEFT_OUT:
        return None  # what is written behind a comment is one
    counted = [
        item for item in text.items if not any(is_of(item, key) for key in text.keys)
    ]
    values = [_value(text.sql[item.start : item.end]) for item in counted]
    operands = {None if found is None else found[0].lower() for found in values}
    listed = dict.fromkeys(found[1] for found in values if found is not None)
    if len(operands) != 1 or None in operands or not len(values) == len(listed) > 1:
        return None
    operand = next(found[0] for found in values if found is not None)
    return _written(text, counted, operand, list(listed)), operand


def _is_place(key: Part) -> bool:
    return all(token.text.isdigit() for token in key.tokens)


def _value(item: str) -> tuple[str, str] | None:
    found = _ONE_VALUE.fullmatch(item)
    if found is None:
        return None
    parts = [part for part in found.groups() if part is not None]
    return parts[0], parts[1]


def _written(
    text: Outermost, counted: Sequence[Part], operand: str, values: Sequence[str]
) -> str:
    """Return the text, from its end to its beginning so that offsets stay right."""
    sql, clauses = text.sql, text.clauses
    order = clauses.get("ORDER")
    if order is not None:
        sql = f"{sql[: order.start].rstrip()}{sql[order.end :]}"
    keys = [text.sql[key.start : key.end] for key in text.keys]
    grouped = f"GROUP BY {', '.join([*keys, operand])}"
    listed = f"{operand} IN ({', '.join(values)})"
    group, where, source = clauses.get("GROUP"), clauses.get("WHERE"), clauses["FROM"]
    if group is not None:
        sql = f"{sql[: group.start]}{grouped}{sql[group.end :]}"
    else:
        end = (where or source).end
        sql = f"{sql[:end]} {grouped}{sql[end:]}"
    if where is not None:
        first = where.tokens[1].start
        condition = text.sql[first : where.end]
        sql = f"{sql[:first]}({condition}) AND {listed}{sql[where.end :]}"
    else:
        sql = f"{sql[: source.end]} WHERE {listed}{sql[source.end :]}"
    kept = [item for item in text.items if item not in counted]
    items = [text.sql[item.start : item.end] for item in kept]
    whole = ", ".join([*items, operand, "COUNT(*) AS n"])
    return f"{sql[: text.items[0].start]}{whole}{sql[text.items[-1].end :]}"
