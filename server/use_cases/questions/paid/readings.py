"""What charges paid for, as their texts are read again; remembered for an hour."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from budget.ledger import PaidQuestion
from privacy.errors import CuratorError
from query_lang.deriving.grids import grids_of
from server.use_cases.identity.access import Grant
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.paid.vectors import PaidVectors
from server.use_cases.questions.questions import (
    Compiler,
    Question,
    question_of_charge,
)
from server.use_cases.services.services import Services

STEPS_OF_A_TEXT: Final = 1_000  # to compile it, in those of its normal form
_MOST_STEPS_ANEW: Final = 30_000
"""Steps after which no more charges are read anew for one question: the next one goes
on, for what was read is kept. Everybody behind waits for it."""
_CHARACTERS_OF_A_CELL: Final = 3
"""Of a text, that take as long to read as a cell to compare."""
_STEPS_OF_A_VALUE: Final = 3  # of a key: it takes as long as a cell to compare
_MOST_TEXTS_ANEW: Final = 15
"""Likewise, of one request: the questions of a study share them."""
_MOST_KEPT: Final = 1_000
"""Charges of one project that are kept as they were read, those looked at last."""

_KEPT_SECONDS: Final = 3_600.0
"""What a project's charges paid for is kept so long after it asked last."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What one project's charges paid for, as it was read, and until when."""

    until: float
    read: Mapping[tuple[PaidQuestion, Grant], tuple[PaidVectors, ...]]


ReadingStudies = Callable[[Grant, PaidQuestion], tuple[list[PaidVectors], int]]
"""Returns the tables that a study's charge paid for, and the steps of their forms; of
other charges nothing, and no steps."""


class PaidReadings:
    """Reads what charges of projects paid for.

    Args:
        services: Of the installation.
        compiler: Of texts.
        reading_studies: Reads those of studies.
    """

    def __init__(
        self, services: Services, compiler: Compiler, reading_studies: ReadingStudies
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._reading_studies = reading_studies
        self._kept: dict[str, _Kept] = {}
        self._locks: dict[str, Lock] = {}

    def of(
        self, grant: Grant, listed: Sequence[PaidQuestion], looked_at: LookedAt
    ) -> list[PaidVectors]:
        """Return what charges paid for; count how many of them were read anew.

        A project has what it asked of last, of all datasets, whatever others ask
        meanwhile: how many are read anew decides when a reply leaves (PRIVACY 6). What
        would take long to read is left for questions to come.
        """
        project = grant.project.name
        with self._locks.setdefault(project, Lock()):  # or two lose each other's
            now = time.monotonic()
            for name in [n for n, kept in list(self._kept.items()) if kept.until < now]:
                self._kept.pop(name, None)
            own = self._kept.get(project)  # another's lock holder may let it go
            known = {} if own is None else own.read
            read: dict[tuple[PaidQuestion, Grant], tuple[PaidVectors, ...]] = {}
            steps = 0
            for each in listed:
                key = each, grant
                if key in known:
                    read[key] = known[key]
                elif steps < _MOST_STEPS_ANEW and looked_at.texts < _MOST_TEXTS_ANEW:
                    read[key], taken = self._read_anew(each, grant)
                    steps += taken
                    asked = [one.question for one in read[key]]
                    length = len(each.request) / _CHARACTERS_OF_A_CELL
                    looked_at.add_text(
                        len(asked),
                        length + sum(map(_values_of, asked)),
                        sum(one.bound.steps for one in asked),
                    )
            others = {key: each for key, each in known.items() if key not in read}
            kept = [*others.items(), *read.items()][-_MOST_KEPT:]
            self._kept[project] = _Kept(now + _KEPT_SECONDS, dict(kept))
            return [one for several in read.values() for one in several]

    def anew(self, paid: PaidQuestion, grant: Grant) -> tuple[PaidVectors, ...]:
        """Return what one charge paid for, whatever is remembered."""
        return self._read_anew(paid, grant)[0]

    def _read_anew(
        self, paid: PaidQuestion, grant: Grant
    ) -> tuple[tuple[PaidVectors, ...], int]:
        """Return what a charge paid for, and the steps of its forms.

        Nothing where its vectors are of no use. Its text is read as it was then; where
        its form is another one now, what is stored is in an order that is not known.
        """
        tables, steps = self._reading_studies(grant, paid)
        if steps:
            return (tuple(tables) if self._is_kept(paid) else ()), steps
        question = self._as_charged(paid, grant)
        steps = STEPS_OF_A_TEXT + len(paid.request)  # one a character
        if question is None:
            return (), steps
        steps += 2 * (question.normal.steps + question.bound.steps)
        steps += _STEPS_OF_A_VALUE * _values_of(question)
        if question.identity != paid.question or not self._is_kept(paid):
            return (), steps
        grids = tuple(grids_of(question.bound.plan))
        found = PaidVectors(paid.query_id, paid.loss, question, question.event, grids)
        return (found,), steps

    def _is_kept(self, paid: PaidQuestion) -> bool:
        return self._services.ledger.measured_vectors(paid.query_id) is not None

    def _as_charged(self, paid: PaidQuestion, grant: Grant) -> Question | None:
        if "sql" not in json.loads(paid.request):
            return None
        try:
            return question_of_charge(self._compiler, grant, paid.request)
        except CuratorError:
            return None


def _values_of(question: Question) -> int:
    """Return how many values keys have: each is looked up in what a grid may hold."""
    return sum(len(key.values) for key in question.bound.plan.keys)
