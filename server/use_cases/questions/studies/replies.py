"""Plans and answers of several questions that are paid for by one charge."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from server.use_cases.losses.amounts import Amount, Priced
from server.use_cases.questions.plan_replies import Cost, PlannedBlocks
from server.use_cases.questions.replies import (
    Answer,
    ChargeShape,
    Noise,
    Remaining,
)
from server.use_cases.releases.replies import (
    FreeAnswer,
    OutputColumn,
    WarningShape,
    WidthsExpected,
)


class StudyTable(Priced):
    """A table that is measured; the loss is its part of the charge."""

    sql: str
    """Its text: a question's own, or one with the keys of several."""
    cells: int
    """How many rows it has."""
    noise: list[Noise]
    """Of each measured column."""


class StudyPart(TypedDict):
    """Questions that are answered by the same tables."""

    questions: Annotated[list[int], Field(examples=[[0, 1]])]
    """By their place in the study, from 0."""
    adds_up: bool
    """Whether all their numbers are sums of the same cells, and so add up exactly; else
    it is one question, shown as it was drawn."""
    tables: list[StudyTable]
    """The table whose cells are added up, then coarser ones that make them less noisy.
    """


class PlannedQuestion(TypedDict):
    """One question of a study: what it would bring."""

    sql: str
    """Its text."""
    columns: list[OutputColumn]
    """The columns that its answer would have."""
    cells: int
    """How many rows its answer has before HAVING and LIMIT."""
    part: int
    """Which part answers it, from 0."""
    alone: Priced
    """What it would cost if it were asked alone."""
    noise: list[Noise]
    """Where it is shown as it is drawn: of each measured column. Else empty."""
    half_widths: list[WidthsExpected]
    """Of each count and sum that it shows."""
    warnings: list[WarningShape]
    """What to know before paying."""
    free: list[FreeAnswer]
    """The stored answer to it, if there is one: leave it out, and ask it alone."""


class StudyPlan(PlannedBlocks, Amount):
    """What a study would cost and how noisy its answers would be; touches no data.

    The loss is what asking would charge, at once.
    """

    one_by_one: Priced
    """What the questions would cost if each were asked alone: the charge is never
    more, unless a total is given."""
    affordable: bool
    """Whether every limit has enough left."""
    needs_confirmation: bool
    """Whether the project wants so dear a charge confirmed (`options.confirm`)."""
    remaining: Remaining
    """What is left of the limits that the caller may see, before asking."""
    snapshot: str
    """Id of the snapshot that would answer."""
    questions: list[PlannedQuestion]
    """In the order in which they were sent."""
    parts: list[StudyPart]
    """What would be measured, and for which questions."""
    cost: Cost
    """How much work measuring all tables is, at most."""
    free: list[FreeAnswer]
    """The stored answer to the same study, if there is one."""


class StudyAnswer(TypedDict):
    """The answers to all questions of a study, made of tables measured once.

    Answers of one part that adds up are sums of the same cells.
    """

    query_id: str
    """Id of the charge, by which all of it can be read again."""
    snapshot: str
    """Id of the snapshot that answered."""
    answers: list[Answer]
    """In the order of the questions; the charge of each is 0, since the study's pays
    for all."""
    parts: list[StudyPart]
    """What was measured, and for which questions."""
    charge: ChargeShape
    """What was paid for all of it."""
    remaining: Remaining
    """What is left of the limits that the caller may see."""
