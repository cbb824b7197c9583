"""Tables of records for tests: as written, in a database of their own."""

import duckdb

from upstream.linkage.declared import LinkageSpec


def database_of(rows, fields, sources=None):
    """Return a connection whose ``record`` has these rows, numbered from 1."""
    connection = duckdb.connect(config={"threads": "2"})
    columns = ", ".join(f'"{name}" VARCHAR' for name in fields)
    connection.execute(
        f"CREATE TABLE record (number INTEGER, source VARCHAR, id VARCHAR, {columns})"
    )
    for number, row in enumerate(rows, 1):
        values = [row.get(name) for name in fields]
        source = sources[number - 1] if sources else "all"
        places = ", ".join("?" * (3 + len(values)))
        connection.execute(
            f"INSERT INTO record VALUES ({places})",
            [number, source, str(number), *values],
        )
    return connection


def spec_of(fields, **declared):
    """Return a declaration of fields by their kinds."""
    kinds = {name: {"kind": kind} for name, kind in fields.items()}
    return LinkageSpec(fields=kinds, **declared)
