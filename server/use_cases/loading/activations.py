"""An activation's comparison: what an older snapshot publishes, and who is recorded.

A table that named nobody when it was loaded may name people who came since, to its own
population or to another. So a snapshot that becomes active again is held against all
overlap files, as a load is (PRIVACY 2). Its own people need no comparison: their keyed
ids have stayed in the overlap file, which every later load was compared with.
"""

import json
import subprocess
from dataclasses import asdict, dataclass, field
from typing import Final

from sqlalchemy import Connection, Row, select

from engines.processes.child_processes import (
    NEUTRAL_FOLDER,
    bare_environment,
    child_command,
)
from engines.processes.processors import starting_on
from privacy.coincidences import coinciding_places, names_in_files
from privacy.schema_json import dataset_from_json
from server.persistence import tables
from server.use_cases.custody.populations import checked_secret
from server.use_cases.loading.activation_messages import Asked, Reply
from server.use_cases.loading.comparisons import (
    PEOPLE_PUBLISHED,
    Compared,
    overlap_key,
)
from server.use_cases.loading.shown_content import Shown, declared_digest
from server.use_cases.loading.versions import Versions
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import Services, random_id

SnapshotRow = Row[tuple[object, ...]]
COMPARISON_SECONDS: Final = 3_600.0
"""Far more than any comparison takes: one that hangs keeps others from beginning."""


@dataclass(frozen=True, slots=True)
class Held:
    """What holding a snapshot against the overlap files found.

    Attributes:
        versions: Which files these were, and which snapshot was active.
        shown: What it shows to everybody.
        before: What the active snapshot does; None where that cannot be read.
        key: As of ``Compared``.
        named: Other populations whose units something public names.
    """

    versions: Versions
    shown: Shown
    before: Shown | None
    key: bytes = field(repr=False)
    named: tuple[str, ...] = ()

    def compared(
        self, snapshot: str, dataset: Row[tuple[object, ...]], reason: str | None
    ) -> Compared:
        """Return what decides whether the snapshot may become active.

        Args:
            snapshot: Its id.
            dataset: The row of its dataset.
            reason: Why an overlap is to pass; None: it is not.
        """
        return Compared(
            str(dataset.population),
            str(dataset.name),
            is_new=False,
            new_units=0,
            shown=self.shown,
            before=self.before,
            sharing=(),
            named=self.named,
            binds_to={"snapshot": snapshot},
            said=PEOPLE_PUBLISHED,
            reason=reason,
            key=self.key,
        )


def held_against_units(services: Services, row: SnapshotRow) -> Held:
    """Hold a stored snapshot against the units of all populations.

    Takes as long as its public tables and the overlap files are large: not for use
    under the lock of recording.

    Raises:
        CommandRefusedError: It names units of its own population, or something that it
            takes is missing.
    """
    with services.databases.reader.connect() as connection:
        schema = dataset_from_json(json.loads(str(row.schema)))
        versions = Versions.now(connection, schema.population, schema.name)
        active = _snapshot_row(connection, versions.active)
        secret = checked_secret(connection, services.settings.secret_file)
    manifest = json.loads(str(row.manifest))
    snapshots = services.settings.snapshots
    found = _asked_child(
        Asked(
            file=str(snapshots / f"{row.id}.duckdb"),
            schema=json.loads(str(row.schema)),
            coinciding=sorted(coinciding_places(manifest)),
            headers=names_in_files(manifest),
            active=str(snapshots / f"{versions.active}.duckdb"),
            active_schema=None if active is None else json.loads(str(active.schema)),
            target=str(snapshots / random_id("activation")),
            overlaps=str(services.settings.overlaps),
            populations=versions.all_populations(schema.population),
            secret=secret.hex(),
        ),
        services.row_processors,
    )
    if found.refused:
        sentences = ". ".join(found.refused)
        message = f"the snapshot {row.id} cannot be activated: {sentences}"
        raise CommandRefusedError(message)
    return Held(
        versions,
        Shown(_declared(row), found.rows),
        None
        if active is None or found.active_rows is None
        else Shown(_declared(active), found.active_rows),
        overlap_key(secret),
        tuple(found.named),
    )


def _declared(row: SnapshotRow) -> str:
    return declared_digest(json.loads(str(row.schema)), json.loads(str(row.manifest)))


def _snapshot_row(connection: Connection, snapshot: str | None) -> SnapshotRow | None:
    wanted = select(tables.snapshot).where(tables.snapshot.c.id == snapshot)
    return connection.execute(wanted).one_or_none()


def _asked_child(asked: Asked, processors: frozenset[int]) -> Reply:
    """Return what the activation's child replies.

    Args:
        asked: What it is told.
        processors: Those of row work, where it runs; none: it shares the server's.

    Raises:
        CommandRefusedError: It could not compare.
    """
    with starting_on(processors):
        child = subprocess.Popen(  # noqa: S603 - ours
            child_command("server.children.activation_child"),
            cwd=NEUTRAL_FOLDER,
            env=bare_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a dying database may quote a value
        )
    told = json.dumps(asdict(asked)).encode()
    try:
        with child:
            said = _communicated(child, told)
    except subprocess.TimeoutExpired:
        message = (
            "what the snapshot publishes was not compared with who is recorded within "
            f"{COMPARISON_SECONDS:.0f} seconds: nothing was changed; try again when "
            "the machine has less to do, or load the data again"
        )
        raise CommandRefusedError(message) from None
    if child.returncode != 0:
        message = (
            "what the snapshot publishes could not be compared with who is recorded: "
            "run 'curator doctor', which tells whether a file is missing or damaged; "
            "else memory or processes are short"
        )
        raise CommandRefusedError(message)
    return Reply(**json.loads(said))


def _communicated(child: "subprocess.Popen[bytes]", told: bytes) -> bytes:
    """Tell a child something and return what it says; it is killed where it takes long.

    Raises:
        TimeoutExpired: It was.
    """
    try:
        said, _ = child.communicate(told, timeout=COMPARISON_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        raise
    return said
