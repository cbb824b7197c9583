"""Anonymized tables: what Mondrian and Incognito lose on Adult, and how long they take.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.anonymization.tables [--data FOLDER]
[--rows N]``, where the folder holds ``adult/``. Prints Markdown. The figures beside
ours are those of notes/upstream.md, section 1 (measured 2026-11-20 on two shared
cores): a numpy Mondrian with strict medians, ARX aacd487 (warm), anjana 1.2.3. Times
are the least of three, and leave out reading.

GCP counts ranges, and lists of values, by their width among the values of the column;
of hierarchies, by the leaves under a value. So GCPs of hierarchies are not comparable
with those of lists; C_avg and DM are.
"""

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.anonymization.adult import Adult, drawn_like, read_adult
from benchmarks.extraction.corpora import DATA
from upstream.anonymization.columns.columns import number_column
from upstream.anonymization.incognito.incognito import incognito
from upstream.anonymization.measures.loss import losses_of
from upstream.anonymization.measures.queries import draw_queries, query_precision
from upstream.anonymization.measures.risk import risks_after, risks_before
from upstream.anonymization.mondrian.mondrian import mondrian
from upstream.anonymization.principles.anonymity import KAnonymity
from upstream.anonymization.principles.diversity import DistinctDiversity
from upstream.anonymization.principles.principle import AllOf

Made = TypeVar("Made")
WAYS = (
    ("categories by text, median, strict", "by_text", "median", False),
    ("by text, gain, strict", "by_text", "gain", False),
    ("lists, median, strict", "listed", "median", False),
    ("**lists, gain, strict**", "listed", "gain", False),
    ("lists, gain, relaxed", "listed", "gain", True),
    ("hierarchies, median", "generalized", "median", False),
    ("hierarchies, gain", "generalized", "gain", False),
)
"""What it is called, columns, rule, whether relaxed."""
BEFORE = {
    2: "1.04 s, 9,322, .015",
    5: ".55 s, 3,926, .047",
    10: ".34 s, 2,032, .082",
    50: ".27 s, 406, .237",
    100: ".15 s, 202, .313",
}
"""By k, of the numpy Mondrian: time, classes, GCP."""
ARX = {
    (2, 0): ".15 s, .5900; anjana .7150",
    (5, 0): ".14 s, .6608; anjana .7150",
    (10, 0): ".09 s, .6608; anjana 25-29 s, .7150",
    (50, 0): ".08 s, .7150",
    (2, 5): ".9 s, .1754",
    (5, 5): "1.7 s, .2618",
    (10, 5): "1.3 s, .3315; anjana 12.5 s, .341",
    (50, 5): ".5 s, .4869",
}
"""By k and percent of rows that may be suppressed: time and loss."""
ARX_DIVERSE = {
    (2, 0): ".6608",
    (5, 0): ".6608",
    (10, 0): ".6608",
    (50, 0): ".7150",
    (2, 5): ".3563",
    (5, 5): ".3588",
    (10, 5): ".3877",
    (50, 5): ".4869",
}
"""By k and percent: loss where two incomes must be in each class."""
_REPEATS = 3
_AGES = 100  # as many as HIDE's experiment had
_SEED = 18


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=1_000_000, help="generated ones")
    asked = parser.parse_args()
    adult = read_adult(asked.data / "adult")
    print_mondrian(adult)
    print_large(adult, asked.rows)
    print_incognito(adult)
    print_risks(adult)
    print_precision(adult)


