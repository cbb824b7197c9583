"""Samples of pairs that scoring learns from: the same of the same records and seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
from numpy.typing import NDArray

from upstream.linkage.blocking.blocks import Blocked, block_name
from upstream.linkage.blocking.pairing import allowed_sql, is_new_sql, met_sql
from upstream.linkage.comparing.levels import Comparison
from upstream.linkage.comparing.vectors import code_name, codes_sql, count_name
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.scoring.preparing import PLACE, TABLE, records_of
from upstream.linkage.tables import name_sql

RANDOM_PAIRS = 200_000
"""Pairs drawn at random, for how often two patients' records agree by accident."""
PASS_PAIRS = 25_000
"""Pairs of a pass that are learnt from, about; as many of those of one field."""
_SHARES = 1_000_000  # of blocks, by their hash

Codes = NDArray[np.uint8]
Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Pairs that have something in common, by their patterns of levels' codes.

    Attributes:
        silent: By field: whether its pairs agree on it by construction.
        whole: The place of the field on which all pairs agree, drawn from all pairs
            that do; None: of a pass, whose large blocks may be left out.
        codes: A row a pattern, a column a field.
        counts: Pairs of each pattern, in all they are drawn from as far as they tell.
        drawn: Pairs of each pattern in the sample itself.
        is_new: Whether the pass brings them, and none before it did.
    """

    silent: NDArray[np.bool_]
    whole: int | None
    codes: Codes
    counts: Counts
    drawn: Counts
    is_new: NDArray[np.bool_]


def random_levels(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
) -> list[Counts]:
    """Return, a field, how many random pairs are at each code."""
    names = [
        (code, code_name(each.field))
        for each in comparisons
        for code in range(len(each.levels) + 1)
    ]
    counted = ", ".join(f"count(*) FILTER ({name} = {code})" for code, name in names)
    pairs = codes_sql(comparisons, _random_pairs(spec, records_of(connection)))
    (found,) = connection.execute(f"SELECT {counted} FROM ({pairs})").fetchall()  # noqa: S608 - names are quoted
    levels, start = [], 0
    for each in comparisons:
        end = start + len(each.levels) + 1
        levels.append(np.array(found[start:end], dtype=float))
        start = end
    return levels


def _random_pairs(spec: LinkageSpec, records: int) -> str:
    """Return what brings random pairs of records, or all if they are few."""
    allowed = allowed_sql(spec.once)
    if records * (records - 1) // 2 <= RANDOM_PAIRS:
        return f"{TABLE} AS l JOIN {TABLE} AS r ON l.number < r.number AND {allowed}"
    ends = ", ".join(
        f"(hash(range, {spec.seed}, {side}) % {records} + 1)::INTEGER AS {name}"
        for side, name in enumerate(("one", "other"))
    )
    drawn = f"(SELECT {ends} FROM range({RANDOM_PAIRS}))"  # noqa: S608 - numbers
    return (
        f"{drawn} AS p JOIN {TABLE} AS l ON l.{PLACE} = least(p.one, p.other) "
        f"JOIN {TABLE} AS r ON r.{PLACE} = greatest(p.one, p.other) "
        f"AND l.number < r.number AND {allowed}"
    )


def share_of_exact(
    connection: duckdb.DuckDBPyConnection, comparisons: Sequence[Comparison]
) -> Counts:
    """Return how often two random records have the same value, by field: exactly."""
    each = ", ".join(
        f"coalesce(sum({count_name(one.field)} - 1.0::DOUBLE) "
        f"/ nullif(count({count_name(one.field)}) "
        f"* (count({count_name(one.field)}) - 1.0::DOUBLE), 0), 0)"
        for one in comparisons
    )
    (found,) = connection.execute(f"SELECT {each} FROM {TABLE}").fetchall()  # noqa: S608 - names are quoted
    return np.array(found, dtype=float)


def pass_sample(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    place: int,
    blocked: Blocked,
) -> Sample:
    """Return a sample of the pairs of a pass: all pairs of some of its blocks."""
    share = min(1.0, PASS_PAIRS / max(1, blocked.pairs))
    drawn = f"hash(l.{block_name(place)}, {spec.seed}) % {_SHARES} < {share * _SHARES}"
    pairs = f"{TABLE} AS l JOIN {TABLE} AS r ON {met_sql(place, spec.once)} AND {drawn}"
    found = _patterns(connection, comparisons, pairs, is_new_sql(place))
    codes, many, is_new = found
    silent = np.array([c.field in blocked.rule.fields for c in comparisons])
    return Sample(silent, None, codes, many / share, many, is_new)


def agreeing_sample(
    connection: duckdb.DuckDBPyConnection,
    spec: LinkageSpec,
    comparisons: Sequence[Comparison],
    place: int,
) -> Sample | None:
    """Return a sample of the pairs that agree on a whole field; None if none do.

    It is all such pairs of some records, however frequent their values are.
    """
    field = comparisons[place].field
    count, column = count_name(field), name_sql(field)
    (found,) = connection.execute(
        f"SELECT coalesce(sum({count} - 1.0::DOUBLE), 0) / 2 FROM {TABLE}"  # noqa: S608 - names are quoted
    ).fetchall()
    if not found[0]:
        return None
    share = min(1.0, (PASS_PAIRS / found[0]) ** 0.5)
    drawn = " AND ".join(
        f"hash({side}.number, {spec.seed}, {place}) % {_SHARES} < {share * _SHARES}"
        for side in "lr"
    )
    pairs = (
        f"{TABLE} AS l JOIN {TABLE} AS r ON l.{column} = r.{column} "
        f"AND l.number < r.number AND {allowed_sql(spec.once)} AND {drawn}"
    )
    codes, many, is_new = _patterns(connection, comparisons, pairs, "false")
    silent = np.arange(len(comparisons)) == place
    return Sample(silent, place, codes, many / share**2, many, is_new)


def _patterns(
    connection: duckdb.DuckDBPyConnection,
    comparisons: Sequence[Comparison],
    pairs: str,
    is_new: str,
) -> tuple[Codes, Counts, NDArray[np.bool_]]:
    """Return the patterns of pairs, how many have each, and whether they are new."""
    vectors = codes_sql(comparisons, pairs, [f'{is_new} AS "is:new"'])
    names = ", ".join(code_name(each.field) for each in comparisons)
    found = connection.execute(
        f'SELECT {names}, "is:new", count(*) AS "is:many" FROM ({vectors}) '  # noqa: S608 - names are quoted
        "GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    columns = list(found.values())
    codes = np.column_stack([np.asarray(one, dtype=np.uint8) for one in columns[:-2]])
    many = np.asarray(columns[-1], dtype=float)
    return codes, many, np.asarray(columns[-2], dtype=bool)
