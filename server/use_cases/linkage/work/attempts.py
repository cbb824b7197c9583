"""One attempt at a linkage's job: from its sources to what is kept and loaded."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, insert, update

from server.persistence.linkage_tables import linkage, linkage_run
from server.use_cases.extraction.declarations import Found, import_folder
from server.use_cases.extraction.pipelines.table_making import TableMaker
from server.use_cases.extraction.store.spans import Finding
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.actors import check_custodian, wanted_by
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.linkage.opinions import Dependent, Opinion
from server.use_cases.linkage.store import LinkageStore
from server.use_cases.linkage.work.declarations import (
    LINKED,
    Linkage,
    manifest_of,
)
from server.use_cases.linkage.work.doubts import DoubtWriter
from server.use_cases.linkage.work.leftovers import known_finder
from server.use_cases.linkage.work.loads import write_manifest
from server.use_cases.linkage.work.registers import RegisterFiles
from server.use_cases.linkage.work.running import Given, Result, Run, is_scored
from server.use_cases.linkage.work.texts import TextRows, with_keys
from server.use_cases.linkage.work.view import ViewWriter, keys_of_documents
from server.use_cases.loading.loading import LoadChoices, LoadRequest
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import Services, now_text
from upstream.ingestion.ingestion import LinkedTables
from upstream.linkage.registers.keyed import write_keyed, write_source_ids
from upstream.linkage.registers.register import Register, opened
from upstream.linkage.registers.tables import Rows
from upstream.progress import ProgressStep

_REGISTER: Final = "register.duckdb"
_EARLIER: Final = "earlier.duckdb"
_KEPT: Final = "kept.duckdb"
_IDS: Final = "ids.parquet"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a job was asked for.

    Attributes:
        found: The linkage's file.
        choices: Of the load.
        learns: Whether parameters are learned anew.
    """

    found: Found[Linkage]
    choices: LoadChoices
    learns: bool

    @property
    def declared(self) -> Linkage:
        """The linkage, as its file declares it."""
        return self.found.declared


