"""The kinds of jobs of linkages: ``linkage.link``, ``linkage.apply``.

The first runs what a file declares. The second runs a linkage again by its name, to
apply what clerks decided: the file, and so what is compared, is as it was.
"""

from typing import Annotated

from pydantic import AfterValidator

from privacy.errors import CuratorError
from server.use_cases.extraction.declarations import (
    FilePath,
    Found,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.pipelines.stages import (
    Wanted as WantedTexts,
)
from server.use_cases.extraction.pipelines.stages import read_texts, tag_texts
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.tagging import model_id
from server.use_cases.extraction.work import TextJob, TextParts, own, told_to
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    Prepared,
    UnpreparedError,
)
from server.use_cases.linkage.opinions import UNDECIDED
from server.use_cases.linkage.store import LinkageStore, opened_body
from server.use_cases.linkage.work.attempts import Attempt, Wanted
from server.use_cases.linkage.work.declarations import (
    Linkage,
    TextSource,
    manifest_of,
)
from server.use_cases.linkage.work.doubts import MOST
from server.use_cases.linkage.work.leftovers import (
    KNOWN,
    delete_leftovers,
    delete_rows_of_run,
)
from server.use_cases.linkage.work.registers import RegisterFiles
from server.use_cases.linkage.work.sheets import write_sheet
from server.use_cases.linkage.work.texts import TextRows
from server.use_cases.loading.comparisons import require_reason
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.services.documents import Document
from server.use_cases.services.lines import one_line
from server.use_cases.services.text_cipher import TextCipher
from upstream.manifests.declarations import Identifier


class LoadParameters(JobParameters):
    """The choices of a load."""

    learn: bool = False
    dry_run: bool = False
    override_overlap: bool = False
    accept_changes: bool = False
    reason: Annotated[str, AfterValidator(one_line)] | None = None

    def choices(self) -> LoadChoices:
        """Return the load's choices."""
        return LoadChoices(
            whole=True,
            dry_run=self.dry_run,
            override_overlap=self.override_overlap,
            accept_changes=self.accept_changes,
            reason=self.reason,
        )


class LinkParameters(LoadParameters):
    """A linkage file under CURATOR_IMPORT."""

    linkage: FilePath


class ApplyParameters(LoadParameters):
    """A linkage that was run, by its name or its id; ``file``: found by ``prepare``."""

    population: Identifier
    linkage: Identifier
    file: FilePath | None = None


class LinkJob(TextJob):
    """Links records; its run, its load and its result are one transaction."""

    name = "linkage.link"
    parameters: type[JobParameters] = LinkParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the file, its manifest, its collections and models; reads no row.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: The file is not there, or something in it is wrong.
        """
        given = own(parameters, LinkParameters)
        return self._prepared(given, given.linkage)

    def _prepared(self, given: LoadParameters, file: str) -> Prepared:
        require_reason(given.reason, override_overlap=given.override_overlap)
        found = prepared_file(Linkage, self._services.settings.import_, file)
        declared = found.declared
        self.require_population(declared.population)
        try:
            manifest_of(declared, str(found.path), found.places)
            models = _models(self._parts(), declared)
        except UnpreparedError:
            raise
        except CuratorError as error:
            raise told_to(declared.population, error) from None
        named = "file" if isinstance(given, ApplyParameters) else "linkage"
        return Prepared(
            given.model_copy(update={named: str(found.path)}),
            declared.population,
            [found.input, *models],
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Link the records, and load their tables with unit keys.

        Raises:
            CommandRefusedError: It was refused; nothing counts.
            IngestionError: A source or a table does not fit its declaration.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, LoadParameters)
        configured = self._services.settings.import_
        file = _file_of(given)
        found = submitted_file(Linkage, configured, file, context.inputs[0])
        parts = self._parts()
        texts = [self._read(context, parts, found, one) for one in found.declared.texts]
        wanted = Wanted(found, given.choices(), given.learn)
        made = Attempt(self._services, context, wanted, parts, texts).made()
        if given.dry_run:  # nothing of it counts, so nothing of it is kept
            self.discard(context, is_over=True)
        else:
            RegisterFiles(self._services, parts.cipher).delete_work(context.job_id)
        return made

    def _read(
        self,
        context: JobContext,
        parts: TextParts,
        found: Found[Linkage],
        source: TextSource,
    ) -> TextRows:
        """Read and tag a source of texts, where that was not done in any run."""
        population, name = found.declared.population, source.collection
        with parts.databases.reader.connect() as connection:
            held = {
                one.name
                for one in parts.texts.collections(connection)
                if one.population == population
            }
        wanted = WantedTexts(population, name, None if name in held else source.source)
        configured = self._services.settings.import_
        collection = read_texts(context, parts, wanted, configured)
        models = [
            str(one["model"])
            for one in context.inputs[1:]
            if one["source"] == source.name
        ]
        for model in models:
            tag_texts(context, parts, collection, model)
        return TextRows(parts, source, collection, models)

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Delete what ended jobs of the population left, and runs that count no more.

        Raises:
            LeaseLostError: The job is another worker's now.
        """
        super().discard(context, is_over=is_over)
        delete_leftovers(self._services)
        files = RegisterFiles(self._services, TextCipher(None))  # nothing is opened
        databases = self._services.databases
        with databases.reader.connect() as connection:
            counting = LinkageStore().registers(connection)
            kept = LinkageStore().all_runs(connection)
            findings = self._parts().spans.findings_of(connection, KNOWN)
            made = {*files.jobs(), *LinkageStore().jobs_of_doubts(connection)}
            made |= {one.job for one in findings}
            over = self.over(connection, context, made, is_over=is_over)
        slices = Slices(databases, context.require_claim_with)
        for job in over:
            files.delete_work(job)
            if job in counting:
                continue
            files.delete(job)
            delete_rows_of_run(slices, job, is_named=job in kept)

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at a slot's end: a recorded load waited."""
        return result is None or result.get("snapshot") is None


