"""Repeated codes censored and trajectories aligned, beside Tamersoy's thesis.

    python -m benchmarks.trajectories.codes --only gccens
    python -m benchmarks.trajectories.codes --only lda --cohorts 0 1 2 --k 2 5 10 15

Patients are made up (``cohorts``), so shapes compare, not digits. Run with
``OMP_NUM_THREADS=1``.
"""

import argparse
import random
import statistics
import time
from collections.abc import Sequence

from benchmarks.trajectories.cohorts import (
    COHORTS,
    ILL_IN_SAMPLE,
    POPULATION_MEANS,
    SAMPLE_MEANS,
    Numbers,
    draw_repeats,
    draw_trajectories,
)
from upstream.trajectories.codes.ages import age_tree
from upstream.trajectories.codes.icd9cm import icd9cm_tree
from upstream.trajectories.gccens.censoring import Censored, censor
from upstream.trajectories.gccens.losses import spread_of, utility_losses
from upstream.trajectories.lda.clustering import Way, clusters_of
from upstream.trajectories.lda.measures import cohort_loss, level_shares
from upstream.trajectories.lda.queries import (
    average_relative_error,
    expected_answers,
    frequent_queries,
    true_answers,
)
from upstream.trajectories.lda.trajectories import Cohort, cohort_of

PUBLISHED = {
    (3, 5): 0.046,
    (3, 10): 0.046,
    (3, 25): 0.091,
    (4, 5): 0.080,
    (5, 5): 0.119,
    (6, 5): 0.141,
    (7, 5): 0.156,
    (8, 5): 0.191,
    (9, 5): 0.197,
    (10, 5): 0.213,
}
"""Mean CUL by cap and k (tables 1 and 2)."""
WAYS = {
    "A-GS": Way(),
    "A-GS, members once": Way("a-gs", counts_members=False),
    "Baseline": Way("baseline"),
}
WIDTHS = (2, 4, 8, 16, 32, 64, 128)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["gccens", "lda"])
    parser.add_argument("--people", type=int, default=301_423)
    parser.add_argument("--records", type=int, help="at most, of each cohort")
    parser.add_argument("--cohorts", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--ways", nargs="+", choices=[*WAYS], default=[*WAYS])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 15])
    chosen = parser.parse_args()
    if chosen.only != "lda":
        print_censoring(chosen.people)
    if chosen.only != "gccens":
        for place in chosen.cohorts:
            print_cohort(COHORTS[place], chosen)


def print_censoring(people: int) -> None:
    """Print CUL of 2,676 patients in a population, by cap and k."""
    draw = random.Random(7)
    size = min(2676, people // 100)
    sample = draw_repeats(SAMPLE_MEANS, size, draw, ILL_IN_SAMPLE)
    others = draw_repeats(POPULATION_MEANS, people - len(sample), draw)
    population = [*sample, *others]
    longest = max(map(len, population))
    unique = censor(sample, population, 1, longest).supporters == 1
    print(f"\n{unique.mean():.1%} of the sample fit one person (thesis: about 9%).\n")
    print(
        "| cap | k | CUL | sd | skewness | records changed | CUL with the caps' own "
        "| CUL, while needed | thesis | seconds |\n" + "|---:" * 10 + "|"
    )
    for (cap, k), published in PUBLISHED.items():
        start = time.perf_counter()
        found = censor(sample, population, k, cap)
        seconds = time.perf_counter() - start
        other = censor(sample, population, k, cap, "while_needed")
        print(censoring_line((cap, k), (found, other), published, seconds))


def censoring_line(
    setting: tuple[int, int],
    both: tuple[Censored, Censored],
    published: float,
    seconds: float,
) -> str:
    """Return a line of the table of CUL."""
    found, other = both
    spread = spread_of(utility_losses(found, "capped"))
    original = utility_losses(found).mean()
    least = utility_losses(other, "capped").mean()
    return (
        f"| {setting[0]} | {setting[1]} | {spread.mean:.3f} "
        f"| {spread.standard_deviation:.3f} | {spread.skewness:.2f} "
        f"| {spread.changed:.1%} | {original:.3f} | {least:.4f} "
        f"| {published:.3f} | {seconds:.1f} |"
    )


def print_cohort(numbers: Numbers, chosen: argparse.Namespace) -> None:
    """Print losses and errors of a cohort by k, A-GS beside Baseline."""
    drawn = draw_trajectories(numbers)[: chosen.records]
    codes = sorted({code for record in drawn for code, _ in record})
    cohort = cohort_of(drawn, icd9cm_tree(codes), age_tree(1, 128, WIDTHS))
    queries = frequent_queries(cohort.trajectories)
    print(f"\n{described(numbers, drawn)}; {len(queries)} queries of AvgRE\n")
    print(
        "| k | alignment | ILM | ALM | suppressed | AvgRE | codes at category or below "
        "| ages at 16 years or below | seconds |\n|---:|---|" + "---:|" * 7
    )
    for k in chosen.k:
        for name in chosen.ways:
            print(lda_line(cohort, k, name, queries), flush=True)


def described(numbers: Numbers, drawn: Sequence[Sequence[tuple[str, int]]]) -> str:
    """Return a cohort's numbers beside those of table 3."""
    pairs = {pair for record in drawn for pair in record}
    means = [
        statistics.fmean(map(len, drawn)),
        statistics.fmean(len({code for code, _ in record}) for record in drawn),
        statistics.fmean(len({age for _, age in record}) for record in drawn),
    ]
    return (
        f"{numbers.name}: {len(drawn):,} records ({numbers.records:,} in table 3), "
        f"{len(pairs):,} distinct pairs, {len({c for c, _ in pairs})} codes, "
        f"{means[0]:.2f} pairs a record ({numbers.pairs}), "
        f"{means[1]:.2f} codes ({numbers.codes}), {means[2]:.2f} ages ({numbers.ages})"
    )


def lda_line(cohort: Cohort, k: int, name: str, queries: Sequence) -> str:
    """Return a line of the table of losses."""
    start = time.perf_counter()
    clusters = clusters_of(cohort, k, WAYS[name])
    seconds = time.perf_counter() - start
    lost, levels = cohort_loss(cohort, clusters), level_shares(cohort, clusters)
    error = average_relative_error(
        true_answers(cohort.trajectories, queries),
        expected_answers(cohort, clusters, queries),
    )
    code = levels.code["category"] + levels.code["code"]
    age = sum(levels.age[f"{width} years"] for width in (16, 8, 4, 2))
    age += levels.age["1 year"]
    return (
        f"| {k} | {name} | {lost.code:.3f} | {lost.age:.3f} "
        f"| {lost.suppressed:.1%} | {error:.3f} | {code:.1%} | {age:.1%} "
        f"| {seconds:.0f} |"
    )


if __name__ == "__main__":
    main()
