"""What a custodian asks to publish: the keys of a release's spec, whole."""

import re
from collections.abc import Mapping
from datetime import date
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
    TypeAdapter,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest
from query_lang.specs.periods import Periods, PeriodUnit, Take
from query_lang.specs.sequences import SequenceRequest
from release.contract.ids import is_release_id

PUBLIC: Final = "public"
FIRST_ROW: Final = "first"
_TEXT_BYTES = 16_384
_NUMBER_BYTES = 128
_MAX_CUTS = 200
_HUGE = re.compile(r"\s*[+-]?[\d_.]+[eE][+-]?[\d_]{3,}\s*")
"""A number that is beyond all meaning, and whose digits would fill the memory."""

_EVERY = re.compile(r"[1-9][0-9]{0,4} (?:day|week|month|quarter|year)s?")
_UNITS: Final[Mapping[str, tuple[int, PeriodUnit]]] = {
    "day": (1, "day"),
    "week": (7, "day"),
    "month": (1, "month"),
    "quarter": (3, "month"),
    "year": (12, "month"),
}


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


class _ReleaseSpec(_Spec):
    """What every kind of release is asked for with.

    ``epsilon`` is the whole loss; of a population that counts rho, ``rho`` is.

    ``from`` is a table's name or the text of a FROM, ``where`` of a WHERE. ``readers``
    is ``public`` (every principal) or a list; the population's custodians always may.
    """

    name: Name
    dataset: Name
    strategy: Name
    parameters: Parameters = Field(default_factory=dict)
    source: SqlText = Field(alias="from")
    where: SqlText | None = None
    bounds: BoundsSpec | None = None
    epsilon: LossField | None = None
    rho: LossField | None = None
    readers: Literal["public"] | tuple[ReaderSpec, ...] = ()

    @field_validator("name")
    @classmethod
    def _is_no_id(cls, name: str) -> str:
        if is_release_id(name):
            message = "rel_ and 24 digits are how ids are written: give another name"
            raise ValueError(message)
        return name

    @model_validator(mode="after")
    def _check_one_loss(self) -> Self:
        if (self.epsilon is None) == (self.rho is None):
            message = (
                "give epsilon or, of a population that counts rho, rho: one of both"
            )
            raise ValueError(message)
        return self

    @property
    def is_rho(self) -> bool:
        """Whether its loss is a rho; else it is an epsilon."""
        return self.rho is not None

    @property
    def loss(self) -> Loss:
        """The epsilon, or the rho, that it spends."""
        found = self.epsilon if self.rho is None else self.rho
        if found is None:
            message = "a spec has one of epsilon and rho"  # it was checked
            raise AssertionError(message)
        return found

    @property
    def is_public(self) -> bool:
        """Whether every principal may read it."""
        return self.readers == PUBLIC

    def reader_specs(self) -> tuple[ReaderSpec, ...]:
        """Return whom it is granted to by name."""
        return () if isinstance(self.readers, str) else self.readers

    def canonical_json(self) -> str:
        """Return it as JSON that reads back to the same spec."""
        return self.model_dump_json(by_alias=True, exclude_none=True)

    def _bounds(self) -> ContributionBounds:
        bounds = self.bounds or BoundsSpec()
        return ContributionBounds(
            tables=tuple(sorted(bounds.tables.items())),
            max_rows_per_unit=bounds.max_rows_per_unit,
            max_groups_per_unit=bounds.max_groups_per_unit,
        )


class CubeSpec(_ReleaseSpec):
    """A cube to be published: over what, by which strategy, for how much, for whom."""

    kind: Literal["cube"]
    dimensions: Annotated[tuple[DimensionSpec, ...], Field(min_length=1, max_length=16)]
    count: Literal["units", "rows"]

    @property
    def counts(self) -> str:
        """What a count of the release counts."""
        return self.count

    def request(self) -> CubeRequest:
        """Return what is counted, as the language takes it."""
        return CubeRequest(
            source=self.source,
            axes=tuple(dimension.axis() for dimension in self.dimensions),
            counts_units=self.count == "units",
            where=self.where,
            bounds=self._bounds(),
        )


