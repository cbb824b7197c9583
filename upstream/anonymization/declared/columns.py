"""What a custodian declares of quasi-identifiers: how each becomes less exact."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)

from upstream.manifests.time_formats import format_pattern

Level = Literal["month", "quarter", "year", "decade"]
_ORDER: tuple[Level, ...] = ("month", "quarter", "year", "decade")
_VALUE = Annotated[str, Field(min_length=1, max_length=500)]


class Declared(BaseModel):
    """A part of a declaration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _format(text: str) -> str:
    format_pattern(text, with_clock=True)
    return text


class Number(Declared):
    """A number: ranges, or intervals of growing widths.

    Attributes:
        widths: Of the intervals on each level, each a multiple of the one before;
            none: ranges from the least to the largest number of a class.
        origin: Where intervals begin.
    """

    kind: Literal["number"]
    widths: tuple[Annotated[StrictInt, Field(ge=1)], ...] = ()
    origin: StrictInt = 0

    @model_validator(mode="after")
    def _nested(self) -> Self:
        if any(
            wide % narrow or wide == narrow for narrow, wide in pairwise(self.widths)
        ):
            message = "write widths of which each is a multiple of the one before"
            raise ValueError(message)
        return self


class Date(Declared):
    """A day: its month, quarter, year, decade.

    Attributes:
        levels: Which of these, from the narrowest on.
        format: How days are written, as ``strptime`` has it; none: 2026-11-05, also
            with a time behind it.
    """

    kind: Literal["date"]
    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = (
        "month",
        "year",
        "decade",
    )
    format: Annotated[str, Field(max_length=100), AfterValidator(_format)] | None = None

    @model_validator(mode="after")
    def _upward(self) -> Self:
        places = [_ORDER.index(level) for level in self.levels]
        if places != sorted(set(places)):
            message = f"write levels once, in the order of {', '.join(_ORDER)}"
            raise ValueError(message)
        return self


class Category(Declared):
    """A category: lists of values, or ranges where they have an order.

    Attributes:
        order: All values in order; none: they have none.
    """

    kind: Literal["category"]
    order: tuple[_VALUE, ...] = ()

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.order)) != len(self.order):
            message = "write each value once"
            raise ValueError(message)
        return self


class Prefix(Declared):
    """A code whose first characters say where it belongs, such as a postcode.

    Attributes:
        lengths: How many characters are kept on each level, falling.
    """

    kind: Literal["prefix"]
    lengths: Annotated[
        tuple[Annotated[StrictInt, Field(ge=1, le=100)], ...], Field(min_length=1)
    ]

    @model_validator(mode="after")
    def _falling(self) -> Self:
        if any(one <= other for one, other in pairwise(self.lengths)):
            message = "write falling lengths, such as [4, 3, 1]"
            raise ValueError(message)
        return self


class Codes(Declared):
    """A diagnosis code, along its system."""

    kind: Literal["codes"]
    system: Literal["icd10", "icd10cm", "icd9cm"]


class FromFile(Declared):
    """Values along a hierarchy in a file: ``leaf;level 1;...;*``, as ARX has them.

    Attributes:
        file: Its path under the import folder.
    """

    kind: Literal["hierarchy"]
    file: Annotated[str, Field(min_length=1, max_length=4_000)]


QuasiIdentifier = Annotated[
    Number | Date | Category | Prefix | Codes | FromFile, Field(discriminator="kind")
]
