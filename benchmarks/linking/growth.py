"""Seconds, memory and F1 from ten thousand records to a million, beside splink alone.

Run: ``python -m benchmarks.linking.growth [--most 1000000] [--least 10000]``. A tenth
of the records are duplicates with up to 4 slips, a fifth of the people live together.
Each size and each engine has a process of its own and two threads. F1 is of scored
pairs, before patients are made of them. Prints Markdown, with ours to splink's.
"""

import argparse
import multiprocessing
import resource
import time

from benchmarks.linking.slips import Mix, drawn_records
from benchmarks.linking.tables import Records, database_of, spec_of
from upstream.linkage.scoring.scoring import Scoring

HEAD = (
    "| records | s | MiB | F1 | splink: s | MiB | F1 | s, as a ratio |\n"
    "|---:|---:|---:|---:|---:|---:|---:|---:|"
)
MIX = Mix(1 / 9, most=1, per_field=2, per_record=4, households=0.2)
MILLION = 1_000_000
"""Records from which on splink's usual rules fill the disk."""
_SCALE = 100_000  # records from which on there are more names


def main() -> None:
    """Measure each size, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--least", type=int, default=10_000)
    told = parser.parse_args()
    print(HEAD)
    size = told.least
    while size <= told.most:
        print(line(size), flush=True)
        size *= 10


def line(size: int) -> str:
    """Return the line of a size."""
    splink = by_strict_splink if size >= MILLION else by_splink
    ours, theirs = (in_own_process(way, size) for way in (by_curator, splink))
    cells = [f"{s:.1f} | {peak:,.0f} | {f1:.4f}" for s, peak, f1 in (ours, theirs)]
    return f"| {size:,} | {' | '.join(cells)} | {ours[0] / theirs[0]:.2f} |"


def in_own_process(way, size: int) -> tuple[float, float, float]:
    """Return seconds, peak MiB and F1 of a way to score."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(way, (size,))


def drawn(size: int):
    """Return a database of records, and how many of its pairs are matches."""
    made = list(drawn_records(round(size * 0.9), MIX, 5, max(1, size // _SCALE)))
    persons = [person for person, _ in made]
    records = Records([row for _, row in made], persons, ["records"] * len(made))
    connection = database_of(records)
    numbers = list(range(1, len(persons) + 1))
    connection.execute(
        "CREATE TABLE truth AS SELECT unnest(?) AS number, unnest(?) AS person",
        [numbers, persons],
    )
    return connection, len(persons) - len(set(persons))


def by_curator(size: int) -> tuple[float, float, float]:
    """Learn and score."""
    connection, matches = drawn(size)
    begun = time.perf_counter()
    scoring = Scoring(connection, spec_of())
    parameters = scoring.learn()
    scoring.score(parameters)
    connection.execute(
        'CREATE TABLE found AS SELECT "left" AS one, "right" AS other FROM pair '
        f"WHERE score >= {parameters.link}"
    )
    return time.perf_counter() - begun, peak(), f1_of(connection, matches)


def by_strict_splink(size: int) -> tuple[float, float, float]:
    """Learn and score with splink alone, with rules that bring fewer pairs."""
    return by_splink(size, strict=True)


def by_splink(size: int, *, strict: bool = False) -> tuple[float, float, float]:
    """Learn and score with splink alone."""
    from benchmarks.linking.alone import scored_alone  # noqa: PLC0415 - heavy

    connection, matches = drawn(size)
    begun = time.perf_counter()
    scored_alone(connection, ["records"], strict=strict)
    connection.execute(
        "CREATE TABLE found AS SELECT one, other FROM alone WHERE score >= 0.9"
    )
    return time.perf_counter() - begun, peak(), f1_of(connection, matches)


def peak() -> float:
    """Return the most memory that this process had, in MiB; drawing is part of it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def f1_of(connection, matches: int) -> float:
    """Return F1 of the pairs in ``found``."""
    ((right, found),) = connection.execute(
        "SELECT count(*) FILTER (a.person = b.person), count(*) FROM found "
        "JOIN truth AS a ON a.number = one JOIN truth AS b ON b.number = other"
    ).fetchall()
    return 2 * right / max(1, found + matches)


if __name__ == "__main__":
    main()
