"""Linkage files: whose records are linked, how, and what is loaded with their keys."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from query_lang.binding.outside_domain import nearest_value
from server.use_cases.extraction.declarations import Declared
from server.use_cases.extraction.pipelines.files import Column, Rows, Table
from server.use_cases.extraction.tagging import ModelName
from server.use_cases.loading.fitting import BLOCKS_LINKED
from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.specs import SourceSpec
from upstream.linkage.blocking.keys import BlockingError
from upstream.linkage.blocking.passes import passes_of
from upstream.linkage.declared import Declared as LinkageDeclared
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.registers.keyed import SourceIds
from upstream.linkage.scoring.scoring import RESERVED
from upstream.linkage.sources import Attribute, TableSource
from upstream.manifests.declarations import Identifier, TableSpec
from upstream.manifests.manifest import Manifest, checked_manifest
from upstream.manifests.yaml_nodes import KEY, Place, Places

LINKED = "linked"
"""The folder of tables with unit keys, beside the manifest that loads them."""


class TextTable(LinkageDeclared):
    """What of texts is loaded: as a pipeline's table, its unit the linkage's."""

    rows: Literal["document"] | Rows = "document"
    columns: list[Column] = Field(min_length=1, max_length=200)


class TextSource(LinkageDeclared):
    """Documents of a collection, and what models find in them.

    Attributes:
        name: Names the source, for ever.
        collection: The texts' collection; with ``source``, the one that is read.
        source: Where they are read from; without it they were read before.
        models: The models' names; ``rules`` is one.
        id: The field of a document that names a patient, or a stay, in this source;
            None: each document is a record of its own.
        fields: What is compared: columns, named as the linkage's fields.
        marks: By field, the type of spans that a value is marked as which the loop
            finds; fields that are made of spans are marked as these.
        risks: How risky types are: of the identifier view, and where models disagree.
        table: What of the texts is loaded.
    """

    kind: Literal["texts"]
    name: Identifier
    collection: Identifier
    source: SourceSpec | None = None
    models: list[ModelName] = Field(min_length=1, max_length=10)
    id: str | None = None
    fields: list[Column] = Field(min_length=1, max_length=50)
    marks: dict[Identifier, str] = Field(default_factory=dict)
    risks: dict[str, Literal["direct", "indirect", "health"]] = Field(
        default_factory=dict
    )
    table: TextTable | None = None

    @model_validator(mode="before")
    @classmethod
    def _name_source(cls, told: object) -> object:
        if isinstance(told, dict) and isinstance(source := told.get("source"), dict):
            named = {"name": told.get("collection"), **source}
            return {**told, "source": named}
        return told

    def types(self) -> dict[str, str]:
        """Return as which type the loop marks a value of each field."""
        made = {one.name: one.span for one in self.fields if one.span is not None}
        return {**made, **self.marks}

    def table_of(self, key: str) -> Table | None:
        """Return the table that is loaded, with a unit column of keys."""
        if self.table is None:
            return None
        unit = Column(name=key, field=key)
        return Table(
            name=self.name, rows=self.table.rows, unit=unit, columns=self.table.columns
        )


Source = Annotated[TableSource | TextSource, Field(discriminator="kind")]


class Linkage(Declared):
    """Sources, how their records are linked, and what is loaded with unit keys.

    Attributes:
        linkage: Its name.
        key: The name of the column of unit keys.
        sources: By whose order records are numbered.
        match: How records are compared and linked.
        opinions: How many clerks have to agree on a doubtful pair.
        rounds: How often records are linked, until nothing changes: from the second
            time on, texts are searched for what is known of their patients.
        load: A manifest whose tables are named as sources, without their files; other
            tables are public, and have theirs.
    """

    linkage: Identifier
    key: Identifier = "patient_key"
    sources: list[Source] = Field(min_length=1, max_length=50)
    match: LinkageSpec
    opinions: int = Field(default=1, ge=1, le=5)
    rounds: int = Field(default=1, ge=1, le=10)
    load: dict[str, object] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for message in self._flaws():
            raise ValueError(message)
        return self

    def _flaws(self) -> Iterator[str]:
        names = [one.name for one in self.sources]
        if len(set(names)) < len(names):
            yield "two sources have one name"
        yield from self._unknown_names(names)
        yield from self._wrong_match()
        texts = self.texts
        for said, count in (
            ("are read", sum(one.source is not None for one in texts)),
            ("have a table", sum(one.table is not None for one in texts)),
        ):
            if count > 1:
                yield f"{count} sources of texts {said}: one may"
        if self.load is not None and self.population != _population_of(self.load):
            yield "load: its population is another than the linkage's"

    def _wrong_match(self) -> Iterator[str]:
        for name in sorted(RESERVED & self.match.fields.keys()):
            yield f"match.fields: {name} is what every record has: call it otherwise"
        method, fields = self.match.method, list(self.match.fields)
        for name in method.weights if method.kind == "weighted_sum" else ():
            if name not in fields:
                yield _unknown("field", name, fields, "match.method.weights")
        try:
            passes_of(self.match)
        except BlockingError as error:
            yield f"match.blocking: {error}"

    def _unknown_names(self, names: list[str]) -> Iterator[str]:
        fields = list(self.match.fields)
        for source in self.sources:
            for field in _fields_of(source):
                if field not in fields:
                    yield _unknown("field", field, fields, source.name)
        for name in self.match.once:
            if name not in names:
                yield _unknown("source", name, names, "once")

    @property
    def tables(self) -> list[TableSource]:
        """The sources that are tables."""
        return [one for one in self.sources if isinstance(one, TableSource)]

    @property
    def texts(self) -> list[TextSource]:
        """The sources that are texts."""
        return [one for one in self.sources if isinstance(one, TextSource)]

    def source_ids(self) -> list[SourceIds]:
        """Return what of the sources' records are numbers that patients have.

        A document is no patient: sources of texts that name no id have none. Nor is
        what a model took for a number somebody's, until records say so.
        """
        numbers = {n for n, one in self.match.fields.items() if one.kind == "id"}
        tables = (
            SourceIds(one.name, len(one.id), sorted(numbers & one.fields.keys()))
            for one in self.tables
        )
        return [*tables, *(SourceIds(t.name) for t in self.texts if t.id is not None)]

    def id_columns(self) -> frozenset[str]:
        """Return the columns that say, each alone, whose a source's rows are."""
        return frozenset(one.id[0] for one in self.tables if len(one.id) == 1)

    def attribute(self, field: str) -> Attribute:
        """Return what a field is in the identifier view, by its kind."""
        kind = self.match.fields[field].kind
        few = {"date", "place", "code", "category", "number"}
        return "quasi_identifier" if kind in few else "identifier"


