"""The kind of job that loads a dataset: ``dataset.load``."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from sqlalchemy import Connection

from server.use_cases.jobs.actors import check_custodian, wanted_by
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    Prepared,
    UnpreparedError,
)
from server.use_cases.loading.comparisons import require_reason
from server.use_cases.loading.loading import CHANGED, LoadChoices, LoadRequest
from server.use_cases.loading.manifest_reading import (
    MANIFESTS,
    OUTSIDE,
    SUFFIXES,
    file_inputs,
    located,
    manifest_input,
)
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.lines import one_line
from server.use_cases.services.services import Services
from upstream.manifests.manifest import load_manifest
from upstream.manifests.yaml_nodes import FileDigest, read_yaml
from upstream.progress import ProgressStep


class LoadParameters(JobParameters):
    """A manifest and the choices of ``curator dataset load``.

    ``manifest`` is a path under CURATOR_IMPORT, relative to it or whole.
    """

    manifest: str
    dry_run: bool = False
    whole: bool = False
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
        """Have the manifest read, without any row of its files.

        Raises:
            CommandRefusedError: Its path names no manifest under CURATOR_IMPORT, or an
                override has no reason.
            BusyError: Too many jobs are being submitted.
            UnpreparedError: There is none, or a wrong one.
        """
        given = _own(parameters)
        require_reason(given.reason, override_overlap=given.override_overlap)
        folder = self._folder(given)
        found = MANIFESTS.read(folder, given.manifest)
        if found.path is None or found.refused is not None:
            raise UnpreparedError(found.refused or OUTSIDE, found.population)
        return Prepared(
            given.model_copy(update={"manifest": found.path}),
            found.population,
            found.inputs,
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
            raise CommandRefusedError(OUTSIDE)
        if written[0].suffix.lower() not in SUFFIXES:
            raise CommandRefusedError(OUTSIDE)
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
        path = located(folder, given.manifest)
        read = read_yaml(path, within=folder)
        submitted = manifest_input(read, path)
        if submitted != context.inputs[0]:
            raise CommandRefusedError(CHANGED)
        manifest = load_manifest(path, folder, read)
        with self._services.databases.reader.connect() as connection:
            check_custodian(connection, context.actor, manifest.population.id)
        context.record_inputs([submitted, *file_inputs(manifest, path, folder)])
        choices = LoadChoices(
            dry_run=given.dry_run,
            whole=given.whole,
            override_overlap=given.override_overlap,
            accept_changes=given.accept_changes,
            reason=given.reason,
        )
        service = LoadService(self._services, context.actor)
        return service.load(path, choices, request=_load_request(context, read.facts))

    def unbegun(self) -> list[str]:
        """Return none: only custodians are told when a load began."""
        return []

    def begin(self, context: JobContext, parameters: JobParameters) -> None:
        """Do nothing."""

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at a slot's end: one that was recorded did so."""
        return result is None or result["snapshot"] is None

    def settle(self) -> None:
        """Do nothing: a load has begun nothing before its end."""

    def clean(self) -> None:
        """Remove what killed loads left among the snapshots."""
        self._sweep()

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Do nothing: what is left is few files, which ``clean`` removes."""


def _load_request(context: JobContext, file: FileDigest) -> LoadRequest:
    def tell(step: ProgressStep) -> None:
        context.progress(f"{step.phase} {step.table}", step.done, step.total)

    def wait() -> None:
        context.progress("wait for another load", 0, None)

    def recorded(connection: Connection, loaded: Document) -> None:
        output: Document = {
            "dataset": loaded["dataset"],
            "snapshot": loaded["snapshot"],
        }
        context.conclude(connection, loaded, [output])

    return LoadRequest(
        progress=tell,
        interruptible=context.interruptible,
        waiting=wait,
        begun=wanted_by(context),
        recorded=recorded,
        facts={"job": context.job_id},
        worked_before=context.worked_seconds,
        submitted=file,
    )


def _own(parameters: JobParameters) -> LoadParameters:
    if not isinstance(parameters, LoadParameters):
        raise TypeError
    return parameters
