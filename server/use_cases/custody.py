"""The custodian's work: populations, their caps, and loading datasets."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, select

from budget.ledger import RecordedTransaction, Scope
from budget.writing import UnanchoredError
from privacy.losses import Loss
from privacy.schema_json import dataset_to_json
from server.persistence import tables
from server.use_cases.answers import Document
from server.use_cases.errors import CommandRefusedError
from server.use_cases.fitting import (
    changes_of,
    check_population,
    display_of,
    stored_words,
)
from server.use_cases.load_lock import load_lock
from server.use_cases.people import existing, refuse_used, require_single_custodian
from server.use_cases.secret_files import (
    DIGEST_BYTES,
    OverlapFiles,
    read_secret,
    secret_digest,
)
from server.use_cases.services import Services, now_text, random_id
from upstream.declarations import PopulationSpec
from upstream.ingestion import Ingested, ingest, sweep_dead_loads
from upstream.manifest import Manifest, load_manifest
from upstream.progress import Interruptible, Progress, never_interrupted, silent

DEFAULT_MINIMUM = Loss.parse("0.001")
DEFAULT_MAXIMUM = Loss.parse("5")
_LOCK_WAIT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class LoadChoices:
    """What ``dataset load`` is told beside the manifest.

    ``reason`` is needed for the two overrides; both are recorded with it.
    """

    dry_run: bool = False
    override_overlap: bool = False
    accept_changes: bool = False
    reason: str | None = None


def _unheard(_: Connection, __: Document) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Errand:
    """On whose behalf a load is done, and how they follow it.

    Attributes:
        progress: Told of each step.
        interruptible: Lent the interrupt of long statements.
        waiting: Called now and then while another load is under way; may raise;
            None: nobody is told.
        recorded: Called in the transaction that records the snapshot, with what
            ``load`` will return; may raise, and nothing is recorded.
        facts: Written into the load's entry.
    """

    progress: Progress = silent
    interruptible: Interruptible = never_interrupted
    waiting: Callable[[], None] | None = None
    recorded: Callable[[Connection, Document], None] = _unheard
    facts: Mapping[str, object] = field(default_factory=dict)


class CustodyOffice:
    """Creates populations and loads datasets; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor
        self._overlaps = OverlapFiles(services.settings.overlaps)

    def create_population(self, manifest_path: Path) -> Document:
        """Create the population that a manifest declares."""
        folder = self._services.settings.import_
        declared = load_manifest(manifest_path, folder).population
        with (
            load_lock(self._services.settings),
            self._services.ledger.recorded("population.create", self._actor) as change,
        ):
            refuse_used(change.connection, tables.population, declared.id)
            self._check_new(declared)
            digest = self._overlaps.write(declared.id, frozenset())
            self._insert_population(change, declared, digest)
        return self.population(declared.id)

    def _check_new(self, declared: PopulationSpec) -> Loss:
        """Return the cap of a population that may be created.

        Raises:
            CommandRefusedError: It needs a second person, or has no cap.
        """
        require_single_custodian(self._services, "creating a population")
        if declared.epsilon_cap is None:
            message = (
                f"the population {declared.id!r} is new: give its epsilon_cap in the "
                "manifest, the most that all answers together may ever spend"
            )
            raise CommandRefusedError(message)
        return declared.epsilon_cap

    def _insert_population(
        self,
        change: RecordedTransaction,
        declared: PopulationSpec,
        overlap_digest: str,
    ) -> None:
        cap = self._check_new(declared)
        minimum, maximum = _range(declared)
        change.insert(
            tables.population,
            {
                "name": declared.id,
                "unit": declared.unit,
                "unit_type": declared.unit_type,
                "epsilon_min_nano": minimum.nano_epsilon,
                "epsilon_max_nano": maximum.nano_epsilon,
                "declaration": stored_words(declared),
                "overlap_digest": overlap_digest,
                "created": now_text(),
            },
        )
        change.set_limit(Scope.population(declared.id), cap)

    def population(self, name: str) -> Document:
        """Describe a population: whom it protects, its cap, what is spent."""
        with self._services.databases.reader.connect() as connection:
            row = existing(connection, tables.population, name)
            datasets = connection.execute(
                select(tables.dataset.c.name)
                .where(tables.dataset.c.population == name)
                .order_by(tables.dataset.c.name)
            ).scalars()
            names = list(datasets)
        scope = Scope.population(name)
        cap = self._services.ledger.limit(scope) or Loss(0)
        spent = self._services.ledger.spent(scope)
        return {
            "name": name,
            "unit": row.unit,
            "unit_type": row.unit_type,
            "epsilon_cap": str(cap),
            "delta_cap": "0",
            "spent": str(spent),
            "remaining": str(cap.minus_floor_zero(spent)),
            "epsilon_per_query": {
                "min": str(Loss(row.epsilon_min_nano)),
                "max": str(Loss(row.epsilon_max_nano)),
            },
            "datasets": names,
        }

    def populations(self) -> list[Document]:
        """Describe every population."""
        with self._services.databases.reader.connect() as connection:
            names = connection.execute(
                select(tables.population.c.name).order_by(tables.population.c.name)
            ).scalars()
            listed = list(names)
        return [self.population(name) for name in listed]

    def set_cap(self, name: str, cap: Loss) -> Document:
        """Lower a cap, or raise it where the installation has one custodian."""
        scope = Scope.population(name)
        with self._services.ledger.recorded("population.cap", self._actor) as change:
            existing(change.connection, tables.population, name)
            if cap > (self._services.ledger.limit(scope) or Loss(0)):
                require_single_custodian(self._services, "raising a cap")
            change.set_limit(scope, cap)
        return self.population(name)

    def datasets(self) -> list[Document]:
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

    def dataset(self, name: str) -> Document:
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
            "snapshots": [{"id": s.id, "created": s.created} for s in snapshots],
            "tables": json.loads(active.schema)["tables"],
        }

    def load(
        self,
        manifest_path: Path,
        choices: LoadChoices,
        progress: Progress | None = None,
        errand: Errand | None = None,
    ) -> Document:
        """Load a dataset from files and make its snapshot the active one.

        What a killed load left in the folder of snapshots is removed first.

        Raises:
            CommandRefusedError: The manifest does not fit what is stored, or its
                patients are another population's. Nothing was changed.
        """
        errand = errand or Errand(progress=progress or silent)
        folder = self._services.settings.import_
        manifest = load_manifest(manifest_path, folder)
        secret = self._checked_secret()
        with load_lock(self._services.settings, while_waiting=errand.waiting):
            with self._services.databases.reader.connect() as connection:
                self._check_fits(connection, manifest, choices)
            sweep_dead_loads(self._services.settings.snapshots)
            snapshot = random_id("s")
            target = self._services.settings.snapshots / f"{snapshot}.duckdb"
            try:
                ingested = ingest(
                    manifest,
                    base=manifest_path.resolve().parent,
                    import_folder=folder or manifest_path.resolve().parent,
                    secret=secret,
                    target=target,
                    progress=errand.progress,
                    interruptible=errand.interruptible,
                )
                loaded: Document = {
                    "dataset": manifest.dataset,
                    "snapshot": None if choices.dry_run else snapshot,
                    "report": ingested.report.to_json(),
                }
                if choices.dry_run:
                    target.unlink()
                    return loaded
                with self._recorded(manifest, snapshot, ingested, choices) as change:
                    errand.recorded(change.connection, loaded)
                    change.facts.update(errand.facts)
            except UnanchoredError:
                raise  # it is recorded, and its file is needed
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        return loaded

    def _checked_secret(self) -> bytes:
        """Return the secret, if it is the one that the ledger knows.

        Raises:
            CommandRefusedError: It is missing or another.
        """
        with self._services.databases.reader.connect() as connection:
            expected = installation_value(connection, "secret_digest")
        try:
            secret = read_secret(self._services.settings.secret_file)
        except (OSError, ValueError):
            secret = b""
        if secret_digest(secret) != expected:
            message = (
                "DATA/secret.key is missing or is not the one of this installation: "
                "bring it back from its backup; a new one would make the same "
                "patients look like strangers"
            )
            raise CommandRefusedError(message)
        return secret

    def _check_fits(
        self, connection: Connection, manifest: Manifest, choices: LoadChoices
    ) -> None:
        declared = manifest.population
        row = connection.execute(
            select(tables.population).where(tables.population.c.name == declared.id)
        ).one_or_none()
        if row is None:
            self._check_new(declared)
        else:
            cap = self._services.ledger.limit(Scope.population(declared.id))
            check_population(declared, json.loads(row.declaration), cap)
        changes = changes_of(connection, manifest)
        if changes and not (choices.accept_changes and choices.reason):
            message = (
                f"declarations stay fixed across snapshots, and {changes[0]} differs "
                f"({len(changes)} in all): restore it, or, in a single-custodian "
                "installation, pass --accept-changes --reason TEXT"
            )
            raise CommandRefusedError(message)
        if changes:
            require_single_custodian(self._services, "changing declarations")

    @contextmanager
    def _recorded(
        self,
        manifest: Manifest,
        snapshot: str,
        ingested: Ingested,
        choices: LoadChoices,
    ) -> Iterator["_Recording"]:
        """Write the overlap file, then everything else in one transaction.

        What the block does is part of it.
        """
        population = manifest.population.id
        facts: dict[str, object] = {"snapshot": snapshot, "reason": choices.reason}
        with self._services.ledger.recorded(
            "dataset.load", self._actor, facts
        ) as change:
            facts["changed"] = changes_of(change.connection, manifest)
            fresh = _split(ingested.population_ids)
            facts["overlap"] = self._check_overlap(
                change.connection, population, fresh, choices
            )
            digest = self._write_overlap(change.connection, population, fresh)
            known = change.connection.execute(
                select(tables.population.c.overlap_digest).where(
                    tables.population.c.name == population
                )
            ).scalar_one_or_none()
            if known is None:
                self._insert_population(change, manifest.population, digest)
            elif known != digest:
                change.update(
                    tables.population, {"name": population}, {"overlap_digest": digest}
                )
            self._upsert_dataset(change, manifest, snapshot)
            yield _Recording(change.connection, facts)

    def _upsert_dataset(
        self, change: RecordedTransaction, manifest: Manifest, snapshot: str
    ) -> None:
        created = now_text()
        known = change.connection.execute(
            select(tables.dataset.c.name).where(
                tables.dataset.c.name == manifest.dataset
            )
        ).first()
        if known is None:
            change.insert(
                tables.dataset,
                {
                    "name": manifest.dataset,
                    "population": manifest.population.id,
                    "active_snapshot": snapshot,
                    "created": created,
                },
            )
        else:
            change.update(
                tables.dataset,
                {"name": manifest.dataset},
                {"active_snapshot": snapshot},
            )
        change.insert(
            tables.snapshot,
            {
                "id": snapshot,
                "dataset": manifest.dataset,
                "schema": json.dumps(dataset_to_json(manifest.schema())),
                "display": json.dumps(display_of(manifest)),
                "manifest": manifest.canonical_json(),
                "created": created,
            },
        )

    def _check_overlap(
        self,
        connection: Connection,
        population: str,
        fresh: frozenset[bytes],
        choices: LoadChoices,
    ) -> list[str]:
        """Return the other populations that share patients, if that is allowed.

        Raises:
            CommandRefusedError: They share some, and nobody overrode it.
        """
        others = connection.execute(
            select(tables.population.c.name, tables.population.c.overlap_digest).where(
                tables.population.c.name != population
            )
        ).all()
        sharing = [
            row.name
            for row in others
            if not fresh.isdisjoint(self._known_ids(row.name, row.overlap_digest))
        ]
        if not sharing:
            return []
        if not (choices.override_overlap and choices.reason):
            message = (
                f"some of these units are in population {sharing[0]!r} too, where a "
                "second cap would be spent on the same people: load the dataset under "
                "that population, or, in a single-custodian installation, pass "
                "--override-overlap --reason TEXT"
            )
            raise CommandRefusedError(message)
        require_single_custodian(self._services, "overriding an overlap")
        return sharing

    def _known_ids(self, population: str, digest: str) -> frozenset[bytes]:
        """Return a population's hashes.

        Raises:
            CommandRefusedError: The overlap file is missing or was changed.
        """
        try:
            return self._overlaps.read(population, digest)
        except (OSError, ValueError):
            message = (
                f"the overlap file of population {population!r} is missing or was "
                "changed: bring it back from its backup"
            )
            raise CommandRefusedError(message) from None

    def _write_overlap(
        self, connection: Connection, population: str, fresh: frozenset[bytes]
    ) -> str:
        known = connection.execute(
            select(tables.population.c.overlap_digest).where(
                tables.population.c.name == population
            )
        ).scalar_one_or_none()
        before = (
            frozenset[bytes]() if known is None else self._known_ids(population, known)
        )
        return self._overlaps.write(population, before | fresh)


@dataclass(frozen=True, slots=True)
class _Recording:
    """An open transaction that records a load, and the facts of its entry."""

    connection: Connection
    facts: dict[str, object]


def installation_value(connection: Connection, name: str) -> str:
    """Return a fact that ``curator init`` fixed."""
    value: str = connection.execute(
        select(tables.installation.c.value).where(tables.installation.c.name == name)
    ).scalar_one()
    return value


def _split(digests: bytes) -> frozenset[bytes]:
    return frozenset(
        digests[start : start + DIGEST_BYTES]
        for start in range(0, len(digests), DIGEST_BYTES)
    )


def _range(declared: PopulationSpec) -> tuple[Loss, Loss]:
    limits = declared.epsilon_per_query
    if limits is None:
        return DEFAULT_MINIMUM, DEFAULT_MAXIMUM
    return limits.min, limits.max
