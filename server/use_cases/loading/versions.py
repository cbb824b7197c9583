"""Versions of what a snapshot is compared with: overlap files, active snapshots.

Loads of different populations run at once. So what was compared is written down, and
asked for again under the lock that recording takes: whatever is another by then is
compared first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Select, select

from server.persistence import tables


@dataclass(frozen=True, slots=True)
class Versions:
    """Which populations and datasets a snapshot is compared with.

    Attributes:
        own: The digest of the overlap file of its own population; None: it is new.
        active: The active snapshot of its own dataset; None: it is new.
        populations: The digest of each other population's overlap file.
        datasets: The active snapshot of each other dataset.
    """

    own: str | None
    active: str | None
    populations: Mapping[str, str]
    datasets: Mapping[str, str]

    @classmethod
    def now(cls, connection: Connection, population: str, dataset: str) -> "Versions":
        """Return what a snapshot of a dataset has to be compared with."""
        one, other = tables.population.c, tables.dataset.c
        populations = _pairs(connection, select(one.name, one.overlap_digest))
        datasets = _pairs(connection, select(other.name, other.active_snapshot))
        own, active = populations.pop(population, None), datasets.pop(dataset, None)
        return cls(own, active, populations, datasets)

    def others_since(self, before: "Versions") -> "Versions":
        """Return what of others was not compared before, or was another then."""
        return Versions(
            None,
            None,
            dict(self.populations.items() - before.populations.items()),
            dict(self.datasets.items() - before.datasets.items()),
        )

    def all_populations(self, own: str) -> dict[str, str]:
        """Return the digest of every population's overlap file; ``own`` is known."""
        return {**self.populations, own: str(self.own)}

    def has_others(self) -> bool:
        """Whether there is any other population or dataset."""
        return bool(self.populations or self.datasets)


class OvertakenError(Exception):
    """Another version is recorded by now than was compared; nothing is written."""


def _pairs(connection: Connection, wanted: Select[str, str]) -> dict[str, str]:
    return {str(name): str(value) for name, value in connection.execute(wanted)}
