"""Which populations share patients: keyed hashes of their ids, in files."""

from collections.abc import Mapping
from pathlib import Path

from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import (
    OverlapFile,
    OverlapFiles,
    split_hashes,
)


class Overlaps:
    """Compares and keeps the keyed unit ids of populations."""

    def __init__(self, folder: Path) -> None:
        self._files = OverlapFiles(folder)

    def sharing(
        self, populations: Mapping[str, str], fresh: frozenset[bytes]
    ) -> tuple[str, ...]:
        """Return the populations that have one of these units, by name.

        Args:
            populations: The digest of each one's file.
            fresh: Keyed hashes of the units.

        Raises:
            CommandRefusedError: A file is missing or was changed.
        """
        return tuple(
            name
            for name, digest in sorted(populations.items())
            if fresh & self.known(name, digest)  # as long whether one is found or none
        )

    def known(self, population: str, digest: str | None) -> frozenset[bytes]:
        """Return the hashes of a population's file; none where it is new.

        Raises:
            CommandRefusedError: The file is missing or was changed.
        """
        if digest is None:
            return frozenset()
        return split_hashes(self.content(population, digest))

    def content(self, population: str, digest: str) -> bytes:
        """Return a population's file.

        Raises:
            CommandRefusedError: It is missing or was changed.
        """
        try:
            return self._files.content(population, digest)
        except (OSError, ValueError):
            message = (
                f"the overlap file of population {population!r} is missing or was "
                "changed: bring it back from its backup"
            )
            raise CommandRefusedError(message) from None

    def keep(self, population: str, file: OverlapFile) -> None:
        """Write a population's file, before the entry that names it commits."""
        self._files.keep(population, file)
