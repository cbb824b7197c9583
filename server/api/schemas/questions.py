"""Questions, problems and health for the OpenAPI document; replies say theirs.

These models describe; they never parse. Bodies are read by
``server.use_cases.services.strict_json``.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from server.api.schemas.problems import STATUS_BY_CODE
from server.use_cases.questions.plan_replies import AnyWay, Attainable
from server.use_cases.questions.replies import Remaining
from server.use_cases.services.documents import ConfidenceText, LossText


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


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_nulls)


class AccuracyWish(_Asked):
    """How far noise may move the cells of every aggregate: within, or relative.

    Each cell by itself at this confidence; with ``cells``, so many of them at once. Of
    averages: within, with ``rows``.
    """

    within: float | None = Field(default=None, gt=0, examples=[20])
    """The largest error that noise may bring, in the unit of each measure."""
    rows: int | None = Field(default=None, gt=0, le=10**9, examples=[100])
    """Of averages: in cells of so many values that are not NULL or more, which alone
    are held to it; goes with `within`."""
    relative: str | None = Field(default=None, examples=["5%"])
    """The largest error as a share of the number itself; goes with `at_least`."""
    at_least: float | None = Field(default=None, gt=0, examples=[10])
    """How far a small number may be moved, in the unit of each measure."""
    cells: str | None = Field(default=None, examples=["90%"])
    """The share of the cells that have to be so accurate at once; left out, each by
    itself."""
    confidence: ConfidenceText = Field(default="0.95", examples=["0.95"])
    """With which noise stays within the error."""
    at_most: LossText | None = None
    """The most that it may cost; if it would cost more, the question is
    refused."""


class Bounds(_Asked):
    """Lower bounds on contributions, to buy accuracy."""

    tables: dict[str, int] = Field(default={}, examples=[{"encounters": 5}])
    """The most rows of one unit in each named table that are read, before filters."""
    max_rows_per_unit: int | None = Field(default=None, gt=0)
    """The most rows of one unit that enter the top aggregates, after filters."""
    max_groups_per_unit: int | None = Field(default=None, gt=0)
    """The most groups of the answer that one unit counts in, after filters."""


class Options(_Asked):
    """How to answer."""

    reuse: Literal["allow", "never"] = "allow"
    """`allow`: the stored answer to the same question is given for nothing. `never`: a
    fresh one is bought."""
    weights: dict[str, float] = Field(default={}, examples=[{"patients": 2}])
    """Shares of the epsilon by column, 1 where left out."""
    prefer: Literal["release", "paid"] | None = None
    """`release`: a release that answers it is taken. `paid`: what follows from paid
    answers is."""
    bounds: Bounds | None = None
    """Lower bounds on contributions than declared, for less noise."""
    confirm: bool = False
    """Pay although it is more than the project lets a question cost unconfirmed."""


class _Question(_Asked):
    sql: str = Field(
        examples=["SELECT sex, COUNT(DISTINCT patient_id) FROM patients GROUP BY sex"]
    )
    """One SELECT of the query language (docs/query-language.md)."""
    project: str | None = None
    """Name of the project that pays; may be left out where only one of yours fits."""
    options: Options | None = None
    """How to answer."""


class EpsilonQuestion(_Question):
    """A question, and the epsilon to spend on it."""

    epsilon: LossText = Field(examples=["0.1"])
    """What to spend, exactly."""


class RhoQuestion(_Question):
    """A question to a population that counts rho, and the rho to spend on it."""

    rho: LossText = Field(examples=["0.005"])
    """What to spend, exactly; its epsilon is in the plan (docs/measures.md)."""


class AccuracyQuestion(_Question):
    """A question, and how accurate its answer has to be."""

    accuracy: AccuracyWish
    """What noise may do; the least epsilon that brings it is spent."""


QuestionBody = TypeAliasType(
    "QuestionBody",
    Annotated[
        EpsilonQuestion | RhoQuestion | AccuracyQuestion,
        Field(
            description="A question: SQL, and exactly one of epsilon (or rho, where "
            "the population counts that) and accuracy."
        ),
    ],
)


class StudyQuestionOptions(_Asked):
    """How to answer one question of a study."""

    weights: dict[str, float] = Field(default={}, examples=[{"patients": 2}])
    """Shares of its loss by column, 1 where left out."""
    bounds: Bounds | None = None
    """Lower bounds on contributions than declared, for less noise."""


class StudyQuestion(_Asked):
    """One question of a study, with an accuracy or a loss.

    One of these; where a total is given, none is needed. A loss says how accurate it is
    to be: as that loss would make it alone.
    """

    sql: str = Field(
        examples=["SELECT sex, COUNT(DISTINCT patient_id) FROM patients GROUP BY sex"]
    )
    """One SELECT of the query language (docs/query-language.md)."""
    accuracy: AccuracyWish | None = None
    """What noise may do."""
    epsilon: LossText | None = None
    """As accurate as this epsilon would make it."""
    rho: LossText | None = None
    """As accurate as this rho would make it, where the population counts rho."""
    options: StudyQuestionOptions | None = None
    """How to answer it."""


class StudyOptions(_Asked):
    """How to answer a study."""

    reuse: Literal["allow", "never"] = "allow"
    """`allow`: the stored answer to the same study is given for nothing. `never`: a
    fresh one is bought."""
    confirm: bool = False
    """Pay although it is more than the project lets a question cost unconfirmed."""


class StudyBody(_Asked):
    """Several questions that are paid for by one charge.

    Without a total it is the least found that makes each as accurate as it says; with
    one, all are made more or less accurate alike, until it is spent.
    """

    questions: list[StudyQuestion] = Field(min_length=1, max_length=24)
    """The questions; their answers come in this order."""
    epsilon: LossText | None = Field(default=None, examples=["0.5"])
    """The total to spend."""
    rho: LossText | None = Field(default=None, examples=["0.02"])
    """The total to spend, where the population counts rho."""
    project: str | None = None
    """Name of the project that pays; may be left out where only one of yours fits."""
    options: StudyOptions | None = None
    """How to answer."""


class ProblemShape(_Shape):
    """An error: application/problem+json with a stable code as its type."""

    type: str = Field(examples=list(STATUS_BY_CODE))
    """Stable code of the problem. Each has a heading in docs/errors.md, with its
    status: docs/errors.md#402-budget_exceeded. Others may be added: take those by
    `status`."""
    title: str
    """Phrase of the HTTP status."""
    status: int
    """The HTTP status again."""
    detail: str
    """A sentence for people; it may be worded anew."""
    rule: str | None = None
    """Of refused SQL: stable name of the rule."""
    line: int | None = None
    """Of refused SQL: line of the text, from 1."""
    column: int | None = None
    """Of refused SQL: character of the line, from 1."""
    hint: str | None = None
    """Of refused SQL: what to write instead."""
    rewritten: str | None = None
    """Of refused SQL: the text with its fix, where the fix is mechanical."""
    query_id: str | None = None
    """Of what failed after its charge: id of the query, whose answer costs nothing
    more."""
    remaining: Remaining | None = None
    """Over budget: what is left of the limits that the caller may see."""
    attainable: Attainable | None = None
    """Over budget: what the rest would bring; null where nothing."""
    ways: list[AnyWay] | None = None
    """Of a plan whose accuracy no loss brings: questions that can be so accurate."""


class Health(_Shape):
    """Whether the process lives, or may serve."""

    status: str = Field(examples=["ok"])
    """`ok`."""
    unavailable_datasets: int = 0
    """How many datasets cannot be read, where there are some; of `/readyz` alone."""
