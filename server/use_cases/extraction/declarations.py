"""Files under CURATOR_IMPORT that say whose texts are read, and from where.

A custodian who submits jobs over HTTP writes no file there. Since each file names its
population, nobody can have the texts of others read as their own.
"""

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic import ValidationError as Invalid
from pydantic_core import ErrorDetails

from privacy.errors import CuratorError
from query_lang.binding.outside_domain import nearest_value
from server.use_cases.jobs.kinds import UnpreparedError
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.specs import Folder, SourceSpec
from upstream.manifests.declarations import Identifier
from upstream.manifests.sentences import remedy
from upstream.manifests.yaml_nodes import KEY, Place, Places, YamlFile, read_yaml

OUTSIDE = (
    "no .yaml, .yml or .json file of this name lies under CURATOR_IMPORT, the folder "
    "that jobs may read"
)
CHANGED = "the file was changed since the job was submitted: submit again"
SUFFIXES = {".yaml", ".yml", ".json"}
MOST_BYTES = 2**16  # read by the server itself: a mebibyte takes seconds
_MOST_TOLD = 100  # problems of one file


class Declared(BaseModel):
    """What a file declares; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    population: Identifier


Model = TypeVar("Model", bound=Declared)


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        message = "is no regular expression that Python reads"
        raise ValueError(message) from error
    return pattern


Pattern = Annotated[str, Field(max_length=1_000), AfterValidator(_compiles)]


class GoldFiles(BaseModel):
    """A gold standard in files.

    Attributes:
        format: How it is written: a ``.txt`` and a ``.ann`` each, objects in a JSON
            file, or tags within ``.txt`` files.
        path: The folder, or the JSON file, under the import folder.
        split: Whether a span of several parts is read as several, in ``brat``.
        id_pattern: Regular expression of a document's whole path under the folder, in
            ``brat`` and ``tags``: named groups become fields, and one called id its id.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["brat", "json", "tags"]
    path: Folder
    split: bool = False
    id_pattern: Pattern | None = None

    @model_validator(mode="after")
    def _names_paths(self) -> Self:
        if self.format == "json" and self.id_pattern is not None:
            message = "id_pattern is of paths: in JSON write fields beside the text"
            raise ValueError(message)
        return self


def with_named_source(told: object) -> object:
    """Return a declaration whose source has a name: its own, or the collection's."""
    if isinstance(told, dict) and isinstance(source := told.get("source"), dict):
        return {**told, "source": {"name": told.get("collection"), **source}}
    return told


class Texts(Declared):
    """Texts to be read: a source, or a gold standard, as a named collection."""

    collection: Identifier
    source: SourceSpec | None = None
    gold: GoldFiles | None = None

    @model_validator(mode="before")
    @classmethod
    def _name_source(cls, told: object) -> object:
        return with_named_source(told)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.source is None) == (self.gold is None):
            message = "declare one of source and gold"
            raise ValueError(message)
        return self


def _plain_path(path: str) -> str:
    if "\0" in path:
        message = "is no path"
        raise ValueError(message)
    return path


FilePath = Annotated[str, Field(max_length=4_000), AfterValidator(_plain_path)]


@dataclass(frozen=True, slots=True)
class Found(Generic[Model]):
    """A declaration, and the file that it stands in."""

    declared: Model
    path: Path
    input: Document
    """The file's path, digest and size, for a job's lineage."""
    places: Places


def import_folder(configured: Path | None) -> Path:
    """Return the import folder's real path.

    Raises:
        CommandRefusedError: None is configured.
    """
    if configured is None:
        message = "CURATOR_IMPORT is not set: jobs read under that folder alone"
        raise CommandRefusedError(message)
    return configured.resolve()


def prepared_file(
    model: type[Model], configured: Path | None, written: str
) -> Found[Model]:
    """Return what a file declares, before a job is queued.

    Args:
        model: What it may declare.
        configured: The import folder, as it is configured.
        written: The file's path under it, relative or whole.

    Raises:
        CommandRefusedError: As it is written, the path leads elsewhere, whatever is
            there.
        UnpreparedError: It is not there, or wrong; told to custodians of the
            population that it names.
    """
    folder = import_folder(configured)
    if not _is_inside(folder, Path(configured or folder).absolute(), written):
        raise CommandRefusedError(OUTSIDE)
    try:
        path = _located(folder, written)
        read = read_yaml(path, within=folder)
    except CuratorError as error:
        raise UnpreparedError(str(error), None) from None
    try:
        return found_in(model, path, read)
    except CuratorError as error:
        content = read.content
        named = content.get("population") if isinstance(content, dict) else None
        known = named if isinstance(named, str) else None
        raise UnpreparedError(str(error), known) from None


