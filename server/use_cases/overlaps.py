"""Which populations share patients: keyed hashes of their ids, in files."""

from pathlib import Path

from sqlalchemy import Connection, select

from server.persistence import tables
from server.use_cases.errors import CommandRefusedError
from server.use_cases.secret_files import OverlapFiles


class Overlaps:
    """Compares and keeps the keyed unit ids of populations."""

    def __init__(self, folder: Path) -> None:
        self._files = OverlapFiles(folder)

    def digest_of(self, connection: Connection, population: str) -> str | None:
        """Return the digest of a population's file; None where it is new."""
        digest: str | None = connection.execute(
            select(tables.population.c.overlap_digest).where(
                tables.population.c.name == population
            )
        ).scalar_one_or_none()
        return digest

    def sharing(
        self, connection: Connection, population: str, fresh: frozenset[bytes]
    ) -> list[str]:
        """Return the other populations that have one of these units.

        Raises:
            CommandRefusedError: A file is missing or was changed.
        """
        others = connection.execute(
            select(tables.population.c.name, tables.population.c.overlap_digest)
            .where(tables.population.c.name != population)
            .order_by(tables.population.c.name)
        ).all()
        return [
            row.name
            for row in others
            if not fresh.isdisjoint(self._known_ids(row.name, row.overlap_digest))
        ]

    def others(self, connection: Connection, population: str) -> list[str]:
        """Return the names of all other populations."""
        name = tables.population.c.name
        wanted = select(name).where(name != population).order_by(name)
        return [str(other) for other in connection.execute(wanted).scalars()]

    def known(self, population: str, digest: str | None) -> frozenset[bytes]:
        """Return the hashes of a population's file; none where it is new.

        Raises:
            CommandRefusedError: The file is missing or was changed.
        """
        return frozenset() if digest is None else self._known_ids(population, digest)

    def add(self, population: str, digest: str | None, fresh: frozenset[bytes]) -> str:
        """Write a population's file with these units too; return its new digest.

        Raises:
            CommandRefusedError: The file is missing or was changed.
        """
        return self._files.write(population, self.known(population, digest) | fresh)

    def _known_ids(self, population: str, digest: str) -> frozenset[bytes]:
        try:
            return self._files.read(population, digest)
        except (OSError, ValueError):
            message = (
                f"the overlap file of population {population!r} is missing or was "
                "changed: bring it back from its backup"
            )
            raise CommandRefusedError(message) from None
