"""Records in a database, judged links, and the tables that are printed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import duckdb

from benchmarks.linking.people import FIELDS, Row
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.patients.settled import (
    Known,
    Rules,
)
from upstream.linkage.patients.settling import settle
from upstream.linkage.records import ScoredPair
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.scoring import Scoring

HEAD = "| {} | P | R | **F1** | doubts |\n|---|---:|---:|---:|---:|"
Pairs = set[tuple[int, int]]
_BATCH = 50_000  # rows that are written at once


@dataclass(frozen=True)
class Records:
    """Records, whose they are, and where they come from; numbered from 1."""

    rows: Sequence[Row]
    persons: Sequence[int]
    sources: Sequence[str]

    def matches(self) -> Pairs:
        """Return all pairs of one person's records."""
        return paired(self.persons)


def paired(owners: Iterable[int]) -> Pairs:
    """Return all pairs of records that have one owner."""
    groups = defaultdict(list)
    for number, owner in enumerate(owners, 1):
        groups[owner].append(number)
    return {pair for group in groups.values() for pair in combinations(group, 2)}


def database_of(records: Records, memory: str = "1500MB") -> duckdb.DuckDBPyConnection:
    """Return a database whose table ``record`` has the records."""
    connection = duckdb.connect(config={"memory_limit": memory, "threads": "2"})
    columns = ", ".join(f"{name} VARCHAR" for name in FIELDS)
    connection.execute(
        f"CREATE TABLE record (number INTEGER, source VARCHAR, id VARCHAR, {columns})"
    )
    for start in range(0, len(records.rows), _BATCH):
        rows = records.rows[start : start + _BATCH]
        numbers = list(range(start + 1, start + 1 + len(rows)))
        sources = list(records.sources[start : start + _BATCH])
        fields = [[row[name] for row in rows] for name in FIELDS]
        given = [numbers, sources, [str(number) for number in numbers], *fields]
        connection.execute(
            f"INSERT INTO record SELECT {', '.join('unnest(?)' for _ in given)}", given
        )
    return connection


def spec_of(once: Sequence[str] = (), method: str = "fellegi_sunter") -> LinkageSpec:
    """Return the declaration: the fields by their kinds, all else as usual."""
    return LinkageSpec(
        fields={name: {"kind": kind} for name, kind in FIELDS.items()},
        once=list(once),
        method={"kind": method},
    )


def linked(
    records: Records, spec: LinkageSpec
) -> tuple[list[int], int, Parameters, Scoring]:
    """Return whose each record is said to be, how many doubts, and what was learnt."""
    connection = database_of(records)
    scoring = Scoring(connection, spec)
    parameters = scoring.learn()
    scoring.score(parameters)
    found = connection.execute(
        'SELECT "left", "right", score, weight, differs FROM pair'
    )
    nothing = [0] * (len(records.rows) + 1)
    settled = settle(
        Known(["", *records.sources], nothing, nothing, lambda number, _: number),
        [ScoredPair(*each) for each in found.fetchall()],
        Rules(parameters.link, parameters.review, frozenset(spec.once), spec.largest),
        score=lambda pairs: scoring.score_pairs(parameters, pairs),
    )
    return settled.keys[1:], len(settled.doubts), parameters, scoring


def print_line(name: str, found: Pairs, matches: Pairs, doubts: str = "") -> None:
    """Print a line: how well pairs were found."""
    right = len(found & matches)
    precision, recall = right / max(1, len(found)), right / max(1, len(matches))
    f1 = 2 * right / max(1, len(found) + len(matches))
    line = f"{precision:.4f} | {recall:.4f} | **{f1:.4f}** | {doubts}"
    print(f"| {name} | {line} |", flush=True)
