"""Does a manifest fit what is stored? What was declared stays so."""

import json

from sqlalchemy import Connection, select

from privacy.losses import Loss
from privacy.measures import PURE
from privacy.schema_json import dataset_to_json
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.approvals.declarations import (
    Changed,
    Declared,
    Differences,
    changed_facts,
    differences_from_active,
    made_public,
    population_facts,
    stored_population,
)
from server.use_cases.losses.measures import measure_in
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.ingestion.unit_blocks import moved_units
from upstream.manifests.declarations import BlocksSpec, PopulationSpec
from upstream.manifests.manifest import Manifest

CHANGEABLE = ("max_units", "unit_fold")
"""Keys of a population that two persons may change; the others never do here."""


BLOCKS_LINKED = (
    "a population with blocks cannot be loaded by a linkage: merging and splitting "
    "records moves rows from one unit to another, which may be in another block. Link "
    "the records first, keep the unit ids, and load files that have them"
)

BLOCKS = "blocks"
"""Two persons may add to them; nothing else of them ever changes."""


def check_population(
    declared: PopulationSpec, stored: Document, cap: Loss | None
) -> None:
    """Compare each key that a manifest gives with the stored one.

    Raises:
        CommandRefusedError: One differs.
    """
    check_blocks(declared, stored)
    word = measure_in(stored).word
    known = {"measure": PURE.name, **stored, f"{word}_cap": str(cap)}
    for name, value in json.loads(stored_words(declared)).items():
        if name in {*CHANGEABLE, BLOCKS} or value is None:
            continue
        if value != known.get(name):
            message = (
                f"population.{name} is {value!r} here but {known.get(name)!r} in "
                f"the ledger: {_remedy(declared.id, name)}"
            )
            raise CommandRefusedError(message)


def check_blocks(declared: PopulationSpec, stored: Document) -> None:
    """Require the blocks that a population was created with, perhaps some more.

    Raises:
        CommandRefusedError: They are others; or what says which ids are one unit
            differs, by which a unit could come to be in two of them.
    """
    told, known = declared.blocks, _known_blocks(stored)
    if known is None and told is None:
        return
    name = declared.id
    if known is None:
        message = (
            f"population {name} was created without blocks, and stays so: what was "
            "charged so far was charged to all of its units. Leave blocks out"
        )
        raise CommandRefusedError(message)
    if told is None:
        message = (
            f"population {name} has blocks: give them in the manifest, "
            f"blocks: {_written(known)}"
        )
        raise CommandRefusedError(message)
    same = told.model_copy(update={"values": known.values})
    if same != known or told.values[: len(known.values)] != known.values:
        message = (
            f"population.blocks is {_written(told)} here but {_written(known)} in the "
            "ledger: column and tables never change, and new values come after those "
            "that are there"
        )
        raise CommandRefusedError(message)
    folds = stored.get("unit_fold") or []
    if [*(declared.unit_fold or ())] != folds:
        message = (
            f"unit_fold of population {name} cannot change, since it has blocks: it "
            "could make one unit of two that are in different ones"
        )
        raise CommandRefusedError(message)


def _known_blocks(stored: Document) -> BlocksSpec | None:
    told = stored.get(BLOCKS)
    return None if told is None else BlocksSpec.model_validate(told)


def _written(blocks: BlocksSpec) -> str:
    return json.dumps(blocks.model_dump(mode="json"))


def refuse_moved(
    marks: bytes, known: frozenset[bytes], declared: PopulationSpec
) -> None:
    """Refuse units that were in another block when they were loaded before.

    Args:
        marks: Of the load's units, as ingestion gives them.
        known: The population's digests, the marks of earlier loads among them.
        declared: The population.

    Raises:
        CommandRefusedError: There are some.
    """
    moved = moved_units(marks, known)
    if moved:
        message = (
            f"{counted(moved, 'unit')} of the load {'was' if moved == 1 else 'were'} "
            f"in another block of {declared.id} before: a unit stays in the block that "
            "it was first loaded in, since what was charged since counts on it. Give "
            "each unit its first block, or leave it out"
        )
        raise CommandRefusedError(message)


