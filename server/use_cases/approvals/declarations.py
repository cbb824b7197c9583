"""Public declarations stay fixed across snapshots: find what another one changes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select

from privacy.coincidences import coinciding_places
from privacy.schema import DEFAULT_MAX_LENGTH, DEFAULT_MAX_ROWS, DEFAULT_MAX_UNITS
from privacy.schema_json import JsonObject
from server.persistence import tables
from server.use_cases.approvals.changes import Altered

_TABLE_FACTS = (
    "unit_column", "public", "max_rows_per_unit", "key", "fan_out", "max_rows", "listed"
)  # fmt: skip
_HIERARCHY_FACTS = ("levels", "codes")
_COLUMN_FACTS = (
    "type", "scale", "nullable", "constant_in_unit", "domain", "max_length",
    "expression",
)  # fmt: skip
_POPULATION_FACTS = ("max_units", "unit_fold", "blocks")
_DEFAULTS: Mapping[str, object] = {
    "unit_fold": [],
    "max_length": DEFAULT_MAX_LENGTH,
    "max_rows": DEFAULT_MAX_ROWS,
    "max_units": DEFAULT_MAX_UNITS,
}  # a schema says only what is otherwise

Properties = Mapping[str, object]
"""Places, as people read them, and what is declared there."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One declaration that differs: its place, what it was, what it would be."""

    place: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Declared:
    """All that one snapshot declares, or would: schema, display rule and manifest."""

    schema: JsonObject
    display: JsonObject
    manifest: JsonObject

    def facts(self) -> Mapping[str, Properties]:
        """Return the facts of each thing: tables, columns, hierarchies, display."""
        return dict(self._things())

    def _things(self) -> Iterator[tuple[str, Properties]]:
        specs = self.table_specs()
        for name, table in sorted(_by_name(self.schema["tables"]).items()):
            facts = _facts(name, table, _TABLE_FACTS)
            yield name, {**facts, f"{name}: keep": specs[name].get("keep")}
            for column, told in sorted(_by_name(table["columns"]).items()):
                place = f"{name}.{column}"
                yield place, _facts(place, told, _COLUMN_FACTS)
        for name, told in sorted(_by_name(self.schema.get("hierarchies", [])).items()):
            place = f"hierarchy {name}"
            yield place, _facts(place, told, _HIERARCHY_FACTS)
        yield "display", {"display": self.display}
        declared = self.manifest["population"]
        if isinstance(declared, dict):
            yield "population", population_facts(declared)

    def table_specs(self) -> dict[str, JsonObject]:
        """Return each table as the manifest has it, its files too."""
        return _by_name(self.manifest["tables"])


@dataclass(frozen=True, slots=True)
class Differences:
    """How a declaration differs from its dataset's earlier ones.

    Attributes:
        changed: Declarations that were fixed; the custodian must accept them.
        made_public: Tables that become public, or other ones than they were; they need
            two persons, no flag.
    """

    changed: tuple[Changed, ...] = ()
    made_public: tuple[Changed, ...] = ()

    def altered(self) -> tuple[Altered, ...]:
        """Return all that needs a second person, each place once."""
        places = {one.place: one for one in (*self.changed, *self.made_public)}
        return tuple(Altered(one.place, one.old, one.new) for one in places.values())


def population_facts(declared: Properties) -> dict[str, object]:
    """Return what is declared of a population and holds for each of its datasets."""
    return _facts("population", declared, _POPULATION_FACTS)


def differences_from_active(
    connection: Connection, dataset: Row[tuple[object, ...]], given: Declared
) -> Differences:
    """Return how a declaration differs from a dataset's active and earlier ones."""
    earlier = ever_declared(connection, dataset)
    active = earlier[str(dataset.active_snapshot)]
    return Differences(
        tuple(changed_declarations(active, list(earlier.values()), given)),
        tuple(made_public(active, given)),
    )


def stored_population(connection: Connection, name: str) -> JsonObject | None:
    """Return a population's declaration as it is stored; None where it is new."""
    text = connection.execute(
        select(tables.population.c.declaration).where(tables.population.c.name == name)
    ).scalar_one_or_none()
    return None if text is None else dict(json.loads(text))


def ever_declared(
    connection: Connection, dataset: Row[tuple[object, ...]]
) -> dict[str, Declared]:
    """Return what each snapshot of a dataset declares, by its id, oldest first."""
    rows = connection.execute(
        select(tables.snapshot)
        .where(tables.snapshot.c.dataset == dataset.name)
        .order_by(tables.snapshot.c.created)
    ).all()
    return {str(row.id): declared_in(row) for row in rows}


def declared_in(snapshot: Row[tuple[object, ...]]) -> Declared:
    """Return what a stored snapshot declares."""
    return Declared(
        json.loads(str(snapshot.schema)),
        json.loads(str(snapshot.display)),
        json.loads(str(snapshot.manifest)),
    )


def changed_declarations(
    active: Declared, earlier: Sequence[Declared], given: Declared
) -> list[Changed]:
    """Return the places where ``given`` differs from what was declared before.

    Tables and columns may come and go, but what was ever declared stays so: what the
    active snapshot has is compared with it alone, for two persons agreed on it. What
    it lacks is compared with every one of ``earlier`` (oldest first): whoever drops a
    table and brings it back must not choose which of its declarations counts. A
    changed domain or bound would tell of the data that moved its custodian.
    """
    now = active.facts()
    before = [one.facts() for one in earlier]
    changes: dict[str, Changed] = {}
    for thing, facts in given.facts().items():
        known = (
            [now[thing]] if thing in now else [d[thing] for d in before if thing in d]
        )
        for old in known:
            changes.update(_differences(old, facts))
    return list(changes.values())


def made_public(active: Declared | None, given: Declared) -> list[Changed]:
    """Return the tables that ``given`` makes public, or otherwise than they are.

    Each whole, its files too: nobody approves of a name. Also what ``given`` newly
    declares to be no unit ids, though numbers of it are: it is shown to everybody.
    """
    known = {} if active is None else active.table_specs()
    public = [
        Changed(f"{name}: public", known.get(name), spec)
        for name, spec in sorted(given.table_specs().items())
        if spec.get("public") and spec != known.get(name)
    ]
    before = frozenset() if active is None else coinciding_places(active.manifest)
    coinciding = coinciding_places(given.manifest) - before
    return public + [
        Changed(f"{place}: not_unit_ids", None, new=True)
        for place in sorted(coinciding)
    ]


def _by_name(items: object) -> dict[str, JsonObject]:
    if not isinstance(items, list):
        message = "a schema holds lists of tables and columns"
        raise TypeError(message)
    return {item["name"]: item for item in items}


def _facts(place: str, told: Properties, names: Sequence[str]) -> dict[str, object]:
    found = {name: told.get(name) for name in names}
    return {
        f"{place}: {name}": _DEFAULTS.get(name) if value is None else value
        for name, value in found.items()
    }


def changed_facts(old: Properties, new: Properties) -> list[Changed]:
    """Return the places of ``new`` where ``old`` says something else."""
    return list(_differences(old, new).values())


def _differences(old: Properties, new: Properties) -> dict[str, Changed]:
    return {
        place: Changed(place, old[place], value)
        for place, value in new.items()
        if old[place] != value
    }
