"""Two trajectories become one: pairs are generalised together or suppressed.

Source: Tamersoy 2011, section IV.3.1: algorithm 2 (Baseline) and 3 (A-GS).
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.lda.losses import LossTable
from upstream.trajectories.lda.trajectories import Losses, Trajectory

_CLOSE = 1e-12  # losses that differ less are a tie: thirds do not add up exactly


class Step(Enum):
    """What becomes of the last pairs, as figure 7 draws it."""

    GENERALISE = "↖"
    SUPPRESS_Y = "←"
    SUPPRESS_X = "↑"


@dataclass(frozen=True, slots=True)
class Alignment:
    """A trajectory that generalises two.

    Attributes:
        trajectory: In the order of both.
        matches: For each of its pairs, which pairs of X and of Y it generalises.
        code_loss: ILM: weighted by A-GS, not by Baseline.
        age_loss: ALM, likewise.
    """

    trajectory: Trajectory
    matches: tuple[tuple[int, int], ...]
    code_loss: float
    age_loss: float


@dataclass(frozen=True, slots=True)
class Matrices:
    """The tables of dynamic programming: a row for the pairs of X, a column for Y's.

    Attributes:
        code: ILM of the first pairs of both (i of figure 7), weighted.
        age: ALM (a).
        steps: The last step on the cheapest way (r); None where both are empty.
    """

    code: list[list[float]]
    age: list[list[float]]
    steps: list[list[Step | None]]


def align(
    x: Trajectory,
    y: Trajectory,
    losses: Losses,
    before: tuple[float, float] = (0.0, 0.0),
    members: int = 1,
) -> Alignment:
    """Return the alignment of two trajectories that loses least (A-GS).

    Args:
        x: A trajectory, perhaps of an alignment.
        y: Another one.
        losses: With their weights.
        before: ILM and ALM of x, weighted as all that is added to them.
        members: How many records x stands for, each of which loses what x loses. The
            thesis counts it once.
    """
    tables = fill_matrices(x, y, losses, before, members)
    matches = _traced(tables.steps)
    merged = tuple(losses.merged(x[h], y[j]) for h, j in matches)
    return Alignment(merged, matches, tables.code[-1][-1], tables.age[-1][-1])


def fill_matrices(
    x: Trajectory,
    y: Trajectory,
    losses: Losses,
    before: tuple[float, float] = (0.0, 0.0),
    members: int = 1,
) -> Matrices:
    """Return the losses of aligning each beginning of x with each of y.

    Of ways that lose as much, the one that generalises is taken, then the one that
    suppresses of y; the thesis says only the former.
    """
    weights = losses.weights
    columns_of = [(_column(x, at), _column(y, at)) for at in range(2)]
    code = _Attribute.of(losses.code, columns_of[0], weights.code, members)
    age = _Attribute.of(losses.age, columns_of[1], weights.age, members)
    rows, columns = len(x) + 1, len(y) + 1
    i = [[before[0]] * columns for _ in range(rows)]
    a = [[before[1]] * columns for _ in range(rows)]
    r: list[list[Step | None]] = [[None] * columns for _ in range(rows)]
    for h in range(rows):
        for j in range(columns):
            if h or j:
                r[h][j], i[h][j], a[h][j] = _cheapest((i, a), (code, age), h, j)
    return Matrices(i, a, r)


@dataclass(frozen=True, slots=True)
class _Attribute:
    """Weighted losses of the pairs of two trajectories in one attribute."""

    merging: list[list[float]]
    of_x: list[float]
    of_y: list[float]

    @classmethod
    def of(
        cls,
        table: LossTable,
        both: tuple[NDArray[np.int64], NDArray[np.int64]],
        weight: float,
        members: int,
    ) -> "_Attribute":
        x, y = both
        ours = members * table.meeting[x[:, None], y[None, :]]
        theirs = table.meeting[y[None, :], x[:, None]]
        return cls(
            ((ours + theirs) * weight).tolist(),
            (members * table.suppressing[x] * weight).tolist(),
            (table.suppressing[y] * weight).tolist(),
        )


def _column(trajectory: Trajectory, attribute: int) -> NDArray[np.int64]:
    return np.array([pair[attribute] for pair in trajectory], dtype=np.int64)


_Totals = tuple[list[list[float]], list[list[float]]]


def _cheapest(
    totals: _Totals, own: tuple[_Attribute, _Attribute], h: int, j: int
) -> tuple[Step, float, float]:
    """Return the step that loses least, and ILM and ALM with it (steps 15 to 23)."""
    (i, a), (code, age) = totals, own
    found = []
    if h and j:
        c = i[h - 1][j - 1] + code.merging[h - 1][j - 1]
        g = a[h - 1][j - 1] + age.merging[h - 1][j - 1]
        found.append((Step.GENERALISE, c, g))
    if j:
        c, g = i[h][j - 1] + code.of_y[j - 1], a[h][j - 1] + age.of_y[j - 1]
        found.append((Step.SUPPRESS_Y, c, g))
    if h:
        c, g = i[h - 1][j] + code.of_x[h - 1], a[h - 1][j] + age.of_x[h - 1]
        found.append((Step.SUPPRESS_X, c, g))
    best = found[0]
    for other in found[1:]:
        if other[1] + other[2] < best[1] + best[2] - _CLOSE:
            best = other
    return best


def _traced(steps: list[list[Step | None]]) -> tuple[tuple[int, int], ...]:
    """Return which pairs are generalised together, in order (steps 27 to 36)."""
    h, j = len(steps) - 1, len(steps[0]) - 1
    found = []
    while h or j:
        step = steps[h][j]
        if step is Step.GENERALISE:
            found.append((h - 1, j - 1))
        h -= step is not Step.SUPPRESS_Y
        j -= step is not Step.SUPPRESS_X
    return tuple(reversed(found))


def align_by_index(
    x: Trajectory,
    y: Trajectory,
    losses: Losses,
    before: tuple[float, float] = (0.0, 0.0),
) -> Alignment:
    """Return the alignment of pairs of one index, the longer's rest suppressed.

    Baseline (algorithm 2): its losses have no weights.

    Args:
        x: A trajectory, perhaps of an alignment.
        y: Another one.
        losses: Of both attributes.
        before: ILM and ALM of x.
    """
    shared = min(len(x), len(y))
    rest = x[shared:] or y[shared:]
    code, age = before
    for left, right in zip(x[:shared], y[:shared], strict=True):
        code += float(losses.code.merging[left[0], right[0]])
        age += float(losses.age.merging[left[1], right[1]])
    code += sum(float(losses.code.suppressing[pair[0]]) for pair in rest)
    age += sum(float(losses.age.suppressing[pair[1]]) for pair in rest)
    merged = tuple(losses.merged(*both) for both in zip(x, y, strict=False))
    return Alignment(merged, tuple((at, at) for at in range(shared)), code, age)
