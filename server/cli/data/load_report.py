"""A load's report as a person reads it: what is not 0."""

from collections.abc import Mapping

_ALWAYS = frozenset({"name", "values"})
"""What a column's report holds of each column, whether anything was changed or not."""


def without_zeros(loaded: Mapping[str, object]) -> dict[str, object]:
    """Return what a load answered without counts of 0, for a terminal.

    Columns of which nothing is told but how many values they have are left out; one
    without a value is told.

    >>> column = {"name": "day", "clamped": 0, "values": 7}
    >>> table = {"name": "stays", "rows_read": 7, "units": 0, "columns": [column]}
    >>> without_zeros({"report": {"tables": [table], "alike_units": {"any": 0}}})
    {'report': {'tables': [{'name': 'stays', 'rows_read': 7}]}}
    """
    return {
        name: _told(value) if isinstance(value, Mapping) else value
        for name, value in loaded.items()
    }


def _told(report: Mapping[object, object]) -> dict[object, object]:
    found = {name: _part(value) for name, value in report.items()}
    return {name: value for name, value in found.items() if not _is_nothing(value)}


def _part(value: object) -> object:
    if isinstance(value, Mapping):
        return _told(value)
    if isinstance(value, list | tuple):
        return [_part(each) for each in value if not _is_unchanged(each)]
    return value


def _is_nothing(value: object) -> bool:
    return value is None or (value in (0, [], {}) and value is not False)


def _is_unchanged(column: object) -> bool:
    """Whether of a column with values nothing but their number is told."""
    if not isinstance(column, Mapping) or not column.get("values"):
        return False
    return all(_is_nothing(v) for name, v in column.items() if name not in _ALWAYS)