def timed(make: Callable[[], Made], repeats: int = _REPEATS) -> tuple[float, Made]:
    """Return the least seconds of some runs, and what the last one made."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        made = make()
        taken.append(time.perf_counter() - start)
    return min(taken), made


def print_mondrian(adult: Adult) -> None:
    """Print what Mondrian loses on Adult."""
    print("| k | Mondrian | s | classes | C_avg | DM | GCP | before: s, classes, GCP |")
    print("|---:|---|---:|---:|---:|---:|---:|---|")
    for k, before in BEFORE.items():
        for name, kind, rule, is_relaxed in WAYS:
            columns = getattr(adult, kind)
            principle = KAnonymity(k)
            print_line(name, columns, principle, (rule, is_relaxed), before)
    both = AllOf((KAnonymity(10), DistinctDiversity(adult.income, 2)))
    for name, kind, rule, is_relaxed in WAYS:
        columns, before = getattr(adult, kind), ".41 s, 1,404"
        print_line(f"{name}, l=2", columns, both, (rule, is_relaxed), before)


def print_line(name, columns, principle, way, before) -> None:
    """Print one way to cut."""
    rule, is_relaxed = way
    seconds, table = timed(
        lambda: mondrian(columns, principle, rule=rule, is_relaxed=is_relaxed)
    )
    lost = losses_of(table, principle.least_size)
    print(
        f"| {principle.least_size} | {name} | {seconds:.3f} | {lost.classes:,} "
        f"| {lost.average_class:.2f} | {lost.discernibility:,} | {lost.gcp:.4f} "
        f"| {before} |",
        flush=True,
    )


def print_large(adult: Adult, rows: int) -> None:
    """Print how long a generated table takes."""
    columns = drawn_like(adult.listed, rows, _SEED)
    print(f"\n| {rows:,} generated rows, k = 10 | s | classes | GCP | before |")
    print("|---|---:|---:|---:|---|")
    for rule, is_relaxed in ("median", False), ("gain", False), ("gain", True):
        seconds, table = timed(
            lambda rule=rule, is_relaxed=is_relaxed: mondrian(
                columns, KAnonymity(10), rule=rule, is_relaxed=is_relaxed
            ),
            repeats=1,
        )
        lost = losses_of(table, 10)
        name = f"{rule}, {'relaxed' if is_relaxed else 'strict'}"
        line = f"{seconds:.2f} | {lost.classes:,} | {lost.gcp:.4f} | 5.9 s"
        print(f"| {name} | {line} |", flush=True)


def print_incognito(adult: Adult) -> None:
    """Print what Incognito finds on Adult."""
    print(
        "\n| k | suppressed | Incognito | s | nodes, minimal | counted | loss | ARX |"
    )
    print("|---:|---:|---|---:|---:|---:|---:|---|")
    diverse = DistinctDiversity(adult.income, 2)
    for percent in (0, 5):
        for k in (2, 5, 10, 50):
            for name, principle, arx in (
                ("k", KAnonymity(k), ARX),
                ("k, l=2", AllOf((KAnonymity(k), diverse)), ARX_DIVERSE),
            ):
                seconds, found = timed(
                    lambda principle=principle, percent=percent: incognito(
                        adult.generalized,
                        principle,
                        suppression=Fraction(percent, 100),
                    )
                )
                share = found.suppressed / len(found.table.classes)
                print(
                    f"| {k} | {share:.2%} of {percent} % | {name} | {seconds:.2f} "
                    f"| {len(found.nodes):,}, {len(found.minimal)} "
                    f"| {found.checked:,} | {found.loss:.4f} | {arx[k, percent]} |",
                    flush=True,
                )


def print_risks(adult: Adult) -> None:
    """Print risks before and after Mondrian."""
    print("\n| k | largest risk | average risk (DAST 6) | alone in their class |")
    print("|---:|---:|---:|---:|")
    raw = risks_before(adult.listed)
    print(f"| as is | {raw.prosecutor:.3f} | {raw.marketer:.4f} | {raw.unique:.2%} |")
    for k in BEFORE:
        risks = risks_after(mondrian(adult.listed, KAnonymity(k)))
        line = f"{risks.prosecutor:.3f} | {risks.marketer:.4f} | {risks.unique:.2%}"
        print(f"| {k} | {line} |")


def print_precision(adult: Adult) -> None:
    """Print how precise 10,000 queries of 100 ages are, as HIDE 5.1.2 asked them."""
    random = np.random.default_rng(_SEED)
    age = adult.listed[0]
    _, values = age.domain.bounds(age.codes, age.codes)
    values = random.choice(values, size=_AGES, replace=False)
    column = number_column("age", values.tolist())
    queries = draw_queries(10_000, int(values.min()), int(values.max()), random)
    print(f"\n| k | precision of 10,000 queries, {_AGES} ages | recall |")
    print("|---:|---:|---:|")
    for k in (1, 2, 3, 5, 10, 20, 50, 100):
        table = mondrian([column], KAnonymity(k))
        found = query_precision(table, "age", values, queries)
        print(f"| {k} | {found.precision:.4f} | {found.recall:.2f} |")


if __name__ == "__main__":
    main()
