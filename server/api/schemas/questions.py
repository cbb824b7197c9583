"""Questions, problems and health for the OpenAPI document; replies say theirs.

These models describe; they never parse. Bodies are read by
``server.use_cases.services.strict_json``.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.use_cases.questions.replies import Attainable, Remaining


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


def _without_nulls(schema: dict[str, Any]) -> None:
    """Say of members that may be left out that they may not be null."""
    for member in schema["properties"].values():
        if member.get("default", ...) is None:
            del member["default"]
        kinds = [kind for kind in member.pop("anyOf", []) if kind != {"type": "null"}]
        member.update(kinds[0] if len(kinds) == 1 else {})
        if len(kinds) > 1:
            member["anyOf"] = kinds


def _one_price(schema: dict[str, Any]) -> None:
    _without_nulls(schema)
    schema["oneOf"] = [{"required": ["epsilon"]}, {"required": ["accuracy"]}]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_nulls)


class AccuracyWish(_Asked):
    """How far noise may move the cells of every aggregate: within, or relative.

    Each cell by itself at this confidence; with ``cells``, so many of them at once.
    """

    within: float | None = Field(default=None, gt=0, examples=[20])
    relative: str | None = Field(
        default=None,
        examples=["5%"],
        description="Of the number itself; goes with at_least.",
    )
    at_least: float | None = Field(
        default=None,
        gt=0,
        examples=[10],
        description="So far a small number may be moved, however small.",
    )
    cells: str | None = Field(
        default=None, examples=["90%"], description="A share of the cells; else each."
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, examples=[0.95])
    at_most: str | float | None = Field(
        default=None,
        examples=["0.5"],
        description="The most epsilon that it may cost; else it is refused.",
    )


class Bounds(_Asked):
    """Lower bounds on contributions, to buy accuracy."""

    tables: dict[str, int] = Field(default={}, examples=[{"encounters": 5}])
    max_rows_per_unit: int | None = Field(default=None, gt=0)
    max_groups_per_unit: int | None = Field(default=None, gt=0)


class Options(_Asked):
    """How to answer."""

    reuse: Literal["allow", "never"] = "allow"
    weights: dict[str, float] = Field(default={}, examples=[{"patients": 2}])
    prefer: Literal["release", "paid"] | None = None
    bounds: Bounds | None = None


class QuestionBody(_Asked):
    """A question: SQL, and exactly one of epsilon and accuracy."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_one_price)

    sql: str = Field(
        examples=["SELECT sex, COUNT(DISTINCT patient_id) FROM patients GROUP BY sex"]
    )
    epsilon: str | float | None = Field(
        default=None,
        examples=["0.1"],
        description="A decimal, at most nine places; a string keeps it exact.",
    )
    accuracy: AccuracyWish | None = None
    project: str | None = None
    options: Options | None = None


class ProblemShape(_Shape):
    """An error: application/problem+json with a stable code as its type."""

    type: str = Field(examples=["sql_not_allowed"])
    title: str
    status: int
    detail: str
    rule: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    rewritten: str | None = None
    query_id: str | None = None
    remaining: Remaining | None = None
    attainable: Attainable | None = None


class Health(_Shape):
    """Whether the process lives, or may serve."""

    status: str = Field(examples=["ok"])
    unavailable_datasets: int = Field(
        default=0,
        description="How many cannot be read, where there are some; of readyz alone.",
    )
