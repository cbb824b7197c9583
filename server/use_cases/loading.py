"""Loading a dataset: check, ingest, record; what is refused changes nothing."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Connection, select

from budget.ledger import RecordedTransaction, Scope
from budget.writing import UnanchoredError
from privacy.schema_json import dataset_to_json
from server.persistence import tables
from server.use_cases.answers import Document
from server.use_cases.changes import Altered, Change
from server.use_cases.comparisons import (
    REFUSED,
    Compared,
    Comparison,
    OverlapRefusedError,
)
from server.use_cases.declarations import stored_population
from server.use_cases.errors import CommandRefusedError
from server.use_cases.fitting import (
    CHANGEABLE,
    check_population,
    completed,
    declared_by,
    differences,
    display_of,
    restated,
)
from server.use_cases.load_lock import load_lock, lock_of_all_loads
from server.use_cases.new_populations import creation, insert_population, require_cap
from server.use_cases.overlaps import Overlaps
from server.use_cases.populations import installation_value
from server.use_cases.second_persons import (
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.secret_files import (
    DIGEST_BYTES,
    read_secret,
    secret_digest,
)
from server.use_cases.services import Services, now_text, random_id
from server.use_cases.surroundings import (
    Versions,
    surroundings_of,
    surroundings_since,
)
from upstream.ingestion import Ingested, ingest, names_since, sweep_dead_loads
from upstream.likeness import same_rows
from upstream.manifest import Manifest, load_manifest
from upstream.progress import Interruptible, Progress, never_interrupted, silent


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


@dataclass(frozen=True, slots=True)
class _Recording:
    """An open transaction that records a load, and the facts of its entry."""

    connection: Connection
    facts: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What was ingested under a manifest, for which snapshot, and what is shown."""

    manifest: Manifest
    snapshot: str
    ingested: Ingested
    shown: Document


@dataclass(frozen=True, slots=True)
class _Beside:
    """What a load was compared with, and what comparing it again takes."""

    secret: bytes = field(repr=False)
    interruptible: Interruptible
    compared: Versions


class _OvertakenError(Exception):
    """The load was not compared with what is recorded by now; nothing is written."""


