"""Pipeline files: whose texts, which models, and what a private table is made of."""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from query_lang.binding.outside_domain import nearest_value
from server.use_cases.extraction.declarations import (
    Declared,
    Pattern,
    with_named_source,
)
from server.use_cases.extraction.tagging import ModelName
from upstream.errors import IngestionError, Problem
from upstream.extraction.normalising.ages import normal_age
from upstream.extraction.normalising.dates import Order, normal_date
from upstream.extraction.normalising.numbers import (
    MOST_DIGITS,
    DecimalSign,
    normal_number,
    units,
)
from upstream.extraction.normalising.outcomes import Normalised
from upstream.extraction.normalising.words import (
    normal_category,
    normal_code,
    normal_text,
)
from upstream.extraction.reading.specs import SourceSpec
from upstream.manifests.declarations import Identifier
from upstream.manifests.manifest import Manifest, checked_manifest
from upstream.manifests.yaml_nodes import KEY, Place, Places, Plain

Normaliser = Callable[[str], Normalised]
_MOST_COLUMNS = 200
_MOST_MEANINGS = 1_000
_MOST_MODELS = 10


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _unit(name: str) -> str:
    if name not in units():
        message = f"one of {', '.join(sorted(units()))}"
        raise ValueError(message)
    return name


class DateRule(_Rule):
    """A date; what comes first in numbers, and the last year of two digits."""

    kind: Literal["date"]
    order: Order | None = None
    years_until: int | None = Field(default=None, ge=1900, le=2200)

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return lambda text: normal_date(
            text, order=self.order, years_until=self.years_until
        )


class AgeRule(_Rule):
    """An age in whole years."""

    kind: Literal["age"]

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return normal_age


class NumberRule(_Rule):
    """A number in a unit; ``assumed``: that of a number that stands alone."""

    kind: Literal["number"]
    unit: Annotated[str, AfterValidator(_unit)]
    digits: int = Field(default=0, ge=0, le=MOST_DIGITS)
    decimal: DecimalSign = "."
    assumed: Annotated[str, AfterValidator(_unit)] | None = None

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return lambda text: normal_number(
            text,
            self.unit,
            digits=self.digits,
            decimal=self.decimal,
            assumed=self.assumed,
        )


class CodeRule(_Rule):
    """A code of a form, without the signs that ``drop`` names."""

    kind: Literal["code"]
    pattern: Annotated[Pattern, Field(max_length=500)]
    drop: str = Field(default="", max_length=20)

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        pattern = re.compile(self.pattern)
        return lambda text: normal_code(text, pattern, drop=self.drop)


class CategoryRule(_Rule):
    """A value for each text that is known, whatever its case; else ``other``."""

    kind: Literal["category"]
    map: dict[str, str] = Field(min_length=1)
    other: str | None = None

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return lambda text: normal_category(text, self.map, self.other)


class TextRule(_Rule):
    """The text itself, on one line."""

    kind: Literal["text"]

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return normal_text


class MeaningRule(_Rule):
    """What a term stands for, as the list that it is of says."""

    kind: Literal["meaning"]

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return normal_text


class PresentRule(_Rule):
    """Whether there is such a span: true or false, and never NULL."""

    kind: Literal["present"]

    def normaliser(self) -> Normaliser:
        """Return what reads it."""
        return normal_text


Rule = Annotated[
    DateRule
    | AgeRule
    | NumberRule
    | CodeRule
    | CategoryRule
    | TextRule
    | MeaningRule
    | PresentRule,
    Field(discriminator="kind"),
]


