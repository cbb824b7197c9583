"""Answers computed from the meaning of a question, sharing no code with query_lang.

A question is plain data (see ``Question``); ``to_sql`` writes it as text, and
``evaluate`` counts rows in Python with a three-valued logic of its own. Decimals stay
decimals here, so that nothing is taken from how they are stored.
"""

from dataclasses import dataclass
from decimal import Decimal

COMPARE = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Question:
    """What is asked: measures are "rows" or "units"; a condition is nested tuples."""

    measures: tuple
    keys: tuple = ()
    condition: tuple | None = None
    table_rows: int | None = None  # bounds.tables
    max_rows: int | None = None
    max_groups: int | None = None


# -- meaning -----------------------------------------------------------------


def truth(condition, row):
    """Return True, False or None."""
    kind, *parts = condition
    return MEANINGS[kind](row, *parts)


def value(operand, row):
    kind, content = operand
    return row[content] if kind == "column" else content


def compared(row, operator, left, right):
    a, b = value(left, row), value(right, row)
    return None if a is None or b is None else COMPARE[operator](a, b)


def negation(answer):
    return None if answer is None else not answer


def conjunction(answers):
    if False in answers:
        return False
    return None if None in answers else True


def disjunction(answers):
    return negation(conjunction([negation(answer) for answer in answers]))


def between(row, operand, low, high, negated):
    inside = conjunction(
        [compared(row, ">=", operand, low), compared(row, "<=", operand, high)]
    )
    return negation(inside) if negated else inside


def within(row, column, values, negated):
    found = row[column]
    member = None if found is None else any(found == v for v in values)
    return negation(member) if negated else member


MEANINGS = {
    "compare": compared,
    "between": between,
    "in": within,
    "null": lambda row, column, negated: (row[column] is None) is not negated,
    "boolean": lambda row, column: row[column],
    "not": lambda row, item: negation(truth(item, row)),
    "and": lambda row, *items: conjunction([truth(item, row) for item in items]),
    "or": lambda row, *items: disjunction([truth(item, row) for item in items]),
}


def evaluate(question, rows):
    """Return {cell: tuple of exact counts} for the cells that hold rows."""
    kept = []
    for unit in {row["unit"] for row in rows}:
        own = sorted(
            (r for r in rows if r["unit"] == unit), key=lambda r: r["row_hash"]
        )
        kept += kept_of_unit(question, own)
    cells = {}
    for row in kept:
        cells.setdefault(cell_of(question, row), []).append(row["unit"])
    counts = {"rows": len, "units": lambda units: len(set(units))}
    return {
        cell: tuple(counts[measure](units) for measure in question.measures)
        for cell, units in cells.items()
    }


def kept_of_unit(question, own):
    """Return the rows of one unit, in order of row_hash, that enter the aggregates."""
    own = own[: question.table_rows]
    if question.condition is not None:
        own = [row for row in own if truth(question.condition, row) is True]
    if question.max_groups is not None:
        groups = list(dict.fromkeys(cell_of(question, row) for row in own))
        first = groups[: question.max_groups]
        own = [row for row in own if cell_of(question, row) in first]
    return own[: question.max_rows]


def cell_of(question, row):
    return tuple(row[key] for key in question.keys)


# -- text --------------------------------------------------------------------


def to_sql(question):
    """Write a question as SQL, every part in brackets where it may need them."""
    shown = [*question.keys]
    for index, measure in enumerate(question.measures):
        counted = "*" if measure == "rows" else "DISTINCT patient_id"
        shown.append(f"COUNT({counted}) AS m{index}")
    parts = [f"SELECT {', '.join(shown)}", "FROM encounters"]
    if question.condition is not None:
        parts.append(f"WHERE {condition_sql(question.condition)}")
    if question.keys:
        parts.append(f"GROUP BY {', '.join(question.keys)}")
    return "\n".join(parts)


def condition_sql(condition):
    kind, *parts = condition
    return WRITERS[kind](*parts)


def operand_sql(operand):
    kind, content = operand
    return content if kind == "column" else literal_sql(content)


def literal_sql(content):
    if isinstance(content, bool):
        return str(content).upper()
    if isinstance(content, int | Decimal):
        return f"{content:f}" if isinstance(content, Decimal) else str(content)
    text = str(content)  # dates and times write themselves in ISO
    return "'" + text.replace("'", "''") + "'"


def written_not(negated):
    return "NOT " if negated else ""


WRITERS = {
    "compare": lambda operator, left, right: (
        f"{operand_sql(left)} {operator} {operand_sql(right)}"
    ),
    "between": lambda operand, low, high, negated: (
        f"{operand_sql(operand)} {written_not(negated)}BETWEEN "
        f"{operand_sql(low)} AND {operand_sql(high)}"
    ),
    "in": lambda column, values, negated: (
        f"{column} {written_not(negated)}IN "
        f"({', '.join(literal_sql(v) for v in values)})"
    ),
    "null": lambda column, negated: f"{column} IS {written_not(negated)}NULL",
    "boolean": lambda column: column,
    "not": lambda item: f"NOT ({condition_sql(item)})",
    "and": lambda *items: " AND ".join(f"({condition_sql(i)})" for i in items),
    "or": lambda *items: " OR ".join(f"({condition_sql(i)})" for i in items),
}
