"""Loading a dataset: check, ingest, record; what is refused changes nothing."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, select

from budget.chain.writing import UnanchoredError
from budget.ledger import RecordedTransaction
from privacy.schema_json import dataset_from_json, dataset_to_json
from privacy.wording import counted
from server.persistence import tables
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.declarations import stored_population
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.custody.populations import checked_secret
from server.use_cases.loading.comparisons import (
    UNITS_SHARED,
    Compared,
    Comparison,
    are_too_few,
    overlap_key,
    recording_refusal,
)
from server.use_cases.loading.fitting import (
    BLOCKS_LINKED,
    CHANGEABLE,
    check_population,
    completed,
    declared_by,
    differences,
    display_of,
    refuse_moved,
    restated,
)
from server.use_cases.loading.lock import load_lock, lock_of_all_loads
from server.use_cases.loading.new_populations import (
    creation,
    insert_blocks,
    insert_population,
    require_cap,
)
from server.use_cases.loading.overlaps import Overlaps
from server.use_cases.loading.shown_content import Shown, declared_digest
from server.use_cases.loading.surroundings import (
    surroundings_of,
    surroundings_since,
)
from server.use_cases.loading.versions import OvertakenError, Versions
from server.use_cases.losses.caps import blocks_in, caps_of
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import (
    OverlapFile,
    split_hashes,
)
from server.use_cases.services.services import Services, now_text, random_id
from server.use_cases.services.slots import wait_for_slot
from upstream.ingestion.ingestion import (
    Ingested,
    LinkedTables,
    ingest,
    names_since,
    sweep_dead_loads,
)
from upstream.ingestion.likeness import same_rows
from upstream.ingestion.public_rows import public_rows, public_rows_if_readable
from upstream.manifests.manifest import Manifest, load_manifest
from upstream.manifests.yaml_nodes import FileDigest, read_yaml
from upstream.progress import (
    Interruptible,
    Progress,
    ProgressStep,
    never_interrupted,
    silent,
)
from upstream.public_check.public_watch import Surroundings

NEVER_LINKED = (
    "nobody says that the unit ids were linked: a patient of two ids is two units, and "
    "is promised half as much. Link the records (curator linkage run), or say where "
    "the ids come from, such as linked: master patient index of 2025"
)
SAMPLED_ROWS = 10_000
"""Rows of each file that a dry run reads: some seconds, whatever the files' size."""

NOT_WHOLE = (
    f"this dry run read the first {counted(SAMPLED_ROWS, 'row')} of each file: "
    "--whole reads all of them, as the load will"
)
CHANGED = "the manifest was changed since the job was submitted: submit again"


@dataclass(frozen=True, slots=True)
class LoadChoices:
    """What ``dataset load`` is told beside the manifest.

    A dry run reads the first ``SAMPLED_ROWS`` of each file, or the ``whole`` of them.
    ``reason`` is needed for the two overrides; both are recorded with it.
    """

    dry_run: bool = False
    whole: bool = False
    override_overlap: bool = False
    accept_changes: bool = False
    reason: str | None = None

    @property
    def most_rows(self) -> int | None:
        """The rows of each file that are read; None: all are."""
        return SAMPLED_ROWS if self.dry_run and not self.whole else None


def _unasked(_: Connection, __: str) -> None:
    """Go on: nobody can have taken it back."""