class Column(_Rule):
    """A column, made of a document's field or of spans of a type.

    Attributes:
        name: The column's.
        field: The field that it is made of.
        span: Or the type of spans.
        take: Of several spans the first, the last or the surest; of spans that have
            no value none is taken, unless no other is there.
        rule: How the value is read; the text itself where nothing is said.
        least_score: Spans that are less sure are left out.
        denied: Whether spans that the text denies are left out, are the only ones
            that count, or count as others do.
        meanings: The terms that count, by what they stand for; none: all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Identifier
    field: str | None = None
    span: str | None = None
    take: Literal["first", "last", "surest"] = "first"
    rule: Rule = Field(default=TextRule(kind="text"), alias="as")
    denied: Literal["without", "only", "with"] = "without"
    meanings: list[str] = Field(default_factory=list, max_length=_MOST_MEANINGS)
    least_score: Literal["0", "0.5", "0.7", "0.8", "0.9", "0.95", "0.99"] = "0"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.field is None) == (self.span is None):
            message = "declare one of field and span"
            raise ValueError(message)
        if self.field is not None and self.rule.kind in {"present", "meaning"}:
            message = f"{self.rule.kind} is of a span, not of a field"
            raise ValueError(message)
        return self

    def takes_denied(self, *, is_denied: bool) -> bool:
        """Whether the column may be made of a span that is denied, or is not."""
        return self.denied == "with" or is_denied == (self.denied == "only")


class Rows(_Rule):
    """One row for each span of a type, instead of one for each document."""

    span: str


class Table(_Rule):
    """What a private table is made of.

    Attributes:
        name: As the manifest has it.
        rows: One row a document, or one for each span of a type.
        unit: The unit column and the field that it is made of.
        columns: The others.
    """

    name: Identifier
    rows: Literal["document"] | Rows = "document"
    unit: Column
    columns: list[Column] = Field(min_length=1, max_length=_MOST_COLUMNS)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [self.unit.name, *(one.name for one in self.columns)]
        if len(set(names)) < len(names):
            message = "two columns have one name"
            raise ValueError(message)
        if self.unit.field is None:
            message = "the unit is made of a field: a model may be wrong about people"
            raise ValueError(message)
        return self


class Pipeline(Declared):
    """Texts, the models that go over them, a table, and its manifest.

    Attributes:
        collection: The texts' collection; with ``source``, the one that is read.
        source: Where they are read from; without it they were read before.
        models: The models' names; ``rules`` is one. What several find is one set.
        risks: How risky types are, where models disagree: the riskier is kept. What
            is not told is direct, of lists of terms it is health.
        table: What the private table is made of.
        load: A manifest as a load has it, of this one table and without its files.
    """

    collection: Identifier
    source: SourceSpec | None = None
    models: list[ModelName] = Field(min_length=1, max_length=_MOST_MODELS)
    risks: dict[str, Literal["direct", "indirect", "health"]] = Field(
        default_factory=dict
    )
    table: Table
    load: dict[str, object]

    @model_validator(mode="before")
    @classmethod
    def _name_source(cls, told: object) -> object:
        return with_named_source(told)

    @field_validator("models")
    @classmethod
    def _each_once(cls, models: list[str]) -> list[str]:
        if len(set(models)) < len(models):
            message = "name each model once"
            raise ValueError(message)
        return models


def manifest_of(
    pipeline: Pipeline, file: str, places: Places, table_file: str
) -> Manifest:
    """Return the manifest of a pipeline's table.

    Args:
        pipeline: The pipeline.
        file: Its path, for problems.
        places: Of its nodes.
        table_file: The file that holds the table.

    Raises:
        IngestionError: Every problem found, with its line and column.
    """
    tables = pipeline.load.get("tables")
    whole: dict[str, object] = {**pipeline.load}
    if isinstance(tables, list):
        whole["tables"] = [
            {**one, "files": [table_file]} if isinstance(one, dict) else one
            for one in tables
        ]
    inside = {at[1:]: place for at, place in places.items() if at[:1] == ("load",)}
    manifest = checked_manifest(_plain(whole), inside, file)
    problems = _misfits(pipeline, manifest)
    if problems:
        raise IngestionError(
            tuple(_problem(file, places, place, said) for place, said in problems)
        )
    return manifest


def _problem(file: str, places: Places, place: Place, said: str) -> Problem:
    """Return a problem with its node's place: the manifest's, if that is not known."""
    line, column = places.get(place) or places.get(("load", KEY)) or (None, None)
    return Problem(file, line, column, said)


def _plain(content: dict[str, object]) -> Plain:
    return content  # type: ignore[return-value] # it was read from YAML


def _misfits(pipeline: Pipeline, manifest: Manifest) -> list[tuple[Place, str]]:
    """Return what of a manifest does not fit the pipeline: where, and a sentence."""
    table = pipeline.table
    problems: list[tuple[Place, str]] = []
    own, named = pipeline.population, manifest.population.id
    if named != own:
        said = f"load: its population is {named}, another than the pipeline's, {own}"
        problems.append((("load", "population", "id"), said))
    if [one.name for one in manifest.tables] != [table.name]:
        said = f"load: declare one table, {table.name}"
        return [*problems, (("load", "tables", KEY), said)]
    (declared,) = manifest.tables
    if declared.public or declared.unit_column != table.unit.name:
        said = f"load: the table is private, and its unit_column is {table.unit.name}"
        problems.append((("load", "tables", 0), said))
    problems += _unmade(table, [one.name for one in declared.columns])
    if manifest.hierarchies:
        said = "load: a pipeline's manifest names no hierarchies' files"
        problems.append((("load", "hierarchies", KEY), said))
    return problems


def _unmade(table: Table, declared: list[str]) -> Iterator[tuple[Place, str]]:
    """Yield the columns of a manifest that nothing is made for."""
    made = [table.unit.name, *(one.name for one in table.columns)]
    for number, name in enumerate(declared):
        if name not in made:
            near = nearest_value(name, made)
            meant = f": did you mean {near}?" if near else ""
            said = f"load: nothing is made for the column {name}{meant}"
            yield ("load", "tables", 0, "columns", number, "name"), said
