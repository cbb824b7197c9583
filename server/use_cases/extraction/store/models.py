"""Models as rows: raw data of custodians, as the texts that they learned from are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from query_lang.binding.outside_domain import nearest_value
from server.persistence.text_tables import text_model, text_part
from server.use_cases.extraction.store.parts import cut, delete_parts, joined
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.services import now_text
from server.use_cases.services.text_cipher import TextCipher
from upstream.extraction.models.model import TextModel
from upstream.extraction.models.model_files import ModelFileError, read_model
from upstream.extraction.terms.term_files import TermFileError, is_terms, read_terms
from upstream.extraction.terms.terms import TermModel

_PREFIX = "model_"
_SHOWN = [column for column in text_model.c if column.name != "body"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model, but for what it learned. ``spec`` and ``card`` are JSON."""

    id: str
    population: str
    name: str
    spec: str
    card: str
    job: str
    created: str
    created_by: str

    def document(self) -> Document:
        """Return what custodians see of it."""
        return {
            "id": self.id,
            "population": self.population,
            "name": self.name,
            "created": self.created,
            "created_by": self.created_by,
            "job": self.job,
            "card": json.loads(self.card),
            "spec": json.loads(self.spec),
        }


@dataclass(frozen=True, slots=True)
class NewModel:
    """A model that a job has made."""

    population: str
    name: str
    spec: str
    card: Mapping[str, object]
    job: str
    actor: str


def model_id_of(job: str) -> str:
    """Return the id of the model that a job makes: the same at each attempt.

    >>> model_id_of("job_0123")
    'model_0123'
    """
    return _PREFIX + job.partition("_")[2]


def job_id_of(model: str) -> str:
    """Return the id of the job that made a model.

    >>> job_id_of("model_0123")
    'job_0123'
    """
    return "job_" + model.removeprefix(_PREFIX)


class ModelStore:
    """The table of models."""

    def __init__(self, cipher: TextCipher) -> None:
        self._cipher = cipher

    def insert_parts(self, slices: Slices, model: str, content: bytes) -> bytes:
        """Write a model's file but for its first part; return that, for ``insert``.

        Nobody sees it without its row. What an earlier attempt wrote is replaced.
        """
        body = self._cipher.encrypt(content, text_model.name, model)
        first, further = cut(model, 0, body)
        delete_parts(slices, model)
        slices.insert(text_part, further)
        return first

    def insert(self, connection: Connection, new: NewModel, body: bytes) -> None:
        """Write a model.

        Raises:
            CommandRefusedError: The population has one of this name.
        """
        self.require_unused(connection, new.population, new.name)
        connection.execute(
            insert(text_model).values(
                id=model_id_of(new.job),
                population=new.population,
                name=new.name,
                spec=new.spec,
                card=json.dumps(dict(new.card)),
                job=new.job,
                created=now_text(),
                created_by=new.actor,
                body=body,
            )
        )

    def require_unused(
        self, connection: Connection, population: str, name: str
    ) -> None:
        """Refuse a name that a model of the population has.

        Raises:
            CommandRefusedError: One has it.
        """
        held = connection.execute(
            select(text_model.c.id).where(
                text_model.c.population == population, text_model.c.name == name
            )
        ).first()
        if held is not None:
            message = (
                f"population {population!r} has a model {name!r}: choose another name, "
                "or delete that one"
            )
            raise CommandRefusedError(message)

    def row(self, connection: Connection, population: str, model: str) -> ModelRow:
        """Return a population's model, by its name or its id.

        Raises:
            NoSuchThingError: There is none.
        """
        found = connection.execute(
            select(*_SHOWN).where(
                text_model.c.population == population,
                (text_model.c.name == model) | (text_model.c.id == model),
            )
        ).first()
        if found is None:
            named = select(text_model.c.name).where(
                text_model.c.population == population
            )
            known = [*connection.execute(named).scalars(), "rules"]
            near = None if model == "rules" else nearest_value(model, known)
            meant = f"did you mean {near!r}? " if near else ""
            message = (
                f"population {population!r} has no model {model!r}: {meant}see "
                "'curator model list'"
            )
            raise NoSuchThingError(message)
        return ModelRow(**found._mapping)  # noqa: SLF001 - public, but for its dash

    def rows(self, connection: Connection) -> list[ModelRow]:
        """Return all models, oldest first."""
        found = connection.execute(
            select(*_SHOWN).order_by(text_model.c.created, text_model.c.id)
        )
        return [ModelRow(**row._mapping) for row in found]  # noqa: SLF001 - as above

    def model(self, connection: Connection, model: str) -> TextModel | TermModel:
        """Return a model by its id, ready to find spans.

        Raises:
            NoSuchThingError: It was deleted.
            TextKeyError: It cannot be opened.
            CommandRefusedError: Another version made it.
        """
        first = connection.execute(
            select(text_model.c.body).where(text_model.c.id == model)
        ).scalar_one_or_none()
        if first is None:
            message = f"the model {model} was deleted"
            raise NoSuchThingError(message)
        body = joined(connection, model, {0: first})[0]
        content = self._cipher.decrypt(body, text_model.name, model)
        try:
            return read_terms(content) if is_terms(content) else read_model(content)
        except (ModelFileError, TermFileError) as error:
            raise CommandRefusedError(str(error)) from None

    def delete(self, connection: Connection, model: str) -> None:
        """Delete a model, but for what ``delete_parts`` does; its spans stay."""
        connection.execute(delete(text_model).where(text_model.c.id == model))

    def delete_parts(self, slices: Slices, model: str) -> None:
        """Delete what is left of a model whose row is gone, or was never written."""
        delete_parts(slices, model)

    def without_row(self, connection: Connection) -> set[str]:
        """Return the models that have parts and no row: some job may write one yet."""
        owner, model = text_part.c.owner, text_model.c.id
        found = connection.execute(
            select(owner)
            .where(
                owner.startswith(_PREFIX, autoescape=True), owner.not_in(select(model))
            )
            .distinct()
        ).scalars()
        return set(found)
