"""Reports clustered and their quasi-identifiers listed, beside Li and Qin 2017.

    OMP_NUM_THREADS=1 python -m benchmarks.trajectories.notes --data FOLDER

The words are mtsamples' own. Months, hospitals and ages are made up: the reports have
few and i2b2's, which the paper used, are not public. Seasons and hospitals go with the
specialty, as associations need something to find; so shapes compare, not digits.
"""

import argparse
import gzip
import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.extraction.corpora import DATA
from upstream.trajectories.dast.drilling import drill_down
from upstream.trajectories.dast.enumeration import (
    Clusters,
    Record,
    Row,
    enumerate_values,
    total_profile_size,
)
from upstream.trajectories.dast.groupings import (
    median_groups,
    range_rows,
    widened_rows,
)
from upstream.trajectories.dast.partition import Halving, partition, purity
from upstream.trajectories.dast.safety import average_risk, unique_share
from upstream.trajectories.dast.scores import (
    count_error,
    drawn,
    enumerated_candidates,
    large_itemsets,
    search_score,
    support_error,
    uniform_candidates,
)
from upstream.trajectories.dast.terms import term_matrix

MONTHS = [f"{y}-{m:02}" for y in range(2005, 2009) for m in range(1, 13)]
HOSPITALS = [f"hospital {number:02}" for number in range(1, 13)]
AGES = [f"{age:03}" for age in range(100)]
DOMAINS = (MONTHS, HOSPITALS, AGES)
MONTH, HOSPITAL, AGE = range(3)
VISITS, PEOPLE = (MONTH, HOSPITAL), (MONTH, AGE)
"""What is published where usefulness is asked, and where risk is, as in the paper."""
SAFE_HARBOR = (lambda month: month[:4], lambda _: "", lambda age: min(age, "090"))
"""Years of visits, no hospital, ages up to 89."""
METHODS = ("Safe Harbor", "k-anonymity", "DAST, no drill-down", "DAST, drill-down")
RUNS = 10
SUPPORT = 10
"""An itemset is large above this count, as in the paper."""
TERMS = 387
"""So many are searched for, and all pairs of them, as in the paper."""
PUBLISHED = """\
Published, Medication (889 notes), k=3, in the order Safe Harbor, k-anonymity, no drill,
drill: month-count error .2171 .1837 .1536 .0683 (table 5); itemset error .4569 .2343
.1358 .0713 (table 6); search score 0 (.0671 if guessed), none, .1723, .2114 (table 7);
average risk .3712 .1698 .1429 .1797 (table 4, age and year)."""


@dataclass(frozen=True)
class Method:
    """How notes are published.

    Attributes:
        rows: By note.
        candidates: Of an attribute, by note, the values to draw from.
    """

    rows: Sequence[Row]
    candidates: Callable[[int], Sequence[Sequence[str]]]


def main() -> None:
    """Print purity and speed of clusters, then how useful and risky notes are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--notes", type=int, help="at most")
    parser.add_argument("--k", type=int, nargs="+", default=[3, 6])
    chosen = parser.parse_args()
    words, labels = read_reports(chosen.data / "mtsamples/mtsamples.jsonl.gz")
    words, labels = words[: chosen.notes], labels[: chosen.notes]
    print_clusters(words, labels)
    records = draw_records(labels)
    terms = search_terms(words)
    print(f"\n{PUBLISHED}")
    for k in chosen.k:
        print(f"\n### k = {k}\n")
        print(
            "| | month-count error | itemset error | search score | average risk "
            "| unique | profiles a cluster | seconds |\n|---|" + "---:|" * 7
        )
        clusters = partition(term_matrix(words, most=0.25), Halving(k))
        for name in METHODS:
            start = time.perf_counter()
            method = published(name, (records, VISITS), clusters, k)
            seconds = time.perf_counter() - start
            scores = scored(records, words, terms, method)
            of_people = published(name, (records, PEOPLE), clusters, k)
            risks = risks_of(records, of_people.rows)
            shown = " | ".join(f"{score:.4f}" for score in (*scores, *risks))
            size = total_profile_size(method.rows, clusters) / len(clusters)
            print(f"| {name} | {shown} | {size:,.1f} | {seconds:.1f} |", flush=True)


def read_reports(path: Path) -> tuple[list[list[str]], list[str]]:
    """Return the words of reports, and the first specialty of each."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        reports = [json.loads(line) for line in file]
    words = [re.findall(r"[a-z]{3,}", each["text"].lower()) for each in reports]
    return words, [each["specialties"][0] for each in reports]


