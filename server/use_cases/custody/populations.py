"""Populations and their datasets: what custodians see, and the caps that they set."""

import json
from pathlib import Path

from sqlalchemy import Connection, select

from privacy.losses import Loss
from privacy.measures import Measure
from privacy.schema import DEFAULT_MAX_UNITS
from privacy.times import shown_time
from server.persistence import tables
from server.persistence.facts import installation_value
from server.use_cases.approvals.changes import Altered, Change, because
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    require_second_person,
    shown_populations,
)
from server.use_cases.custody.allowed_overlaps import populations_sharing_with
from server.use_cases.custody.replies import (
    BlockShape,
    HeldCap,
    HeldDataset,
    HeldDatasetDetail,
    PopulationShape,
)
from server.use_cases.identity.access import custodians_of
from server.use_cases.identity.catalogue import existing
from server.use_cases.losses.amounts import as_epsilon, per_query
from server.use_cases.losses.caps import BlockCap, blocks_in, cap_scopes, caps_of
from server.use_cases.losses.measures import measure_in
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import read_secret, secret_digest
from server.use_cases.services.services import Services


class PopulationService:
    """Shows populations and datasets, and sets caps; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def population(self, name: str) -> PopulationShape:
        """Describe a population: whom it protects, its cap, what is spent."""
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.population, name)
            datasets = connection.execute(
                select(tables.dataset.c.name)
                .where(tables.dataset.c.population == name)
                .order_by(tables.dataset.c.name)
            ).scalars()
            names = list(datasets)
            custodians = sorted(custodians_of(connection, name))
            sharing = populations_sharing_with(connection, name)
            shown = shown_populations(connection, self._actor, sharing)
        declaration = json.loads(row.declaration)
        held = caps_of(self._services.ledger, name, declaration)
        measure = measure_in(declaration)
        least, most = Loss(row.epsilon_min_nano), Loss(row.epsilon_max_nano)
        return {
            "name": name,
            "unit": row.unit,
            "unit_type": row.unit_type,
            "unit_fold": json.loads(row.declaration).get("unit_fold") or [],
            "max_units": _max_units(row.declaration),
            "measure": measure.name,
            **_cap(measure, held.cap),
            "spent": str(held.spent),
            "remaining": str(held.remaining),
            "blocks": [_block(measure, block) for block in held.blocks],
            **per_query(measure, least, most),
            "datasets": names,
            "shares_units_with": shown,
            "custodians": custodians,
            "created": shown_time(row.created),
        }

    def populations(self) -> list[PopulationShape]:
        """Describe every population."""
        with self._services.databases.reader.connect() as connection:
            names = connection.execute(
                select(tables.population.c.name).order_by(tables.population.c.name)
            ).scalars()
            listed = list(names)
        return [self.population(name) for name in listed]

    def set_cap(
        self,
        name: str,
        cap: Loss,
        reason: str | None = None,
        *,
        word: str | None = None,
    ) -> PopulationShape:
        """Set a cap; a higher one needs two persons. The reason is recorded.

        Of a population with blocks it is the cap of each of them.

        Args:
            name: Of the population.
            cap: In its measure.
            reason: Why.
            word: What the caller takes its losses for; None: for what they are.

        Raises:
            CommandRefusedError: Its losses are not what they were taken for.
        """
        with (
            asking_second_person(self._services, self._actor),
            self._services.ledger.recorded(
                "population.cap", self._actor, because(reason)
            ) as change,
        ):
            row = existing(change.connection, tables.population, name)
            declaration = json.loads(row.declaration)
            _check_word(name, measure_in(declaration), word)
            scopes = cap_scopes(name, blocks_in(declaration))
            held = {
                scope: self._services.ledger.limit(scope) or Loss(0) for scope in scopes
            }
            raised = tuple(
                Altered.limit(scope, before, cap)
                for scope, before in held.items()
                if cap > before
            )
            if raised:
                wanted = Change("population.cap", name, raised, reason)
                require_second_person(change, self._actor, wanted)
            for scope in scopes:
                change.set_limit(scope, cap)
        return self.population(name)

    def datasets(self) -> list[HeldDataset]:
        """List every dataset with its active snapshot."""
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(tables.dataset).order_by(tables.dataset.c.name)
            ).all()
        return [
            {
                "name": row.name,
                "population": row.population,
                "snapshot": row.active_snapshot,
            }
            for row in rows
        ]

    def dataset(self, name: str) -> HeldDatasetDetail:
        """Describe one dataset with its snapshots."""
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.dataset, name)
            snapshots = connection.execute(
                select(
                    tables.snapshot.c.id,
                    tables.snapshot.c.created,
                    tables.snapshot.c.schema,
                )
                .where(tables.snapshot.c.dataset == name)
                .order_by(tables.snapshot.c.created)
            ).all()
        active = next(s for s in snapshots if s.id == row.active_snapshot)
        return {
            "name": name,
            "population": row.population,
            "snapshot": row.active_snapshot,
            "snapshots": [
                {"id": s.id, "created": shown_time(s.created)} for s in snapshots
            ],
            "tables": json.loads(active.schema)["tables"],
        }


def _check_word(name: str, measure: Measure, word: str | None) -> None:
    if word not in {None, measure.word}:
        message = f"{name} counts {measure.word}: give {measure.word}_cap"
        raise CommandRefusedError(message)


def _cap(measure: Measure, cap: Loss) -> HeldCap:
    """Return a cap in its measure, and as the epsilon that it amounts to."""
    found: HeldCap = {
        "epsilon_cap": str(as_epsilon(measure, cap)),
        "delta_cap": str(measure.delta),
    }
    if not measure.is_pure:
        found["rho_cap"] = str(cap)
    return found


def _block(measure: Measure, block: BlockCap) -> BlockShape:
    """Return what one block may spend, and has spent."""
    return {
        "block": block.name,
        **_cap(measure, block.cap),
        "spent": str(block.spent),
        "remaining": str(block.remaining),
    }


def _max_units(declaration: str) -> int:
    declared = json.loads(declaration).get("max_units")
    return DEFAULT_MAX_UNITS if declared is None else int(declared)


def checked_secret(connection: Connection, file: Path) -> bytes:
    """Return the master secret, if it is the one that the ledger knows.

    Raises:
        CommandRefusedError: It is missing or another.
    """
    try:
        secret = read_secret(file)
    except (OSError, ValueError):
        secret = b""
    if secret_digest(secret) != installation_value(connection, "secret_digest"):
        message = (
            "DATA/secret.key is missing or is not the one of this installation: "
            "bring it back from its backup; a new one would make the same "
            "patients look like strangers"
        )
        raise CommandRefusedError(message)
    return secret
