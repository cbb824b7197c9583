"""Questions that are answered by the same tables, with what these spend."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.scales.noises import noise_of_measure
from privacy.events import MeasuredVector, PriceEvent
from privacy.losses import Loss
from privacy.measures import Measure
from server.use_cases.questions.questions import Question
from server.use_cases.questions.requests import QuestionRequest
from server.use_cases.questions.studies.asked import MISS, Asked
from server.use_cases.questions.studies.layouts import Gridded, MeasureLayout
from server.use_cases.questions.studies.least_squares import Fit
from server.use_cases.questions.studies.steps import Steps


@dataclass(frozen=True, slots=True)
class Table:
    """A question that is measured, and what each of its vectors spends.

    Attributes:
        request: That brings its text and bounds.
        gridded: What it counts.
        losses: Of each measure.
    """

    request: QuestionRequest
    gridded: Gridded
    losses: tuple[Loss, ...]

    @property
    def question(self) -> Question:
        """Return the question, at a loss of no meaning."""
        return self.gridded.question

    @property
    def measure(self) -> Measure:
        """Return what its losses count."""
        return self.question.event.measure

    @property
    def loss(self) -> Loss:
        """Of all its vectors."""
        return Loss(sum(loss.nano_epsilon for loss in self.losses))

    @property
    def event(self) -> PriceEvent:
        """Return its noise.

        Raises:
            InvalidLossError: A part is too small for noise of at most 2**40.

        Neighbouring relation: add or remove all rows of one unit.
        """
        noise = noise_of_measure(self.measure)
        vectors = tuple(
            MeasuredVector(m.sensitivity, loss, noise.scale(m.sensitivity, loss))
            for m, loss in zip(
                self.question.compiled.measures, self.losses, strict=True
            )
        )
        return PriceEvent(self.loss, vectors, self.measure)


@dataclass(frozen=True, slots=True)
class Part:
    """Questions of a study that are made of the same tables, and so add up.

    Attributes:
        tables: What is measured: the base table, then coarser ones.
        wanted: The questions, by their number in the study.
        layouts: Of each measure of the base table; none where the base table is the
            question itself, and shown as it was drawn.
    """

    tables: tuple[Table, ...]
    wanted: tuple[int, ...]
    layouts: tuple[MeasureLayout, ...]

    @property
    def loss(self) -> Loss:
        """Of all its tables."""
        return Loss(sum(table.loss.nano_epsilon for table in self.tables))

    def fits(self) -> Iterator[tuple[MeasureLayout, Fit]]:
        """Yield how each measure's numbers are made, at what the tables spend."""
        events = [table.event for table in self.tables]
        for layout in self.layouts:
            scales = [events[0].vectors[layout.measure].scale]
            scales += [events[1 + t].vectors[m].scale for t, m in layout.coarse]
            noise = noise_of_measure(events[0].measure)
            yield layout, Fit(layout.layout, noise, tuple(scales))

    def widths(
        self, miss: Fraction, steps: Steps
    ) -> dict[tuple[int, int], list[int]] | None:
        """Return the half-widths of each question, by its number, and measure.

        None where that takes more than is left.
        """
        found = {}
        for layout, fit in self.fits():
            steps.take(layout.layout.steps)
            widths = fit.widths_of(range(len(layout.wanted)), miss, steps)
            if widths is None:
                return None
            for (question, measure), each in zip(layout.wanted, widths, strict=True):
                found[self.wanted[question], measure] = each
        return found

    def is_kept(self, asked: Sequence[Asked], steps: Steps) -> bool:
        """Whether all its numbers are as accurate as is wished for.

        Not where that takes more steps than are left.
        """
        for miss in {asked[question].miss for question in self.wanted}:
            widths = self.widths(miss, steps)
            if widths is None or not all(
                asked[question].is_content(measure, each)
                for (question, measure), each in widths.items()
                if asked[question].miss == miss
            ):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Study:
    """Questions, and the tables that are measured for them.

    Attributes:
        asked: The questions, each priced alone.
        parts: Each question is in one of them.
        loss: Of the one charge: what all tables spend, or a little more.
    """

    asked: tuple[Asked, ...]
    parts: tuple[Part, ...]
    loss: Loss

    @property
    def tables(self) -> list[Table]:
        """Return everything that is measured, in order."""
        return [table for part in self.parts for table in part.tables]

    @property
    def one_by_one(self) -> Loss:
        """Return what the questions cost if each is asked alone, the same one once."""
        dearest: dict[str, Loss] = {}
        for one in self.asked:
            identity, loss = one.question.identity, one.question.event.loss
            dearest[identity] = max(loss, dearest.get(identity, loss))
        return Loss(sum(loss.nano_epsilon for loss in dearest.values()))

    @property
    def answering_steps(self) -> float:
        """What it takes to make all answers of noisy numbers, with half-widths."""
        steps = Steps()
        for part in self.parts:
            part.widths(MISS, steps)
            steps.take(sum(each.layout.adding_steps for each in part.layouts))
        return steps.taken

    def part_of(self, question: int) -> int:
        """Return which part answers a question."""
        return next(n for n, part in enumerate(self.parts) if question in part.wanted)
