"""What the kinds of jobs that make anonymized copies have in common.

A copy is a folder of its own, written whole before the job's result names it: what a
killed attempt left is deleted by the next one, or by whoever cleans.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from privacy.errors import CuratorError
from privacy.times import shown_time
from server.use_cases.anonymization.copies import CopyFolders, copy_id
from server.use_cases.anonymization.grants import (
    WARNING,
    compare,
    holders,
    others_of,
    read_deleted,
    read_grants,
    together,
)
from server.use_cases.anonymization.intersection import Members
from server.use_cases.anonymization.service import (
    OF_POPULATION,
    done_jobs,
    live_copies,
)
from server.use_cases.anonymization.work.files import Reading
from server.use_cases.anonymization.work.members import KnownPeople, RawMembers
from server.use_cases.extraction.declarations import (
    Declared,
    FilePath,
    Found,
    import_folder,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.work import TextJob, own, told_to
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import Services, now_text
from upstream.manifests.declarations import Identifier

FORMAT = "curator anonymized copy 1"
_FOR_RECIPIENTS = frozenset(
    {
        *("method", "k", "principle", "levels", "measures", "profile", "patients"),
        *("rows", "rows_published", "several_rows_a_patient", "empty_records"),
        *("documents", "characters_kept", "replaced", "tagged_instead"),
        *("left", "left_perhaps", "documents_with_left", "never_marked"),
    }
)
"""Of a job's counts: what recipients get, since it is of the copy. The others tell of
files, of rows that were set aside, or of the population, and are custodians' alone."""
Counts = Mapping[str, Any]
"""What a job counted, as its result has it."""


class CopyParameters(JobParameters):
    """A file under CURATOR_IMPORT that declares a copy."""

    file: FilePath
    dry_run: bool = False


class CopyFile(Declared):
    """What every file declares of a copy: whose it is, and its name."""

    name: Identifier


def declared_manifest(
    declared: CopyFile, files: str, broken_by: Sequence[str]
) -> Document:
    """Return what a manifest says of a declaration: its keys, but what it is made of.

    Args:
        declared: The declaration.
        files: The key of the files that are read.
        broken_by: What breaks such copies.
    """
    told = declared.model_dump(
        mode="json", exclude_defaults=True, exclude={"population", "name", files}
    )
    return {"broken_by": list(broken_by), "declared": told}


@contextmanager
def refusing() -> Iterator[None]:
    """Say what an algorithm cannot do, such as a lattice that is too large.

    Raises:
        CommandRefusedError: In place of a ``ValueError``.
    """
    try:
        yield
    except ValueError as error:
        raise CommandRefusedError(str(error)) from None


class Making(Protocol):
    """One attempt at a copy."""

    def planned(self) -> Document:
        """Return what a copy would be; nothing is written.

        Raises:
            CuratorError: There could be none.
            JobStoppedError: The job has to stop.
        """
        ...

    def written(self, folder: Path) -> Document:
        """Write a copy's files; return what was done, counted.

        Raises:
            CuratorError: There is none.
            JobStoppedError: The job has to stop.
            OSError: They cannot be written.
        """
        ...

    def manifest(self) -> Document:
        """Return what was declared, and ``broken_by``: what breaks such copies."""
        ...

    def summary(self, counts: Counts) -> list[str]:
        """Return in sentences what the copy is, lost and risks, for a second person.

        Args:
            counts: What ``written`` returned.
        """
        ...

    def members(self) -> RawMembers | None:
        """Return whose each published row is, and its class; None where none tells."""
        ...


