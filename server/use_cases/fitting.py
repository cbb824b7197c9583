"""Does a manifest fit what is stored? What was declared stays so."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from privacy.losses import Loss
from privacy.schema_json import dataset_to_json
from server.persistence import tables
from server.use_cases.answers import Document
from server.use_cases.declarations import Changed, changed_declarations, made_public
from server.use_cases.errors import CommandRefusedError
from server.use_cases.second_persons import Altered
from upstream.declarations import PopulationSpec
from upstream.manifest import Manifest


def check_population(
    declared: PopulationSpec, stored: Document, cap: Loss | None
) -> None:
    """Compare each key that a manifest gives with the stored one.

    Raises:
        CommandRefusedError: One differs.
    """
    known = {**stored, "epsilon_cap": str(cap)}
    for name, value in json.loads(stored_words(declared)).items():
        if value is not None and value != known.get(name):
            message = (
                f"population.{name} is {value!r} here but {known.get(name)!r} in "
                f"the ledger: leave it out, or give the stored value (a cap is "
                f"changed with 'curator population cap {declared.id} E')"
            )
            raise CommandRefusedError(message)


@dataclass(frozen=True, slots=True)
class Differences:
    """How a manifest differs from its dataset's earlier ones.

    Attributes:
        changed: Declarations that were fixed; the custodian must accept them.
        made_public: Tables that become public; they need two persons, no flag.
    """

    changed: tuple[Changed, ...] = ()
    made_public: tuple[Changed, ...] = ()

    def altered(self) -> tuple[Altered, ...]:
        """Return all that needs a second person, each place once."""
        places = {one.place: one for one in (*self.changed, *self.made_public)}
        return tuple(Altered(one.place, one.old, one.new) for one in places.values())


def differences(connection: Connection, manifest: Manifest) -> Differences:
    """Return how a manifest differs from its dataset's earlier ones.

    Raises:
        CommandRefusedError: The dataset is another population's.
    """
    rows = connection.execute(
        select(
            tables.dataset.c.population,
            tables.snapshot.c.schema,
            tables.snapshot.c.display,
            tables.snapshot.c.manifest,
        )
        .join(tables.snapshot, tables.snapshot.c.dataset == tables.dataset.c.name)
        .where(tables.dataset.c.name == manifest.dataset)
        .order_by(tables.snapshot.c.created)
    ).all()
    given = dataset_to_json(manifest.schema())
    if not rows:
        return Differences(made_public=tuple(made_public([], given)))
    if rows[0].population != manifest.population.id:
        message = (
            f"the dataset {manifest.dataset!r} is of population "
            f"{rows[0].population!r}, not {manifest.population.id!r}"
        )
        raise CommandRefusedError(message)
    schemas = [json.loads(row.schema) for row in rows]
    changes = changed_declarations(schemas, given)
    display = json.loads(rows[-1].display)
    if display != display_of(manifest):
        changes.append(Changed("display", display, display_of(manifest)))
    before = _kept_rows([json.loads(row.manifest) for row in rows])
    for name, keep in _kept_rows([json.loads(manifest.canonical_json())]).items():
        if before.get(name, keep) != keep:
            changes.append(Changed(f"{name}: keep", before[name], keep))
    return Differences(tuple(changes), tuple(made_public(schemas, given)))


def _kept_rows(manifests: Sequence[Document]) -> dict[str, object]:
    """Return each table's latest rule of which rows its bound keeps."""
    kept: dict[str, object] = {}
    for manifest in manifests:
        tables_declared = manifest["tables"]
        if isinstance(tables_declared, list):
            kept.update({table["name"]: table.get("keep") for table in tables_declared})
    return kept


def display_of(manifest: Manifest) -> Document:
    """Return the display rule as it is stored."""
    if manifest.display is None:
        return {}
    return {"hide_below": manifest.display.hide_below}


def stored_words(declared: PopulationSpec) -> str:
    """Write the population's keys as they are compared at the next load."""
    limits = declared.epsilon_per_query
    return json.dumps(
        {
            "unit": declared.unit,
            "unit_type": declared.unit_type,
            "epsilon_cap": None
            if declared.epsilon_cap is None
            else str(declared.epsilon_cap),
            "epsilon_per_query": None
            if limits is None
            else {"min": str(limits.min), "max": str(limits.max)},
            "source": declared.source,
        }
    )
