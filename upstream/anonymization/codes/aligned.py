"""Copies in which trajectories of codes at ages are aligned in clusters (LDA)."""

from collections.abc import Sequence

from upstream.anonymization.codes.copies import CodesCopy
from upstream.trajectories.codes.ages import age_tree
from upstream.trajectories.codes.tree import CodeTree
from upstream.trajectories.lda.clustering import Cluster, Way, clusters_of
from upstream.trajectories.lda.distances import Aligner
from upstream.trajectories.lda.measures import cohort_loss, level_shares
from upstream.trajectories.lda.queries import (
    average_relative_error,
    expected_answers,
    frequent_queries,
    true_answers,
)
from upstream.trajectories.lda.trajectories import Weights, cohort_of

WIDTHS = (2, 4, 8, 16, 32, 64, 128)
"""Years of the intervals of ages, as in the thesis."""
_OLDEST = 128


class AlignedCodes:
    """Codes at ages of a cohort."""

    def __init__(
        self,
        records: Sequence[Sequence[tuple[str, int]]],
        codes: CodeTree,
        weights: Weights,
        aligner: Aligner,
    ) -> None:
        """Take what is aligned.

        Args:
            records: By record: its codes with the age in completed years.
            codes: What generalises them.
            weights: Of codes and ages in an alignment.
            aligner: How trajectories are aligned.

        Raises:
            ValueError: An age is below 0 or above 127.
        """
        if any(not 0 <= age < _OLDEST for one in records for _, age in one):
            message = "an age is below 0 or above 127 years: mend the column of ages"
            raise ValueError(message)
        ordered = [sorted(one, key=lambda pair: (pair[1], pair[0])) for one in records]
        ages = age_tree(0, _OLDEST - 1, WIDTHS)
        self._cohort = cohort_of(ordered, codes, ages, weights)
        self._way = Way(aligner)
        self._queries = frequent_queries(self._cohort.trajectories)

    @property
    def records(self) -> int:
        """How many there are."""
        return len(self._cohort.trajectories)

    def made(self, k: int) -> CodesCopy:
        """Return a copy in which each trajectory is that of k records.

        Raises:
            ValueError: There are fewer records.
        """
        cohort = self._cohort
        clusters = clusters_of(cohort, k, self._way)
        named = [cohort.losses.named(each.trajectory) for each in clusters]
        published = sorted(
            (trajectory, place)
            for place, trajectory in enumerate(named)
            for _ in clusters[place].members
        )
        members = {
            member.record: place
            for place, each in enumerate(clusters)
            for member in each.members
        }
        lost = cohort_loss(cohort, clusters)
        levels = level_shares(cohort, clusters)
        return CodesCopy(
            ("place", "code", "age"),
            [
                [(str(at), *pair) for at, pair in enumerate(trajectory, 1)]
                for trajectory, _ in published
            ],
            members,
            {
                "clusters": len(clusters),
                "prosecutor": round(1 / min(len(c.members) for c in clusters), 4),
                "marketer": round(len(clusters) / self.records, 4),
                "lm_code": round(lost.code, 4),
                "lm_age": round(lost.age, 4),
                "suppressed": round(lost.suppressed, 4),
                "average_error": self._error(clusters),
                "levels_code": {n: round(s, 4) for n, s in levels.code.items()},
                "levels_age": {n: round(s, 4) for n, s in levels.age.items()},
            },
        )

    def _error(self, clusters: Sequence[Cluster]) -> float | None:
        """Return AvgRE of the pairs, and twos of pairs, that 1 % of records have."""
        if not self._queries:
            return None
        true = true_answers(self._cohort.trajectories, self._queries)
        told = expected_answers(self._cohort, clusters, self._queries)
        return round(average_relative_error(true, told), 4)
