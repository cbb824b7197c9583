"""What a question may say beside its text: dictionaries whose members have types."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypedDict

Epsilon = str | float | Decimal
"""What to spend; a text or a Decimal is exact."""


class AccuracyWish(TypedDict, total=False):
    """How sure each number shall be: ``within``, or ``relative`` and ``at_least``.

    Averages: ``within`` and ``rows``.
    """

    within: float
    """So far off at most, in the column's unit."""
    rows: int
    """Of averages: in groups of so many values or more."""
    relative: str
    """So far off at most, as a part of the number: ``"5%"``."""
    at_least: float
    """Of ``relative``: so far off is near enough, however small the number."""
    cells: str
    """So many of a measure's cells at once, ``"90%"``; each by itself if left out."""
    at_most: str
    """Refuse what costs more epsilon."""
    confidence: float
    """0.95 where it is left out."""


Accuracy = float | AccuracyWish
"""A number alone is a half-width."""


class Bounds(TypedDict, total=False):
    """What each unit may add at most; less is less noise."""

    max_rows_per_unit: int
    """Rows that enter the aggregates."""
    max_groups_per_unit: int
    """Groups that these rows may lie in."""
    tables: dict[str, int]
    """Rows of a table, before anything is filtered."""


class Options(TypedDict, total=False):
    """How a question is answered; each member may be left out."""

    reuse: Literal["allow", "never"]
    """``"never"`` buys a fresh answer though one is on offer for nothing."""
    prefer: Literal["release", "paid"]
    """Take a release that answers, or what the project paid for, for nothing."""
    weights: dict[str, float]
    """Share the loss so among the columns; others weigh 1."""
    bounds: Bounds
    """What each unit may add."""
    confirm: bool
    """Pay although the project wants so dear a question confirmed."""


class QuestionOptions(TypedDict, total=False):
    """How one question of a study is answered."""

    weights: dict[str, float]
    """Share its loss so among the columns; others weigh 1."""
    bounds: Bounds
    """What each unit may add."""


class StudyQuestion(TypedDict, total=False):
    """One question of a study: its text, and an accuracy or a loss.

    A loss says how accurate it is to be: as that loss would make it alone.
    """

    sql: str
    """The question."""
    accuracy: Accuracy
    """How sure each number shall be."""
    epsilon: Epsilon
    """As sure as this epsilon would make them."""
    rho: Epsilon
    """As sure as this rho would make them, where the population counts rho."""
    options: QuestionOptions
    """How it is answered."""


class StudyOptions(TypedDict, total=False):
    """How a study is answered; each member may be left out."""

    reuse: Literal["allow", "never"]
    """``"never"`` buys fresh answers though the same study was asked before."""
    confirm: bool
    """Pay although the project wants so dear a charge confirmed."""
