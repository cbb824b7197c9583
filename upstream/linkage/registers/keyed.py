"""Tables with unit keys: what a source's files had, and whose each row is."""

from pathlib import Path

from upstream.linkage.registers.register import Register, quoted
from upstream.linkage.registers.tables import Rows

_AS_CSV = "FORMAT csv, HEADER, USE_TMP_FILE false"  # another file has another mode
_CROSSWALK = (
    "SELECT source, id, standing.key, number AS record, "
    "standing.is_here AS in_latest_export FROM record "
    "JOIN standing USING (number) ORDER BY number"
)


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
