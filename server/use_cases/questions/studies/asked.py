"""A question of a study, and how accurate its numbers are to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mechanisms.scales.noises import Noise, noise_of_measure
from query_lang.plans.compiled import KeyShown, NumberShown
from query_lang.showing.chosen_rows import is_chosen_by_noise
from server.use_cases.questions.questions import Question
from server.use_cases.questions.requests import QuestionRequest
from server.use_cases.questions.studies.layouts import Gridded
from server.use_cases.questions.wishes.demands import demand_of

MISS: Final = Fraction(5, 100)
"""Of the half-widths that answers show."""

"""Returns the half-width of each cell, in steps, at a chance to miss; None: too many
kinds of them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a study, priced as if it were asked alone.

    Attributes:
        request: As it came.
        gridded: What it counts.
    """

    request: QuestionRequest
    gridded: Gridded

    @property
    def question(self) -> Question:
        """Return the question, at what it costs alone."""
        return self.gridded.question

    @property
    def noise(self) -> Noise:
        """Return the kind of noise that it has."""
        return noise_of_measure(self.question.event.measure)

    @property
    def adds_up(self) -> bool:
        """Whether its numbers can be made of those of another table.

        Keys, counts and sums alone are shown, no noise chooses rows, and all of them
        are known to add up.
        """
        compiled = self.question.compiled
        plain = KeyShown | NumberShown
        return (
            bool(self.gridded.counted)
            and not compiled.presentation.sets
            and not is_chosen_by_noise(compiled.presentation)
            and (self.request.accuracy is None or self.request.accuracy.rows is None)
            and all(isinstance(column.shown, plain) for column in compiled.columns)
        )

    def alone_width(self, measure: int) -> int:
        """Return the 95 % half-width of a cell, in steps, if it is asked alone."""
        scale = self.question.event.vectors[measure].scale
        return self.noise.half_width(scale, 1 - MISS)

    @property
    def miss(self) -> Fraction:
        """Return how often each of its numbers may miss, for its wish."""
        question, wish = self.question, self.request.accuracy
        if wish is None or question.wish is None:
            return MISS
        demand = demand_of(wish, question.wish, question.compiled.measures)
        cells = len(question.compiled.rendered.cells)
        return demand.miss if wish.cells is None else demand.miss / cells

    def is_content(self, measure: int, widths: Sequence[int]) -> bool:
        """Whether half-widths, at its miss, are as accurate as is wished for.

        Where no accuracy is wished for: as what the loss alone would bring.
        """
        question, wish = self.question, self.request.accuracy
        if wish is None or question.wish is None:
            most = self.alone_width(measure)
            return all(width <= most for width in widths)
        demand = demand_of(wish, question.wish, question.compiled.measures)
        return all(
            width <= demand.tolerance(measure, cell)
            for cell, width in enumerate(widths)
        )