class Loader:
    """Loads datasets for one actor."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor
        self._overlaps = Overlaps(services.settings.overlaps)

    def load(
        self,
        manifest_path: Path,
        choices: LoadChoices,
        errand: Errand,
    ) -> Document:
        """Load a dataset from files and make its snapshot the active one.

        What killed loads left in the folder of snapshots is removed first, unless a
        load is under way.

        Raises:
            CommandRefusedError: The manifest does not fit what is stored, or its
                patients are another population's. Nothing was changed.
            ProposalOpenError: A second person must approve first. Nothing was changed
                but that this is proposed.
        """
        folder = self._services.settings.import_
        manifest = load_manifest(manifest_path, folder)
        secret = self._checked_secret()
        self._sweep()
        with (
            asking_second_person(self._services, self._actor),
            load_lock(
                self._services.settings,
                manifest.population.id,
                while_waiting=errand.waiting,
            ),
            self._recording_refusal(errand),
        ):
            with self._services.databases.reader.connect() as connection:
                stored = stored_population(connection, manifest.population.id)
                manifest = completed(manifest, stored)
                self._check_fits(connection, manifest, choices)
                compared = Versions.now(connection, manifest)
                surroundings = surroundings_of(
                    connection,
                    manifest,
                    self._overlaps,
                    self._services.settings.snapshots,
                    dry_run=choices.dry_run,
                )
            snapshot = random_id("s")
            target = self._services.settings.snapshots / f"{snapshot}.duckdb"
            try:
                ingested = ingest(
                    manifest,
                    base=manifest_path.resolve().parent,
                    import_folder=folder or manifest_path.resolve().parent,
                    secret=secret,
                    target=target,
                    surroundings=surroundings,
                    progress=errand.progress,
                    interruptible=errand.interruptible,
                )
                loaded: Document = {
                    "dataset": manifest.dataset,
                    "snapshot": None if choices.dry_run else snapshot,
                    "report": ingested.report.to_json(),
                    **self._same_rows(manifest.dataset, target),
                }
                if choices.dry_run:
                    target.unlink()
                    return loaded
                beside = _Beside(secret, errand.interruptible, compared)
                self._record(
                    _Loaded(manifest, snapshot, ingested, loaded),
                    beside,
                    choices,
                    errand,
                )
            except UnanchoredError:
                raise  # it is recorded, and its file is needed
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        return loaded

    def _record(
        self, load: _Loaded, beside: _Beside, choices: LoadChoices, errand: Errand
    ) -> None:
        """Record a load, once it was compared with all that is recorded before it.

        The comparison takes long, so it is not done under the lock of recording, which
        questions wait for: that tells only whether it was with the last state.
        """
        while True:
            try:
                with self._recorded(load, beside.compared, choices) as change:
                    errand.recorded(change.connection, load.shown)
                    change.facts.update(errand.facts)
            except _OvertakenError:
                load, beside = self._compared_again(load, beside)
            else:
                return

    def _compared_again(
        self, load: _Loaded, beside: _Beside
    ) -> tuple[_Loaded, _Beside]:
        """Hold a load against what was recorded while it was under way.

        Raises:
            IngestionError: Something that was published since names its units.
        """
        snapshots = self._services.settings.snapshots
        with self._services.databases.reader.connect() as connection:
            now = Versions.now(connection, load.manifest)
            since = now.since(beside.compared)
            surroundings = surroundings_since(
                connection, since, self._overlaps, snapshots
            )
        named = names_since(
            load.manifest,
            load.ingested,
            secret=beside.secret,
            target=snapshots / f"{load.snapshot}.duckdb",
            surroundings=surroundings,
            interruptible=beside.interruptible,
        )
        found = {*load.ingested.names_others, *named}
        ingested = replace(load.ingested, names_others=tuple(sorted(found)))
        return replace(load, ingested=ingested), replace(beside, compared=now)

    def _sweep(self) -> None:
        with lock_of_all_loads(self._services.settings, wait=False) as alone:
            if alone:
                sweep_dead_loads(self._services.settings.snapshots)

    def _same_rows(self, dataset: str, target: Path) -> Document:
        """Name the dataset's active snapshot, if the new one holds its very rows."""
        with self._services.databases.reader.connect() as connection:
            active = connection.execute(
                select(tables.dataset.c.active_snapshot).where(
                    tables.dataset.c.name == dataset
                )
            ).scalar_one_or_none()
        known = self._services.settings.snapshots / f"{active}.duckdb"
        if active is None or not same_rows(known, target):
            return {}
        return {"same_rows_as": active}

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
        """Refuse what can be refused before any row is read."""
        declared = manifest.population
        row = connection.execute(
            select(tables.population).where(tables.population.c.name == declared.id)
        ).one_or_none()
        if row is None:
            require_cap(declared)
        else:
            cap = self._services.ledger.limit(Scope.population(declared.id))
            check_population(declared, json.loads(row.declaration), cap)
        changed = differences(connection, manifest).changed
        if changed and not (choices.accept_changes and choices.reason):
            message = (
                "declarations stay fixed across snapshots, and "
                f"{changed[0].place} differs ({len(changed)} in all): restore it, or "
                "pass --accept-changes --reason TEXT; two persons must agree, unless "
                "the installation has a single custodian"
            )
            raise CommandRefusedError(message)
        wanted = _needs_two(connection, manifest, choices)
        if wanted is not None and not choices.dry_run:
            check_second_person(connection, self._actor, wanted)

    @contextmanager
    def _recorded(
        self, load: _Loaded, compared: Versions, choices: LoadChoices
    ) -> Iterator[_Recording]:
        """Write the overlap file, then everything else in one transaction.

        What the block does is part of it.

        Raises:
            _OvertakenError: Something was loaded that the load was not compared with.
        """
        manifest, snapshot, ingested = load.manifest, load.snapshot, load.ingested
        population = manifest.population.id
        facts: dict[str, object] = {
            "population": population,
            "snapshot": snapshot,
            "reason": choices.reason,
        }
        with self._services.ledger.recorded(
            "dataset.load", self._actor, facts
        ) as change:
            if Versions.now(change.connection, manifest).since(compared):
                raise _OvertakenError
            self._check_fits(change.connection, manifest, choices)  # others loaded too
            found = differences(change.connection, manifest)
            facts["changed"] = [one.place for one in found.changed]
            wanted = _needs_two(change.connection, manifest, choices)
            approver = (
                None
                if wanted is None
                else require_second_person(change, self._actor, wanted)
            )
            fresh = _split(ingested.population_ids)
            facts["overlap"] = self._allowed_overlap(change, load, choices)
            known = self._overlaps.digest_of(change.connection, population)
            digest = self._overlaps.add(population, known, fresh)
            if known is None:
                creators = (self._actor, approver)
                insert_population(change, manifest.population, digest, creators)
            else:
                self._update_population(change, manifest, known, digest)
            self._upsert_dataset(change, manifest, snapshot)
            yield _Recording(change.connection, facts)

    def _update_population(
        self,
        change: RecordedTransaction,
        manifest: Manifest,
        known: str,
        digest: str,
    ) -> None:
        """Record what the load alters of a population, if anything."""
        name = manifest.population.id
        stored = stored_population(change.connection, name) or {}
        words = restated(manifest.population, stored)
        altered = {}
        if known != digest:
            altered["overlap_digest"] = digest
        if json.loads(words) != {**dict.fromkeys(CHANGEABLE), **stored}:
            altered["declaration"] = words
        if altered:
            change.update(tables.population, {"name": name}, altered)

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

    def _allowed_overlap(
        self, change: RecordedTransaction, loaded: _Loaded, choices: LoadChoices
    ) -> list[str]:
        """Return the other populations that share patients, if that is allowed."""
        population, ingested = loaded.manifest.population.id, loaded.ingested
        compared = Compared(
            population,
            is_new=self._overlaps.digest_of(change.connection, population) is None,
            new_units=ingested.new_units,
            digests=_split(ingested.population_ids),
            publishes=self._publishes(change.connection, loaded),
            named=ingested.names_others,
            override=choices.reason if choices.override_overlap else None,
        )
        comparison = Comparison(change, self._actor, self._overlaps, compared)
        return comparison.allowed_overlap()

    def _publishes(self, connection: Connection, loaded: _Loaded) -> bool:
        """Whether something public differs from the dataset's active snapshot."""
        active = connection.execute(
            select(tables.snapshot.c.id, tables.snapshot.c.schema)
            .join(
                tables.dataset, tables.dataset.c.active_snapshot == tables.snapshot.c.id
            )
            .where(tables.dataset.c.name == loaded.manifest.dataset)
        ).one_or_none()
        schema = loaded.manifest.schema()
        if active is None or json.loads(active.schema) != dataset_to_json(schema):
            return True
        folder = self._services.settings.snapshots
        public = [table.name for table in schema.tables.values() if table.is_public]
        before, now = (
            folder / f"{name}.duckdb" for name in (active.id, loaded.snapshot)
        )
        return bool(public) and not same_rows(before, now, public)

    @contextmanager
    def _recording_refusal(self, errand: Errand) -> Iterator[None]:
        """Write the entry of an overlap's refusal before anybody hears of it."""
        try:
            yield
        except OverlapRefusedError as refused:
            facts = {
                **errand.facts,
                "population": refused.population,
                "populations": [refused.population, *refused.others],
            }
            with self._services.ledger.recorded(REFUSED, self._actor, facts):
                pass
            raise refused.said from None


