"""Further single values, for one cluster or one record at a time.

Drilling all records at once rolls back many that could be drilled alone. A step here is
taken if every profile that records lose by it is then held by k records, or by none:
other profiles keep their counts, so the data set stays k-safe (Li and Qin 2017,
definition 4; the section asks to go on until nothing more can be shown).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from upstream.trajectories.dast.enumeration import Clusters, Record, Row

LONGEST = 2_000
"""A record of more profiles than this stays as it is: trying it would take long."""


class Refining:
    """Rows that are k-safe, and how many records have each of their profiles."""

    def __init__(self, records: Sequence[Record], rows: Sequence[Row], k: int) -> None:
        self._records = records
        self._k = k
        self.rows = list(rows)
        self._counts: Counter[Record] = Counter()
        for row in rows:
            self._counts.update(product(*row))

    def refine(self, clusters: Clusters, attribute: int) -> None:
        """Drill an attribute in all clusters and records that stay safe by it."""
        for cluster in clusters:
            self._try(cluster, attribute)
        for cluster in clusters:
            for record in cluster:
                self._try((record,), attribute)

    def _try(self, numbers: Iterable[int], attribute: int) -> None:
        """Drill some records, if every profile that they lose stays safe."""
        listed = [at for at in numbers if len(self.rows[at][attribute]) > 1]
        lost: Counter[Record] = Counter()
        for at in listed:
            row = self.rows[at]
            others = row[attribute] - {self._records[at][attribute]}
            lost.update(product(*row[:attribute], others, *row[attribute + 1 :]))
            if len(lost) > LONGEST:
                return
        for profile, count in lost.items():
            if 0 < self._counts[profile] - count < self._k:
                return
        for at in listed:
            row, own = self.rows[at], frozenset((self._records[at][attribute],))
            self.rows[at] = (*row[:attribute], own, *row[attribute + 1 :])
        self._counts.subtract(lost)