class ApplyJob(LinkJob):
    """Runs a linkage again, with what clerks decided since."""

    name = "linkage.apply"
    parameters: type[JobParameters] = ApplyParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Look for the linkage, and check its file as ``LinkJob`` does.

        Raises:
            UnpreparedError: There is no such linkage, or its file is wrong.
        """
        given = own(parameters, ApplyParameters)
        self.require_population(given.population)
        try:
            with self._services.databases.reader.connect() as connection:
                row = LinkageStore().find(connection, given.population, given.linkage)
        except CuratorError as error:
            raise told_to(given.population, error) from None
        prepared = self._prepared(given, row.file)
        declared = own(prepared.parameters, ApplyParameters)
        if prepared.population != given.population:
            message = f"{row.file} is another population's now: mend it"
            raise UnpreparedError(message, given.population)
        return Prepared(declared, prepared.population, prepared.inputs)


class ExportParameters(JobParameters):
    """A linkage, by its name or its id."""

    population: Identifier
    linkage: Identifier


class ExportJob(LinkJob):
    """Writes the doubtful pairs that are undecided into a sheet for clerks."""

    name = "linkage.review_export"
    parameters: type[JobParameters] = ExportParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Look for the linkage.

        Raises:
            UnpreparedError: There is none.
        """
        given = own(parameters, ExportParameters)
        self.require_population(given.population)
        try:
            with self._services.databases.reader.connect() as connection:
                row = LinkageStore().find(connection, given.population, given.linkage)
        except CuratorError as error:
            raise told_to(given.population, error) from None
        return Prepared(given, given.population, [{"linkage": row.id, "run": row.job}])

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Write the sheet.

        Raises:
            CommandRefusedError: The linkage is there no more.
            TextKeyError: A pair is encrypted, and cannot be opened.
        """
        self.begin(context, parameters)
        given = own(parameters, ExportParameters)
        parts, store = self._parts(), LinkageStore()
        files = RegisterFiles(self._services, parts.cipher)
        with parts.databases.reader.connect() as connection:
            row = store.find(connection, given.population, given.linkage)
            doubts = store.doubts(connection, row.job, most=MOST)
            standing = store.standing(connection, row)
        path = files.sheet(row.id)
        path.unlink(missing_ok=True)
        shown = [
            (*one.pair, one.score, one.reason, opened_body(parts.cipher, row.job, one))
            for one in doubts
            if standing.state(one.pair, one.reason) in UNDECIDED
        ]
        result: Document = {"sheet": str(path), "pairs": write_sheet(path, shown)}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            context.conclude(connection, result, [{"linkage": row.id}])
        return result

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at the end of a slot: always (ADR 39)."""
        del result
        return True


def _file_of(given: LoadParameters) -> str:
    if isinstance(given, LinkParameters):
        return given.linkage
    file = own(given, ApplyParameters).file
    if file is None:  # ``prepare`` found it
        raise TypeError
    return file


def _models(parts: TextParts, declared: Linkage) -> list[Document]:
    """Return the models of all sources of texts, each with its source's name.

    Raises:
        NoSuchThingError: There is no such model, or no such collection.
    """
    told: list[Document] = []
    for source in declared.texts:
        if source.source is None:
            parts.collection(declared.population, source.collection)
        told += [
            {
                "source": source.name,
                "model": model_id(parts, declared.population, one),
                "name": one,
            }
            for one in source.models
        ]
    return told
