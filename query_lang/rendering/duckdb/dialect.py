"""DuckDB's SQL as a dialect; what a plan costs is calibrated for this one."""

from typing import Final

from query_lang.rendering.dialect import Dialect
from query_lang.rendering.duckdb.render import render_cube, render_plan
from query_lang.rendering.duckdb.sequences import render_sequences

DUCKDB: Final = Dialect(query=render_plan, cube=render_cube, sequences=render_sequences)