def _fields_of(source: TableSource | TextSource) -> list[str]:
    if isinstance(source, TableSource):
        return list(source.fields)
    return [*(one.name for one in source.fields), *source.marks]


def _unknown(what: str, said: str, known: list[str], where: str) -> str:
    near = nearest_value(said, known)
    meant = f"did you mean {near}?" if near else f"it knows {', '.join(known)}"
    return f"{where}: no {what} {said!r}: {meant}"


def _population_of(load: dict[str, object]) -> object:
    told = load.get("population")
    return told.get("id") if isinstance(told, dict) else told


def manifest_of(linkage: Linkage, file: str, places: Places) -> Manifest | None:
    """Return the manifest that loads a linkage's tables; None: nothing is loaded.

    Args:
        linkage: The linkage.
        file: Its path, for problems.
        places: Of its nodes.

    Raises:
        IngestionError: Every problem found, with its line and column.
    """
    if linkage.load is None:
        return None
    made = _made(linkage)
    said = f"by the linkage {linkage.linkage}"
    whole: dict[str, object] = {"linked": said, **linkage.load}
    tables = linkage.load.get("tables")
    if isinstance(tables, list):
        whole["tables"] = [
            {**one, "files": [f"{LINKED}/{one['name']}.csv"]}
            if isinstance(one, dict) and one.get("name") in made
            else one
            for one in tables
        ]
        _refuse(file, places, list(_strangers(tables, made)))
    inside = {at[1:]: place for at, place in places.items() if at[:1] == ("load",)}
    manifest = checked_manifest(whole, inside, file)  # type: ignore[arg-type] # it was read from YAML
    _refuse(file, places, list(_misfits(linkage, manifest, made)))
    return manifest


def _refuse(file: str, places: Places, problems: Sequence[tuple[Place, str]]) -> None:
    if problems:
        raise IngestionError(
            tuple(_problem(file, places, place, said) for place, said in problems)
        )


def _strangers(
    tables: Sequence[object], made: list[str]
) -> Iterator[tuple[Place, str]]:
    """Yield what tables say that a source's cannot, or that only a source's may.

    A source's table is private, and its rows are the source's, whatever it says; other
    tables have files.
    """
    for number, one in enumerate(tables):
        if not isinstance(one, dict) or not isinstance(name := one.get("name"), str):
            continue
        place: Place = ("load", "tables", number)
        if name in made and one.get("public"):
            said = f"load: {name} is a source of the linkage: call a public table"
            yield place, f"{said} otherwise"
        elif name in made and (files := _FILES.intersection(one)):
            keys = ", ".join(sorted(files))
            yield place, f"load: {name} has its source's rows: leave out its {keys}"
        elif name not in made and not one.get("public") and "files" not in one:
            yield place, _no_source(name, made)


_FILES = frozenset({"files", "csv", "excel", "database"})
"""Keys of where a table's rows are: those of a linked table are its source's."""


def _no_source(name: str, made: list[str]) -> str:
    return f"load: {_unknown('source', name, made, 'tables')}"


def _made(linkage: Linkage) -> list[str]:
    """Return the names of the tables that a linkage makes."""
    texts = (one.name for one in linkage.texts if one.table is not None)
    return [*(one.name for one in linkage.tables), *texts]


def _misfits(
    linkage: Linkage, manifest: Manifest, made: list[str]
) -> Iterator[tuple[Place, str]]:
    """Yield what of a manifest does not fit its linkage: where, and a sentence."""
    if manifest.population.unit_type != "integer":
        said = "load: unit keys are whole numbers: declare unit_type: integer"
        yield ("load", "population", KEY), said
    if manifest.population.blocks is not None:
        yield ("load", "population", KEY), f"load: {BLOCKS_LINKED}"
    private = Counter(one.name for one in manifest.tables if not one.public)
    for number, table in enumerate(manifest.tables):
        place: Place = ("load", "tables", number)
        if table.public:
            continue
        if table.name not in made:
            yield place, _no_source(table.name, made)
        elif _unit_columns(table) != (linkage.key,):
            yield place, f"load: the unit_column of {table.name} is {linkage.key}"
    if not private:
        yield ("load", "tables", KEY), "load: no table is one of the linkage's sources"


def _unit_columns(table: TableSpec) -> tuple[str, ...]:
    """Return the names of the file's column that a table's unit is read from."""
    units = (c for c in table.columns if c.name == table.unit_column)
    return next((unit.file_columns for unit in units), ())


def _problem(file: str, places: Places, place: Place, said: str) -> Problem:
    """Return a problem with its node's place: the manifest's, if that is not known."""
    line, column = places.get(place) or places.get(("load", KEY)) or (None, None)
    return Problem(file, line, column, said)
