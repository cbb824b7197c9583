"""Answers to questions of published sequences: rows with intervals, for nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Final

from query_lang.plans.compiled import (
    KeyShown,
    NumberShown,
    OutputColumn,
    QueryWarning,
    Shown,
)
from query_lang.plans.rendered import Cell
from query_lang.showing.cells import ShownValue
from query_lang.showing.chosen_rows import is_chosen_by_noise
from query_lang.showing.decimals import decimal_of
from query_lang.showing.presentation import chosen, written_value
from query_lang.showing.values import SHOWN_DIGITS
from query_lang.syntax.nodes import Query
from query_lang.syntax.refusals import refuse
from release.contract.answers import CHOSEN, ColumnIntervals, Ends, ReleaseAnswer
from release.contract.confidence import selected_confidence, widened, widening
from release.contract.intervals import WEIGHTED_QUANTILE
from release.sequences.contract import Estimate, Run, SequenceModel
from release.sequences.estimation.paths import PathTree
from release.sequences.questions import rules
from release.sequences.questions.binding import MAX_TOP, SequenceBinder
from release.sequences.questions.browsing import Branch, branch
from release.sequences.questions.by_lengths import LengthCounter, is_of_lengths
from release.sequences.questions.counting import Groups, count, grouped
from release.sequences.questions.counts import Counts, deviation_of_all
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.occurring import occur
from release.sequences.questions.published import PublishedSequences
from release.sequences.questions.question import (
    Count,
    SequenceQuestion,
)
from release.sequences.questions.runs import FoundRun, FrequentRuns, top_runs

MAX_WORK: Final = 50_000_000
"""Nodes that all conditions and keys of one question may pass over together."""

_PASSES_OF_RUNS: Final = 4
"""Passes over the tree for one number of units or places."""

_STEP: Final = 10.0**SHOWN_DIGITS
_ARROW: Final = " > "


@dataclass(frozen=True, slots=True)
class _Number:
    """One measure in one row.

    Attributes:
        value: Its estimate.
        half_width: At 95 %.
        doubt: How much lower the interval begins, where noise chose what was added.
        reach: The half-width of ``value`` and ``undecided`` together, at 95 %.
        spare: How much higher the interval ends, where other numbers drew it down.
        undecided: How many more may match; None where that is no question.
    """

    value: float
    half_width: float
    doubt: float
    reach: float
    spare: float = 0.0
    undecided: float | None = None


def _total_width(model: SequenceModel, paths: PathTree) -> float | None:
    """Return how far off the number of all units is, by the noisy lengths."""
    bands = model.lengths()
    if bands is None:
        return None
    groups, total = len(bands.counts), float(paths.counts[paths.parents < 0].sum())
    noise = WEIGHTED_QUANTILE * math.sqrt(groups * bands.totals_variance)
    return noise + abs(float(bands.counts.sum()) - total)


class AskedSequences:
    """A published release of sequences, opened for questions; safe for many threads."""

    def __init__(self, published: PublishedSequences, model: SequenceModel) -> None:
        self.published = published
        self.model = model
        paths = model.paths()
        width = _total_width(model, paths)
        self.tree = LevelledTree(model.domain, paths, total_width=width)
        self._binder = SequenceBinder(published)
        self._frequent = FrequentRuns(self.tree, MAX_TOP)

    def close(self) -> None:
        """Give back nothing: what is held goes with the object."""

    def ask(self, tree: Query, confidence: str = "0.95") -> ReleaseAnswer:
        """Answer a parsed text.

        Args:
            tree: A SELECT from the release's name.
            confidence: Of each interval by itself, between 0 and 1.

        Raises:
            QueryError: The text is refused, with rule, place and hint.
        """
        question = self._binder.bind(tree)
        self._check_work(question)
        rows = _Rows(*self._rows(question))
        places = chosen(question.presentation, rows)
        candidates = self._candidates(question, rows, places)
        level = float(confidence)
        if candidates:
            level = selected_confidence(level, len(places), candidates)
        rows.widening = widening(level)
        measures = [c for c in question.columns if isinstance(c.shown, NumberShown)]
        return ReleaseAnswer(
            columns=question.columns,
            rows=tuple(rows.written(question.columns, place) for place in places),
            intervals=tuple(
                ColumnIntervals(c.name, tuple(rows.ends(c.shown, p) for p in places))
                for c in measures
            ),
            half_widths={
                c.name: tuple(rows.half_width(c.shown, p) for p in places)
                for c in measures
            },
            confidence=confidence,
            derivation=derivation(self.published),
            warnings=(
                *self.published.warnings,
                *rows.warnings(places, self.published.unit),
                *_estimated(question),
                *(CHOSEN if candidates and places else ()),
            ),
            undecided=rows.undecided(measures, places),
        )

    def branch(self, prefix: Run, group: int | None) -> Branch:
        """Return a path of the tree and its children.

        Args:
            prefix: Codes of the first symbols; none for all sequences.
            group: The place of the split's value; None for all of them together.
        """
        found = branch(self.tree, prefix, group)
        if prefix or group is not None or found.count is None:
            return found
        return replace(found, count=self._of_all_groups(found.count))

    def _of_all_groups(self, told: Estimate) -> Estimate:
        """Return how many units there are in all values of the split together."""
        width = WEIGHTED_QUANTILE * deviation_of_all(self.tree, mixed=True)
        return Estimate(told.value, max(told.half_width, width))

    def _check_work(self, question: SequenceQuestion) -> None:
        passes = len(question.keys) + len(question.atoms)
        passes += _PASSES_OF_RUNS * len(question.measures)
        if passes * len(self.tree) > MAX_WORK:
            raise refuse(rules.MUCH_WORK, question.position)

    def _candidates(
        self, question: SequenceQuestion, rows: "_Rows", places: Sequence[int]
    ) -> int:
        """Return of how many rows noise chose those that are shown; 0: it chose none.

        Of runs: of all that there may be, or of all children that were measured, if
        those are fewer.
        """
        top = question.top
        if top is not None:
            sizes = range(top.shortest, top.longest + 1)
            symbols = self.model.domain.symbols
            every = sum(math.prod([symbols] * size) for size in sizes)
            return max(min(every, self.tree.candidates), len(rows.cells))
        cells = len(rows.cells)
        picked = is_chosen_by_noise(question.presentation) and len(places) < cells
        return cells if picked else 0

    def _rows(
        self, question: SequenceQuestion
    ) -> tuple[list[Cell], list[list[_Number]]]:
        """Return the public cells, and the numbers of each measure."""
        if question.top is not None:
            found = top_runs(self.model, self._frequent, question.top)
            runs: list[Cell] = [(self.shown_run(each),) for each in found]
            return runs, [[_number(each.occurrences) for each in found]]
        cells = list(product(*(key.values for key in question.keys)))
        return cells, self._numbers(question)

    def _numbers(self, question: SequenceQuestion) -> list[list[_Number]]:
        """Return the numbers of each measure, one a group.

        Runs in all sequences are the model's to count, which may know of more than
        the tree.
        """
        is_whole = _is_whole(question)
        groups = grouped(self.tree, question.condition, question.keys)
        found: list[list[_Number]] = []
        for measure in question.measures:
            if isinstance(measure, Count):
                found.append(_laid(self._counts(question, groups)))
            elif is_whole:
                (estimate,) = self.model.occurrences([measure.run])
                found.append([_number(estimate)])
            else:
                found.append(_laid(occur(self.tree, groups, measure.run)))
        return found

    def _counts(self, question: SequenceQuestion, groups: Groups) -> Counts:
        """Return counts of units; noisy lengths take part where they say enough."""
        told, counter = count(self.tree, groups), self._lengths
        if counter is None or not is_of_lengths(question):
            return told
        return counter.count(question.condition, question.keys, told)

    @cached_property
    def _lengths(self) -> LengthCounter | None:
        bands = self.model.lengths()
        return None if bands is None else LengthCounter(self.tree, bands)

    def shown_run(self, found: FoundRun) -> str:
        """Return a run as an answer shows it: symbols with ``>`` between them."""
        values = self.model.domain.alphabet.values
        shown = (values[code] for code in found.run)
        return _ARROW.join("NULL" if value is None else str(value) for value in shown)


def _is_whole(question: SequenceQuestion) -> bool:
    """Whether all sequences are asked of, and not those of a condition or group."""
    return question.condition is None and not question.keys


def _estimated(question: SequenceQuestion) -> tuple[QueryWarning, ...]:
    """Warn where a number holds more than what is sure, as counts of sequences do."""
    runs = question.top is not None or any(
        not isinstance(measure, Count) for measure in question.measures
    )
    if not (runs and _is_whole(question)):
        return ()
    detail = (
        "runs are counted in the symbols that the release looked at, and in no later "
        "ones; places that it did not keep are estimated, and are in these numbers; "
        "counts of sequences (COUNT with HAS_RUN) hold only what is sure, so they may "
        "be much lower"
    )
    return (QueryWarning("estimated", detail),)


def _laid(counts: Counts) -> list[_Number]:
    columns = (
        counts.values,
        counts.half_widths,
        counts.doubts,
        counts.reach,
        counts.spare,
        counts.undecided,
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [_Number(*row) for row in rows]


def _number(estimate: Estimate) -> _Number:
    width = estimate.half_width
    return _Number(estimate.value, width, 0.0, width)


def derivation(published: PublishedSequences) -> str:
    """Say what an answer is made of."""
    domain = published.domain
    split = f", one tree for each {domain.split.name}" if domain.split else ""
    return (
        f"read from the release {published.id} ({published.strategy}, "
        f"{published.paid}, paid when it was published) and public facts alone: it "
        f"costs nothing. Each {published.unit} has one sequence, of which the first "
        f"{domain.max_length} symbols of {domain.symbols} were looked at{split}. "
        "Intervals are of the release's noise; they end higher by what the release "
        "left undecided."
    )


@dataclass(slots=True)
class _Rows:
    """Numbers laid over public cells, as presenting and writing need them.

    ``widening`` is what 95 % half-widths are multiplied with.
    """

    cells: Sequence[Cell]
    numbers: Sequence[Sequence[_Number]]
    widening: float = 1.0
    _found: dict[Shown, list[ShownValue]] = field(default_factory=dict)

    def column(self, shown: Shown) -> Sequence[ShownValue]:
        """Return one value a cell, in declared order."""
        if shown not in self._found:
            self._found[shown] = self._column(shown)
        return self._found[shown]

    def _column(self, shown: Shown) -> list[ShownValue]:
        match shown:
            case KeyShown(index):
                return [cell[index] for cell in self.cells]
            case NumberShown(vector):
                steps = [round(n.value * _STEP) for n in self.numbers[vector]]
                return [decimal_of(step, SHOWN_DIGITS) for step in steps]
            case _:
                raise TypeError

    def written(
        self, columns: Sequence[OutputColumn], place: int
    ) -> tuple[ShownValue, ...]:
        """Return a row of the answer."""
        return tuple(written_value(c, self.column(c.shown)[place]) for c in columns)

    def _number(self, shown: Shown, place: int) -> _Number:
        if not isinstance(shown, NumberShown):
            raise TypeError
        return self.numbers[shown.vector][place]

    def ends(self, shown: Shown, place: int) -> Ends:
        """Return an interval's ends; no count is below 0."""
        number = self._number(shown, place)
        low = max(number.value - self._below(number), 0.0)
        high = number.value + (number.undecided or 0.0) + number.spare
        high += widened(number.reach, self.widening)
        return _text(math.floor(round(low * _STEP, 6))), width_text(high)

    def _below(self, number: _Number) -> float:
        """Return how far below an estimate its interval begins."""
        return float(widened(number.half_width, self.widening)) + number.doubt

    def half_width(self, shown: Shown, place: int) -> str:
        """Return a half-width, never rounded down."""
        return width_text(self._below(self._number(shown, place)))

    def undecided(
        self, measures: Sequence[OutputColumn], places: Sequence[int]
    ) -> dict[str, tuple[str, ...]]:
        """Return what is undecided in each row of the counts."""
        return {
            column.name: tuple(number_text(m or 0.0) for m in more)
            for column in measures
            if None
            not in (more := [self._number(column.shown, p).undecided for p in places])
        }

    def warnings(self, places: Sequence[int], unit: str) -> tuple[QueryWarning, ...]:
        """Warn where the release leaves something undecided."""
        some = any((n[p].undecided or 0) > 0 for n in self.numbers for p in places)
        if not some:
            return ()
        detail = (
            f"of some {unit}s the release does not say whether they match: their "
            "sequences go on where it kept no more; they are not counted, and the "
            "intervals end higher by them"
        )
        return (QueryWarning("undecided", detail),)


def number_text(value: float) -> str:
    """Return an estimate with six digits after the point."""
    return _text(round(value * _STEP))


def width_text(value: float) -> str:
    """Return a half-width or an upper end, never rounded down."""
    return _text(math.ceil(round(value * _STEP, 6)))


def _text(steps: int) -> str:
    return f"{decimal_of(steps, SHOWN_DIGITS):f}"
