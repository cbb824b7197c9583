"""How often intervals of answers over cubes hold the truth, over made-up data.

Noise is seeded; every question goes the way of a reader's: parsed, bound, answered.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from query_lang.reading.parse import parse_query
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.strategies.registry import STRATEGIES
from tests.support.noise.meters import cube_of, epsilon, run

SHAPES = {
    "line": (120,),
    "plane": (24, 20),
    "cube": (8, 6, 10),
    "long": (160, 60),
}
NEEDED = 0.95
"""The quantile of absolute errors that a half-width needs to reach."""


# -- data ------------------------------------------------------------------------


def _product(*weights):
    image = weights[0]
    for other in weights[1:]:
        image = np.multiply.outer(image, other)
    return image


def _uniform(shape, generator):
    del generator
    return np.ones(shape)


def _skewed(shape, generator):
    del generator
    return _product(*(1 / (1 + np.arange(n)) for n in shape))


def _sparse(shape, generator):
    return (generator.random(shape) < 0.06) * 1.0


def _spiky(shape, generator):
    return 0.02 + (generator.random(shape) < 0.03) * generator.pareto(1.0, shape)


def _clustered(shape, generator):
    places = np.indices(shape).reshape(len(shape), -1).T
    image = np.zeros(len(places))
    for _ in range(4):
        middle = generator.random(len(shape)) * shape
        width = np.array(shape) / 15
        image += np.exp(-np.square((places - middle) / width).sum(axis=1) / 2)
    return image.reshape(shape)


def _diagonal(shape, generator):
    del generator
    places = np.indices(shape) / np.array(shape).reshape(-1, *[1] * len(shape))
    return np.exp(-np.square((places - places[0]) * 12).sum(axis=0)) * (
        1 + places[0] * 4
    )


def _heaped(shape, generator):
    del generator
    weights = [np.where(np.arange(n) % 5 == 0, 20.0, 1.0) for n in shape]
    return _product(*weights)


def _tens(shape, generator):
    """Nine in ten say a multiple of ten along the first axis: blood pressures."""
    del generator
    values = np.arange(shape[0])
    bell = np.exp(-np.square((values - shape[0] * 0.45) / (shape[0] * 0.2)) / 2)
    said = np.where(values % 10 == 0, 9.0, 1 / 9)
    return _product(bell * said, *(np.ones(n) for n in shape[1:]))


def _fives(shape, generator):
    """All say a multiple of five along the first axis; a reader may ask for these."""
    del generator
    said = np.where(np.arange(shape[0]) % 5 == 0, 1.0, 0.0)
    return _product(said, *(np.ones(n) for n in shape[1:]))


def _weekdays(shape, generator):
    """Nobody comes on two of seven days along the first axis."""
    del generator
    open_ = np.where(np.arange(shape[0]) % 7 < 5, 1.0, 0.0)
    return _product(open_, *(np.ones(n) for n in shape[1:]))


def _striped(shape, generator):
    del generator
    return np.where(np.indices(shape)[0] % 2 == 0, 9.0, 0.0)


DATA = {
    "uniform": _uniform,
    "skewed": _skewed,
    "sparse": _sparse,
    "spiky": _spiky,
    "clustered": _clustered,
    "diagonal": _diagonal,
    "heaped": _heaped,
    "striped": _striped,
    "tens": _tens,
    "fives": _fives,
    "weekdays": _weekdays,
}


def image_of(data, shape, total, seed=7):
    """Return counts of about a total, always the same ones."""
    generator = np.random.default_rng([seed, sum(map(ord, data))])
    weights = DATA[data](shape, generator) + 1e-12
    return generator.multinomial(total, (weights / weights.sum()).ravel()).reshape(
        shape
    )


# -- questions -------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question, its class, and its exact answer: a number or None for each key."""

    kind: str
    text: str
    exact: dict[tuple[object, ...], float | None]


def _box(generator, shape):
    ends = [np.sort(generator.integers(0, n, 2)) for n in shape]
    return [(int(low), int(high)) for low, high in ends]


