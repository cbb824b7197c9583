"""A run: all questions of all groups under one cap, as one driver asks them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.economy.asking import Cell
from benchmarks.economy.drivers import Driver, Told, Turn
from benchmarks.economy.groups import GROUPS
from benchmarks.economy.hospital import Cap, Hospital, Spec
from benchmarks.economy.questions import Kind, Question
from benchmarks.economy.usefulness import Truth, is_useful, outside
from privacy.losses import ZERO_LOSS, Loss


@dataclass(frozen=True, slots=True)
class Run:
    """What became of every question.

    Attributes:
        told: Of each, in their order.
        published: What a release had cost before.
    """

    told: Sequence[Told]
    published: Loss


def run(
    hospital: Hospital,
    cap: Cap,
    questions: Sequence[Question],
    driver: Driver,
    release: Spec | None = None,
) -> Run:
    """Ask all questions of a fresh copy of a hospital."""
    each = len(questions) // len(GROUPS)
    with hospital.opened(cap, release) as service:
        askers = {group.name: service.asker(group.name) for group in GROUPS}
        least = askers[GROUPS[0].name].least()
        even = max(least, Loss(service.allotment.nano_epsilon // each))
        left = dict.fromkeys(askers, each)
        told = []
        for question in questions:
            asker, name = askers[question.group], question.group
            told.append(driver(Turn(asker, question, left[name], even, least)))
            left[name] -= 1
        for asker in askers.values():
            asker.http.close()
    return Run(told, cap.loss.minus_floor_zero(service.allotments))


class Fate(StrEnum):
    """What became of a question."""

    USEFUL = "useful"
    NOISY = "too noisy"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Account:
    """How a run went, without the questions that are too small for anybody.

    Attributes:
        fates: How many questions of each kind, by what became of them and whether they
            cost nothing.
        spent: As a share of the cap, with what a release had cost.
        on_noisy: What answers that are too noisy cost, as a share of the cap.
        outside: Of all cells shown, the share whose truth lies beyond their half-width;
            None: nothing was drawn.
    """

    fates: Mapping[tuple[Kind, Fate, bool], int]
    spent: float
    on_noisy: float
    outside: float | None

    def number(
        self,
        fate: Fate | None = None,
        kind: Kind | None = None,
        *,
        free: bool | None = None,
    ) -> int:
        """Return how many questions are such; None: any."""
        return sum(
            many
            for (each, became, nothing), many in self.fates.items()
            if fate in {None, became}
            and kind in {None, each}
            and free in {None, nothing}
        )


def account(
    done: Run, cap: Cap, questions: Sequence[Question], truths: Mapping[int, Truth]
) -> Account:
    """Judge a run by the truth."""
    fates: Counter[tuple[Kind, Fate, bool]] = Counter()
    cells = missed = noisy = 0
    for question, told in zip(questions, done.told, strict=True):
        truth = truths[question.number]
        if truth.is_too_small:
            continue
        shown = [] if told.answer is None else told.answer.cells
        fate = _fate(shown, truth)
        fates[question.kind, fate, told.spent == ZERO_LOSS] += 1
        noisy += told.spent.nano_epsilon if fate is Fate.NOISY else 0
        cells, missed = cells + len(shown), missed + outside(shown, truth)
    paid = done.published + Loss(sum(told.spent.nano_epsilon for told in done.told))
    spent, on_noisy = (
        each.nano_epsilon / cap.loss.nano_epsilon for each in (paid, Loss(noisy))
    )
    return Account(fates, spent, on_noisy, missed / max(1, cells))


def _fate(shown: Sequence[Cell], truth: Truth) -> Fate:
    if not shown:
        return Fate.REFUSED
    return Fate.USEFUL if is_useful(shown, truth) else Fate.NOISY