def _needs_two(
    connection: Connection, manifest: Manifest, choices: LoadChoices
) -> Change | None:
    """Return what of a load needs two persons, but for an overlap; None if nothing."""
    population = manifest.population.id
    row = connection.execute(
        select(tables.population.c.name).where(tables.population.c.name == population)
    ).one_or_none()
    altered = [
        Altered(f"{manifest.dataset}.{one.what}", one.old, one.new)
        for one in differences(connection, manifest).altered()
    ]
    if row is None:
        altered = [creation(manifest.population), *_new_tables(manifest), *altered]
    if not altered:
        return None
    known = None if row is None else population
    return Change("dataset.load", known, tuple(altered), choices.reason)


def _new_tables(manifest: Manifest) -> list[Altered]:
    """Return the private tables that come with a new population, each whole.

    Whoever approves of a population approves of what is first told of it; its public
    tables are in every approval anyhow.
    """
    specs = declared_by(manifest).table_specs()
    return [
        Altered(f"{manifest.dataset}.{name}", None, spec)
        for name, spec in sorted(specs.items())
        if not spec.get("public")
    ]


def _split(digests: bytes) -> frozenset[bytes]:
    return frozenset(
        digests[start : start + DIGEST_BYTES]
        for start in range(0, len(digests), DIGEST_BYTES)
    )
