"""Answers that are made of noisy numbers which the same project paid for before.

Sums over a key of a paid table, slices of it, totals less a slice: post-processing of
vectors that were measured on the same snapshot, with intervals of their own, and free
(docs/proofs/derived.md). No other project's charge is looked at.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from budget.ledger import PaidQuestion
from mechanisms.scales.averages import Draws
from mechanisms.scales.noises import noise_of_measure
from privacy.events import PriceEvent
from privacy.losses import Loss
from query_lang.deriving.derivations import (
    value_of,
)
from query_lang.deriving.grids import grids_of
from query_lang.plans.compiled import KeyShown, NumberShown
from query_lang.showing.chosen_rows import is_chosen_by_noise
from server.use_cases.identity.access import Grant
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.measured import Measured
from server.use_cases.questions.paid.derived import (
    Derived,
    Held,
    Source,
    derived_of,
    held_of,
    sources_of,
)
from server.use_cases.questions.paid.finer_draws import (
    Finer,
    finer_of,
    work_of_drawing_again,
)
from server.use_cases.questions.paid.readings import PaidReadings, ReadingStudies
from server.use_cases.questions.paid.refining import (
    MOST_PARTS,
    Earlier,
    Refining,
    refined_widths,
    refining,
    weights_of,
)
from server.use_cases.questions.paid.vectors import PaidVectors, loss_of_all
from server.use_cases.questions.questions import (
    Compiler,
    Question,
    finer_than,
    refined_text,
)
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.averages import DrawnNoise, averages_keep_to
from server.use_cases.questions.wishes.demands import keeps_to
from server.use_cases.questions.wishes.prices import KnownNumbers
from server.use_cases.services.services import Services

LOOKED_AT: Final = 96
"""The newest paid questions of a project on a snapshot that are compared with one."""

_UNLIKELY: Final = Fraction(1, 5)
"""How often a number may be larger, or smaller, than is called likely."""

_Made = tuple[Derived | None, Held | None, int]
"""How a question is made of paid ones, what holds it, and how many cells were tried."""

_MOST_MADE: Final = 32
"""Questions of a project for which that is kept, until it pays for another one."""

_MOST_PROJECTS: Final = 200
"""For which that is kept: those that paid last."""


class PaidAnswers:
    """Finds how questions follow from what their project paid for."""

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        reading_studies: ReadingStudies = lambda _, __: ([], 0),
    ) -> None:
        self._services = services
        self._readings = PaidReadings(services, compiler, reading_studies)
        self._made: dict[str, tuple[tuple[str, ...], dict[str, _Made]]] = {}

    def find(
        self, grant: Grant, question: Question, looked_at: LookedAt
    ) -> Derived | None:
        """Return how a question follows from paid answers; reads none of their numbers.

        Args:
            grant: Of the asker: its project and snapshot are looked at, no other.
            question: What is asked, at any loss.
            looked_at: Counts what it takes.
        """
        if not _is_plain(question):
            return None
        return self._found(grant, question, looked_at)[0]

    def known(
        self, grant: Grant, question: Question, miss: Fraction, looked_at: LookedAt
    ) -> KnownNumbers | None:
        """Return how large a question's numbers are at least, by paid noisy ones.

        Args:
            grant: Of the asker.
            question: What is asked, at any loss.
            miss: How often a bound may be wrong, each by itself.
            looked_at: Counts what it takes.
        """
        derived, held = self._found(grant, question, looked_at)
        known = None if derived is None else self._known_of(derived, miss)
        return known if held is None else self._no_more_than(held, known)

    def _known_of(self, derived: Derived, miss: Fraction) -> KnownNumbers:
        """Return how large numbers are by what they are made of."""
        widths = derived.widths(miss)
        numbers = self.vectors(derived)
        cells = [
            list(zip(*each, strict=True)) for each in zip(numbers, widths, strict=True)
        ]
        least = [[max(0, abs(n) - width) for n, width in each] for each in cells]
        likely = derived.widths(_UNLIKELY / 2)
        most = [
            [abs(n) + width for n, width in zip(*each, strict=True)]
            for each in zip(numbers, likely, strict=True)
        ]
        queries = [paid.query_id for paid in derived.taken]
        return KnownNumbers(least, most, queries)

    def _no_more_than(
        self, held: Held, known: KnownNumbers | None
    ) -> KnownNumbers | None:
        """Return what is known, and that numbers are no larger than what holds them."""
        ends = held.most(self._numbers(held.sources, held.taken), _UNLIKELY / 2)
        if known is not None:
            cells = [
                zip(*each, strict=True)
                for each in zip(known.least, known.most, ends, strict=True)
            ]
            most = [
                [
                    n if end is None else max(least, min(n, end))
                    for least, n, end in each
                ]
                for each in cells
            ]
            return replace(known, most=most)
        whole = [[n for n in each if n is not None] for each in ends]
        sizes = [len(each) for each in ends]
        if [len(each) for each in whole] != sizes:
            return None  # nothing is known of some cells
        queries = [paid.query_id for paid in held.taken]
        none = [[0] * size for size in sizes]
        return KnownNumbers(none, whole, queries, only_most=True)

    def _found(
        self, grant: Grant, question: Question, looked_at: LookedAt
    ) -> tuple[Derived | None, Held | None]:
        listed = self._services.ledger.paid_questions(
            grant.project.name, grant.snapshot, LOOKED_AT
        )
        if not listed or not looked_at.derives:
            return None, None
        paid = self._readings.of(grant, listed, looked_at)
        derived, held, tried = self._made_of(grant.project.name, question, paid)
        looked_at.add_derived(tried)
        return derived, held

    def _made_of(
        self, project: str, question: Question, paid: Sequence[PaidVectors]
    ) -> _Made:
        """Return how a question is made of paid ones, as found before where it was.

        What it took is counted all the same: what others ask changes nothing of when a
        reply leaves.
        """
        ids = tuple(each.query_id for each in paid)
        kept = self._made.get(project)
        if kept is None or kept[0] != ids:
            self._made.pop(project, None)
            kept = self._made[project] = ids, {}
            if len(self._made) > _MOST_PROJECTS:
                self._made.pop(next(iter(self._made)), None)
        _, made = kept
        found = made.get(question.former)
        if found is None:
            sources = list(sources_of(paid))
            wanted = grids_of(question.bound.plan) if sources else []
            derived, tried = derived_of(wanted, sources)
            held, compared = held_of(wanted, sources)
            found = derived, held, tried + compared
            if len(made) < _MOST_MADE:
                made[question.former] = found
        return found

    def same(
        self, grant: Grant, question: Question, looked_at: LookedAt
    ) -> list[PaidVectors]:
        """Return paid answers to the same question, in its order, the newest first.

        Args:
            grant: Of the asker: its project and snapshot are looked at, no other.
            question: What is asked, at any loss.
            looked_at: Counts what it takes.
        """
        if not _is_plain(question):
            return []
        listed = self._services.ledger.paid_questions(
            grant.project.name, grant.snapshot, LOOKED_AT
        )
        alike = {e.query_id for e in listed if e.question == question.identity}
        if not alike:
            return []
        paid = self._readings.of(grant, listed, looked_at)
        found = [each for each in paid if each.query_id in alike]
        return [each.as_asked(question) for each in found]

    def named(
        self, grant: Grant, question: Question, queries: Sequence[str]
    ) -> list[PaidVectors]:
        """Return the paid answers that a charge adds to, however old they are.

        Raises:
            LookupError: One of them cannot be read now.
        """
        found: list[PaidVectors] = []
        for query_id in queries:
            record = self._services.ledger.query(query_id)
            if record is None:
                raise LookupError(query_id)
            paid = PaidQuestion(
                query_id, question.identity, record.loss, record.request_json
            )
            read = self._readings.anew(paid, grant)
            if not read:
                raise LookupError(query_id)
            found += [each.as_asked(question) for each in read]
        return found

    def finer(
        self, grant: Grant, question: Question, looked_at: LookedAt
    ) -> Finer | None:
        """Return the paid answer that a question may go on from, the finest one.

        Args:
            grant: Of the asker: its project and snapshot are looked at, no other.
            question: What is asked, at any loss.
            looked_at: Counts its numbers, whether they can be used or not.
        """
        listed = self._services.ledger.paid_questions(
            grant.project.name, grant.snapshot, LOOKED_AT
        )
        alike = [
            each
            for each in listed
            if each.can_be_refined and each.question == question.identity
        ]
        if not alike:
            return None
        best = max(alike, key=lambda each: each.loss)
        looked_at.add(cells=work_of_drawing_again(question))
        return self._finer(question, best.query_id, best.loss)

    def loss_before(
        self, grant: Grant, looked_at: LookedAt, question: Question
    ) -> Loss:
        """Return what was paid for a question before, as far as that makes it cheaper.

        Args:
            grant: Of the asker: its project and snapshot are looked at, no other.
            looked_at: Counts what it takes.
            question: What is asked, at any loss.
        """
        if not grant.measure.is_pure:
            return loss_of_all(self.same(grant, question, looked_at)[:MOST_PARTS])
        finer = self.finer(grant, question, looked_at)
        return Loss(0) if finer is None else finer.loss

    def finer_named(self, question: Question, query_id: str) -> Finer:
        """Return the paid answer that a charge goes on from.

        Raises:
            LookupError: It cannot be read now.
        """
        record = self._services.ledger.query(query_id)
        if record is None:
            raise LookupError(query_id)
        goes_on = finer_than(record.request_json)
        total = record.loss if goes_on is None else goes_on[1]
        found = self._finer(question, query_id, total)
        if found is None:
            raise LookupError(query_id)
        return found

    def _finer(self, question: Question, query_id: str, loss: Loss) -> Finer | None:
        stored = self._services.ledger.measured_vectors(query_id)
        engine = self._services.engine.version
        return finer_of(query_id, loss, stored, question, engine)

    def refining(
        self,
        grant: Grant,
        question: Question,
        wish: Accuracy | None,
        looked_at: LookedAt,
    ) -> tuple[Question, Earlier | None]:
        """Price what a question adds to what its project paid for it before.

        Where an accuracy is wished for, the mean of all draws keeps to it, too: it is
        rounded, and so may take a little more than the difference.

        Args:
            grant: Of the asker.
            question: As it costs where nothing was paid.
            wish: The accuracy.
            looked_at: Counts what it takes.

        Returns:
            The question with its price, and the answers that it adds to.
        """
        paid = self.same(grant, question, looked_at)
        found = refining(paid, question.event.loss, question.losses.minimum)
        found = None if found is None else _sufficient(question, found, wish)
        earlier = None if found is None else self._kept_numbers(found)
        if found is None or earlier is None:
            return question, None
        named = [each.query_id for each in found.taken]
        text = question.text
        if found.price > Loss(0):
            text = refined_text(text, found.price, grant.measure.word, named)
        return replace(question, price=found.price, text=text), earlier

    def _kept_numbers(self, found: Refining) -> Earlier | None:
        try:
            return self.earlier(found.taken)
        except LookupError:
            return None

    def earlier(self, taken: Sequence[PaidVectors]) -> Earlier:
        """Return paid answers with their numbers.

        Raises:
            LookupError: Some are gone.
        """
        vectors = [self._stored(each.query_id, each.question) for each in taken]
        return Earlier(tuple(taken), tuple(vectors))

    def vectors(self, derived: Derived) -> list[list[int]]:
        """Return the noisy numbers of a question, rounded to its grids.

        Raises:
            LookupError: A stored vector is gone.
        """
        numbers = self._numbers(derived.sources, derived.taken)
        grids = [source.grid for source in derived.sources]
        return [
            [round(value_of(cell, numbers, grids)) for cell in cells]
            for cells in derived.cells
        ]

    def _numbers(
        self, sources: Sequence[Source], taken: Sequence[PaidVectors]
    ) -> dict[int, Sequence[int]]:
        used = {paid.query_id for paid in taken}
        stored: dict[tuple[str, int], list[list[int]]] = {}
        found: dict[int, Sequence[int]] = {}
        for place, source in enumerate(sources):
            paid = source.paid
            if paid.query_id not in used:
                continue
            key = paid.query_id, paid.before
            if key not in stored:
                stored[key] = self._stored(paid.query_id, paid.question, paid.before)
            found[place] = stored[key][source.place]
        return found

    def _stored(
        self, query_id: str, question: Question, before: int = 0
    ) -> list[list[int]]:
        measured = Measured.read(self._services.ledger.measured_vectors(query_id))
        if measured is None:
            raise LookupError(query_id)
        own = measured.vectors[before : before + len(question.compiled.measures)]
        return question.normal.own_vectors(own)


_MORE = (Fraction(1), *(Fraction(n, 20) for n in (21, 22, 24, 28, 34)))
"""What is tried for a wish, in differences."""


def _sufficient(
    question: Question, found: Refining, wish: Accuracy | None
) -> Refining | None:
    """Return the least price tried with which a mean keeps to a wish; None: none does.

    A function of texts, losses and scales: nothing was drawn for it.
    """
    if wish is None or question.wish is None:
        return found
    nano = found.price.nano_epsilon
    for price in [Loss(ceil(nano * more)) for more in (_MORE if nano else _MORE[:1])]:
        if price < question.event.loss and _keeps(question, found, price, wish):
            return replace(found, price=price)
    return None


def _keeps(question: Question, found: Refining, price: Loss, wish: Accuracy) -> bool:
    """Whether the mean of all draws keeps to a wish, if the last one costs so much."""
    events = [paid.event for paid in found.taken]
    events += [question.measured_at(price).event] if price > Loss(0) else []
    cells, measures = len(question.compiled.rendered.cells), question.compiled.measures

    def widths(miss: Fraction) -> list[list[int]]:
        found_widths = zip(refined_widths(events, miss), measures, strict=True)
        return [[width] * (cells * measure.size) for width, measure in found_widths]

    priced = question.wish
    if wish.rows is not None:
        return _averages_keep_to(question, events, wish, wish.rows)
    return priced is not None and keeps_to(wish, priced, measures, widths)


def _averages_keep_to(
    question: Question, events: Sequence[PriceEvent], wish: Accuracy, rows: int
) -> bool:
    """Whether averages of the means of all draws, which are rounded, keep to a wish."""

    def draws_of(vector: int) -> Draws:
        scales = [event.vectors[vector].scale for event in events]
        return [*zip(weights_of(scales), scales, strict=True)]

    law = noise_of_measure(question.event.measure).sums
    noise = DrawnNoise(draws_of, law, rounded=Fraction(1, 2))
    return averages_keep_to(question.compiled, wish, rows, noise)


def _is_plain(question: Question) -> bool:
    """Whether keys, counts and sums alone are shown, and no noise chooses rows.

    Totals would need the covariance of what is derived.
    """
    compiled = question.compiled
    if compiled.presentation.sets:
        return False
    plain = KeyShown | NumberShown
    return not is_chosen_by_noise(compiled.presentation) and all(
        isinstance(column.shown, plain) for column in compiled.columns
    )
