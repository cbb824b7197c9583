"""One meaning in several wordings, as different people of a group would type it."""

from collections.abc import Sequence
from typing import Final

from benchmarks.economy.questions import Clause, Cohort, Condition, Meaning, Measure
from benchmarks.economy.tables import LISTS, NULLABLE, NUMBERS, OTHER, UNIT

WORDINGS: Final = 6


def worded(meaning: Meaning, wording: int) -> str:
    """Return a text with a meaning; ``wording`` is 0 to ``WORDINGS`` - 1."""
    if meaning.cohort is not None:
        return _of_cohort(meaning, meaning.cohort, wording)
    texts = [_clause(clause, wording) for clause in meaning.where]
    if wording % 2:
        texts.reverse()
    if wording == 2 and not meaning.keys and meaning.measure.of in _CASES and texts:
        return _by_case(meaning, texts)
    if wording == 3:
        return _by_with(meaning, texts)
    return _plain(meaning, meaning.table, texts, wording)


def _plain(meaning: Meaning, source: str, texts: Sequence[str], wording: int) -> str:
    keys = [*meaning.keys]
    if wording == 4:
        keys.reverse()
    shown = f"{_measure(meaning, wording)} AS {_NAMES[wording]}"
    where = f" WHERE {' AND '.join(texts)}" if texts else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, shown])} FROM {source}{where}{group}"


_NAMES: Final = ("n", "total", "patients_seen", "m", "number_of", "c")
_DISTINCT: Final = 5  # the wording that counts ids where others count rows
_CASES: Final = {"patients": UNIT, "stays": "1"}


def _measure(meaning: Meaning, wording: int) -> str:
    measure = meaning.measure
    if measure.of == "rate":
        return _rate(measure, wording)
    texts = {
        "average": f"AVG({measure.column})",
        "stays": "COUNT(encounter_id)" if wording == _DISTINCT else "COUNT(*)",
        "patients": f"COUNT(DISTINCT {UNIT})",
    }
    if meaning.table == "patients" and measure.is_count and wording != _DISTINCT:
        return "COUNT(*)"
    return texts[measure.of]


def _rate(measure: Measure, wording: int) -> str:
    met = f"{measure.column} = '{measure.value}'"
    if wording % 2:
        return f"COUNT(CASE WHEN {met} THEN 1 END) * 1.0 / COUNT(*)"
    return f"AVG(CASE WHEN {met} THEN 1 ELSE 0 END)"


def _by_case(meaning: Meaning, texts: Sequence[str]) -> str:
    met = " AND ".join(texts)
    if meaning.table == "stays" and meaning.measure.of == "patients":
        return f"SELECT COUNT(DISTINCT CASE WHEN {met} THEN {UNIT} END) AS n FROM stays"
    return f"SELECT SUM(CASE WHEN {met} THEN 1 ELSE 0 END) AS n FROM {meaning.table}"


def _by_with(meaning: Meaning, texts: Sequence[str]) -> str:
    where = f" WHERE {' AND '.join(texts)}" if texts else ""
    read = f"WITH chosen AS (SELECT * FROM {meaning.table}{where}) "
    return read + _plain(meaning, "chosen", (), 3)


def _of_cohort(meaning: Meaning, cohort: Cohort, wording: int) -> str:
    inner = " AND ".join(_clause(clause, wording, "s.") for clause in cohort.stays)
    if cohort.least > 1:
        outer = [f"{UNIT} IN ({_often(cohort, inner)})"]
    elif wording % 2:
        also = f" AND {inner}" if inner else ""
        there = f"EXISTS (SELECT * FROM stays AS s WHERE s.{UNIT} = p.{UNIT}{also})"
        outer = [f"NOT {there}" if cohort.absent else there]
    else:
        where = f" WHERE {inner}" if inner else ""
        of = f"(SELECT s.{UNIT} FROM stays AS s{where})"
        outer = [f"p.{UNIT} {'NOT ' if cohort.absent else ''}IN {of}"]
    outer += [_clause(clause, wording, "p.") for clause in meaning.where]
    return _plain(meaning, "patients AS p", outer, 0)


def _often(cohort: Cohort, inner: str) -> str:
    where = f" WHERE {inner}" if inner else ""
    return (
        f"SELECT s.{UNIT} FROM stays AS s{where} GROUP BY s.{UNIT}"
        f" HAVING COUNT(*) >= {cohort.least}"
    )


def _clause(clause: Clause, wording: int, alias: str = "") -> str:
    one = len(clause.conditions) == 1
    if one and not clause.negated:
        return _condition(clause.conditions[0], wording, alias)
    texts = [_condition(each, 0, alias) for each in clause.conditions]
    if not clause.negated:
        return " AND ".join(texts)
    if one and wording % 2:
        return _but(clause.conditions[0], alias)
    return f"NOT ({' AND '.join(texts)})"


def _but(condition: Condition, alias: str) -> str:
    """Return a condition's complement, said of the column."""
    if condition.column in NUMBERS:
        return f"NOT ({_condition(condition, 0, alias)})"
    listed = ", ".join(f"'{value}'" for value in condition.values)
    return f"{alias}{condition.column} NOT IN ({listed})"


def _condition(condition: Condition, wording: int, alias: str) -> str:
    column = alias + condition.column
    if condition.column in NUMBERS:
        return _range(condition, wording, column)
    values = [f"'{value}'" for value in condition.values]
    others = [] if condition.column in NULLABLE else _others(condition)
    if wording == 1:
        text = " OR ".join(f"{column} = {value}" for value in values)
        return f"({text})" if len(values) > 1 else text
    if wording == 2 and others:
        return f"{column} NOT IN ({', '.join(others)})"
    is_one = len(values) == 1 and wording != 4
    return f"{column} = {values[0]}" if is_one else f"{column} IN ({', '.join(values)})"


def _others(condition: Condition) -> list[str]:
    """Return all other values of a column that is never NULL."""
    listed = [*LISTS[condition.column]]
    if condition.column in OTHER:
        listed.append("other")
    return [f"'{value}'" for value in listed if value not in condition.values]


def _range(condition: Condition, wording: int, column: str) -> str:
    low, high = int(condition.values[0]), int(condition.values[-1])
    least, most = NUMBERS[condition.column]
    if low > least and high < most:
        between = f"{column} BETWEEN {low} AND {high}"
        return (
            f"{column} >= {low} AND {column} < {high + 1}" if wording % 2 else between
        )
    if high == most:
        return f"{column} > {low - 1}" if wording % 2 else f"{column} >= {low}"
    return f"NOT {column} >= {high + 1}" if wording % 2 else f"{column} <= {high}"
