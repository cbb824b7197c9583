"""How much anonymized trajectories lost, and on which levels their values are.

Source: Tamersoy 2011, definitions 7 and 8, figures 13 and 14. Definition 8 divides by
the pairs that are left, so that what is suppressed is free and an empty trajectory is
0 / 0; here it is the pairs that a record had.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from upstream.trajectories.lda.clustering import Cluster
from upstream.trajectories.lda.losses import LossTable
from upstream.trajectories.lda.trajectories import Cohort, Pair


@dataclass(frozen=True, slots=True)
class CohortLoss:
    """Mean losses of the records, from 0 (none) to 1 (all suppressed).

    Attributes:
        code: ILM.
        age: ALM.
        suppressed: Which part of all pairs is not published at all.
    """

    code: float
    age: float
    suppressed: float


def cohort_loss(cohort: Cohort, clusters: Sequence[Cluster]) -> CohortLoss:
    """Return what a cohort lost, unweighted; records without pairs lose nothing."""
    code, age = cohort.losses.code.replacing, cohort.losses.age.replacing
    totals, gone, pairs = [0.0, 0.0], 0, 0
    for own in fates(cohort, clusters):
        pairs += len(own)
        gone += sum(after is None for _, after in own)
        for before, after in own:
            c, a = after or (0, 0)
            totals[0] += float(code[before[0], c]) / len(own)
            totals[1] += float(age[before[1], a]) / len(own)
    records = max(1, len(cohort.trajectories))
    return CohortLoss(totals[0] / records, totals[1] / records, gone / max(1, pairs))


@dataclass(frozen=True, slots=True)
class LevelShares:
    """Which part of the values is on each level, the root's first; sums to 1.

    Attributes:
        code: By the name of the level; what is suppressed is at the root.
        age: The same.
    """

    code: dict[str, float]
    age: dict[str, float]


def level_shares(cohort: Cohort, clusters: Sequence[Cluster]) -> LevelShares:
    """Return the levels of all pairs as they are published."""
    after = [end or (0, 0) for own in fates(cohort, clusters) for _, end in own]
    code, age = cohort.losses.code, cohort.losses.age
    return LevelShares(
        _shares(code, after, lambda pair: pair[0]),
        _shares(age, after, lambda pair: pair[1]),
    )


def _shares(
    table: LossTable, pairs: Sequence[Pair], part: Callable[[Pair], int]
) -> dict[str, float]:
    depths = Counter(int(table.tree.depths[table.nodes[part(pair)]]) for pair in pairs)
    names = table.tree.levels or tuple(map(str, range(table.tree.depths.max() + 1)))
    return {
        name: depths[depth] / max(1, len(pairs)) for depth, name in enumerate(names)
    }


def fates(
    cohort: Cohort, clusters: Sequence[Cluster]
) -> Iterator[list[tuple[Pair, Pair | None]]]:
    """Yield, for each record, what became of each pair; None if it is suppressed."""
    for cluster in clusters:
        for member in cluster.members:
            own = cohort.trajectories[member.record]
            after = dict(zip(member.kept, cluster.trajectory, strict=True))
            yield [(pair, after.get(at)) for at, pair in enumerate(own)]
