"""What it takes the server to show an answer: of what is computed of its numbers.

Upper bounds, of public facts alone: the cells, and what each column is made of. In
steps of a nanosecond, as the costs of plans are; ``python -m benchmarks.showing``
measures what they stand for.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    KeyPlaces,
    Measure,
    NumberShown,
    Operation,
    OrderTerm,
    OutputColumn,
    Presentation,
    PublicShown,
    QuantileShown,
    Shown,
    WindowShown,
    is_noisy,
    leaves,
    row_count,
)
from query_lang.showing.noisy_conditions import shown_in_presentation

VALUE_STEPS: Final = 20_000
"""To compute one operation, or read one number, in one cell, exactly."""

FUNCTION_STEPS: Final = 250_000
"""Of a root, a logarithm or a power of e more, with its interval."""

INTERVAL_STEPS: Final = 100_000
"""To take one of them apart for an interval, where each cell is taken apart anew."""

SHARED_STEPS: Final = 25_000
"""To find an interval's ends of one of them, where one cell was taken apart for all."""

CLOSED_STEPS: Final = 80_000
"""To find where a ratio of two noisy numbers lies in one cell."""

RATIO_STEPS: Final = 1_000_000
"""To find where a ratio of more than two noisy numbers lies in one cell: a hundred sums
of a series, for the tail of its noise."""

QUANTILE_STEPS: Final = 250_000
"""To find a quantile that is computed on, and where it lies, in one cell; ..."""

BIN_STEPS: Final = 5_000
"""... and more for each of its bins."""

COMPARED_STEPS: Final = 4_000
"""To compare, or order by, one value in one cell."""

FRAME_STEPS: Final = 1_200
"""To read one row that a window reads in another."""

ADDED_STEPS: Final = 1_000
"""To add a number to a total, each of the times that an answer is laid out."""

_CLOSED = 2  # so many noisy numbers have a tail in closed form


def showing_steps(
    columns: Sequence[OutputColumn],
    presentation: Presentation,
    cells: int,
    measures: Sequence[Measure] = (),
    keys: Sequence[KeyPlaces] = (),
) -> int:
    """Return what showing takes beside writing numbers down: 0 where none is computed.

    Args:
        columns: Of the answer.
        presentation: Its order, HAVING and QUALIFY.
        cells: How many there are, empty ones too.
        measures: Of an answer with totals, the vectors.
        keys: Of such an answer, the keys.
    """
    sets = presentation.sets
    rows = row_count(sets, [key.size for key in keys]) or cells
    added = cells * len(sets)  # each cell is in one row of a set
    shown = [column.shown for column in columns]
    read = list(shown_in_presentation(presentation))
    written = _rows_written(presentation, rows)
    steps = sum(
        rows * _value_steps(one, rows)
        + written * _interval_steps(one, rows, of_many=bool(sets))
        for one in shown
    )
    steps += rows * sum(COMPARED_STEPS + _value_steps(one, rows) for one in read)
    numbers = sum(measure.size for measure in measures)
    leaves_shown = sum(1 for one in shown for _ in leaves(one))
    widths = RATIO_STEPS * len(sets) * leaves_shown
    return steps + added * (ADDED_STEPS * numbers + FRAME_STEPS * leaves_shown) + widths


def _rows_written(presentation: Presentation, rows: int) -> int:
    """Return of how many rows intervals are computed: LIMIT leaves out the others.

    Values are, of all: a column is computed whole, and a window reads rows left out.
    """
    if presentation.having is not None or presentation.limit is None:
        return rows
    return min(rows, presentation.limit)


def _value_steps(shown: Shown, cells: int) -> int:
    parts = [one for one in _parts(shown) if _is_computed(one)]
    operations = sum(1 + len(_operands(one)) for one in parts)
    functions = FUNCTION_STEPS * sum(map(_is_function, parts))
    frames = _frames(shown, cells) * FRAME_STEPS // 4
    return VALUE_STEPS * operations + functions + frames


def _interval_steps(shown: Shown, cells: int, *, of_many: bool = False) -> int:
    """Return what the interval of one cell takes, its numbers not added up."""
    if not (_is_computed(shown) and is_noisy(shown)):
        return 0
    parts = list(_parts(shown))
    frames = _frames(shown, cells)
    noisy = {one for one in leaves(shown) if isinstance(one, _NOISY)}
    numbers = sum(2 if isinstance(one, AverageShown) else 1 for one in noisy)
    is_apart = of_many or any(
        isinstance(one, WindowShown | PublicShown) for one in parts
    )
    is_long = of_many or frames > 0 or numbers > _CLOSED
    ratios = sum(map(_is_ratio, parts))
    each = INTERVAL_STEPS if is_apart else SHARED_STEPS
    return (
        each * len(parts)
        + (RATIO_STEPS * max(ratios, 1) if is_long else CLOSED_STEPS * ratios)
        + sum(map(_quantile_steps, parts))
        + FRAME_STEPS * frames
    )


def _quantile_steps(part: Shown) -> int:
    if not isinstance(part, QuantileShown):
        return 0
    return QUANTILE_STEPS + BIN_STEPS * part.bins.count


_FUNCTIONS: Final = {Operation.LN, Operation.EXP, Operation.SQRT}
_NOISY = NumberShown | AverageShown | QuantileShown


def _is_ratio(shown: Shown) -> bool:
    is_quotient = isinstance(shown, ComputedShown) and (
        shown.operation is Operation.DIVIDE
    )
    return is_quotient or isinstance(shown, AverageShown)


def _is_function(shown: Shown) -> bool:
    return isinstance(shown, ComputedShown) and shown.operation in _FUNCTIONS


def _is_computed(shown: Shown) -> bool:
    return isinstance(shown, ComputedShown | WindowShown)


def _frames(shown: Shown, cells: int) -> int:
    """Return how many rows the windows of a value read in one."""
    found = (one for one in _parts(shown) if isinstance(one, WindowShown))
    return sum(_frame(one, cells) for one in found if one.operand is not None)


def _frame(window: WindowShown, cells: int) -> int:
    start, end = window.frame
    if window.name in {"lag", "lead"}:
        return 1
    if not window.is_by_rows or start is None or end is None:
        return cells
    return min(cells, max(0, end - start + 1))


def _parts(shown: Shown) -> Iterator[Shown]:
    """Yield a value and all that it is computed of, each as often as it stands."""
    yield shown
    for operand in _operands(shown):
        yield from _parts(operand)


def _operands(shown: Shown) -> tuple[Shown, ...]:
    match shown:
        case ComputedShown(_, operands):
            return operands
        case WindowShown(_, operand, _, order):
            taken = () if operand is None else (operand,)
            return (*taken, *map(_ordered_by, order))
        case _:
            return ()


def _ordered_by(term: OrderTerm) -> Shown:
    return term.value
