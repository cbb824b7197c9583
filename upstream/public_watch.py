"""A load's look at what is public: its own tables and lists, and earlier ones."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import duckdb

from privacy.coincidences import coinciding_places
from privacy.schema import Table
from upstream.errors import IngestionError, Problem
from upstream.manifest import Manifest
from upstream.published_ids import (
    EarlierSnapshot,
    KnownUnits,
    Published,
    PublishedIds,
    listed,
    refusal,
    stored,
)
from upstream.reading_sql import quoted

_OWN = "known_units"
_OTHER = "other_units_{}"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was loaded before, as far as a load is compared with it.

    Attributes:
        own: The population's overlap file; None: there is none.
        others: Those of other populations, by name.
        snapshots: What other datasets have published, by name.
    """

    own: KnownUnits | None = None
    others: Mapping[str, KnownUnits] = field(default_factory=dict)
    snapshots: Mapping[str, EarlierSnapshot] = field(default_factory=dict)


class PublicWatch:
    """Refuses what is public and names more than a handful of units.

    Units of other populations are only noted: to say so tells who is in them, so it is
    refused where an overlap is, with an entry.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        manifest: Manifest,
        surroundings: Surroundings,
    ) -> None:
        self._connection = connection
        self._ids = PublishedIds(connection)
        self._population = manifest.population
        self._schema = manifest.schema()
        self._coinciding = coinciding_places(json.loads(manifest.canonical_json()))
        self._surroundings = surroundings
        self._others: set[str] = set()

    @property
    def names_others(self) -> tuple[str, ...]:
        """The other populations of which something public names units."""
        return tuple(sorted(self._others))

    def refuse_lists(self) -> None:
        """Look at lists and own hierarchies.

        Raises:
            IngestionError: Some name more than a handful of the population's units.
        """
        self._refuse(listed(self._schema, self._coinciding))

    def refuse_table(self, table: Table) -> None:
        """Look at a public table, once it is stored.

        Raises:
            IngestionError: A column names more than a handful of the units.
        """
        self._refuse(stored(table, "snapshot", self._coinciding))

    def refuse_other_datasets(self) -> None:
        """Look whether anything that other datasets have published names these units.

        Raises:
            IngestionError: It does.
        """
        problems: list[Problem] = []
        for name, earlier in self._surroundings.snapshots.items():
            problems += self._in_dataset(name, earlier)
        if problems:
            raise IngestionError(tuple(problems))

    def _in_dataset(self, name: str, earlier: EarlierSnapshot) -> list[Problem]:
        public = [t for t in earlier.schema.tables.values() if t.is_public]
        looked_at = [*listed(earlier.schema, earlier.coinciding)]
        if public:
            self._attach(name, earlier)
            for table in public:
                looked_at += stored(table, "earlier", earlier.coinciding)
        try:
            return [
                refusal(one, f"these units in dataset {name}", self._population.unit)
                for one in looked_at
                if self._ids.of_this_load(one)
            ]
        finally:
            if public:
                self._connection.execute("DETACH earlier")

    def _attach(self, name: str, earlier: EarlierSnapshot) -> None:
        try:
            self._connection.execute(
                f"ATTACH {quoted(str(earlier.path))} AS earlier (READ_ONLY)"
            )
        except duckdb.Error as error:
            sentence = (
                f"the snapshot of dataset {name} cannot be read, so its public tables "
                "cannot be compared with these units: bring it back from its backup"
            )
            problem = Problem(earlier.path.name, None, None, sentence)
            raise IngestionError((problem,)) from error

    def _refuse(self, looked_at: Iterable[Published]) -> None:
        whose = f"population {self._population.id}"
        problems = [
            refusal(one, whose, self._population.unit)
            for one in looked_at
            if self._names_own(one)
        ]
        if problems:
            raise IngestionError(tuple(problems))

    def _names_own(self, one: Published) -> bool:
        for index, (name, known) in enumerate(self._surroundings.others.items()):
            if self._ids.of_known(one, known, _OTHER.format(index)):
                self._others.add(name)
        own = self._surroundings.own
        return self._ids.of_this_load(one) or (
            own is not None and self._ids.of_known(one, own, _OWN)
        )
