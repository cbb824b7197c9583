"""The formats that a public schema is exported in, and who exports one by a command."""

from collections.abc import Callable, Mapping
from typing import Final

from server.persistence import tables
from server.use_cases.datasets.metadata.croissant import croissant_of
from server.use_cases.datasets.metadata.csvw import csvw_of
from server.use_cases.datasets.public_schema import PublicSchema, public_schema_of
from server.use_cases.identity.access import dataset_row
from server.use_cases.identity.catalogue import existing
from server.use_cases.questions.questions import schema_of
from server.use_cases.services.documents import Document
from server.use_cases.services.services import Services

FORMATS: Final[Mapping[str, Callable[[PublicSchema], Document]]] = {
    "csvw": csvw_of,
    "croissant": croissant_of,
}


class MetadataService:
    """Exports public schemas, on the machine that has the installation."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def exported(self, name: str, form: str) -> Document:
        """Return a dataset's public schema in one of ``FORMATS``.

        Raises:
            NoSuchThingError: There is no such dataset.
        """
        with self._services.databases.reader.connect() as connection:
            existing(connection, tables.dataset, name)
            row = dataset_row(connection, name)
        schema = schema_of(row.active_snapshot, row.schema).dataset
        return FORMATS[form](public_schema_of(schema))