class PeriodsSpec(_Spec):
    """Equal periods of time, and what a unit's rows of one become.

    ``every`` is ``7 days``, ``1 month``, ``3 months``, ``1 year``, ..., or a whole
    number where the order is one; ``start`` is ``first`` (each unit's first row), or a
    value of the order; ``bins`` are the first value of each bin but the first.
    """

    every: Positive | str
    start: StrictInt | str
    take: Take
    of: ColumnName | None = None
    bins: Cuts
    name: Name | None = None

    @field_validator("every")
    @classmethod
    def _check_every(cls, every: int | str) -> int | str:
        if isinstance(every, str) and _EVERY.fullmatch(every) is None:
            message = "write 7 days, 2 weeks, 3 months, 1 year, or a whole number"
            raise ValueError(message)
        return every

    @field_validator("start")
    @classmethod
    def _check_start(cls, start: int | str) -> int | str:
        if isinstance(start, str) and start != FIRST_ROW:
            try:
                date.fromisoformat(start)
            except ValueError:
                message = "start is first, a date as YYYY-MM-DD, or a whole number"
                raise ValueError(message) from None
        return start

    def periods(self) -> Periods:
        """Return it as the language takes it."""
        length, unit = _length_of(self.every)
        start: int | date | None
        if isinstance(self.start, int):
            start = self.start
        else:
            start = None if self.start == FIRST_ROW else date.fromisoformat(self.start)
        return Periods(length, unit, start, self.take, self.of, self.bins, self.name)


def _length_of(every: int | str) -> tuple[int, PeriodUnit]:
    if isinstance(every, int):
        return every, "step"
    number, word = every.removesuffix("s").split(" ")
    times, unit = _UNITS[word]
    return int(number) * times, unit


class SequenceSpec(_ReleaseSpec):
    """Sequences to be published: each unit's rows in an order, as symbols.

    A row stands for one ``symbol``, or all rows of each of the ``periods`` for one.
    ``max_length`` is public: what a unit has beyond is not looked at. ``split`` is a
    dimension that is constant within each unit; each of its values has its own tree.
    """

    kind: Literal["sequences"]
    order: ColumnName
    symbol: DimensionSpec | None = None
    periods: PeriodsSpec | None = None
    max_length: Positive
    split: DimensionSpec | None = None

    @model_validator(mode="after")
    def _check_one_form(self) -> Self:
        if (self.symbol is None) == (self.periods is None):
            message = "give one of symbol and periods"
            raise ValueError(message)
        return self

    @property
    def counts(self) -> str:
        """What a count of the release counts."""
        return "units"

    def request(self) -> SequenceRequest:
        """Return what sequences are made of, as the language takes it."""
        return SequenceRequest(
            source=self.source,
            order=self.order,
            symbols=self._symbols(),
            max_length=self.max_length,
            split=None if self.split is None else self.split.axis(),
            where=self.where,
            bounds=self._bounds(),
        )

    def _symbols(self) -> Axis | Periods:
        if self.symbol is not None:
            return self.symbol.axis()
        if self.periods is not None:
            return self.periods.periods()
        message = "a spec has one of symbol and periods"  # it was checked
        raise AssertionError(message)


ReleaseSpec = CubeSpec | SequenceSpec
_AnySpec = Annotated[ReleaseSpec, Field(discriminator="kind")]
_ANY_SPEC: Final[TypeAdapter[ReleaseSpec]] = TypeAdapter(_AnySpec)
KINDS: Final = frozenset({"cube", "sequences"})


def spec_from_json(text: str) -> ReleaseSpec:
    """Return the spec that ``canonical_json`` wrote."""
    return _ANY_SPEC.validate_json(text)


class SpecFile(_Spec):
    """The file: one key, ``release``."""

    release: _AnySpec


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a spec file, for editors and programs."""
    schema = SpecFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
