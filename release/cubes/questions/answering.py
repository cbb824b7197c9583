"""Answers to questions of one published cube: rows with intervals, for nothing."""

from typing import Final

from query_lang.plans.compiled import (
    NumberShown,
    QueryWarning,
)
from query_lang.showing.chosen_rows import is_chosen_by_noise
from query_lang.showing.presentation import chosen, written_value
from query_lang.syntax.nodes import Query
from release.contract.answers import CHOSEN, ColumnIntervals, ReleaseAnswer
from release.contract.confidence import selected_confidence, widening
from release.contract.models import CubeModel
from release.cubes.models.picked import PickedModel
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.estimates import Estimated
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.questions.evaluating.measuring import INDEPENDENT_KINDS, Measurer
from release.cubes.questions.evaluating.warm import WarmModel

WHOLE_KINDS: Final = frozenset({"cells", "sparse_cells"})
"""Models whose estimates are whole numbers, shown as such."""


class AskedCube:
    """A published cube, opened for questions; safe for many threads."""

    def __init__(
        self, cube: PublishedCube, model: CubeModel, values: PublicValues | None = None
    ) -> None:
        self.cube = cube
        self._model = WarmModel(
            model.inner if isinstance(model, PickedModel) else model
        )
        self._values = values or PublicValues(cube)
        self._binder = CubeBinder(cube)

    def close(self) -> None:
        """Give back what evaluating needs."""
        self._values.close()

    def ask(self, tree: Query, confidence: str = "0.95") -> ReleaseAnswer:
        """Answer a parsed text.

        Args:
            tree: A SELECT from the release's name.
            confidence: Of each interval by itself, between 0 and 1.

        Raises:
            QueryError: The text is refused, with rule, place and hint.
        """
        return self.answer(self._binder.bind(tree), confidence)

    def answer(self, question: CubeQuestion, confidence: str = "0.95") -> ReleaseAnswer:
        """Answer a bound question.

        Raises:
            SqlNotAllowedError: The release cannot answer it, or in too many steps.
        """
        effort = Effort(question.position)
        measurer = Measurer(question, self.cube, self._values, effort)
        measurer.check(self._model)
        touches = measurer.counts_touches()
        is_whole = self._model.kind in WHOLE_KINDS
        shown = Estimated(
            question,
            lambda kind: measurer.measure(kind, self._model),
            self.cube,
            is_whole,
        )
        places = chosen(question.presentation, shown)
        picked = is_chosen_by_noise(question.presentation) and len(places) < len(
            shown.cells
        )
        level = float(confidence)
        if picked:
            level = selected_confidence(level, len(places), len(shown.cells))
        shown.widening = self._widening(level)
        columns = tuple(shown.described(c, touches=touches) for c in question.columns)
        written = [
            [written_value(column, values[place]) for place in places]
            for column, values in ((c, shown.column(c.shown)) for c in columns)
        ]
        measures = [column for column in columns if column.kind == "measure"]
        ends = {column.name: shown.ends(column.shown) for column in measures}
        return ReleaseAnswer(
            columns=columns,
            rows=tuple(zip(*written, strict=True)),
            intervals=tuple(
                ColumnIntervals(name, tuple(found[place] for place in places))
                for name, found in ends.items()
            ),
            half_widths={
                column.name: tuple(shown.half_widths(column.shown, places))
                for column in measures
                if isinstance(column.shown, NumberShown)
            },
            confidence=confidence,
            derivation=derivation(self.cube),
            warnings=(
                *self.cube.warnings,
                *question.warnings,
                *_warnings(self.cube, touches=touches),
                *(CHOSEN if picked and places else ()),
            ),
        )

    def _widening(self, confidence: float) -> float:
        factor = widening(confidence)
        if self._model.kind in INDEPENDENT_KINDS:
            return factor
        return max(1.0, factor)  # others bound what was not measured, too


def derivation(cube: PublishedCube) -> str:
    """Say what an answer is made of."""
    domain = cube.domain
    over = ", ".join(dimension.name for dimension in domain.dimensions)
    each = (
        f"each {cube.unit} once in every cell that it touches"
        if cube.counts == "units"
        else "rows"
    )
    return (
        f"read from the release {cube.id} ({cube.strategy}, {cube.paid}, "
        f"paid when it was published) and public facts alone: it costs nothing. The "
        f"cube has {domain.size:,} cells over {over} and counts {each}; one "
        f"{cube.unit} adds at most {domain.bound} to it. Intervals are of the "
        "release's noise and, where it measured cells together, of the spread inside."
    )


def _warnings(cube: PublishedCube, *, touches: bool) -> list[QueryWarning]:
    if not touches:
        return []
    varying = [d.name for d in cube.domain.dimensions if not d.constant]
    detail = (
        f"a {cube.unit} counts once in every cell that it touches, so sums over "
        f"{', '.join(varying)} can count one {cube.unit} more than once"
    )
    return [QueryWarning("counts_touches", detail)]