def _within(box):
    return " AND ".join(f"d{a} BETWEEN {lo} AND {hi}" for a, (lo, hi) in enumerate(box))


def _patterns(image):
    """Return lists that follow a pattern along one axis: tens, and every second value.

    A reader may guess what hides in parts that were measured as one.
    """
    for axis, step in itertools.product(range(image.ndim), (5, 2)):
        taken = np.arange(0, image.shape[axis], step)
        within = f"d{axis} IN ({', '.join(map(str, taken))})"
        number = float(image.take(taken, axis).sum())
        text = f"SELECT COUNT(*) AS n FROM cube WHERE {within}"
        yield Asked(f"every {step}", text, {(): number})
        text = f"SELECT AVG(CASE WHEN {within} THEN 1 ELSE 0 END) AS n FROM cube"
        yield Asked("share", text, {(): number / float(image.sum())})


def questions_of(image, seed=3, boxes=8):
    """Return questions of every class over one image, the same for one seed."""
    generator = np.random.default_rng(seed)
    shape, axes = image.shape, range(image.ndim)
    names = ", ".join(f"d{axis}" for axis in axes)
    found = [Asked("total", "SELECT COUNT(*) AS n FROM cube", {(): float(image.sum())})]
    cells = {place: float(image[place]) for place in np.ndindex(shape)}
    text = f"SELECT {names}, COUNT(*) AS n FROM cube GROUP BY {names}"
    found.append(Asked("cell", text, cells))
    high = int(np.sort(image.ravel())[-max(1, image.size // 20)])
    found.append(Asked("having", f"{text} HAVING COUNT(*) > {max(high, 1)}", cells))
    top = f"{text} ORDER BY n DESC, {names} LIMIT 10"
    found.append(Asked("top", top, cells))
    for axis in axes:
        others = tuple(other for other in axes if other != axis)
        sums = image.sum(axis=others)
        exact = {(at,): float(n) for at, n in enumerate(sums)}
        text = f"SELECT d{axis}, COUNT(*) AS n FROM cube GROUP BY d{axis}"
        found.append(Asked("group", text, exact))
    for _ in range(boxes):
        box = _box(generator, shape)
        inside = image[tuple(slice(lo, hi + 1) for lo, hi in box)]
        text = f"SELECT COUNT(*) AS n FROM cube WHERE {_within(box)}"
        found.append(Asked("range", text, {(): float(inside.sum())}))
        sets = [np.flatnonzero(generator.random(n) < 0.3) for n in shape]
        sets = [own if len(own) else np.array([0]) for own in sets]
        lists = [f"d{a} IN ({', '.join(map(str, own))})" for a, own in enumerate(sets)]
        text = f"SELECT COUNT(*) AS n FROM cube WHERE {' AND '.join(lists)}"
        picked = image[np.ix_(*sets)]
        found.append(Asked("set", text, {(): float(picked.sum())}))
    found += [*_patterns(image), *_weeks(image), *_at_tens(image)]
    found += _averages(image)
    return found


def _weeks(image):
    """Return the days of the week along the first axis on which people come."""
    days = np.arange(len(image))
    for kind, taken in (
        ("weekdays", days[days % 7 < 5]),
        ("weekends", days[days % 7 >= 5]),
    ):
        if not len(taken):
            continue  # the axis is shorter than a week
        within = f"d0 IN ({', '.join(map(str, taken))})"
        text = f"SELECT COUNT(*) AS n FROM cube WHERE {within}"
        yield Asked(kind, text, {(): float(image[taken].sum())})


def _at_tens(image):
    """Return ranges along the first axis that end, or begin, at a multiple of ten."""
    ends = np.append(0, np.cumsum(image.reshape(len(image), -1).sum(axis=1)))
    for at in range(10, len(image), 10):
        taken = {
            f"d0 = {at}": ends[at + 1] - ends[at],
            f"d0 <= {at}": ends[at + 1],
            f"d0 >= {at}": ends[-1] - ends[at],
        }
        for within, number in taken.items():
            text = f"SELECT COUNT(*) AS n FROM cube WHERE {within}"
            yield Asked("at tens", text, {(): float(number)})


def _averages(image):
    shape, last = image.shape, image.ndim - 1
    half = shape[0] // 2
    where = np.arange(shape[0]) < half
    numbers = np.arange(shape[0])
    by = f"d{last}, " if last else ""
    grouped = f" GROUP BY d{last}" if last else ""
    lines = image.reshape(shape[0], -1, shape[last] if last else 1).sum(axis=1)
    counts = lines.sum(axis=0)
    keys = [(at,) for at in range(shape[last])] if last else [()]

    def exact(weights):
        sums = weights @ lines
        return {
            key: None if n == 0 else s / n
            for key, s, n in zip(keys, sums, counts, strict=True)
        }

    share = f"AVG(CASE WHEN d0 < {half} THEN 1 ELSE 0 END) AS p"
    return [
        Asked("share", f"SELECT {by}{share} FROM cube{grouped}", exact(where * 1.0)),
        Asked(
            "average",
            f"SELECT {by}AVG(d0) AS p FROM cube{grouped}",
            exact(numbers * 1.0),
        ),
        Asked(
            "sum",
            f"SELECT {by}SUM(d0) AS p FROM cube{grouped}",
            {key: float(s) for key, s in zip(keys, numbers @ lines, strict=True)},
        ),
    ]


# -- measuring -------------------------------------------------------------------


@dataclass
class Seen:
    """What was seen of one class: held or not, widths, and errors, an entry a number.

    Attributes:
        held: Whether each interval held the truth.
        widths: Half of each interval's length.
        errors: Absolute errors of the values shown.
        numbers: Which question and key each is of.
        grain: The least error that is told from none.
    """

    held: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    numbers: list[tuple[int, tuple[object, ...]]] = field(default_factory=list)
    grain: float = 0.5

    @property
    def coverage(self):
        return float(np.mean(self.held))

    @property
    def ratio(self):
        """Mean half-width over the 95 % quantile of absolute errors."""
        needed = float(np.quantile(self.errors, NEEDED))
        return float(np.mean(self.widths)) / max(needed, self.grain)

    def worst(self, least_shown):
        """Return the coverage of the number that is covered least often."""
        times = defaultdict(list)
        for number, held in zip(self.numbers, self.held, strict=True):
            times[number].append(held)
        shares = [np.mean(v) for v in times.values() if len(v) >= least_shown]
        return min(shares, default=1.0)


def measure(image, strategy, loss, *, bound=1, runs=30, boxes=8):
    """Return what was seen of each class over some releases of an image."""
    cube = cube_of(image, bound)
    published = PublishedCube(
        "r", "cube", cube.domain, "rows", "patient", "patient_id", date(2024, 1, 1)
    )
    values, binder = PublicValues(published), CubeBinder(published)
    asked = questions_of(image, boxes=boxes)
    bound_questions = [binder.bind(parse_query(a.text)) for a in asked]
    seen = defaultdict(Seen)
    for seed in range(runs):
        model, _ = run(STRATEGIES[strategy], cube, epsilon(loss), seed=seed)
        reader = AskedCube(published, model, values)
        for number, (one, question) in enumerate(
            zip(asked, bound_questions, strict=True)
        ):
            _look(one, number, reader.answer(question), seen[one.kind])
    for kind in ("share", "average"):
        seen[kind].grain = 0.01
    values.close()
    return {kind: one for kind, one in seen.items() if one.held}


def _look(one, number, answer, seen):
    for row, ends in zip(answer.rows, answer.intervals[0].rows, strict=True):
        key, value = tuple(row[:-1]), row[-1]
        truth = one.exact[key]
        if ends is None or truth is None:
            continue
        low, high = map(float, ends)
        seen.held.append(low - 1e-9 <= truth <= high + 1e-9)
        seen.widths.append((high - low) / 2)
        seen.errors.append(abs(float(value) - truth))
        seen.numbers.append((number, key))