def _unheard(_: Connection, __: Document) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What whoever wants a load is told of it, and what is recorded with it.

    Attributes:
        progress: Told of each step.
        interruptible: Lent the interrupt of long statements.
        waiting: Called now and then while another load is under way; may raise;
            None: nobody is told.
        begun: Called first in the transaction that records the snapshot, with the
            population's name, before populations are compared: what is not wanted any
            more says nothing of who is shared; may raise, and nothing is recorded.
        recorded: Called in the transaction that records the snapshot, with what
            ``load`` will return; may raise, and nothing is recorded.
        facts: Written into the load's entry.
        worked_before: How many seconds raw data was worked on for it before, by
            earlier attempts and by what made its files.
        submitted: The bytes that the manifest must still have; None: any.
        linked: The tables of a linkage that are loaded; None: the manifest's files are.
    """

    progress: Progress = silent
    interruptible: Interruptible = never_interrupted
    waiting: Callable[[], None] | None = None
    begun: Callable[[Connection, str], None] = _unasked
    recorded: Callable[[Connection, Document], None] = _unheard
    facts: Mapping[str, object] = field(default_factory=dict)
    worked_before: float = 0.0
    submitted: FileDigest | None = None
    linked: LinkedTables | None = None


def _as_submitted(path: Path, folder: Path | None, request: LoadRequest) -> Manifest:
    read = read_yaml(path)
    if request.submitted not in {None, read.facts}:
        raise CommandRefusedError(CHANGED)
    return load_manifest(path, folder, read)


def _report(manifest: Manifest, ingested: Ingested, choices: LoadChoices) -> Document:
    """Return a load's report, and whether anybody says that its ids were linked.

    And whether there may be rows that a dry run did not look at.
    """
    warnings = [*ingested.report.warnings]
    if manifest.linked is None:
        warnings.append(NEVER_LINKED)
    most = choices.most_rows
    if most is not None and any(t.rows_read >= most for t in ingested.report.tables):
        warnings.append(NOT_WHOLE)
    return {**ingested.report.to_json(), "warnings": warnings}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A load that is asked for: its manifest, whose folder that is, the secret."""

    manifest: Manifest
    base: Path
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Recording:
    """An open transaction that records a load, and the facts of its entry."""

    connection: Connection
    facts: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What was ingested under a manifest, for which snapshot, and what is shown.

    And the key of approvals of its overlaps.
    """

    manifest: Manifest
    snapshot: str
    ingested: Ingested
    shown: Document
    overlap_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Beside:
    """What recording a load takes beside it; ``began`` is of the monotonic clock."""

    secret: bytes = field(repr=False)
    interruptible: Interruptible
    began: float


@dataclass(frozen=True, slots=True)
class _Held:
    """What holding a load against the files found, and which files these were.

    Attributes:
        compared: Their versions.
        sharing: Other populations that have some of its new units.
        shown: What the load shows to everybody.
        before: What the active snapshot does; None where it cannot be read.
        file: The population's overlap file, with the load's units.
    """

    compared: Versions
    sharing: tuple[str, ...]
    shown: Shown
    before: Shown | None
    file: OverlapFile


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
        request: LoadRequest,
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
        manifest = _as_submitted(manifest_path, folder, request)
        with self._services.databases.reader.connect() as connection:
            secret = checked_secret(connection, self._services.settings.secret_file)
        self._sweep()
        base = manifest_path.resolve().parent
        with (
            asking_second_person(self._services, self._actor),
            load_lock(
                self._services.settings,
                manifest.population.id,
                while_waiting=request.waiting,
            ),
        ):
            return recording_refusal(
                self._services.ledger,
                self._actor,
                request.facts,
                lambda: self._loaded(_Asked(manifest, base, secret), choices, request),
            )

    def _loaded(
        self, asked: _Asked, choices: LoadChoices, request: LoadRequest
    ) -> Document:
        """Load while no other load of the population is under way."""
        began = time.monotonic()
        if request.linked is not None and asked.manifest.population.blocks is not None:
            raise CommandRefusedError(BLOCKS_LINKED)
        folder = self._services.settings.import_
        with self._services.databases.reader.connect() as connection:
            stored = stored_population(connection, asked.manifest.population.id)
            manifest = completed(asked.manifest, stored)
            self._check_fits(connection, manifest, choices)
            compared = _versions(connection, manifest)
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
                base=asked.base,
                import_folder=folder or asked.base,
                secret=asked.secret,
                target=target,
                surroundings=surroundings,
                linked=request.linked,
                most_rows=choices.most_rows,
                progress=request.progress,
                interruptible=request.interruptible,
            )
            loaded: Document = {
                "dataset": manifest.dataset,
                "snapshot": None if choices.dry_run else snapshot,
                "report": _report(manifest, ingested, choices),
                **self._same_rows(manifest.dataset, target),
            }
            if choices.dry_run:
                target.unlink()
                self._refuse_moved(manifest, ingested, compared)
                return loaded
            key = overlap_key(asked.secret)
            load = _Loaded(manifest, snapshot, ingested, loaded, key)
            beside = _Beside(asked.secret, request.interruptible, began)
            held = self._held(load, compared)
            self._record(load, beside, held, choices, request)
        except UnanchoredError:
            raise  # it is recorded, and its file is needed
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return loaded

    def _record(
        self,
        load: _Loaded,
        beside: _Beside,
        held: _Held,
        choices: LoadChoices,
        request: LoadRequest,
    ) -> None:
        """Record a load, once it was compared with all that is recorded before it.

        The comparison takes long, so it is not done under the lock of recording, which
        questions wait for: that tells only whether it was with the last state.
        """
        while True:
            self._wait_for_slot(load, beside, request)
            try:
                with self._recorded(load, held, choices, request.begun) as change:
                    request.recorded(change.connection, load.shown)
                    change.facts.update(request.facts)
            except OvertakenError:
                load, held = self._compared_again(load, beside, held)
            else:
                return

    def _wait_for_slot(
        self, load: _Loaded, beside: _Beside, request: LoadRequest
    ) -> None:
        """Wait until others than custodians may see that the load is done."""

        def waiting(done: int, total: int) -> None:
            table = load.manifest.dataset
            request.progress(ProgressStep("slot", table, done, total, "seconds"))

        wait_for_slot(
            request.worked_before + time.monotonic() - beside.began,
            self._services.settings.release_slot_s,
            waiting,
        )

    def _compared_again(
        self, load: _Loaded, beside: _Beside, held: _Held
    ) -> tuple[_Loaded, _Held]:
        """Hold a load against what was recorded while it was under way.

        Raises:
            IngestionError: Something that was published since names its units.
        """
        with self._services.databases.reader.connect() as connection:
            now = _versions(connection, load.manifest)
            since = now.others_since(held.compared)
            surroundings = surroundings_since(
                connection, since, self._overlaps, self._services.settings.snapshots
            )
        if since.has_others():
            load = self._named_since(load, beside, surroundings)
        return load, self._held(load, now)

    def _named_since(
        self, load: _Loaded, beside: _Beside, surroundings: Surroundings
    ) -> _Loaded:
        snapshots = self._services.settings.snapshots
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
        return replace(load, ingested=ingested)

    def _held(self, load: _Loaded, versions: Versions) -> _Held:
        """Hold a load against the overlap files and the active snapshot.

        No unit may have been in another block before.

        Few new units are compared with no other population's, and of known ones no
        digest is, whichever the file lacks (ADR 0016).
        """
        known = self._overlaps.known(load.manifest.population.id, versions.own)
        marks = load.ingested.block_marks
        refuse_moved(marks, known, load.manifest.population)
        fresh = split_hashes(load.ingested.population_ids + marks)
        new = load.ingested.new
        asked = {} if are_too_few(new.count) else versions.populations
        return _Held(
            versions,
            self._overlaps.sharing(asked, split_hashes(new.digests)),
            _shown_by(load, self._services.settings.snapshots),
            self._shown_before(versions.active),
            OverlapFile.of(known | fresh),
        )

    def _refuse_moved(
        self, manifest: Manifest, ingested: Ingested, versions: Versions
    ) -> None:
        """Say in a dry run, too, that units were in other blocks before."""
        if ingested.block_marks:
            known = self._overlaps.known(manifest.population.id, versions.own)
            refuse_moved(ingested.block_marks, known, manifest.population)

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
            stored = json.loads(row.declaration)
            caps = caps_of(self._services.ledger, declared.id, stored)
            check_population(declared, stored, caps.cap)
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
        self,
        load: _Loaded,
        held: _Held,
        choices: LoadChoices,
        begun: Callable[[Connection, str], None],
    ) -> Iterator[_Recording]:
        """Write the overlap file, then everything else in one transaction.

        What the block does is part of it.

        Raises:
            OvertakenError: Something was loaded that the load was not compared with.
        """
        manifest, snapshot = load.manifest, load.snapshot
        population = manifest.population.id
        facts: dict[str, object] = {
            "population": population,
            "snapshot": snapshot,
            "reason": choices.reason,
        }
        with self._services.ledger.recorded(
            "dataset.load", self._actor, facts
        ) as change:
            begun(change.connection, population)
            if _versions(change.connection, manifest) != held.compared:
                raise OvertakenError
            self._check_fits(change.connection, manifest, choices)  # others loaded too
            found = differences(change.connection, manifest)
            facts["changed"] = [one.place for one in found.changed]
            wanted = _needs_two(change.connection, manifest, choices)
            approver = (
                None
                if wanted is None
                else require_second_person(change, self._actor, wanted)
            )
            facts["overlap"] = self._allowed_overlap(change, load, held, choices)
            known, digest = held.compared.own, held.file.digest
            if known != digest:
                self._overlaps.keep(population, held.file)
            if known is None:
                creators = (self._actor, approver)
                insert_population(change, manifest.population, digest, creators)
            else:
                self._update_population(change, manifest, known, digest)
            self._upsert_dataset(change, load)
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
        insert_blocks(change, manifest.population, blocks_in(stored))
        if known != digest:
            altered["overlap_digest"] = digest
        if json.loads(words) != {**dict.fromkeys(CHANGEABLE), **stored}:
            altered["declaration"] = words
        if altered:
            change.update(tables.population, {"name": name}, altered)

    def _upsert_dataset(self, change: RecordedTransaction, load: _Loaded) -> None:
        created, manifest, snapshot = now_text(), load.manifest, load.snapshot
        schema = manifest.schema().with_rows(load.ingested.listed)
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
                "schema": json.dumps(dataset_to_json(schema)),
                "display": json.dumps(display_of(manifest)),
                "manifest": manifest.canonical_json(),
                "created": created,
            },
        )

    def _allowed_overlap(
        self,
        change: RecordedTransaction,
        loaded: _Loaded,
        held: _Held,
        choices: LoadChoices,
    ) -> list[str]:
        """Return the other populations that share patients, if that is allowed."""
        population, ingested = loaded.manifest.population.id, loaded.ingested
        compared = Compared(
            population,
            loaded.manifest.dataset,
            is_new=held.compared.own is None,
            new_units=ingested.new.count,
            shown=held.shown,
            before=held.before,
            sharing=held.sharing,
            named=ingested.names_others,
            binds_to={
                "keyed_units": sha256(ingested.population_ids).hexdigest(),
                "not_stored": ingested.not_stored,
            },
            said=UNITS_SHARED,
            reason=choices.reason if choices.override_overlap else None,
            key=loaded.overlap_key,
        )
        others = sorted(held.compared.populations)
        return Comparison(change, self._actor, others, compared).allowed_overlap()

    def _shown_before(self, active: str | None) -> Shown | None:
        """Return what the active snapshot shows; None where it cannot be read."""
        with self._services.databases.reader.connect() as connection:
            row = connection.execute(
                select(tables.snapshot).where(tables.snapshot.c.id == active)
            ).one_or_none()
        if row is None:
            return None
        schema, manifest = json.loads(str(row.schema)), json.loads(str(row.manifest))
        file = self._services.settings.snapshots / f"{active}.duckdb"
        rows = public_rows_if_readable(file, dataset_from_json(schema))
        return None if rows is None else Shown(declared_digest(schema, manifest), rows)


def _shown_by(load: _Loaded, snapshots: Path) -> Shown:
    declared = declared_by(load.manifest)
    file = snapshots / f"{load.snapshot}.duckdb"
    return Shown(
        declared_digest(declared.schema, declared.manifest),
        public_rows(file, load.manifest.schema()),
    )


def _versions(connection: Connection, manifest: Manifest) -> Versions:
    return Versions.now(connection, manifest.population.id, manifest.dataset)


def _needs_two(
    connection: Connection, manifest: Manifest, choices: LoadChoices
) -> Change | None:
    """Return what of a load needs two persons, but for an overlap; None if nothing."""
    population = manifest.population.id
    row = connection.execute(
        select(tables.population.c.name).where(tables.population.c.name == population)
    ).one_or_none()
    altered = [
        _declaration(manifest, one.what, one.old, one.new)
        for one in differences(connection, manifest).altered()
    ]
    if row is None:
        new = (*_new_tables(manifest), *_new_rules(manifest))
        altered = [creation(manifest.population), *new, *altered]
    if not altered:
        return None
    known = None if row is None else population
    return Change("dataset.load", known, tuple(altered), choices.reason)


def _declaration(manifest: Manifest, place: str, old: object, new: object) -> Altered:
    """Return what a load alters of one declaration of its dataset."""
    subject = Subject("declaration", manifest.dataset, place)
    return Altered(f"{manifest.dataset}.{place}", old, new, subject)


def _new_tables(manifest: Manifest) -> list[Altered]:
    """Return the private tables that come with a new population, each whole.

    Whoever approves of a population approves of what is first told of it; its public
    tables are in every approval anyhow.
    """
    specs = declared_by(manifest).table_specs()
    return [
        _declaration(manifest, name, None, spec)
        for name, spec in sorted(specs.items())
        if not spec.get("public")
    ]


def _new_rules(manifest: Manifest) -> list[Altered]:
    """Return the hierarchies and the display rule that come with a new population."""
    things = declared_by(manifest).facts().items()
    return [
        _declaration(manifest, place, None, told)
        for thing, facts in things
        if thing == "display" or thing.startswith("hierarchy ")
        for place, told in facts.items()
        if told
    ]
