"""The kind of job that makes a model of lists of terms: ``text.terms``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from privacy.errors import CuratorError
from server.use_cases.extraction.declarations import (
    Declared,
    FilePath,
    import_folder,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.store.models import NewModel, model_id_of
from server.use_cases.extraction.work import TextJob, own, told_to
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.version import VERSION
from upstream.extraction.reading.specs import Folder
from upstream.extraction.terms.term_files import (
    TermFileError,
    read_terminology,
    terms_bytes,
)
from upstream.extraction.terms.terms import Terminology, TermModel
from upstream.manifests.declarations import Identifier

Kind = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")]
_MOST_LISTS = 50


class TermLists(Declared):
    """Lists of terms, as a model of a name.

    Attributes:
        model: The model's name, new in its population.
        terms: The file of each type of spans, under the import folder.
        forms: Whether doses and measurements are found by their form, too.
    """

    model: Identifier
    terms: dict[Kind, Folder] = Field(default_factory=dict, max_length=_MOST_LISTS)
    forms: bool = False

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.terms and not self.forms:
            message = "declare terms, or forms: true"
            raise ValueError(message)
        return self


class TermsParameters(JobParameters):
    """A file under CURATOR_IMPORT that names lists of terms."""

    declaration: FilePath


class TermsJob(TextJob):
    """Reads lists of terms and stores them as a model; all or nothing."""

    name = "text.terms"
    parameters: type[JobParameters] = TermsParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the declaration, and that the name is free.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: The file is not there, or something in it is wrong.
        """
        given = own(parameters, TermsParameters)
        configured = self._services.settings.import_
        found = prepared_file(TermLists, configured, given.declaration)
        population, model = found.declared.population, found.declared.model
        self.require_population(population)
        try:
            parts = self._parts()
            with parts.databases.reader.connect() as connection:
                parts.models.require_unused(connection, population, model)
        except CuratorError as error:
            raise told_to(population, error) from None
        told = given.model_copy(update={"declaration": str(found.path)})
        return Prepared(told, population, [found.input])

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Read the lists and store the model.

        Raises:
            CommandRefusedError: It was refused; there is no model.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, TermsParameters)
        configured = self._services.settings.import_
        declared = submitted_file(
            TermLists, configured, given.declaration, context.inputs[0]
        ).declared
        lists = []
        for one in _lists(declared, import_folder(configured)):
            lists.append(one)
            context.progress("read lists", len(lists), len(declared.terms))
        model = model_id_of(context.job_id)
        terms = TermModel(model, tuple(lists), declared.forms)
        card: Document = {
            "terms": {each.kind: len(each.meanings) for each in lists},
            "forms": declared.forms,
            "code_version": VERSION,
        }
        parts = self._parts()
        body = parts.models.insert_parts(
            parts.slices(context), model, terms_bytes(terms)
        )
        spec = declared.model_dump_json(include={"terms", "forms"})
        new = NewModel(
            declared.population,
            declared.model,
            spec,
            card,
            context.job_id,
            context.actor,
        )
        result: Document = {"model": model, "name": declared.model, "card": card}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            parts.models.insert(connection, new, body)
            output: Document = {"model": model, "name": declared.model}
            context.conclude(connection, result, [output])
        return result


def _lists(declared: TermLists, folder: Path) -> Iterator[Terminology]:
    """Yield the lists, each read from its file.

    Raises:
        CommandRefusedError: One lies elsewhere, or cannot be used.
    """
    for kind, name in declared.terms.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder) or not path.is_file():
            message = f"{name}: there is no such file under CURATOR_IMPORT"
            raise CommandRefusedError(message)
        try:
            yield read_terminology(path, kind)
        except TermFileError as error:
            raise CommandRefusedError(str(error)) from None