class CopyJob(TextJob):
    """A kind of job that makes a copy, or says what it would be."""

    parameters: type[JobParameters] = CopyParameters
    declared: type[CopyFile]
    kind: str
    """Of its copies."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._folders = CopyFolders(services.settings.anonymized)

    def inputs_of(self, found: Found[Any]) -> list[Document]:
        """Return what the job will read beside the file, for its lineage.

        Raises:
            CuratorError: Something that the file names is not there, or is wrong.
        """
        raise NotImplementedError

    def making(self, context: JobContext, found: Found[Any]) -> Making:
        """Begin an attempt.

        Raises:
            CuratorError: What is read does not serve.
            JobStoppedError: The job has to stop.
        """
        raise NotImplementedError

    @contextmanager
    def reading(self, context: JobContext) -> Iterator[Reading]:
        """Lend what files are read with; what lies in its folder goes behind it."""
        folder = import_folder(self._services.settings.import_)
        scratch = self._folders.stage(context.job_id)
        try:
            yield Reading(folder, scratch, context.progress, context.raise_if_stopped)
        finally:
            self._folders.drop(scratch)

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the file and what it names.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: Something that the file names is not there, or is wrong.
        """
        given = own(parameters, CopyParameters)
        found = prepared_file(
            self.declared, self._services.settings.import_, given.file
        )
        population = found.declared.population
        self.require_population(population)
        try:
            inputs = [found.input, *self.inputs_of(found)]
        except CuratorError as error:
            raise told_to(population, error) from None
        told = given.model_copy(update={"file": str(found.path)})
        return Prepared(told, population, inputs)

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Make the copy.

        Raises:
            CommandRefusedError: It was refused; nothing was made.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, CopyParameters)
        configured = self._services.settings.import_
        found = submitted_file(self.declared, configured, given.file, context.inputs[0])
        try:
            making = self.making(context, found)
            if given.dry_run:
                return self._concluded(context, self._told(found, making.planned()))
            part = self._folders.stage(context.job_id)
            try:
                return self._made(context, found, making, part)
            finally:
                self._folders.drop(part)  # nothing is there of a copy that is made
        except OSError as error:
            message = f"a file could not be read or written: {error.strerror}"
            raise CommandRefusedError(message) from None

    def _made(
        self, context: JobContext, found: Found[Any], making: Making, part: Path
    ) -> Document:
        """Write a copy, and conclude the job with it."""
        counts, members = making.written(part), None
        manifest = self._manifest(context, found, making, counts)
        people = KnownPeople(self._services, found.declared.population)
        raw = making.members()
        if raw is not None:
            members = people.members(raw)
            named = raw.patients if raw.keys is None else raw.keys
            counts[OF_POPULATION] = people.count(named)
        digest = self._folders.finish(part, manifest, members)
        told = self._told(found, counts) | self._beside(context, found, members)
        return self._concluded(context, told, part, digest)

    def _manifest(
        self, context: JobContext, found: Found[Any], making: Making, counts: Document
    ) -> Document:
        """Return a copy's manifest, but for its files."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "name": found.declared.name,
            "population": found.declared.population,
            "warning": WARNING,
            "summary": making.summary(counts),
            **making.manifest(),
            "counts": {k: v for k, v in counts.items() if k in _FOR_RECIPIENTS},
            "created": shown_time(now_text()),
            "job": context.job_id,
            "created_by": context.actor,
        }

    def _told(self, found: Found[Any], counts: Document) -> Document:
        return {
            "name": found.declared.name,
            "copy": None,
            "warning": WARNING,
            **counts,
        }

    def _concluded(
        self,
        context: JobContext,
        told: Document,
        part: Path | None = None,
        digest: str | None = None,
    ) -> Document:
        """Conclude the job, with its copy if there is one; return its result.

        The copy is put in its place while no other worker can take the job, so that an
        attempt that is not the last one replaces nothing.
        """
        outputs: list[Document] = []
        if part is not None:
            own = copy_id(context.job_id)
            told |= {"copy": own}
            outputs = [{"copy": own, "manifest_sha256": digest}]
        with self._services.databases.work.begin() as connection:
            self.check_actor(connection, context)
            if part is not None:
                context.require_lease_with(connection)
                self._folders.settle(part, context.job_id)
            context.conclude(connection, told, outputs)
        return told

    def _beside(
        self, context: JobContext, found: Found[Any], members: Members | None
    ) -> Document:
        """Return which copies have the same name, and who got others of its people."""
        own, folders = copy_id(context.job_id), self._folders
        named = found.declared.population, found.declared.name
        with self._services.databases.reader.connect() as connection:
            held = holders(read_grants(connection), named[0], own)
            known = live_copies(connection, folders)
        same = [one.id for one in known if (one.population, one.name) == named]
        comparing = partial(compare, folders, own, own=members)
        others = others_of(held, comparing)
        return {
            "same_name": same,
            "others": others,
            "all_others": together(held, comparing),
        }

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Delete what ended jobs wrote without an end, and what is left of texts."""
        with self._services.databases.reader.connect() as connection:
            done = done_jobs(connection)
            ended = self.over(
                connection, context, self._folders.jobs(), is_over=is_over
            )
            granted = {one.copy for one in read_grants(connection)}
            deleted = read_deleted(connection)
            is_held = is_over and context.has_lease(connection)
        # Of a job that goes on, what earlier attempts wrote is replaced by its copy.
        for job in {*ended, *([context.job_id] if is_held else [])} - done:
            self._folders.discard(job)
        for job in done.intersection(ended):
            own = copy_id(job)
            is_granted, is_deleted = own in granted, own in deleted
            self._folders.tidy(job, is_deleted=is_deleted, is_granted=is_granted)
        super().discard(context, is_over=is_over)
