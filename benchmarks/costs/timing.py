"""The processor time of a compiled question."""

import time

import duckdb

from query_lang.plans.compiled import CompiledQuery


def processor_ms(
    connection: duckdb.DuckDBPyConnection, asked: CompiledQuery, repeats: int
) -> float:
    """Return the least milliseconds of this thread that all statements took."""
    taken = []
    for _ in range(repeats):
        start = time.thread_time()
        for statement in asked.rendered.statements:
            connection.execute(statement.sql, list(statement.parameters)).fetchall()
        taken.append(time.thread_time() - start)
    return 1_000 * min(taken)
