"""What scoring learnt: all that a score of a pair rests on but the records."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

Method = Literal["fellegi_sunter", "weighted_sum"]


@dataclass(frozen=True, slots=True)
class LevelParameters:
    """What a level of a field weighs.

    Attributes:
        name: The level, as clerks read it.
        m: How often a pair of one patient's records is at it; None of a weighted sum.
        u: How often a pair of two patients' is.
        weight: ``log2(m / u)``, in bits; 0 of a weighted sum.
        u_given: How often a pair of two patients' is, where the field's parent agrees;
            None without a parent.
        weight_given: ``log2(m / u_given)``.
        family: How often a pair of a family's records is; None of what is a person's
            own, on which families agree by accident.
        weight_family: ``log2(family / m)``.
    """

    name: str
    m: float | None = None
    u: float | None = None
    weight: float = 0.0
    u_given: float | None = None
    weight_given: float = 0.0
    family: float | None = None
    weight_family: float = 0.0


@dataclass(frozen=True, slots=True)
class FieldParameters:
    """What a field weighs.

    Attributes:
        field: The field.
        levels: In the order of the comparison.
        part: Of a weighted sum: what a similarity of 1 adds to the score.
        parent: The field that this one follows, as a postcode follows a town: where
            that agrees, agreement here says less.
        near: Levels of the parent, from the best, at which it agrees.
        is_unique: Whether two patients share a value by mistake alone: then no value
            is frequent.
    """

    field: str
    levels: tuple[LevelParameters, ...]
    part: float = 0.0
    parent: str | None = None
    near: int = 1
    is_unique: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """What pairs are scored by.

    Attributes:
        method: How.
        fields: In the order of the declaration.
        prior: How likely two records drawn at random are one patient's; None of a
            weighted sum.
        prior_weight: The same in bits; 0 of a weighted sum.
        term_frequencies: Whether agreement on a rare value weighs more.
        families: How likely two random records are a family's; None of a weighted sum,
            or if no field tells the members of a family apart.
        families_weight: The same in bits.
        link: From this score on a pair is linked.
        review: From this score on a clerk is asked.
        guarded: Fields of a person's own in which no two records of a link differ
            wholly, unless an id is the same; none where the data show no families.
        found: How each was found, for people: ``m``, ``u``, ``prior``, ``thresholds``.
    """

    method: Method
    fields: tuple[FieldParameters, ...]
    prior: float | None
    prior_weight: float
    term_frequencies: bool
    link: float
    review: float
    families: float | None = None
    families_weight: float = 0.0
    guarded: tuple[str, ...] = ()
    found: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return all of it as JSON; ``from_json`` makes the same of it, to the bit."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what ``to_json`` wrote.

        Raises:
            ValueError: It is no such text.
        """
        try:
            return cls(**_fields_read(json.loads(text)))
        except (KeyError, TypeError, AttributeError) as error:
            message = "these are no parameters of a linkage"
            raise ValueError(message) from error


def _fields_read(read: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of ``Parameters``."""
    fields = tuple(
        FieldParameters(
            each["field"],
            tuple(LevelParameters(**level) for level in each["levels"]),
            each["part"],
            each["parent"],
            each["near"],
            each["is_unique"],
        )
        for each in read["fields"]
    )
    return {**read, "fields": fields, "guarded": tuple(read["guarded"])}
