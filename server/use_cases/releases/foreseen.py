"""Announced releases that will answer a question, and how exactly.

What decides is what decides for published ones (``offers.py``): columns, conditions and
what is counted. How exactly follows from the spec where its error is that of noise
alone, which is so of cells. No row decides anything, and nothing is drawn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from threading import BoundedSemaphore
from typing import Final

from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from privacy.errors import CuratorError, QueryError
from privacy.schema import Dataset
from query_lang.binding.bind import ResolvedQuery
from query_lang.plans.compiled import Presentation
from release.contract.answers import ReleaseAnswer
from release.contract.spec import CubeSpec, spec_from_json
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.measuring import Measurer
from release.cubes.questions.evaluating.steps import matching_steps
from release.cubes.strategies.cells import Cells
from server.use_cases.identity.access import Caller
from server.use_cases.releases.announced import AnnouncedReleases, AnnouncementRow
from server.use_cases.releases.offers import COMPARED_VALUES, compared
from server.use_cases.releases.opened import Kept, KnownCube, OpenReleases
from server.use_cases.services.services import Services

FORESEEN_STEPS: Final = 100_000_000
"""What looking at all announcements of a dataset may take for one question, in
``release.cubes.questions.evaluating.steps``: those beyond it are not told."""

SPEC_STEPS: Final = 3_000_000
"""Of each announcement, to read its spec, whether or not it was read before."""

_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an announced release will tell of a question's numbers.

    Attributes:
        name: What it will be called.
        due: The day by which it is planned to be there.
        half_widths: By confidence: of each count and sum, the widest cell's, in the
            column's unit.
    """

    name: str
    due: str
    half_widths: Mapping[str, Mapping[str, Decimal]]


@dataclass(frozen=True, slots=True)
class _Planned:
    """An announced release as it would be asked."""

    known: KnownCube
    asked: AskedCube


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be foreseen.

    Attributes:
        asked: The question.
        dataset: Its name.
        snapshot: That is asked.
        declared: What the snapshot declares.
        confidences: At which half-widths are wanted.
    """

    asked: ResolvedQuery
    dataset: str
    snapshot: str
    declared: Dataset
    confidences: Sequence[str]


class ForeseenReleases:
    """Compares questions with the releases that are announced to their asker."""

    def __init__(self, services: Services, open_releases: OpenReleases) -> None:
        self._announced = AnnouncedReleases(services)
        self._open_releases = open_releases
        self._planned: Kept[_Planned | None] = Kept(_KEPT)
        self._comparing = BoundedSemaphore(1)

    def find(self, caller: Caller, wanted: Wanted) -> tuple[list[Foreseen], int]:
        """Return the announced releases that will answer a question, by their day.

        Returns:
            Those, and how many steps looking at all took, by public facts: what is
            kept of them counts like what is new.
        """
        rows = self._announced.of_dataset(caller, wanted.dataset)
        if not rows:
            return [], 0
        effort = Effort(
            wanted.asked.position,
            FORESEEN_STEPS,
            evaluated=COMPARED_VALUES,
            axis=COMPARED_VALUES,
        )
        with self._comparing:
            found = list(self._foreseen(rows, wanted, effort))
        return found, len(rows) * SPEC_STEPS + min(effort.spent, effort.steps)

    def _foreseen(
        self, rows: Sequence[AnnouncementRow], wanted: Wanted, effort: Effort
    ) -> Iterator[Foreseen]:
        for row in rows:
            key = f"{row.id}\0{wanted.snapshot}"
            planned = self._planned.get(key, partial(self._plan, row, wanted))
            answers = None if planned is None else _answers(planned, wanted, effort)
            if answers is not None:
                widths = {each.confidence: _widest(each) for each in answers}
                yield Foreseen(str(row.name), str(row.due), widths)

    def _plan(self, row: AnnouncementRow, wanted: Wanted) -> _Planned | None:
        """Return a release as it would be asked; None where nobody can foresee it."""
        try:
            spec = spec_from_json(str(row.spec))
            if not isinstance(spec, CubeSpec) or spec.strategy != Cells.name:
                return None
            known = self._open_releases.planned(
                str(row.id), spec, wanted.snapshot, wanted.declared
            )
        except (CuratorError, ValueError):  # dataset or server know something else
            return None
        cells = Cells(GAUSSIAN if spec.is_rho else LAPLACE)
        model = cells.foreseen(known.cube.domain, spec.loss)
        return _Planned(known, AskedCube(known.cube, model, known.values))


def _answers(
    planned: _Planned, wanted: Wanted, effort: Effort
) -> list[ReleaseAnswer] | None:
    """Return what a release would tell at each confidence, of every cell.

    None where it is not what the question asks, or would take too many steps.
    """
    known, before = planned.known, effort.spent
    try:
        effort.spend(matching_steps(wanted.asked.plan))
        found = compared(wanted.asked, known, wanted.snapshot, effort)
        if not isinstance(found, CubeQuestion):
            return None
        measurer = Measurer(found, known.cube, known.values, effort)
        each = effort.spent - before + measurer.further_steps()
        if effort.spent + each * len(wanted.confidences) > effort.steps:
            return None
        effort.spend(each * len(wanted.confidences))
        whole = replace(found, presentation=Presentation())
        return [planned.asked.answer(whole, level) for level in wanted.confidences]
    except QueryError:
        return None


def _widest(answer: ReleaseAnswer) -> dict[str, Decimal]:
    return {
        column: max(map(Decimal, widths), default=Decimal(0))
        for column, widths in answer.half_widths.items()
    }
