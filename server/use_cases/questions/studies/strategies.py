"""Which tables a study measures: the cheapest found, never dearer than one by one.

Each question begins as a part of its own. Two parts become one where their questions
follow from one table, and that is cheaper: one of the two tables, or one with the keys
of both, with or without coarser tables beside it, which least squares bring together.
All by texts, wishes and public facts: nothing is read for it (docs/proofs/studies.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from typing import Final

from mechanisms.scales.noises import noise_of_measure
from privacy.errors import CuratorError
from privacy.losses import Loss
from query_lang.advising.union_texts import union_text
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.questions import Question
from server.use_cases.questions.requests import QuestionRequest, with_loss
from server.use_cases.questions.studies.asked import Asked
from server.use_cases.questions.studies.layouts import (
    Gridded,
    Gridding,
    KnownRows,
    MeasureLayout,
    layouts_of,
)
from server.use_cases.questions.studies.parts import Part, Table
from server.use_cases.questions.studies.shares import Dividing, Division
from server.use_cases.questions.studies.steps import Steps, of_form, of_text
from server.use_cases.questions.wishes.ranges import LossRange

MOST_UNIONS: Final = 16
"""Texts of union tables that are compiled for one study."""
MOST_SEARCHED: Final = 6_000
"""Steps (``steps``) after which no more parts are brought together."""
MOST_STEPS: Final = 9_000
"""Steps after which parts are left apart, whose exact price is not found yet."""

_PAIR: Final = 2
_MOST_COARSE: Final = 3  # coarser tables beside one base table
_GAIN: Final = 0.99  # a coarser table is measured where it saves a part in a hundred
_IDLE: Final = 0.03  # of a part's price: a coarser table with less is tried without
_TOLERATED: Final = 0.001
"""Of all prices: so much more is taken up with, for answers that add up; what is dearer
in the end is taken apart again."""
_GRID: Final = 1_000  # prices of a part are so many parts of what it costs one by one

Compiling = Callable[[QuestionRequest], Question]
"""Compiles and prices a text of ours; counts what binding it takes."""


@dataclass(frozen=True, slots=True)
class _Base:
    request: QuestionRequest
    gridded: Gridded


@dataclass(frozen=True, slots=True)
class _Draft:
    """A part that is thought of, with about what it costs, in nano-units."""

    base: _Base
    coarse: tuple[int, ...]
    wanted: tuple[int, ...]
    layouts: tuple[MeasureLayout, ...]
    divisions: tuple[Division, ...]
    price: float
    of: "tuple[_Draft, ...]" = ()  # what it was brought together of


class Strategist:
    """Chooses what is measured for some questions.

    Args:
        asked: The questions, each priced alone.
        losses: That one query may spend.
        compiling: For texts of tables with the keys of two questions.
        gridding: Reads off what these count.
        looked_at: Counts what the search takes.
    """

    def __init__(
        self,
        asked: Sequence[Asked],
        losses: LossRange,
        compiling: Compiling,
        gridding: Gridding,
        looked_at: LookedAt,
    ) -> None:
        self._asked = asked
        self._losses = losses
        self._compiling = compiling
        self._gridding = gridding
        self._looked_at = looked_at
        self._unions: dict[tuple[str, str], _Base | None] = {}
        self._steps = Steps(looked_at, MOST_STEPS)
        self._rows = KnownRows(self._steps)

    def parts(self) -> tuple[Part, ...]:
        """Return what to measure for all questions."""
        found = []
        for draft in self._merged(self._gathered(self._singles())):
            found += self._settled_or_apart(draft)
        return tuple(sorted(found, key=lambda part: part.wanted))

    def _settled_or_apart(self, draft: _Draft) -> list[Part]:
        """Return a part at its exact price, or those that it was made of."""
        part = self._settled(draft)
        if part is not None:
            return [part]
        return [part for each in draft.of for part in self._settled_or_apart(each)]

    # -- questions one by one ---------------------------------------------------

    def _singles(self) -> list[_Draft]:
        """Return a part for each question, the same question once."""
        alike: dict[str, list[int]] = {}
        for n, one in enumerate(self._asked):
            alike.setdefault(one.question.identity, []).append(n)
        return [self._single(numbers) for numbers in alike.values()]

    def _single(self, numbers: Sequence[int]) -> _Draft:
        dearest = max(numbers, key=lambda n: self._asked[n].question.event.loss)
        one = self._asked[dearest]
        base = _Base(one.request, one.gridded)
        price = float(one.question.event.loss.nano_epsilon)
        return _Draft(base, (), tuple(numbers), (), (), price)

    def _one_by_one(self, wanted: Sequence[int]) -> list[Part]:
        drafts = self._singles()
        return [self._alone(draft) for draft in drafts if draft.wanted[0] in wanted]

    def _alone(self, draft: _Draft) -> Part:
        """Return a question measured by itself, at what it costs alone."""
        vectors = draft.base.gridded.question.event.vectors
        losses = tuple(vector.loss for vector in vectors)
        table = Table(draft.base.request, draft.base.gridded, losses)
        return Part((table,), draft.wanted, ())

    # -- parts brought together -------------------------------------------------

    def _gathered(self, drafts: list[_Draft]) -> list[_Draft]:
        """Bring together at once all that follows from one question's table.

        The largest saving first, as long as there is one: of many slices of one table
        it finds at once what pairs find after many tries.
        """
        while True:
            found = [self._all_of(draft.base, drafts) for draft in drafts]
            made = [draft for draft in found if draft is not None]
            best = min(made, key=_lost, default=None)
            if best is None or _lost(best) >= 0:
                return drafts
            gone = {id(draft) for draft in best.of}
            drafts = [draft for draft in drafts if id(draft) not in gone] + [best]

    def _all_of(self, base: _Base, drafts: Sequence[_Draft]) -> _Draft | None:
        """Return a part for all that follows from a table, if they are three or more.

        Two are a pair, which ``_merged`` tries.
        """
        members = tuple(d for d in drafts if self._is_in(base, d.wanted))
        has_own = any(draft.base is base for draft in members)
        if not has_own or len(members) <= _PAIR:
            return None  # the table itself may show what does not add up
        wanted = tuple(sorted(n for draft in members for n in draft.wanted))
        found = self._drafted(base, wanted)
        return None if found is None else replace(found, of=members)

    def _is_in(self, base: _Base, wanted: Sequence[int]) -> bool:
        """Whether questions follow from a table."""
        asked = [self._asked[n] for n in wanted]
        if not all(each.adds_up for each in asked):
            return False
        if any(each.request.bounds != base.request.bounds for each in asked):
            return False
        several = [each.gridded for each in asked]
        return layouts_of(base.gridded, [], several, self._rows) is not None

    def _merged(self, drafts: list[_Draft]) -> list[_Draft]:
        tried: dict[tuple[tuple[int, ...], tuple[int, ...]], _Draft | None] = {}
        while True:
            most = -_TOLERATED * sum(draft.price for draft in drafts)
            best: tuple[float, _Draft | None, tuple[int, ...]] = (most, None, ())
            for one, other in combinations(range(len(drafts)), 2):
                pair = drafts[one], drafts[other]
                key = pair[0].wanted, pair[1].wanted
                if key not in tried:
                    tried[key] = self._both(*pair)
                merged = tried[key]
                saved = sum(each.price for each in pair) - (
                    merged.price if merged else float("inf")
                )
                if saved > best[0]:
                    best = saved, merged, (one, other)
            if best[1] is None:
                return drafts
            drafts = [d for n, d in enumerate(drafts) if n not in best[2]] + [best[1]]

    def _both(self, one: _Draft, other: _Draft) -> _Draft | None:
        """Return the cheapest part that answers the questions of both."""
        wanted = tuple(sorted((*one.wanted, *other.wanted)))
        if not self._may_follow(one, other):
            return None
        drafts = [
            draft
            for base in self._bases(one.base, other.base)
            if (draft := self._drafted(base, wanted)) is not None
        ]
        best = min(drafts, key=lambda draft: draft.price, default=None)
        return None if best is None else replace(best, of=(one, other))

    def _may_follow(self, one: _Draft, other: _Draft) -> bool:
        """Whether the questions of both might follow from one table."""
        asked = [self._asked[n] for n in (*one.wanted, *other.wanted)]
        if not all(each.adds_up for each in asked):
            return False
        whats = one.base.gridded.whats, other.base.gridded.whats
        bounds = {each.request.bounds for each in asked}
        return len(bounds) == 1 and (whats[0] <= whats[1] or whats[1] <= whats[0])

    def _bases(self, one: _Base, other: _Base) -> Iterator[_Base]:
        yield one
        yield other
        larger = sorted((one, other), key=lambda base: -len(base.gridded.whats))
        union = self._union(*larger)
        if union is not None:
            yield union

    def _union(self, one: _Base, other: _Base) -> _Base | None:
        """Return a table with the keys of both, if the language has one."""
        sql = union_text(one.request.sql, other.request.sql)
        if sql is None or len(self._unions) >= MOST_UNIONS:
            return None
        key = one.request.sql, other.request.sql
        if key not in self._unions:
            bases = (one.gridded.question, other.gridded.question)
            loss = max(base.event.loss for base in bases)
            self._unions[key] = self._compiled(replace(one.request, sql=sql), loss)
        return self._unions[key]

    def _compiled(self, request: QuestionRequest, loss: Loss) -> _Base | None:
        word = self._losses.measure.word
        request = with_loss(replace(request, weights=()), loss, word)
        self._looked_at.add(cells=of_text(request.sql))
        try:
            question = self._compiling(request)
        except CuratorError:
            return None  # it is refused: it costs too much, or has too many cells
        self._looked_at.add(cells=of_form(question.normal.steps))
        return _Base(request, self._gridding.of(question))

    def _drafted(self, base: _Base, wanted: tuple[int, ...]) -> _Draft | None:
        """Return a part with a base table, and the coarser ones that pay."""
        best = self._priced(base, (), wanted)
        if best is None:
            return None
        coarser = self._coarser(base, wanted)[:_MOST_COARSE]
        for most in range(1, len(coarser) + 1):
            tried = self._priced(base, tuple(coarser[:most]), wanted)
            for found in (tried, self._without_idle(tried)):
                if found is not None and found.price < _GAIN * best.price:
                    best = found
        return best

    def _without_idle(self, draft: _Draft | None) -> _Draft | None:
        """Return a part without the coarser tables that have next to no share."""
        if draft is None:
            return None
        shares = [0.0] * len(draft.coarse)
        for layout, division in zip(draft.layouts, draft.divisions, strict=True):
            for (table, _), nano in zip(layout.coarse, division.nano[1:], strict=True):
                shares[table] += nano
        busy = [n for n, share in enumerate(shares) if share > _IDLE * draft.price]
        if len(busy) == len(shares):
            return None
        coarse = tuple(draft.coarse[n] for n in busy)
        return self._priced(draft.base, coarse, draft.wanted)

    def _coarser(self, base: _Base, wanted: Sequence[int]) -> list[int]:
        """Return questions to measure beside a base table, the dearest first."""
        found: dict[str, int] = {}
        for n in wanted:
            question = self._asked[n].question
            if question.identity != base.gridded.question.identity:
                found.setdefault(question.identity, n)
        losses = {n: self._asked[n].question.event.loss for n in found.values()}
        return sorted(losses, key=lambda n: (-losses[n].nano_epsilon, n))

    def _priced(
        self, base: _Base, coarse: tuple[int, ...], wanted: tuple[int, ...]
    ) -> _Draft | None:
        if self._steps.taken > MOST_SEARCHED:
            return None
        tables = [self._asked[n].gridded for n in coarse]
        asked = [self._asked[n].gridded for n in wanted]
        layouts = layouts_of(base.gridded, tables, asked, self._rows)
        if layouts is None:
            return None
        divisions = tuple(
            self._dividing(layout, [base.gridded, *tables], wanted).best(self._steps)
            for layout in layouts
        )
        price = sum(division.total for division in divisions)
        return _Draft(base, coarse, wanted, tuple(layouts), divisions, price)

    def _dividing(
        self, layout: MeasureLayout, tables: Sequence[Gridded], wanted: Sequence[int]
    ) -> Dividing:
        vectors = [(0, layout.measure), *((1 + t, m) for t, m in layout.coarse)]
        return Dividing(
            layout.layout,
            noise_of_measure(self._losses.measure),
            [tables[t].question.compiled.measures[m].sensitivity for t, m in vectors],
            [self._asked[wanted[q]].alone_width(m) for q, m in layout.wanted],
            [float(_alone(tables[t].question, m)) for t, m in vectors],
        )

    # -- exact prices -----------------------------------------------------------

    def _settled(self, draft: _Draft) -> Part | None:
        """Return a part at the least price on a grid that keeps to all wishes.

        None where that is what its questions cost one by one, or more.
        """
        if not draft.layouts:
            return self._alone(draft)
        alone = sum(part.loss.nano_epsilon for part in self._one_by_one(draft.wanted))

        def tried(share: int) -> Part | None:
            return self._sufficient(draft, alone * share / _GRID)

        low, high = 1, _GRID
        best = tried(high)
        while best is not None and low < high:
            middle = (low + high) // 2
            found = tried(middle)
            low, high = (low, middle) if found is not None else (middle + 1, high)
            best = found or best
        return best

    def _sufficient(self, draft: _Draft, nano: float) -> Part | None:
        """Return the part for about so much, if that is within limits and suffices."""
        part = self._spending(draft, nano / draft.price)
        low, high = self._losses.minimum, self._losses.maximum
        is_dearer = part.loss.nano_epsilon > nano
        if is_dearer or not all(low <= table.loss <= high for table in part.tables):
            return None
        try:
            return part if part.is_kept(self._asked, self._steps) else None
        except CuratorError:
            return None  # a share is too small for any noise

    def _spending(self, draft: _Draft, factor: float) -> Part:
        requests = [draft.base.request, *(self._asked[n].request for n in draft.coarse)]
        gridded = [draft.base.gridded, *(self._asked[n].gridded for n in draft.coarse)]
        nano = [[0] * len(each.counted) for each in gridded]
        for layout, division in zip(draft.layouts, draft.divisions, strict=True):
            vectors = [(0, layout.measure), *((1 + t, m) for t, m in layout.coarse)]
            for (table, measure), worth in zip(vectors, division.nano, strict=True):
                nano[table][measure] = max(1, ceil(worth * factor) - 1)
        tables = tuple(
            Table(request, each, tuple(map(Loss, losses)))
            for request, each, losses in zip(requests, gridded, nano, strict=True)
        )
        return Part(tables, draft.wanted, draft.layouts)


def _lost(draft: _Draft) -> float:
    """Return what a part costs more than those that it was brought together of."""
    return draft.price - sum(each.price for each in draft.of)


def _alone(question: Question, measure: int) -> int:
    """Return what a measure costs in a question that is asked alone, in nano-units."""
    return question.event.vectors[measure].loss.nano_epsilon
