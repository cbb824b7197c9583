"""Tables with unit keys: what a source's files had, and whose each row is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from upstream.linkage.registers.register import Register, quoted
from upstream.linkage.registers.tables import Rows

_AS_CSV = "FORMAT csv, HEADER, USE_TMP_FILE false"  # another file has another mode
_CROSSWALK = (
    "SELECT source, id, standing.key, number AS record, "
    "standing.is_here AS in_latest_export FROM record "
    "JOIN standing USING (number) ORDER BY number"
)

_PARTS = (  # of an id as ``id_of`` makes it: what is meant by "\\" and "\/" in it
    "list_transform(string_split(replace(replace(id, '\\\\', chr(1)), '\\/', chr(2)), "
    "'/'), lambda part: replace(replace(part, chr(1), '\\'), chr(2), '/'))"
)


@dataclass(frozen=True, slots=True)
class SourceIds:
    """What of a source's records are numbers that patients have.

    Attributes:
        source: Its name.
        parts: Of how many columns its id is.
        fields: Fields beside the id that are numbers of one patient alone.
    """

    source: str
    parts: int = 1
    fields: Sequence[str] = ()


def write_keyed(register: Register, rows: Rows, key: str, path: Path) -> int:
    """Write a source's rows as CSV in UTF-8, the unit key as the first column.

    Rows of nobody have none; who loads them drops them, and counts it.

    Args:
        register: The register.
        rows: The source's rows.
        key: The column's name; no column of the files has it.
        path: The file; only its owner reads it.

    Returns:
        How many rows have a key.
    """
    told = ", ".join(
        f"c{number} AS {quoted(name)}" for number, name in enumerate(rows.columns)
    )
    path.touch(mode=0o600)
    register.connection.execute(
        f"COPY (SELECT key AS {quoted(key)}, {told} FROM {rows.table} "  # noqa: S608 - names of ours, quoted
        "LEFT JOIN standing ON standing.number = record ORDER BY row) "
        f"TO {_literal(path)} ({_AS_CSV})"
    )
    return register.count(rows.table, "record IS NOT NULL")


def write_source_ids(
    register: Register, sources: Sequence[SourceIds], path: Path
) -> None:
    """Write which ids each patient has, as Parquet: ``key`` and ``id``, both texts.

    Also those of records that are in no export any more. An id of several columns is
    told whole, and by columns: of a column, as of a field, those values that one
    patient alone has, where most are such, since a site's number is many patients'.

    Args:
        register: The register.
        sources: Whose ids are meant.
        path: The file; only its owner reads it.
    """
    connection = register.connection
    connection.execute("CREATE OR REPLACE TEMP TABLE told (key VARCHAR, id VARCHAR)")
    for one in sources:
        whole = "id" if one.parts == 1 else f"array_to_string({_PARTS}, '/')"
        connection.execute(f"INSERT INTO told {_values(one, whole)}")
        parts = range(1, one.parts + 1) if one.parts > 1 else ()
        for value in (*(f"{_PARTS}[{n}]" for n in parts), *map(quoted, one.fields)):
            connection.execute(
                "INSERT INTO told SELECT key, value FROM ("  # noqa: S608 - names of ours, quoted
                "SELECT value, min(key) AS key, count(DISTINCT key) AS patients "
                f"FROM ({_values(one, value)}) GROUP BY value) QUALIFY patients = 1 "
                "AND 2 * sum(CAST(patients = 1 AS INTEGER)) OVER () > count(*) OVER ()"
            )
    path.touch(mode=0o600)
    connection.execute(
        f"COPY (SELECT DISTINCT key, id FROM told) TO {_literal(path)} "  # noqa: S608 - as above
        "(FORMAT parquet, USE_TMP_FILE false)"
    )
    connection.execute("DROP TABLE told")


def _values(one: SourceIds, value: str) -> str:
    """Return the query of unit keys and of what a source's records have."""
    return (
        f"SELECT * FROM (SELECT CAST(key AS VARCHAR) AS key, {value} AS value "  # noqa: S608 - names of ours, quoted
        f"FROM record JOIN standing USING (number) WHERE source = '{one.source}') "
        "WHERE value <> ''"
    )


def write_crosswalk(register: Register, path: Path) -> int:
    """Write which unit key each id of each source has, as CSV; return how many."""
    path.touch(mode=0o600)
    register.connection.execute(f"COPY ({_CROSSWALK}) TO {_literal(path)} ({_AS_CSV})")
    return register.count("record")


def write_identifiers(register: Register, path: Path) -> int:
    """Write the identifier view as CSV; return how many values it has."""
    path.touch(mode=0o600)
    register.connection.execute(
        f"COPY (FROM identifier ORDER BY key, class, attribute, source, id) "
        f"TO {_literal(path)} ({_AS_CSV})"
    )
    return register.count("identifier")


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
