"""A load's look at what is public: its own tables and lists, and earlier ones."""

import json
from collections.abc import Iterable, Iterator, Mapping
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

_OWN, _LOADED = "known_units", "loaded_units"
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

    Args:
        connection: It has the keys, and the load's units in ``temp.forms``.
        manifest: Of the load.
        surroundings: What it is compared with.
        loaded: Its units, where it has ended and ``temp.forms`` is gone.

    Attributes:
        warnings: What may be ids all the same, for the custodian alone.

    Units of other populations are only noted: to say so tells who is in them, so it is
    refused where an overlap is, with an entry.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        manifest: Manifest,
        surroundings: Surroundings,
        loaded: KnownUnits | None = None,
    ) -> None:
        self._connection = connection
        self._loaded = loaded
        self._ids = PublishedIds(connection)
        self._population = manifest.population
        self._schema = manifest.schema()
        self._coinciding = coinciding_places(json.loads(manifest.canonical_json()))
        self._surroundings = surroundings
        self._others: set[str] = set()
        self.warnings: list[str] = []

    @property
    def names_others(self) -> tuple[str, ...]:
        """The other populations of which something public names units."""
        return tuple(sorted(self._others))

    def new_units(self) -> int:
        """Return how many units the population never had, however they are written."""
        return self._ids.units_beyond(self._surroundings.own, _OWN)

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
        columns = stored(table, "snapshot", self._coinciding)
        self._refuse([columns])
        for column in filter(self._ids.holds_numbers_of_ids, columns):
            self.warnings.append(
                f"{column.place} holds numbers most of which are ids of the load "
                "without their letters: if they are, whoever reads them reads about "
                "single people, so declare the table's unit_column, or leave it out"
            )

    def look_again(self) -> None:
        """Look at a whole load beside what was loaded while it was under way.

        Raises:
            IngestionError: Something that was published since names its units.
        """
        public = [table for table in self._schema.tables.values() if table.is_public]
        for one in (
            *listed(self._schema, self._coinciding),
            *(stored(table, "snapshot", self._coinciding) for table in public),
        ):
            with self._ids.looking_at(one):
                self._note_others()
        self.refuse_other_datasets()

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
            coinciding = earlier.coinciding
            looked_at += [stored(table, "earlier", coinciding) for table in public]
        try:
            return [*self._naming_load(looked_at, f"these units in dataset {name}")]
        finally:
            if public:
                self._connection.execute("DETACH earlier")

    def _naming_load(
        self, looked_at: Iterable[Published], whose: str
    ) -> Iterator[Problem]:
        for one in looked_at:
            with self._ids.looking_at(one):
                if parts := self._parts_naming_load():
                    yield self._refusal(one, parts, whose)

    def _refusal(
        self, published: Published, parts: tuple[int, ...], whose: str
    ) -> Problem:
        places = [published[part].place for part in parts]
        return refusal(places, whose, self._population.unit)

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
        problems = []
        for one in looked_at:
            with self._ids.looking_at(one):
                self._note_others()
                if parts := self._parts_naming_own():
                    problems.append(self._refusal(one, parts, whose))
        if problems:
            raise IngestionError(tuple(problems))

    def _note_others(self) -> None:
        for index, (name, known) in enumerate(self._surroundings.others.items()):
            if self._ids.of_known(known, _OTHER.format(index)):
                self._others.add(name)

    def _parts_naming_load(self) -> tuple[int, ...]:
        if self._loaded is None:
            return self._ids.of_this_load()
        return self._ids.of_known(self._loaded, _LOADED)

    def _parts_naming_own(self) -> tuple[int, ...]:
        own = self._surroundings.own
        named = self._ids.of_this_load()
        return named or (() if own is None else self._ids.of_known(own, _OWN))
