"""What a custodian declares of a linkage: fields, blocking, method, thresholds."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from upstream.extraction.normalising.dates import Order
from upstream.manifests.declarations import Identifier

FieldKind = Literal[
    "name",
    "full_name",
    "date",
    "phone",
    "email",
    "id",
    "address",
    "place",
    "code",
    "category",
    "number",
]


class Declared(BaseModel):
    """A part of a declaration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FieldSpec(Declared):
    """A field that records are compared by.

    Attributes:
        kind: How its values are normalised, compared and blocked by.
        order: Of dates in numbers; what can be read in two ways is no value.
        map: Of a category: what its values mean, whatever their case; others stand
            for themselves.
    """

    kind: FieldKind
    order: Order | None = None
    map: dict[str, str] = Field(default_factory=dict)


class FellegiSunter(Declared):
    """Match weights whose probabilities are estimated by EM.

    Attributes:
        term_frequencies: Whether agreement on a rare value weighs more.
    """

    kind: Literal["fellegi_sunter"] = "fellegi_sunter"
    term_frequencies: bool = True


class WeightedSum(Declared):
    """FRIL's: similarities from 0 to 1, weighted and divided by the weights' sum.

    Attributes:
        weights: By field; those that are not named weigh 1.
    """

    kind: Literal["weighted_sum"]
    weights: dict[Identifier, Annotated[float, Field(ge=0, le=1000)]] = Field(
        default_factory=dict
    )


class Thresholds(Declared):
    """Of match probabilities, or of weighted sums, both from 0 to 1.

    Attributes:
        link: From it on a pair is linked without asking.
        review: From it on, below ``link``, a clerk is asked.
    """

    link: float = Field(ge=0, le=1)
    review: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.review > self.link:
            message = "review is below link, or the same"
            raise ValueError(message)
        return self


class LinkageSpec(Declared):
    """How records are compared and linked.

    Attributes:
        fields: By name; sources map their columns or spans to them.
        blocking: Passes; a pair is compared if its records agree on all keys of one.
            A key is a field, or ``surname:sound``, ``birth_date:year``,
            ``postcode:first3`` ... None: chosen by the fields' kinds.
        method: How a pair is scored.
        thresholds: None: the method's usual ones.
        once: Sources in which no patient stands twice: of such a source a patient
            gets one record at most (one-to-one).
        largest: A patient of more records than that, and any chain whose ends do not
            agree, is not made without a clerk.
        seed: Of whatever is sampled.
    """

    fields: dict[Identifier, FieldSpec] = Field(min_length=1, max_length=50)
    blocking: list[list[str]] | None = Field(default=None, max_length=20)
    method: Annotated[FellegiSunter | WeightedSum, Field(discriminator="kind")] = (
        FellegiSunter()
    )
    thresholds: Thresholds | None = None
    once: list[Identifier] = Field(default_factory=list)
    largest: int = Field(default=50, ge=2, le=100_000)
    seed: int = Field(default=1, ge=0, lt=2**31)
