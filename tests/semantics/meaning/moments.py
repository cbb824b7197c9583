"""Variances, covariances, correlations: from noisy sums of centred values.

Values are taken less the middle of their bounds, squares less half of the greatest:
what is measured, and what is shown of it, worked out again. Of what is added up a unit
has no more than 2**30 steps: it is rounded to fewer places where it would have more.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from tests.semantics.meaning import domains
from tests.semantics.meaning.domains import Info
from tests.semantics.meaning.numbers import away
from tests.semantics.meaning.scopes import NotAnswerableError
from tests.semantics.meaning.values import to_grid

NAMES = {
    *("var_pop", "var_samp", "stddev_pop", "stddev_samp"),
    *("covar_pop", "covar_samp", "corr", "regr_slope"),
}


@dataclass(frozen=True)
class Centred:
    """One argument: its value, middle and reach in steps of its grid."""

    value: object
    name: str
    scale: int
    middle: int
    reach: int
    per_unit: int

    @classmethod
    def of(cls, value, info, name, per_unit):
        ends = domains.hull(info.domain)
        if ends is None or ends[0] == ends[1]:
            message = "a variance needs finite bounds"
            raise NotAnswerableError(message)
        low, high = (to_grid(end, info.scale) for end in ends)
        middle = (low + high) // 2
        reach = max(high - middle, middle - low)
        return cls(value, name, info.scale, middle, reach, per_unit)

    @property
    def of_sums(self):
        """Return by what steps of a sum are divided."""
        return dropped(self.reach, self.scale, self.per_unit)

    @property
    def of_squares(self):
        """Return by what steps of a sum of squares are divided."""
        most = self.reach**2 - self.reach**2 // 2
        return dropped(most, 2 * self.scale, self.per_unit)

    def steps(self, row):
        found = self.value((row.values,))
        return None if found is None else to_grid(found, self.scale) - self.middle


def vectors(columns, name):
    """Return pairs of an identity and a function of rows, in the order measured."""
    if any(column.reach > 2**31 for column in columns):
        message = "an argument of a variance is rounded itself"
        raise NotAnswerableError(message)
    if len(columns) == 1:
        (one,) = columns
        return [_square(one, columns), _count(columns), _sum(one, columns)]
    one, other = columns
    found = [
        _product(columns),
        _count(columns),
        _sum(one, columns),
        _sum(other, columns),
    ]
    if name == "corr":
        found += [_square(one, columns)]
    if name in {"corr", "regr_slope"}:
        found += [_square(other, columns)]
    return found


def _filled(columns, rows):
    """Return the steps of all arguments, of rows that have them all."""
    found = [[column.steps(row) for column in columns] for row in rows]
    return [steps for steps in found if None not in steps]


def _named(kind, columns, *own):
    every = sorted(repr(column.name) for column in columns)
    return (kind, *(column.name for column in own), "of", *every)


def _count(columns):
    if len(columns) == 1:
        identity = ("count", columns[0].name)  # COUNT(x) is the same vector
    else:
        identity = _named("count", columns)
    return identity, lambda rows: [len(_filled(columns, rows))]


def dropped(most, scale, per_unit):
    """Return by what steps are divided that are added up, and rounded."""
    divisor = 1
    while scale and most * per_unit > 2**30:
        most, scale, divisor = -(-most // 10), scale - 1, divisor * 10
    return divisor


def _rounded(steps, divisor):
    return away(Fraction(steps, divisor))


def _sum(own, columns):
    place = columns.index(own)
    divisor = own.of_sums
    identity = _named("centred", columns, own)
    if len(columns) == 1 and own.middle == 0:
        identity = ("sum", own.name)  # SUM(x) and that of AVG(x) is the same vector
        if divisor > 1:
            message = "a sum of its own is rounded, too"
            raise NotAnswerableError(message)
    return identity, lambda rows: [
        sum(_rounded(steps[place], divisor) for steps in _filled(columns, rows))
    ]


def _square(own, columns):
    place, half = columns.index(own), own.reach**2 // 2
    divisor = own.of_squares
    return _named("squares", columns, own), lambda rows: [
        sum(
            _rounded(steps[place] ** 2 - half, divisor)
            for steps in _filled(columns, rows)
        )
    ]


def _product(columns):
    divisor = _of_products(columns)
    return _named("products", columns), lambda rows: [
        sum(_rounded(one * other, divisor) for one, other in _filled(columns, rows))
    ]


def _of_products(columns):
    one, other = columns
    most, scale = one.reach * other.reach, one.scale + other.scale
    return dropped(most, scale, one.per_unit)


@dataclass(frozen=True)
class MomentMeasure:
    """What is shown of the noisy vectors; NULL where their count is below 1."""

    name: str
    columns: tuple
    identities: tuple

    info = Info("average", nullable=True)

    def value(self, place, noisy):
        numbers = [noisy[identity][place] for identity in self.identities]
        count = numbers[1]
        if count < 1:
            return None
        means = [Fraction(number, count) for number in numbers]
        divisors = self._divisors()
        means = [mean * each for mean, each in zip(means, divisors, strict=True)]
        found = self._of_means(means)
        if found is None:
            return None
        if self.name.endswith("_samp"):
            if count == 1:
                return None
            found *= min(Fraction(2), Fraction(count, count - 1))
        return _root(found) if self.name.startswith("stddev") else found

    @property
    def digits(self):
        """Return how many digits are shown: six, or as many as products have."""
        scales = [column.scale for column in self.columns]
        pairs = {
            "covar_pop": [sum(scales)],
            "covar_samp": [sum(scales)],
            "regr_slope": [sum(scales), 2 * scales[-1]],
        }
        places = pairs.get(self.name, [sum(scales), *(2 * s for s in scales)])
        return max(6, *places)

    def _divisors(self):
        first, second = self.columns[0], self.columns[-1]
        if len(self.columns) == 1:
            return [first.of_squares, 1, first.of_sums]
        found = [_of_products(self.columns), 1, first.of_sums, second.of_sums]
        found += [first.of_squares] if self.name == "corr" else []
        found += [second.of_squares] if self.name in {"corr", "regr_slope"} else []
        return found

    def _of_means(self, means):
        first = self.columns[0]
        if len(self.columns) == 1:
            return _spread(first, means[0], means[2])
        second = self.columns[1]
        steps = 10 ** (first.scale + second.scale)
        together = (means[0] - means[2] * means[3]) / steps
        if self.name.startswith("covar"):
            return together
        below = _spread(second, means[-1], means[3])
        if self.name == "corr":
            below = _root(below * _spread(first, means[4], means[2]))
        if below == 0:
            return None
        found = together / below
        return found if self.name == "regr_slope" else max(-1, min(1, found))


def _spread(column, square, mean):
    most = column.reach**2
    found = max(Fraction(0), min(Fraction(most), square + most // 2 - mean**2))
    return found / 10 ** (2 * column.scale)


def _root(value):
    """Return a square root to sixty digits."""
    return Fraction(isqrt(int(value * 10**120)), 10**60)