def print_clusters(words: Sequence[Sequence[str]], labels: Sequence[str]) -> None:
    """Print how pure clusters are, and how long they take."""
    start = time.perf_counter()
    matrix = term_matrix(words, most=0.25)
    seconds = time.perf_counter() - start
    print(
        f"{matrix.shape[0]:,} notes, {matrix.shape[1]:,} terms in {seconds:.1f} s\n\n"
        "| least size | repaired | clusters | median size | purity "
        "| scikit-learn's, as noted | seconds |\n" + "|---:" * 7 + "|"
    )
    for least, noted in ((3, 0.742), (6, 0.694), (25, 0.577)):
        for is_repaired in (True, False):
            start = time.perf_counter()
            clusters = partition(matrix, Halving(least, is_repaired=is_repaired))
            seconds = time.perf_counter() - start
            print(
                f"| {least} | {'yes' if is_repaired else 'no'} | {len(clusters)} "
                f"| {statistics.median(map(len, clusters)):g} "
                f"| {purity(clusters, labels):.3f} | {noted} | {seconds:.1f} |"
            )


def draw_records(labels: Sequence[str], seed: int = 2) -> list[Record]:
    """Return a month, a hospital and an age a note, which go with its specialty."""
    draw = random.Random(seed)
    kinds = sorted(set(labels))
    season = {kind: draw.randrange(12) for kind in kinds}
    home = {kind: draw.sample(HOSPITALS, 4) for kind in kinds}
    middle = {kind: draw.randrange(20, 75) for kind in kinds}
    found = []
    for kind in labels:
        month = round(draw.gauss(season[kind], 2)) % 12 + 12 * draw.randrange(4)
        hospital = draw.choice(home[kind] if draw.random() < 0.8 else HOSPITALS)
        age = min(99, max(0, round(draw.gauss(middle[kind], 15))))
        found.append((MONTHS[month], hospital, AGES[age]))
    return found


def search_terms(words: Sequence[Sequence[str]]) -> list[str]:
    """Return the most frequent terms that at most a quarter of the notes have."""
    held = Counter(word for own in words for word in set(own))
    limit = len(words) / 4
    kept = [word for word, count in held.items() if count <= limit]
    return sorted(sorted(kept), key=lambda word: -held[word])[:TERMS]


def published(
    name: str,
    asked: tuple[Sequence[Record], Sequence[int]],
    clusters: Clusters,
    k: int,
) -> Method:
    """Return how a method publishes some attributes of the notes.

    Args:
        name: One of ``METHODS``.
        asked: All records, and which of their attributes are published.
        clusters: By their words.
        k: How many records each profile is of.
    """
    records = [tuple(record[at] for at in asked[1]) for record in asked[0]]
    domains = [DOMAINS[at] for at in asked[1]]
    if name == "Safe Harbor":
        rows = widened_rows(records, [SAFE_HARBOR[at] for at in asked[1]])
    elif name == "k-anonymity":
        rows = range_rows(records, median_groups(records, k, domains), domains)
    else:
        if name == "DAST, drill-down":
            rows = drill_down(records, clusters, k)
        else:
            rows = enumerate_values(records, clusters)
        return Method(
            rows, lambda at: enumerated_candidates(records, clusters, rows, at)
        )
    return Method(rows, lambda at: uniform_candidates(rows, at))


def risks_of(records: Sequence[Record], rows: Sequence[Row]) -> list[float]:
    """Return the average risk and the part of unique records, by month and age."""
    people = [tuple(record[at] for at in PEOPLE) for record in records]
    return [average_risk(people, rows), unique_share(people, rows)]


def scored(
    records: Sequence[Record],
    words: Sequence[Sequence[str]],
    terms: Sequence[str],
    method: Method,
) -> list[float]:
    """Return the errors of months and itemsets, and the search score."""
    known = set(terms)
    items = [sorted(known.intersection(own)) for own in words]
    true = [[*own, *record[:2]] for own, record in zip(items, records, strict=True)]
    values = {value for record in records for value in record[:2]}
    large = {
        itemset: count
        for itemset, count in large_itemsets(true, SUPPORT, 2).items()
        if itemset & values
    }
    months, supports = [], []
    for run in range(RUNS):
        pick = random.Random(run).choice
        month = drawn(method.candidates(MONTH), pick)
        hospital = drawn(method.candidates(HOSPITAL), pick)
        months.append(
            count_error([record[MONTH][-2:] for record in records], of_year(month))
        )
        both = zip(items, month, hospital, strict=True)
        baskets = [[*own, *each] for own, *each in both]
        supports.append(support_error(large, baskets))
    search = search_score(
        words,
        terms,
        [record[HOSPITAL] for record in records],
        [row[HOSPITAL] for row in method.rows],
    )
    return [statistics.fmean(months), statistics.fmean(supports), search]


def of_year(months: Sequence[str]) -> list[str]:
    """Return the months without their years."""
    return [month[-2:] for month in months]


if __name__ == "__main__":
    main()