class Attempt:
    """An attempt; another one goes on where pairs are scored, or begins anew."""

    def __init__(
        self,
        services: Services,
        context: JobContext,
        wanted: Wanted,
        parts: TextParts,
        texts: Sequence[TextRows],
    ) -> None:
        """Look for the linkage as it is.

        Args:
            services: The service.
            context: Of the job.
            wanted: What it was asked for.
            parts: The stores of texts.
            texts: The linkage's sources of texts, read and tagged.
        """
        self._services = services
        self._context = context
        self._wanted = wanted
        self._declared = wanted.declared
        self._parts = parts
        self._texts = texts
        self._files = RegisterFiles(services, parts.cipher)
        self._store = LinkageStore()
        with parts.databases.reader.connect() as connection:
            self._before = self._store.known(
                connection, self._declared.population, self._declared.linkage
            )
            before = self._before
            self._applied = (
                0
                if before is None
                else self._store.last_decision(connection, before.id)
            )

    def made(self) -> Document:
        """Link, write what clerks have to decide, keep the register, and load.

        Raises:
            CommandRefusedError: It was refused; nothing counts.
            IngestionError: A table does not fit its manifest.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        folder = self._folder()
        with opened(folder / _REGISTER) as register:
            with self._context.interruptible(register.interrupt):
                run, result = self._linked(register, folder)
                texts = self._write_tables(register, result, folder)
                (folder / _KEPT).unlink(missing_ok=True)
                register.copy_to(folder / _KEPT)
            self._context.raise_if_stopped()
            doubts = DoubtWriter(
                register, self._declared.match, run.scoring, self._parts.cipher
            )
            slices = self._parts.slices(self._context)
            doubts.write(slices, self._context.job_id, result.parameters)
        self._write_known(result)
        told: Document = {
            "linkage": self._declared.linkage,
            "id": self._id,
            **result.report(),
        }
        digest = self._files.keep(self._context.job_id, folder / _KEPT)
        if self._declared.load is not None:
            return self._loaded(folder, {**told, "texts": texts}, digest)
        if self._wanted.choices.dry_run:
            return told
        with self._parts.databases.work.begin() as connection:
            self._record(connection, told, digest, None)
            self._context.conclude(connection, told, [self._output])
        return told

    @property
    def _id(self) -> str:
        """The linkage's id: made of the job's that ran it first."""
        made = "lnk_" + self._context.job_id.partition("_")[2]
        return made if self._before is None else self._before.id

    @property
    def _before_job(self) -> str | None:
        return None if self._before is None else self._before.job

    @property
    def _output(self) -> Document:
        return {"linkage": self._id, "run": self._context.job_id}

    def _folder(self) -> Path:
        """Return the job's own folder: as it was left, where pairs were scored."""
        job = self._context.job_id
        path = self._files.work(job) / _REGISTER
        if path.exists():
            with opened(path) as register:
                if is_scored(register, self._before_job):
                    return self._files.make_work(job)
        self._files.delete_work(job)
        return self._files.make_work(job)

    def _linked(self, register: Register, folder: Path) -> tuple[Run, Result]:
        """Score the pairs, unless that is done, and settle whose each record is."""
        opinions, earlier = self._earlier(folder)
        given = Given(
            self._declared,
            import_folder(self._services.settings.import_),
            self._texts,
            opinions,
            earlier,
            self._before_job,
            self._wanted.learns,
            self._dependent(opinions),
        )
        run = Run(register, given, self._context.progress)
        if not is_scored(register, self._before_job):
            run.score()
            register.connection.execute("CHECKPOINT")
        result = run.settle()
        view = ViewWriter(register, self._declared)
        view.write(result.rows, self._texts, result.known)
        return run, result

    def _dependent(self, opinions: Sequence[Opinion]) -> Dependent:
        if self._declared.opinions == 1:
            return frozenset()
        with self._parts.databases.reader.connect() as connection:
            return self._store.dependent(connection, {one.clerk for one in opinions})

    def _earlier(self, folder: Path) -> tuple[list[Opinion], Path | None]:
        """Return what clerks said, and the register of the run before."""
        before = self._before
        if before is None:
            return [], None
        with self._parts.databases.reader.connect() as connection:
            opinions = self._store.opinions(connection, before.id, upto=self._applied)
            digest = self._store.register_digest(connection, before.job)
        return opinions, self._files.open(before.job, digest, folder / _EARLIER)

    def _write_tables(
        self, register: Register, result: Result, folder: Path
    ) -> dict[str, Document]:
        """Write the tables that are loaded, with unit keys; return what texts gave."""
        if self._declared.load is None:
            return {}
        linked = folder / LINKED
        linked.mkdir(mode=0o700, exist_ok=True)
        write_source_ids(register, self._declared.source_ids(), folder / _IDS)
        tables = {one.name for one in self._declared.tables}
        for rows in result.rows:
            if rows.source in tables:
                self._require_free(rows)
                path = linked / f"{rows.source}.csv"
                write_keyed(register, rows, self._declared.key, path)
        told = {}
        for texts in self._texts:
            table = texts.source.table_of(self._declared.key)
            if table is not None:
                keys = keys_of_documents(register, texts.source.name)
                maker = TableMaker(
                    self._parts,
                    self._context,
                    table,
                    texts.spans(result.known[texts.source.name]),
                    with_keys(texts.pages(), self._declared.key, keys),
                )
                path = linked / f"{texts.source.name}.csv"
                told[texts.source.name] = maker.make(path)
        return told

    def _require_free(self, rows: Rows) -> None:
        """Require that no column of a source is called as the unit key's.

        Raises:
            CommandRefusedError: One is.
        """
        if self._declared.key in rows.columns:
            message = (
                f"the source {rows.source} has a column {self._declared.key}: call the "
                "column of unit keys otherwise, such as key: person_key"
            )
            raise CommandRefusedError(message)

    def _write_known(self, result: Result) -> None:
        """Write what the loop found, as a finder's spans that nobody sees yet."""
        finder, job = known_finder(self._context.job_id), self._context.job_id
        for texts in self._texts:
            collection = texts.collection.id
            finding = Finding(collection, finder, job, self._context.actor)
            with self._parts.databases.work.begin() as connection:
                self._parts.spans.begin_finding(connection, finding)
            slices = self._parts.slices(self._context)
            self._parts.spans.delete_behind(slices, collection, finder)
            found = result.known[texts.source.name].spans
            self._parts.spans.insert_spans(slices, collection, finder, found)

    def _loaded(self, folder: Path, told: Document, digest: str) -> Document:
        """Load the tables; their snapshot, the run and the result are one transaction.

        Raises:
            CommandRefusedError: The load was refused.
            IngestionError: A table does not fit its manifest.
        """
        found, context = self._wanted.found, self._context
        manifest = manifest_of(self._declared, str(found.path), found.places)
        if manifest is None:
            raise TypeError
        imported = import_folder(self._services.settings.import_)
        path = write_manifest(folder, manifest, found.path, imported)
        settings = self._services.settings.model_copy(update={"import_": path.parent})
        ids, columns = folder / _IDS, self._declared.id_columns()

        def tell(step: ProgressStep) -> None:
            stage = f"load: {step.phase} {step.table}"
            context.progress(stage, step.done, step.total)

        def recorded(connection: Connection, loaded: Document) -> None:
            self._record(connection, told, digest, str(loaded["snapshot"]))
            output: Document = {
                **self._output,
                "dataset": loaded["dataset"],
                "snapshot": loaded["snapshot"],
            }
            context.conclude(connection, {**loaded, "linked": told}, [output])

        request = LoadRequest(
            progress=tell,
            interruptible=context.interruptible,
            waiting=lambda: context.progress("wait for another load", 0, None),
            begun=wanted_by(context),
            recorded=recorded,
            facts={"job": context.job_id},
            worked_before=context.worked_seconds,
            linked=LinkedTables(folder, ids, columns),
        )
        service = LoadService(replace(self._services, settings=settings), context.actor)
        loaded = service.load(path, self._wanted.choices, request=request)
        return {**loaded, "linked": told}

    def _require_unchanged(self, connection: Connection) -> None:
        """Require that this run begins with the one that counts: keys follow from it.

        Raises:
            CommandRefusedError: Another one counts now, or the linkage was deleted.
        """
        declared = self._declared
        now = self._store.known(connection, declared.population, declared.linkage)
        if (None if now is None else now.job) != self._before_job:
            message = (
                f"another run of the linkage {declared.linkage} counted meanwhile, or "
                "it was deleted: nothing of this one counts; run it again"
            )
            raise CommandRefusedError(message)

    def _file(self) -> str:
        """Return the linkage's file by its path under the import folder."""
        folder = import_folder(self._services.settings.import_)
        return self._wanted.found.path.relative_to(folder).as_posix()

    def _record(
        self,
        connection: Connection,
        told: Mapping[str, object],
        digest: str,
        snapshot: str | None,
    ) -> None:
        """Let the run count.

        Raises:
            CommandRefusedError: Whoever asked for it is no custodian now.
        """
        context, declared = self._context, self._declared
        check_custodian(connection, context.actor, declared.population)
        for texts in self._texts:
            self._parts.spans.finish_finding(
                connection,
                texts.collection.id,
                known_finder(context.job_id),
                context.job_id,
            )
        values = {
            "file": self._file(),
            "opinions": declared.opinions,
            "job": context.job_id,
        }
        self._require_unchanged(connection)
        if self._before is None:
            connection.execute(
                insert(linkage).values(
                    id=self._id,
                    population=declared.population,
                    name=declared.linkage,
                    created=now_text(),
                    created_by=context.actor,
                    **values,
                )
            )
        else:
            connection.execute(
                update(linkage).where(linkage.c.id == self._id).values(**values)
            )
        runs = self._store.runs(connection, self._id)
        connection.execute(
            insert(linkage_run).values(
                job=context.job_id,
                linkage=self._id,
                number=1 + (runs[0].number if runs else 0),
                created=now_text(),
                created_by=context.actor,
                file_sha256=digest,
                decisions=self._applied,
                snapshot=snapshot,
                report=json.dumps(told),
            )
        )