def _remedy(population: str, name: str) -> str:
    """Return what to do about a key that differs."""
    if name in {"unit", "unit_type"}:
        return (
            "it can never change, since it says whom the cap protects and which ids "
            "are one; give the stored value"
        )
    if name in {"measure", "delta"}:
        return (
            "it can never change, since it says what the charges so far mean; give "
            "the stored value"
        )
    remedy = "leave it out, or give the stored value"
    if name.endswith("_cap"):
        remedy += f" (a cap is changed with 'curator population cap {population} E')"
    return remedy


def differences(connection: Connection, manifest: Manifest) -> Differences:
    """Return how a manifest differs from its dataset's earlier ones.

    Raises:
        CommandRefusedError: The dataset is another population's.
    """
    row = connection.execute(
        select(tables.dataset).where(tables.dataset.c.name == manifest.dataset)
    ).one_or_none()
    given = declared_by(manifest)
    moved = _population_changes(connection, manifest)
    if row is None:
        return Differences(moved, tuple(made_public(None, given)))
    if row.population != manifest.population.id:
        message = (
            f"the dataset {manifest.dataset!r} is of population "
            f"{row.population!r}, not {manifest.population.id!r}"
        )
        raise CommandRefusedError(message)
    found = differences_from_active(connection, row, given)
    places = {one.place: one for one in (*moved, *found.changed)}
    return Differences(tuple(places.values()), found.made_public)


def _population_changes(
    connection: Connection, manifest: Manifest
) -> tuple[Changed, ...]:
    """Return what a manifest changes of its population, none where that is new."""
    stored = stored_population(connection, manifest.population.id)
    if stored is None:
        return ()
    given = json.loads(stored_words(manifest.population))
    return tuple(changed_facts(population_facts(stored), population_facts(given)))


def completed(manifest: Manifest, stored: Document | None) -> Manifest:
    """Return a manifest with its population's stored facts where it is silent."""
    population = manifest.population
    known = {name: (stored or {}).get(name) for name in CHANGEABLE}
    told = PopulationSpec.model_validate({**population.model_dump(), **known})
    silent = {
        name: getattr(told, name)
        for name in CHANGEABLE
        if getattr(population, name) is None
    }
    whole = population.model_copy(update=silent)
    return manifest.model_copy(update={"population": whole})


def restated(declared: PopulationSpec, stored: Document) -> str:
    """Return a stored declaration with what a manifest, two persons agreed, changes."""
    given = json.loads(stored_words(declared))
    names = [name for name in (*CHANGEABLE, BLOCKS) if name in given]
    return json.dumps({**stored, **{name: given[name] for name in names}})


def declared_by(manifest: Manifest) -> Declared:
    """Return what a manifest declares, as a snapshot of it would store it."""
    return Declared(
        dataset_to_json(manifest.schema()),
        display_of(manifest),
        json.loads(manifest.canonical_json()),
    )


def display_of(manifest: Manifest) -> Document:
    """Return the display rule as it is stored."""
    if manifest.display is None:
        return {}
    return {"hide_below": manifest.display.hide_below}


def stored_words(declared: PopulationSpec) -> str:
    """Write the population's keys as they are compared at the next load."""
    limits = declared.per_query
    word = declared.word
    return json.dumps(
        {
            "unit": declared.unit,
            "unit_type": declared.unit_type,
            **_measure_words(declared),
            f"{word}_cap": None if declared.cap is None else str(declared.cap),
            f"{word}_per_query": None
            if limits is None
            else {"min": str(limits.min), "max": str(limits.max)},
            "max_units": declared.max_units,
            "unit_fold": declared.unit_fold,
            "source": declared.source,
            **_block_words(declared),
        }
    )


def _block_words(declared: PopulationSpec) -> Document:
    """Return what is said of blocks; nothing by most, which have none."""
    if declared.blocks is None:
        return {}
    return {BLOCKS: declared.blocks.model_dump(mode="json")}


def _measure_words(declared: PopulationSpec) -> Document:
    """Return what is said of the measure; nothing by most, whose losses are pure."""
    if declared.measure is None:
        return {}
    if declared.delta is None:
        return {"measure": declared.measure}
    return {"measure": declared.measure, "delta": str(declared.delta)}
