"""Columns of values as texts, made what they were declared to be.

An empty text was made None before: a missing value, which is a category of its own.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TypeVar

from privacy.wording import counted
from upstream.anonymization.arrays import Text
from upstream.anonymization.columns.columns import (
    Column,
    HierarchyColumn,
    category_column,
    hierarchy_column,
    number_column,
    ordered_column,
)
from upstream.anonymization.declared.columns import (
    Category,
    Codes,
    Date,
    FromFile,
    Level,
    Number,
    Prefix,
    QuasiIdentifier,
)
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.declared import code_hierarchy
from upstream.anonymization.hierarchies.files import read_hierarchy
from upstream.anonymization.hierarchies.hierarchy import TOP, Hierarchy, hierarchy_of
from upstream.anonymization.hierarchies.intervals import interval_hierarchy
from upstream.errors import Problem
from upstream.manifests.time_formats import format_pattern, iso_text

Read = TypeVar("Read")
Located = Callable[[str], Path]
"""Returns where a file lies that is declared, or refuses it."""
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ].*)?", re.DOTALL)
_QUARTER = 3  # months
_LARGEST = 1e15
"""Numbers are below it: of larger ones a double does not tell each from the next."""


def column_of(
    name: str, spec: QuasiIdentifier, values: Sequence[Text], located: Located
) -> Column | HierarchyColumn:
    """Return a quasi-identifier.

    Args:
        name: Of the column.
        spec: What was declared of it.
        values: By row; None is missing.
        located: Returns where a hierarchy's file lies.

    Raises:
        HierarchyError: Values are not what was declared, or a file is no hierarchy.
    """
    if isinstance(spec, Number) and not spec.widths:
        return number_column(
            name, _each(name, values, _number, "no number below 10^15")
        )
    if isinstance(spec, Category) and spec.order:
        return ordered_column(name, values, spec.order)
    if isinstance(spec, Category):
        return category_column(name, values)
    return generalized_column(name, spec, values, located)


def generalized_column(
    name: str, spec: QuasiIdentifier, values: Sequence[Text], located: Located
) -> HierarchyColumn:
    """Return a quasi-identifier along a hierarchy; categories have only a top.

    Raises:
        HierarchyError: As of ``column_of``; or numbers have no widths.
    """
    if isinstance(spec, Number | Date):
        told = _plain_numbers if isinstance(spec, Number) else _plain_days(spec)
        values = told(name, values)
    known = sorted({value for value in values if value is not None})
    if not known:
        return hierarchy_column(name, values, hierarchy_of(name, [(TOP, TOP)]))
    return hierarchy_column(name, values, _hierarchy(name, spec, known, located))


def _hierarchy(
    name: str, spec: QuasiIdentifier, known: Sequence[str], located: Located
) -> Hierarchy:
    if isinstance(spec, FromFile):
        return read_hierarchy(located(spec.file), spec.file)
    if isinstance(spec, Codes):
        return code_hierarchy(spec.system, known)
    if isinstance(spec, Number):
        if not spec.widths:
            raise _refused(name, "numbers along a hierarchy need widths: [5, 10]")
        numbers = [int(value) for value in known]
        return interval_hierarchy(name, numbers, spec.widths, spec.origin)
    return hierarchy_of(name, [_path(value, spec) for value in known])


def _path(value: str, spec: Date | Category | Prefix) -> tuple[str, ...]:
    if isinstance(spec, Category):
        return (value, TOP)
    if isinstance(spec, Date):
        return _path_of_day(value, spec.levels)
    return _path_of_code(value, spec.lengths)


def _path_of_day(day: str, levels: Sequence[Level]) -> tuple[str, ...]:
    year, month = int(day[:4]), int(day[5:7])
    names = {
        "month": day[:7],
        "quarter": f"{year}-Q{(month - 1) // _QUARTER + 1}",
        "year": f"{year}",
        "decade": f"{year // 10 * 10}-{year // 10 * 10 + 9}",
    }
    return (day, *(names[level] for level in levels), TOP)


def _path_of_code(code: str, lengths: Sequence[int]) -> tuple[str, ...]:
    """Return a code with ever fewer characters.

    >>> _path_of_code("30322", [3, 1])
    ('30322', '303*', '3*', '*')
    """
    return (code, *(_cut(code, length) for length in lengths), TOP)


def _cut(code: str, length: int) -> str:
    return code if len(code) <= length else f"{code[:length]}*"


def _number(text: str) -> float:
    number = float(text)
    if "_" in text or not abs(number) < _LARGEST:
        raise ValueError
    return number


def _plain_numbers(name: str, values: Sequence[Text]) -> list[Text]:
    return _each(name, values, _whole, "no whole number below 10^15")


def _whole(text: str) -> str:
    number = _number(text)
    if not number.is_integer():
        raise ValueError
    return str(int(number))


def _plain_days(spec: Date) -> Callable[[str, Sequence[Text]], list[Text]]:
    read = _day if spec.format is None else _reading(spec.format)
    said = f"no day as {spec.format or '2026-11-05'}"
    return lambda name, values: _each(name, values, read, said)


def _day(text: str) -> str:
    found = _DAY.fullmatch(text)
    return date.fromisoformat(found[1] if found else "").isoformat()


def _reading(format_: str) -> Callable[[str], str]:
    pattern = re.compile(format_pattern(format_, with_clock=True))

    def read(text: str) -> str:
        found = pattern.fullmatch(text)
        told = None if found is None else iso_text(found.groupdict())
        return _day(told or "")

    return read


def _each(
    name: str, values: Sequence[Text], read: Callable[[str], Read], said: str
) -> list[Read | None]:
    """Return values read one by one, each distinct one once.

    Raises:
        HierarchyError: Some cannot be read; none of them is quoted.
    """
    known: dict[str, Read] = {}
    lost: set[str] = set()
    for value in set(values) - {None}:
        try:
            known[str(value)] = read(str(value).strip())
        except ValueError:
            lost.add(str(value))
    if lost:
        rows = [row for row, value in enumerate(values, 1) if value in lost]
        sentence = (
            f"{counted(len(rows), 'value')} {'is' if len(rows) == 1 else 'are'} {said} "
            f"(the first is in row {rows[0]}): mend the file, or declare another kind"
        )
        raise _refused(name, sentence)
    return [None if value is None else known[value] for value in values]


def _refused(name: str, sentence: str) -> HierarchyError:
    return HierarchyError((Problem(name, None, None, sentence),))