def submitted_file(
    model: type[Model], configured: Path | None, written: str, submitted: Document
) -> Found[Model]:
    """Return what a file declares, when its job runs.

    Args:
        model: What it may declare.
        configured: The import folder, as it is configured.
        written: The file's path.
        submitted: The file as it was when the job was submitted.

    Raises:
        CommandRefusedError: It is another now, or not there any more.
        IngestionError: It is wrong.
    """
    folder = import_folder(configured)
    path = _located(folder, written)
    found = found_in(model, path, read_yaml(path, within=folder))
    if found.input != submitted:
        raise CommandRefusedError(CHANGED)
    return found


def problems_of(
    error: Invalid, places: Places, file: str, model: type[BaseModel]
) -> IngestionError:
    """Return all that pydantic refused, each with its line and column."""
    problems = []
    for told in error.errors(include_url=False, include_input=False)[:_MOST_TOLD]:
        at = _known(told["loc"], places)
        line, column = places.get((*at, KEY)) or places.get(at) or (None, None)
        problems.append(Problem(file, line, column, sentence_of(told, model)))
    return IngestionError(
        tuple(sorted(problems, key=lambda one: (one.line or 0, one.column or 0)))
    )


def sentence_of(told: ErrorDetails, model: type[BaseModel]) -> str:
    """Return which key pydantic refused, and what to write there."""
    said = remedy(told)
    if told["type"] == "extra_forbidden":
        said = _unknown_key(str(told["loc"][-1]), _keys_of(model))
    name = ".".join(str(part) for part in told["loc"])
    return f"{name or 'file'}: {said}"


def _keys_of(model: type[BaseModel]) -> list[str]:
    """Return all keys that a declaration may have, at any place."""
    told = model.model_json_schema()
    shapes = [told, *told.get("$defs", {}).values()]
    return sorted({key for shape in shapes for key in shape.get("properties", {})})


def _unknown_key(key: str, keys: list[str]) -> str:
    near = nearest_value(key, keys)
    return f"unknown key: did you mean {near}?" if near else "unknown key"


def _known(location: tuple[int | str, ...], places: Places) -> Place:
    """Return the parts of a place that are nodes: not the names of alternatives."""
    at: Place = ()
    for part in location:
        if (*at, part) in places or (*at, part, KEY) in places:
            at = (*at, part)
    return at


def found_in(model: type[Model], path: Path, read: YamlFile) -> Found[Model]:
    """Return what a file that was read declares.

    Raises:
        CommandRefusedError: It is too large.
        IngestionError: Every problem found, with its line and column.
    """
    if read.facts.size_bytes > MOST_BYTES:
        message = f"{path}: the file has more than {MOST_BYTES:,} bytes: shorten it"
        raise CommandRefusedError(message)
    try:
        declared = model.model_validate(read.content)
    except Invalid as error:
        raise problems_of(error, read.places, str(path), model) from None
    told: Document = {"path": str(path), **asdict(read.facts)}
    return Found(declared, path, told, read.places)


def _is_inside(folder: Path, configured: Path, written: str) -> bool:
    """Whether a path leads into the import folder, as it is written."""
    if "\0" in written or Path(written).suffix.lower() not in SUFFIXES:
        return False
    bases = (folder, configured)
    return any(
        Path(os.path.normpath(base / written)).is_relative_to(base) for base in bases
    )


def _located(folder: Path, written: str) -> Path:
    """Return a file's path without links.

    Raises:
        CommandRefusedError: It is not there, is too large, or lies elsewhere.
    """
    try:
        path = (folder / written).resolve()
        is_there = path.is_relative_to(folder) and path.is_file()
        is_small = is_there and path.stat().st_size <= MOST_BYTES
    except (OSError, ValueError, RuntimeError):
        raise CommandRefusedError(OUTSIDE) from None
    if not is_there or path.suffix.lower() not in SUFFIXES:
        raise CommandRefusedError(OUTSIDE)
    if not is_small:
        message = f"{path}: the file has more than {MOST_BYTES:,} bytes: shorten it"
        raise CommandRefusedError(message)
    return path
