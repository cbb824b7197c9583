"""Manifests before a load: a first draft, and a check without reading rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from server.use_cases.services.documents import Document
from upstream.drafting.drafting import draft_manifest
from upstream.drafting.manifest_check import manifest_problems
from upstream.drafting.sources.database_drafts import DraftDatabase, is_database
from upstream.errors import Problem


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What is drafted.

    Attributes:
        places: Paths of files, and SQLAlchemy's URLs of databases.
        units: The names of the unit's column.
        tables: Tables and views of the databases; none: all of them.
        url_variables: Environment variables that hold URLs of further databases.
    """

    places: Sequence[str]
    units: Sequence[str] = ()
    tables: Sequence[str] = ()
    url_variables: Sequence[str] = ()


def draft(request: DraftRequest) -> Document:
    """Draft a manifest for files; its open sources keep it from being loaded.

    Raises:
        IngestionError: A file, or a database, cannot be read.
    """
    tables = tuple(request.tables)
    databases = [
        DraftDatabase(url=place, tables=tables)
        for place in request.places
        if is_database(place)
    ]
    databases += [
        DraftDatabase(url_variable=name, tables=tables)
        for name in request.url_variables
    ]
    files = [Path(place) for place in request.places if not is_database(place)]
    return {"manifest": draft_manifest(files, request.units, databases)}


def problems(manifest: Path, import_folder: Path | None) -> tuple[Problem, ...]:
    """Return all that a load would refuse without reading a row."""
    return manifest_problems(manifest, import_folder)


def report(found: Sequence[Problem]) -> Document:
    """Return problems as a document."""
    return {"ok": not found, "problems": [asdict(problem) for problem in found]}
