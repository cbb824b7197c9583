"""Blocks: a column of each pass in ``compared``, NULL where a block is too large."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from upstream.linkage.blocking.keys import pass_sql
from upstream.linkage.blocking.passes import Pass
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.tables import name_sql

PAIRS_PER_RECORD = 3
"""Pairs that a pass may bring for each record, on average."""
FEWEST_PAIRS = 200_000
"""Pairs that a pass may bring however few the records are."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """What a pass brings together.

    Attributes:
        rule: The pass.
        pairs: Pairs of records in its blocks.
        largest: Records of the largest block that is compared.
        left_out: Blocks that are too large to be compared.
        left_out_records: The records in them.
    """

    rule: Pass
    pairs: int
    largest: int
    left_out: int
    left_out_records: int


def block_name(place: int) -> str:
    """Return the column of a pass by its place from 0."""
    return name_sql(f"block:{place}")


def blocks_sql(passes: Sequence[Pass], spec: LinkageSpec) -> str:
    """Return the columns of all passes."""
    return ", ".join(
        f"{pass_sql(each.keys, [spec.fields[key.field].kind for key in each.keys])} "
        f"AS {block_name(place)}"
        for place, each in enumerate(passes)
    )


def leave_out_large(
    connection: duckdb.DuckDBPyConnection, table: str, place: int, rule: Pass
) -> Blocked:
    """Set the names of too large blocks of a pass to NULL; return what is left.

    The smallest blocks are kept, as many as bring no more pairs than a pass may.
    """
    column = block_name(place)
    sizes = connection.execute(
        f"SELECT size, count(*) FROM (SELECT count(*) AS size FROM {table} "  # noqa: S608 - our own names
        f"WHERE {column} IS NOT NULL GROUP BY {column}) WHERE size > 1 "
        "GROUP BY size ORDER BY size"
    ).fetchall()
    (records,) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0]  # noqa: S608
    kept, pairs = _kept(sizes, max(FEWEST_PAIRS, PAIRS_PER_RECORD * records))
    large = [(size, blocks) for size, blocks in sizes if size > kept]
    if large:
        connection.execute(
            f"UPDATE {table} SET {column} = NULL WHERE {column} IN (SELECT {column} "  # noqa: S608
            f"FROM {table} GROUP BY {column} HAVING count(*) > {kept})"
        )
    left_out = sum(blocks for _, blocks in large)
    return Blocked(rule, pairs, kept, left_out, sum(s * b for s, b in large))


def _kept(sizes: Sequence[tuple[int, int]], most: int) -> tuple[int, int]:
    """Return the size of the largest block to keep, and all pairs of those kept."""
    kept, pairs = 0, 0
    for size, blocks in sizes:
        more = blocks * size * (size - 1) // 2
        if pairs + more > most:
            break
        kept, pairs = size, pairs + more
    return kept, pairs
