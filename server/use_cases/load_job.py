"""The kind of job that loads a dataset: ``dataset.load``."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from sqlalchemy import Connection, select

from privacy.errors import CuratorError
from server.persistence import tables
from server.use_cases.answers import Document
from server.use_cases.custody import CustodyOffice, LoadChoices
from server.use_cases.errors import CommandRefusedError
from server.use_cases.job_actors import check_custodian
from server.use_cases.job_kinds import (
    JobContext,
    JobParameters,
    Prepared,
    UnpreparedError,
)
from server.use_cases.lines import one_line
from server.use_cases.loading import Errand
from server.use_cases.services import Services
from upstream.manifest import Manifest, load_manifest
from upstream.progress import Step
from upstream.sources import Folders, files_of
from upstream.yaml_nodes import read_yaml

_OUTSIDE = (
    "the manifest must be a .yaml, .yml or .json file under CURATOR_IMPORT, the folder "
    "that jobs may read"
)
_SUFFIXES = {".yaml", ".yml", ".json"}


class LoadParameters(JobParameters):
    """A manifest and the choices of ``curator dataset load``.

    ``manifest`` is a path under CURATOR_IMPORT, relative to it or whole.
    """

    manifest: str
    dry_run: bool = False
    override_overlap: bool = False
    accept_changes: bool = False
    reason: Annotated[str, AfterValidator(one_line)] | None = None


class LoadJob:
    """Loads a dataset: what ``curator dataset load`` does, under a job's lease.

    Its snapshot's entry and its own result are one transaction, so that an attempt
    that was cut off is either done or undone. The entry's facts name the job.
    """

    name = "dataset.load"
    parameters: type[JobParameters] = LoadParameters

    def __init__(self, services: Services, sweep: Callable[[], None]) -> None:
        self._services = services
        self._sweep = sweep  # deletes files in DATA that no entry names

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Read the manifest, without any row of its files.

        Raises:
            CommandRefusedError: Its path names no manifest under CURATOR_IMPORT.
            UnpreparedError: There is none, or a wrong one.
        """
        given = _own(parameters)
        folder = self._folder(given)
        try:
            path = _located(folder, given)
        except CommandRefusedError as error:
            raise UnpreparedError(str(error), population=None) from None
        try:
            manifest = load_manifest(path, folder)
            inputs = [_manifest_input(path), *_file_inputs(manifest, path, folder)]
        except (CuratorError, OSError) as error:
            raise UnpreparedError(str(error), _population_in(path)) from None
        return Prepared(
            given.model_copy(update={"manifest": str(path)}),
            manifest.population.id,
            inputs,
        )

    def _folder(self, given: LoadParameters) -> Path:
        """Return the import folder's real path.

        Raises:
            CommandRefusedError: There is none, or the manifest's path, as it is
                written, names no manifest under it, whatever is there.
        """
        configured = self._services.settings.import_
        if configured is None:
            message = "CURATOR_IMPORT is not set: jobs read under that folder alone"
            raise CommandRefusedError(message)
        folder = configured.resolve()
        written = [
            Path(os.path.normpath(base / given.manifest))
            for base in (folder, configured.absolute())
        ]
        if "\0" in given.manifest or not (
            written[0].is_relative_to(folder)
            or written[1].is_relative_to(configured.absolute())
        ):
            raise CommandRefusedError(_OUTSIDE)
        if written[0].suffix.lower() not in _SUFFIXES:
            raise CommandRefusedError(_OUTSIDE)
        return folder

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Load the dataset; its snapshot becomes the active one.

        Raises:
            CommandRefusedError: The load was refused, the manifest is another than
                when the job was submitted, or whoever submitted it is no custodian
                of its population now.
            IngestionError: The files do not fit the manifest.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        given = _own(parameters)
        folder = self._folder(given)
        path = _located(folder, given)
        self._check_unchanged(context, path)
        manifest = load_manifest(path, folder)
        with self._services.databases.reader.connect() as connection:
            check_custodian(connection, context.actor, manifest.population.id)
        files = _file_inputs(manifest, path, folder)
        context.record_inputs([_manifest_input(path), *files])
        choices = LoadChoices(
            dry_run=given.dry_run,
            override_overlap=given.override_overlap,
            accept_changes=given.accept_changes,
            reason=given.reason,
        )
        office = CustodyOffice(self._services, context.actor)
        return office.load(path, choices, errand=_errand(context))

    def _check_unchanged(self, context: JobContext, path: Path) -> None:
        submitted = context.inputs[0]
        if _manifest_input(path) != submitted:
            message = (
                "the manifest was changed since the job was submitted: submit again"
            )
            raise CommandRefusedError(message)

    def unbegun(self) -> list[str]:
        """Return none: only custodians are told when a load began."""
        return []

    def begin(self, context: JobContext, parameters: JobParameters) -> None:
        """Do nothing."""

    def settle(self) -> None:
        """Do nothing: a load has begun nothing before its end."""

    def clean(self) -> None:
        """Remove what killed loads left among the snapshots."""
        self._sweep()


def _errand(context: JobContext) -> Errand:
    def tell(step: Step) -> None:
        context.progress(f"{step.phase} {step.table}", step.done, step.total)

    def wait() -> None:
        context.progress("wait for another load", 0, None)

    def recorded(connection: Connection, loaded: Document) -> None:
        check_custodian(connection, context.actor, _population_of(connection, loaded))
        output: Document = {
            "dataset": loaded["dataset"],
            "snapshot": loaded["snapshot"],
        }
        context.conclude(connection, loaded, [output])

    return Errand(
        progress=tell,
        interruptible=context.interruptible,
        waiting=wait,
        recorded=recorded,
        facts={"job": context.job_id},
    )


def _population_of(connection: Connection, loaded: Document) -> str:
    population: str = connection.execute(
        select(tables.dataset.c.population).where(
            tables.dataset.c.name == loaded["dataset"]
        )
    ).scalar_one()
    return population


def _population_in(path: Path) -> str | None:
    """Return the population that a wrong manifest names; None where it names none."""
    try:
        content, _ = read_yaml(path)
    except CuratorError:
        return None
    declared = content.get("population") if isinstance(content, dict) else None
    named = declared.get("id") if isinstance(declared, dict) else None
    return named if isinstance(named, str) else None


def _located(folder: Path, given: LoadParameters) -> Path:
    """Return the manifest's real path.

    Raises:
        CommandRefusedError: It is not there, or does not lie in the folder.
    """
    path = _real(folder / given.manifest)
    if path is None or not _is_manifest_in(folder, path):
        raise CommandRefusedError(_OUTSIDE)
    return path


def _own(parameters: JobParameters) -> LoadParameters:
    if not isinstance(parameters, LoadParameters):
        raise TypeError
    return parameters


def _real(path: Path) -> Path | None:
    """Return a path without links; None where it cannot be one."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_manifest_in(folder: Path, path: Path) -> bool:
    inside = path.is_relative_to(folder) and path.suffix.lower() in _SUFFIXES
    return inside and path.is_file()


def _manifest_input(path: Path) -> Document:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"path": str(path), "sha256": digest, "size_bytes": len(content)}


def _file_inputs(manifest: Manifest, path: Path, folder: Path) -> list[Document]:
    """Describe the files that a manifest names; big ones are not hashed."""
    folders = Folders(path.parent, folder)
    found = {file for table in manifest.tables for file in files_of(table, folders)}
    return [
        {"path": str(file), "size_bytes": file.stat().st_size} for file in sorted(found)
    ]
