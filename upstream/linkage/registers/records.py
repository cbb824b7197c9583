"""Records of rows: one for each id of a source, with the number that it keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from upstream.linkage.declared import LinkageSpec
from upstream.linkage.registers.register import Register, quoted
from upstream.linkage.registers.tables import Rows

_FRESH: Final = "fresh"
_PLACE, _FIRST, _ROWS = '"fresh:place"', '"fresh:first"', '"fresh:rows"'
"""Columns beside those of fields: no field has a colon in its name."""


@dataclass(frozen=True, slots=True)
class Fields:
    """How a source's rows say who they are.

    Attributes:
        rows: The source's rows.
        id: Columns whose values, joined by ``/``, are the id; see ``id_of``.
        fields: Columns of each field, joined by a blank.
    """

    rows: Rows
    id: Sequence[str]
    fields: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a run's rows.

    Attributes:
        records: How many records the register has, gone ones too.
        new: How many are new.
        changed: How many say something else than before.
        gone: How many no export has any more; they keep what they are.
        without_id: By source, how many rows are nobody's.
        divided: By source, how many ids have rows that differ in a field.
        first_new: The first new number.
    """

    records: int
    new: int
    changed: int
    gone: int
    without_id: dict[str, int]
    divided: dict[str, int]
    first_new: int


def record_rows(
    register: Register, spec: LinkageSpec, sources: Sequence[Fields]
) -> Recorded:
    """Give each row its record: that of its id, known or new.

    Of rows of one id that differ, the first value that is no blank is taken. Numbers
    go by the order of the sources and of their rows, so that the same exports bring
    the same numbers.
    """
    _gather(register, spec, sources)
    connection = register.connection
    first_new = 1 + register.count("record")
    fields = [quoted(name) for name in spec.fields]
    changed = register.count(
        f"{_FRESH} JOIN record USING (source, id)",
        " OR ".join(f"{_FRESH}.{f} IS DISTINCT FROM record.{f}" for f in fields),
    )
    before = register.count("record")
    _update(register, fields)
    names = ", ".join(fields)
    connection.execute(
        f"INSERT INTO record (number, source, id, {names}) "  # noqa: S608 - declared identifiers, quoted
        f"SELECT ? - 1 + row_number() OVER (ORDER BY {_PLACE}, {_FIRST}), source, id, "
        f"{names} FROM {_FRESH} ANTI JOIN record USING (source, id)",
        [first_new],
    )
    connection.execute(
        "INSERT INTO standing SELECT number, FALSE, FALSE, 0, 0, 0 FROM record "
        "WHERE number >= ?",
        [first_new],
    )
    connection.execute(
        "UPDATE standing SET is_here = TRUE, rows = told.rows FROM (SELECT "  # noqa: S608 - ours
        f"record.number, {_FRESH}.{_ROWS} AS rows FROM record "
        f"JOIN {_FRESH} USING (source, id)) AS told "
        "WHERE standing.number = told.number"
    )
    for source in sources:
        _name_rows(register, source)
    connection.execute(f"DROP TABLE {_FRESH}")
    records = register.count("record")
    return Recorded(
        records,
        records - before,
        changed,
        register.count("standing", "NOT is_here"),
        {one.rows.source: _nobodys(register, one) for one in sources},
        {one.rows.source: _divided(register, one) for one in sources},
        first_new,
    )


def _gather(register: Register, spec: LinkageSpec, sources: Sequence[Fields]) -> None:
    """Make the table of what the exports say now, a row for each id."""
    columns = "".join(f", {quoted(name)} VARCHAR" for name in spec.fields)
    register.connection.execute(
        f"CREATE OR REPLACE TABLE {_FRESH} ({_PLACE} INTEGER, {_FIRST} BIGINT, "
        f"{_ROWS} BIGINT, source VARCHAR, id VARCHAR{columns})"
    )
    for place, source in enumerate(sources):
        told = ", ".join(
            f"arg_min({value}, row) FILTER ({value} IS NOT NULL)"
            for value in (_value(source, name) for name in spec.fields)
        )
        register.connection.execute(
            f"INSERT INTO {_FRESH} SELECT ?, min(row), count(*), ?, {id_of(source)}, "  # noqa: S608 - names of ours
            f"{told} FROM {source.rows.table} WHERE {id_of(source)} IS NOT NULL "
            "GROUP BY ALL",
            [place, source.rows.source],
        )


def id_of(source: Fields) -> str:
    r"""Return the SQL of a row's id; NULL where a part of it is missing.

    Of several parts each ``/`` and ``\`` within one has a ``\`` before it, so that
    no two ids are one: ``A`` and ``1/2`` are ``A/1\/2``.
    """
    parts = [_trimmed(source.rows.column(name)) for name in source.id]
    if len(parts) == 1:
        return parts[0]
    return " || '/' || ".join(map(_escaped, parts))


def _escaped(part: str) -> str:
    return f"replace(replace({part}, '\\', '\\\\'), '/', '\\/')"


def _trimmed(column: str) -> str:
    return f"nullif(trim({column}), '')"


def _value(source: Fields, field: str) -> str:
    """Return the SQL of a field; NULL where the source has none."""
    columns = [source.rows.column(name) for name in source.fields.get(field, ())]
    if not columns:
        return "CAST(NULL AS VARCHAR)"
    if len(columns) == 1:
        return _trimmed(columns[0])
    return f"nullif(trim(concat_ws(' ', {', '.join(map(_trimmed, columns))})), '')"


def _update(register: Register, fields: Sequence[str]) -> None:
    """Write what known records say now, and mark those that say something else."""
    differs = " OR ".join(f"record.{f} IS DISTINCT FROM fresh.{f}" for f in fields)
    same = "record.source = fresh.source AND record.id = fresh.id"
    register.connection.execute(
        "UPDATE standing SET is_changed = TRUE FROM (SELECT record.number FROM record, "  # noqa: S608 - declared identifiers, quoted
        f"fresh WHERE {same} AND ({differs})) AS told "
        "WHERE standing.number = told.number"
    )
    told = ", ".join(f"{f} = fresh.{f}" for f in fields)
    register.connection.execute(
        f"UPDATE record SET {told} FROM fresh WHERE {same} AND ({differs})"  # noqa: S608 - as above
    )


def _name_rows(register: Register, source: Fields) -> None:
    register.connection.execute(
        f"UPDATE {source.rows.table} AS told SET record = known.number FROM "  # noqa: S608 - names of ours
        "(SELECT number, source, id FROM record) AS known "
        f"WHERE known.source = ? AND known.id = {id_of(source)}",
        [source.rows.source],
    )


def _nobodys(register: Register, source: Fields) -> int:
    return register.count(source.rows.table, "record IS NULL")


def _divided(register: Register, source: Fields) -> int:
    """Return how many ids have rows that say different things of one field."""
    values = [_value(source, name) for name in source.fields]
    differ = " OR ".join(f"count(DISTINCT {value}) > 1" for value in values)
    return register.count(
        f"(SELECT record FROM {source.rows.table} WHERE record IS NOT NULL "  # noqa: S608 - names of ours
        f"GROUP BY record HAVING {differ})"
    )
