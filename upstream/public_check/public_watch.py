"""A load's look at what is public: its own tables and lists, and earlier ones."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from privacy.schema import Table
from upstream.errors import IngestionError, Problem
from upstream.files.reading_sql import quoted
from upstream.id_forms.embedded_ids import is_date_sql
from upstream.public_check.public_names import public_names
from upstream.public_check.published_ids import (
    Declared,
    EarlierSnapshot,
    KnownUnits,
    NewUnits,
    Published,
    PublishedIds,
    Texts,
    distinct_texts,
    listed,
    literal_rows,
    refusal,
    stored,
)
from upstream.public_check.row_copies import RowCopies, copy_refusal
from upstream.public_check.row_decimals import RowDecimals
from upstream.public_check.row_ids import RowIds
from upstream.public_check.row_ids import refusal as row_refusal
from upstream.public_check.row_lists import (
    id_warnings,
    list_refusal,
    list_warning,
    lists_of_units,
)
from upstream.public_check.row_values import PrivateRows
from upstream.public_check.whole_datasets import WholeDataset

_OWN, _LOADED = "known_units", "loaded_units"
_OTHER = "other_units_{}"
_WHOLE, _OTHER_WHOLE = "whole_dataset", "other_whole_dataset"


_Search = PublishedIds | WholeDataset


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
        declared: What the load declares, of the tables in database ``snapshot``.
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
        declared: Declared,
        surroundings: Surroundings,
        loaded: KnownUnits | None = None,
    ) -> None:
        self._connection = connection
        self._loaded = loaded
        self._ids = PublishedIds(connection)
        self._whole = WholeDataset(connection, _WHOLE)
        self._rows = RowIds(connection)
        self._decimals = RowDecimals(connection)
        self._copies = RowCopies(connection, declared.schema)
        self._declared = declared
        self._surroundings = surroundings
        self._others: set[str] = set()
        self._not_stored = hashlib.sha256()
        self.warnings: list[str] = []

    @property
    def names_others(self) -> tuple[str, ...]:
        """The other populations of which something public names units."""
        return tuple(sorted(self._others))

    @property
    def not_stored(self) -> str:
        """The SHA-256 of what was compared and is not stored."""
        return self._not_stored.hexdigest()

    def new_units(self) -> NewUnits:
        """Return the units that the population never had, however they are written."""
        return self._ids.units_beyond(self._surroundings.own, _OWN)

    def refuse_lists(self) -> None:
        """Look at names, lists and own hierarchies.

        Raises:
            IngestionError: Some name more than a handful of the population's units.
        """
        self._refuse(_declarations(self._declared))

    def refuse_table(
        self, table: Table, files: Sequence[str], lost: Published = ()
    ) -> None:
        """Look at a public table, once it is stored, and its files' and folders' names.

        Years and days among these count by the odds: many tables have a file for each.

        Args:
            table: What is declared of it.
            files: The names on the way to them.
            lost: What its files hold and it does not
                (``upstream.public_check.lost_texts``).

        Raises:
            IngestionError: A column names more than a handful of the units.
        """
        declared = stored(table, "snapshot", self._declared.coinciding)
        columns = (*declared, *lost)
        place = f"the files' names and folders of {table.name}"
        names, is_day = literal_rows(files), is_date_sql("t")
        days = f"SELECT t FROM ({names}) WHERE {is_day}"  # noqa: S608 - our own query
        rest = f"SELECT t FROM ({names}) WHERE NOT {is_day}"  # noqa: S608 - as above
        named = (
            Texts(place, rest, are_names=True),
            Texts(place, days, is_free=False, are_names=True, is_exact=True),
        )
        self._refuse([(*columns, *named)])
        self._copies.add(table, "snapshot", self._declared.coinciding)
        for texts in (*lost, *named):
            self._not_stored.update(distinct_texts(self._connection, texts))
        for column in filter(self._ids.holds_numbers_of_ids, columns):
            self.warnings.append(
                f"{column.place} holds numbers most of which are ids of the load "
                "without their letters: if they are, whoever reads them reads about "
                "single people, so declare the table's unit_column"
            )

    def refuse_together(self) -> None:
        """Look at all that was looked at, as one.

        Raises:
            IngestionError: It names more than a handful of the population's units.
        """
        self._note_others(self._whole)
        if parts := self._parts_naming_own(self._whole):
            whose = f"population {self._declared.schema.population}"
            raise IngestionError((self._refusal(self._whole.texts, parts, whose),))

    def refuse_rows_of(self, tables: Sequence[PrivateRows]) -> None:
        """Look whether what was looked at identifies rows of the load's private tables.

        Args:
            tables: The private tables, as they are staged, or as they are stored
                where they have derived columns.

        Raises:
            IngestionError: It does.
        """
        unit = self._declared.schema.unit
        found = [
            *self._rows.found_in([c for table in tables for c in table.columns]),
            *self._decimals.found_in([d for table in tables for d in table.decimals]),
        ]
        problems = [row_refusal(one, unit) for one in found]
        copied = self._copies.found_in(tables)
        problems += [copy_refusal(one, unit) for one in copied]
        for table in tables:
            problems += self._refused_lists(table)
        if problems:
            raise IngestionError(tuple(dict.fromkeys(problems)))

    def _refused_lists(self, table: PrivateRows) -> Iterator[Problem]:
        """Yield the refusals of lists of units; warn of what may be one."""
        schema, unit = self._declared.schema, self._declared.schema.unit
        columns = table.of_these(schema.tables[table.table].columns)
        own, coinciding = schema.hierarchies, self._declared.coinciding
        for one in lists_of_units(self._connection, table, columns, own, coinciding):
            if one.are_words:
                yield list_refusal(one, unit)
            else:
                self.warnings.append(list_warning(one, unit))
        for column in table.columns:
            self.warnings += id_warnings(self._connection, column, unit)

    def look_again(self) -> None:
        """Look at a whole load beside what was loaded while it was under way.

        Raises:
            IngestionError: Something that was published since names its units.
        """
        for one in self._published():
            with self._ids.looking_at(one):
                self._note_others(self._ids)
                self._whole.add(one)
        self._note_others(self._whole)
        self.refuse_other_datasets()

    def refuse_published(self) -> None:
        """Look at all that a stored snapshot shows: names, lists, hierarchies, tables.

        Raises:
            IngestionError: Some name more than a handful of the population's units.
        """
        self._refuse(self._published())
        self.refuse_together()

    def _published(self) -> Iterator[Published]:
        yield from _declarations(self._declared)
        for table in self._declared.schema.tables.values():
            if table.is_public:
                yield stored(table, "snapshot", self._declared.coinciding)

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
        declared = earlier.declared
        public = [t for t in declared.schema.tables.values() if t.is_public]
        looked_at = [*_declarations(declared)]
        if public:
            self._attach(name, earlier)
            coinciding = declared.coinciding
            looked_at += [stored(table, "earlier", coinciding) for table in public]
            for table in public if self._loaded is None else ():
                self._copies.add(table, "earlier", coinciding, name)
        try:
            return self._naming_load(looked_at, name)
        finally:
            if public:
                self._connection.execute("DETACH earlier")

    def _naming_load(self, looked_at: Iterable[Published], name: str) -> list[Problem]:
        whose = f"these units in dataset {name}"
        whole, problems = WholeDataset(self._connection, _OTHER_WHOLE), []
        for one in looked_at:
            with self._ids.looking_at(one):
                whole.add(one)
                self._keep(one, name)
                if parts := self._parts_naming_load(self._ids):
                    problems.append(self._refusal(one, parts, whose))
        if not problems and (parts := self._parts_naming_load(whole)):
            problems.append(self._refusal(whole.texts, parts, whose))
        return problems

    def _refusal(
        self, published: Sequence[Texts], parts: tuple[int, ...], whose: str
    ) -> Problem:
        found = [published[part] for part in parts]
        return refusal(found, whose, self._declared.schema.unit)

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
        whose = f"population {self._declared.schema.population}"
        problems = []
        for one in looked_at:
            with self._ids.looking_at(one):
                self._note_others(self._ids)
                self._whole.add(one)
                self._keep(one)
                if parts := self._parts_naming_own(self._ids):
                    problems.append(self._refusal(one, parts, whose))
        if problems:
            raise IngestionError(tuple(problems))

    def _keep(self, published: Published, dataset: str = "") -> None:
        """Keep what is looked at, for the load's private rows: if they are there."""
        if self._loaded is None:
            self._rows.add(published, dataset)
            self._decimals.add(published, dataset)

    def _note_others(self, ids: _Search) -> None:
        for index, (name, known) in enumerate(self._surroundings.others.items()):
            if ids.of_known(known, _OTHER.format(index)):
                self._others.add(name)

    def _parts_naming_load(self, ids: _Search) -> tuple[int, ...]:
        if self._loaded is None:
            return ids.of_this_load()
        return ids.of_known(self._loaded, _LOADED)

    def _parts_naming_own(self, ids: _Search) -> tuple[int, ...]:
        own = self._surroundings.own
        named = self._parts_naming_load(ids)
        return named or (() if own is None else ids.of_known(own, _OWN))


def _declarations(declared: Declared) -> Iterator[Published]:
    """Yield what a schema shows: names, lists, hierarchies."""
    yield public_names(declared)
    yield from listed(declared)
