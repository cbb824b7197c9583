"""The kind of job that makes a private table of texts and loads it: ``text.pipeline``.

It reads and tags where that was not done, makes the table's file in the job's folder
with a row of origins for each value, and loads it as ``dataset.load`` does.
"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator
from sqlalchemy import Connection, select

from privacy.errors import CuratorError
from server.persistence import tables
from server.use_cases.extraction.declarations import (
    FilePath,
    Found,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.pipelines.checks import PipelineChecks
from server.use_cases.extraction.pipelines.files import Pipeline, manifest_of
from server.use_cases.extraction.pipelines.found_spans import Found as Finders
from server.use_cases.extraction.pipelines.found_spans import FoundSpans
from server.use_cases.extraction.pipelines.stages import (
    Wanted,
    read_texts,
    said_of_reading,
    tag_texts,
)
from server.use_cases.extraction.pipelines.table_making import TableMaker
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.tagging import model_id
from server.use_cases.extraction.work import (
    TextJob,
    delete_table,
    own,
    tables_folder,
    told_to,
)
from server.use_cases.jobs.actors import wanted_by
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    Prepared,
    UnpreparedError,
)
from server.use_cases.loading.comparisons import require_reason
from server.use_cases.loading.loading import LoadChoices, LoadRequest
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.lines import one_line
from upstream.progress import ProgressStep

TABLE, MANIFEST = "table.csv", "manifest.json"


class PipelineParameters(JobParameters):
    """A pipeline file under CURATOR_IMPORT, and the choices of a load."""

    pipeline: FilePath
    dry_run: bool = False
    override_overlap: bool = False
    accept_changes: bool = False
    reason: Annotated[str, AfterValidator(one_line)] | None = None


class PipelineJob(TextJob):
    """Makes a table of texts and loads it; the load and the result are one."""

    name = "text.pipeline"
    parameters: type[JobParameters] = PipelineParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the file, its manifest and the model; reads no text.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: The file is not there, or something in it is wrong.
        """
        given = own(parameters, PipelineParameters)
        require_reason(given.reason, override_overlap=given.override_overlap)
        configured = self._services.settings.import_
        found = prepared_file(Pipeline, configured, given.pipeline)
        pipeline = found.declared
        self.require_population(pipeline.population)
        try:
            manifest_of(pipeline, str(found.path), found.places, TABLE)
            parts = self._parts()
            models: list[Document] = [
                {"model": model_id(parts, pipeline.population, one), "name": one}
                for one in pipeline.models
            ]
            if pipeline.source is None:
                parts.collection(pipeline.population, pipeline.collection)
        except UnpreparedError:
            raise
        except CuratorError as error:
            raise told_to(pipeline.population, error) from None
        return Prepared(
            given.model_copy(update={"pipeline": str(found.path)}),
            pipeline.population,
            [found.input, *models],
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Read, tag, make the table and load it.

        Raises:
            CommandRefusedError: It was refused; nothing was loaded.
            IngestionError: The table does not fit its manifest.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, PipelineParameters)
        found = submitted_file(
            Pipeline,
            self._services.settings.import_,
            given.pipeline,
            context.inputs[0],
        )
        parts = self._parts()
        models = [str(one["model"]) for one in context.inputs[1:]]
        checks = PipelineChecks(parts, found)
        checks.check_models(models)
        configured = self._services.settings.import_
        collection = read_texts(context, parts, _texts_of(found.declared), configured)
        checks.check_fields(collection)
        for model in models:
            tag_texts(context, parts, collection, model)
        folder = self._folder(context)
        risks = found.declared.risks
        spans = FoundSpans(parts, Finders(collection, models), risks)
        maker = TableMaker(parts, context, found.declared.table, spans)
        told = maker.make(folder / TABLE)
        if found.declared.source is not None:
            warnings = cast("list[str]", told["warnings"])
            told["warnings"] = [*said_of_reading(context, collection), *warnings]
        return self._load(context, given, found, (folder, told, collection))

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Delete what ended jobs began, and their tables that were not loaded.

        Raises:
            LeaseLostError: The job is another worker's now.
        """
        super().discard(context, is_over=is_over)
        folder = tables_folder(self._services)
        made = [path.name for path in folder.glob("job_*")]
        databases, job = self._services.databases, tables.job
        with databases.reader.connect() as connection:
            over = self.over(connection, context, made, is_over=is_over)
            done = connection.execute(
                select(job.c.id).where(job.c.id.in_(over), job.c.state == "done")
            ).scalars()
            left = sorted(set(over) - set(done))
        slices = Slices(databases, context.require_claim_with)
        for name in left:
            delete_table(slices, folder, name)

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at a slot's end: a recorded load waited."""
        return result is None or result["snapshot"] is None

    def _folder(self, context: JobContext) -> Path:
        """Return the job's own folder, empty: the table is made anew."""
        folder = tables_folder(self._services) / context.job_id
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700)
        return folder

    def _load(
        self,
        context: JobContext,
        given: PipelineParameters,
        found: Found[Pipeline],
        made: tuple[Path, Document, Collection],
    ) -> Document:
        """Load the table; its snapshot and the job's result are one transaction."""
        folder, doubts, collection = made
        manifest = manifest_of(found.declared, str(found.path), found.places, TABLE)
        path = folder / MANIFEST
        path.touch(mode=0o600)
        path.write_text(manifest.canonical_json())
        services = replace(
            self._services,
            settings=self._services.settings.model_copy(update={"import_": folder}),
        )
        told: Document = {"collection": collection.name, **doubts}

        def tell(step: ProgressStep) -> None:
            context.progress(f"load: {step.phase}", step.done, step.total)

        def recorded(connection: Connection, loaded: Document) -> None:
            self.check_actor(connection, context)
            output: Document = {
                "dataset": loaded["dataset"],
                "snapshot": loaded["snapshot"],
                "collection": collection.id,
            }
            context.conclude(connection, {**loaded, "texts": told}, [output])

        request = LoadRequest(
            progress=tell,
            interruptible=context.interruptible,
            waiting=lambda: context.progress("wait for another load", 0, None),
            begun=wanted_by(context),
            recorded=recorded,
            facts={"job": context.job_id},
            worked_before=context.worked_seconds,
        )
        choices = LoadChoices(
            whole=True,
            dry_run=given.dry_run,
            override_overlap=given.override_overlap,
            accept_changes=given.accept_changes,
            reason=given.reason,
        )
        service = LoadService(services, context.actor)
        loaded = service.load(path, choices, request=request)
        if given.dry_run:
            slices = Slices(self._services.databases, context.require_claim_with)
            delete_table(slices, folder.parent, context.job_id)
        return {**loaded, "texts": told}


def _texts_of(pipeline: Pipeline) -> Wanted:
    return Wanted(pipeline.population, pipeline.collection, pipeline.source)
