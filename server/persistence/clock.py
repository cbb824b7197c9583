"""The database's clock: the one that all processes of an installation share."""

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class now_ms(FunctionElement[int]):  # noqa: N801 - it is written as a function is
    """Milliseconds since 1970, by the clock of the machine that holds the database."""

    inherit_cache = True
    type = BigInteger()


@compiles(now_ms, "sqlite")
def _on_sqlite(_: now_ms, __: SQLCompiler, **___: object) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(now_ms, "postgresql")
def _on_postgresql(_: now_ms, __: SQLCompiler, **___: object) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
