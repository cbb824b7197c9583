"""What a custodian asks to publish: the keys of a release's spec, whole."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from query_lang.axes import Axis
from query_lang.cubes import CubeRequest

PUBLIC: Final = "public"
_TEXT_BYTES = 16_384
_NUMBER_BYTES = 128
_MAX_CUTS = 200
_HUGE = re.compile(r"\s*[+-]?[\d_.]+[eE][+-]?[\d_]{3,}\s*")
"""A number that is beyond all meaning, and whose digits would fill the memory."""


def _loss(value: object) -> Loss:
    if isinstance(value, Loss):
        return value
    text = "" if isinstance(value, bool) else str(value)
    try:
        return Loss.parse(text)
    except InvalidLossError as error:
        raise ValueError(error.reason) from error


def _written(value: object) -> object:
    """Keep numbers as their text: 0.10 of a spec is exactly that."""
    if isinstance(value, bool) or value is None:
        message = "write a number, or a date as YYYY-MM-DD"
        raise ValueError(message)
    text = value if isinstance(value, str) else str(value)
    _check_size(text)
    return text


def _check_size(text: str) -> None:
    """Refuse a number that cannot be worked with, before anybody reads it as one."""
    if len(text) > _NUMBER_BYTES or _HUGE.fullmatch(text) is not None:
        message = (
            f"texts and numbers have at most {_NUMBER_BYTES} characters, and exponents "
            "at most two digits"
        )
        raise ValueError(message)


def _bounded(value: object) -> object:
    """Check each name and number of a strategy's parameters."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            _bounded(name)
            _bounded(one)
    elif isinstance(value, list | tuple):
        for one in value:
            _bounded(one)
    else:
        _check_size(str(value))
    return value


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
ColumnName = Annotated[
    str,
    StringConstraints(pattern=r"^([a-z][a-z0-9_]{0,62}\.)?[a-z][a-z0-9_]{0,62}$"),
]
_NUMBER_OR_TEXT = {"anyOf": [{"type": "number"}, {"type": "string"}]}
LossField = Annotated[
    Loss,
    PlainValidator(_loss),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(_NUMBER_OR_TEXT),
]
Cut = Annotated[str, BeforeValidator(_written), WithJsonSchema(_NUMBER_OR_TEXT)]
Cuts = Annotated[tuple[Cut, ...], Field(min_length=1, max_length=_MAX_CUTS)]
SqlText = Annotated[str, StringConstraints(min_length=1, max_length=_TEXT_BYTES)]
Parameters = Annotated[dict[Name, object], AfterValidator(_bounded)]
Positive = Annotated[StrictInt, Field(ge=1, le=2**31)]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DimensionSpec(_Spec):
    """One dimension: a column as it is, a level of it, bands of it, or bins of it.

    ``bins`` is how many equal ones, or the first value of each but the first.
    """

    column: ColumnName
    name: Name | None = None
    level: Name | None = None
    bands: Positive | None = None
    bins: Positive | Cuts | None = None

    @model_validator(mode="after")
    def _check_one_form(self) -> Self:
        asked = [self.level, self.bands, self.bins]
        if sum(one is not None for one in asked) > 1:
            message = "give one of level, bands and bins"
            raise ValueError(message)
        return self

    def axis(self) -> Axis:
        """Return it as the language takes it."""
        return Axis(self.column, self.name, self.level, self.bands, self.bins)


class BoundsSpec(_Spec):
    """Lower contribution bounds than the declared ones: less noise, fewer rows."""

    tables: dict[Name, Positive] = Field(default_factory=dict)
    max_rows_per_unit: Positive | None = None
    max_groups_per_unit: Positive | None = None


class ReaderSpec(_Spec):
    """Who may read: a project's members, or one principal."""

    project: Name | None = None
    principal: Name | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.project is None) == (self.principal is None):
            message = "a reader is a project or a principal"
            raise ValueError(message)
        return self


class ReleaseSpec(_Spec):
    """A cube to be published: over what, by which strategy, for how much, for whom.

    ``from`` is a table's name or the text of a FROM, ``where`` of a WHERE. ``readers``
    is ``public`` (every principal) or a list; the population's custodians always may.
    """

    name: Name
    dataset: Name
    kind: Literal["cube"]
    strategy: Name
    parameters: Parameters = Field(default_factory=dict)
    dimensions: Annotated[tuple[DimensionSpec, ...], Field(min_length=1, max_length=16)]
    source: SqlText = Field(alias="from")
    where: SqlText | None = None
    count: Literal["units", "rows"]
    bounds: BoundsSpec | None = None
    epsilon: LossField
    readers: Literal["public"] | tuple[ReaderSpec, ...] = ()

    @property
    def is_public(self) -> bool:
        """Whether every principal may read it."""
        return self.readers == PUBLIC

    def reader_specs(self) -> tuple[ReaderSpec, ...]:
        """Return whom it is granted to by name."""
        return () if isinstance(self.readers, str) else self.readers

    def request(self) -> CubeRequest:
        """Return what is counted, as the language takes it."""
        bounds = self.bounds or BoundsSpec()
        return CubeRequest(
            source=self.source,
            axes=tuple(dimension.axis() for dimension in self.dimensions),
            counts_units=self.count == "units",
            where=self.where,
            bounds=ContributionBounds(
                tables=tuple(sorted(bounds.tables.items())),
                max_rows_per_unit=bounds.max_rows_per_unit,
                max_groups_per_unit=bounds.max_groups_per_unit,
            ),
        )

    def canonical_json(self) -> str:
        """Return it as JSON that reads back to the same spec."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


class SpecFile(_Spec):
    """The file: one key, ``release``."""

    release: ReleaseSpec


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a spec file, for editors and programs."""
    schema = SpecFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
