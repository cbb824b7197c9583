"""How often intervals of computed columns hold, and how wide they are.

    python -m tests.statistical.computed.coverage

prints the table of docs/proofs/computed.md: for each question and exact numbers the
share of intervals that hold, and the median width beside that of a naive union bound,
in which every number has a half-width of its own wherever it stands.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from mechanisms.scales.pricing import price
from privacy.losses import Loss
from query_lang.plans.compiled import AverageShown, ComputedShown, NumberShown, leaves
from query_lang.showing.computed.bounds import computed_bounds
from query_lang.showing.computed.nulls import LENIENT, extreme_bounds
from query_lang.showing.confidence import intervals_of
from server.use_cases.questions.noise_law import AnswerNoise, noise_law
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

CONFIDENCE = Fraction(95, 100)
ROUNDED = 500.0  # sigma from which rounding a normal draw is no different
A = "COUNT(CASE WHEN age < 40 THEN 1 END)"
B = "COUNT(CASE WHEN age >= 40 THEN 1 END)"
C = "COUNT(CASE WHEN visits < 3 THEN 1 END)"
D = "COUNT(CASE WHEN visits >= 3 THEN 1 END)"


@dataclass(frozen=True)
class Case:
    """A computed column and the exact numbers of its vectors, in their order."""

    name: str
    column: str
    truth: tuple
    value: object
    scale: float = 10.0


def ratio(over, under):
    return Fraction(over, under) if under else None


AGES = (-1_376_000, 1_000, -10_000)
"""Squares, rows and ages less 60: a mean of 50 years, a standard deviation of 18."""

FEW = (-41_280, 30, -300)
PAIRS = (100, 1_000, -10_000, 50, -1_376_000, 600)
"""Products, rows, ages less 60, levels less 2, squares of both."""


def spread(squares, rows, total, reach):
    half = reach**2 // 2
    return half + Fraction(squares, rows) - Fraction(total, rows) ** 2


def of_sample(squares, rows, total, reach):
    return spread(squares, rows, total, reach) * Fraction(rows, rows - 1)


def together(products, rows, ages, levels):
    return Fraction(products, rows) - Fraction(ages, rows) * Fraction(levels, rows)


def slope(products, rows, ages, levels, squares):
    found = together(products, rows, ages, levels)
    return found / spread(squares, rows, levels, 1)


def correlation(products, rows, ages, levels, *squares):
    found = together(products, rows, ages, levels)
    of_ages = spread(squares[0], rows, ages, 60)
    return float(found) / math.sqrt(of_ages * spread(squares[1], rows, levels, 1))


CASES = [
    Case("twice a count", f"2 * {A}", (100,), lambda a: 2 * a),
    Case("difference", f"{A} - {B}", (100, 90), lambda a, b: a - b),
    Case("sum of three", f"{A} + {B} + {C}", (1, 5, 9), lambda a, b, c: a + b + c),
    Case("change", f"({A} - {B}) / {B}", (120, 100), lambda a, b: ratio(a - b, b)),
    Case("ratio", f"{A} / {B}", (300, 1000), ratio),
    Case("ratio, few", f"{A} / {B}", (3, 30), ratio),
    Case("ratio, nearly none", f"{A} / {B}", (0, 2), ratio),
    Case("share", f"{A} / ({A} + {B})", (30, 200), lambda a, b: ratio(a, a + b)),
    Case("share, all", f"{A} / ({A} + {B})", (60, 0), lambda a, b: ratio(a, a + b)),
    Case("share, few", f"{A} / ({A} + {B})", (1, 9), lambda a, b: ratio(a, a + b)),
    Case(
        "share of three",
        f"100.0 * {A} / ({A} + {B} + {C})",
        (40, 50, 100),
        lambda a, b, c: ratio(100 * a, a + b + c),
    ),
    Case(
        "risk ratio",
        f"({A} / ({A} + {B})) / ({C} / ({C} + {D}))",
        (100, 900, 50, 950),
        lambda a, b, c, d: ratio(a * (c + d), c * (a + b)),
    ),
    Case(
        "odds ratio",
        f"({A} * {D}) / ({B} * {C})",
        (100, 900, 50, 950),
        lambda a, b, c, d: ratio(a * d, b * c),
    ),
    Case(
        "odds ratio, few",
        f"({A} * {D}) / ({B} * {C})",
        (8, 40, 3, 60),
        lambda a, b, c, d: ratio(a * d, b * c),
    ),
    Case("logarithm", f"LN({A} / {B})", (300, 500), lambda a, b: math.log(a / b)),
    Case("product", f"{A} * {B}", (40, 50), lambda a, b: a * b),
    Case("rate per 1,000", f"ROUND(1000.0 * {A} / {B}, 1)", (50, 2_000), None),
    Case("greatest", f"GREATEST({A}, {B})", (20, 22), max),
    Case(
        "first that is not NULL",
        f"COALESCE({A} / {B}, {C})",
        (2, 3, 500),
        lambda a, b, c: ratio(a, b) if b else c,
    ),
    Case("first, none", f"COALESCE({A} / {B}, -1)", (400, 0), lambda *_: -1),
    Case("first, where equal", f"COALESCE(NULLIF({A}, 0), {B})", (0, 500), max),
    Case(
        "greatest, few",
        f"GREATEST({A} / {B}, {C})",
        (900, 3, 50),
        lambda a, b, c: max(ratio(a, b), c),
    ),
    Case(
        "divided by the greatest, one NULL",
        f"COALESCE({A} / GREATEST(NULLIF({B}, 0), -5), 99)",
        (100, 0),
        lambda *_: -20,
    ),
    Case(
        "divided by the greatest, one 0",
        f"{A} / GREATEST({B}, 0.5)",
        (100, 0),
        lambda *_: 200,
    ),
    Case("fine noise", f"{A} / {B}", (3, 7), ratio, 0.4),
    Case("coarse noise", f"{A} - 3 * {B}", (0, 0), lambda a, b: a - 3 * b, 3_000.0),
    Case("variance", "VAR_POP(age)", AGES, lambda *sums: spread(*sums, 60)),
    Case("variance, few", "VAR_SAMP(age)", FEW, lambda *sums: of_sample(*sums, 60)),
    Case("variance, none", "VAR_POP(age)", (-180_000, 100, 0), lambda *_: 0),
    Case(
        "standard deviation",
        "STDDEV(age)",
        AGES,
        lambda *sums: math.sqrt(of_sample(*sums, 60)),
    ),
    Case("covariance", "COVAR_POP(age, level)", PAIRS[:4], together),
    Case("slope", "REGR_SLOPE(age, level)", (*PAIRS[:4], PAIRS[5]), slope),
    Case("correlation", "CORR(age, level)", PAIRS, correlation),
    Case("correlation, fine", "CORR(age, level)", PAIRS, correlation, 0.4),
    Case("average doubled", "AVG(age) * 2", (6_000, 100), lambda s, n: ratio(2 * s, n)),
]


def exact_of(case):
    if case.value is None:  # ROUND of a rate: rounded, too
        a, b = case.truth
        return Fraction(math.floor(Fraction(10_000 * a, b) + Fraction(1, 2)), 10)
    return case.value(*case.truth)


@dataclass(frozen=True)
class Found:
    """What was measured of one case."""

    asked: int
    held: int
    width: float
    naive: float


def measure(case, draws, seed, drawn=1.0, kind=LAPLACE):
    """Answer one question so many times with fresh noise around the same numbers.

    The noise is of a kind, and has ``drawn`` times the scale that intervals know of.
    """
    compiled = compile_query(f"SELECT {case.column} AS x FROM encounters", HOSPITAL)
    compiled = replace(
        compiled, rendered=replace(compiled.rendered, cells=((),) * draws)
    )
    rng = np.random.default_rng(seed)
    scales = scales_of(compiled, case.scale)
    vectors = [
        (value + DRAWN[kind](rng, drawn * scale, draws)).tolist()
        for value, scale in zip(case.truth, scales, strict=True)
    ]
    noise = AnswerNoise(tuple(scales), kind)
    (column,) = intervals_of(compiled, vectors, noise, CONFIDENCE)
    exact = exact_of(case)
    ends = [row for row in column.rows if row is not None]
    held = sum(_holds(low, high, exact) for low, high in ends)
    widths = [_width(low, high) for low, high in ends]
    naive = [
        _naive(compiled, vectors, noise, cell)
        for cell, row in enumerate(column.rows[:400])
        if row is not None
    ]
    return Found(len(ends), held, float(np.median(widths)), float(np.median(naive)))


def scales_of(compiled, scale):
    """Return scales whose vectors of sensitivity 1 have this one."""
    loss = Loss.parse("1")
    event = price(
        [m.sensitivity for m in compiled.measures],
        [m.weight for m in compiled.measures],
        loss,
    )
    least = min(noise_law(event).scales)
    return [scale * one / least for one in noise_law(event).scales]


def laplace(rng, scale, size):
    """Draw discrete Laplace noise: a difference of two geometric draws."""
    chance = -np.expm1(-1 / scale)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def gaussian(rng, sigma, size):
    """Draw discrete Gaussian noise, by its law within 40 sigma; wide, by rounding."""
    if sigma > ROUNDED:
        return np.rint(rng.normal(0, sigma, size)).astype(np.int64)
    values = np.arange(-math.ceil(40 * sigma), math.ceil(40 * sigma) + 1)
    weights = np.exp(-0.5 * (values / sigma) ** 2)
    return rng.choice(values, size, p=weights / weights.sum())


DRAWN = {LAPLACE: laplace, GAUSSIAN: gaussian}


def _holds(low, high, exact):
    if exact is None:
        return True
    least = -math.inf if low is None else Fraction(low)
    most = math.inf if high is None else Fraction(high)
    return least <= exact <= most


def _width(low, high):
    return math.inf if None in (low, high) else float(Fraction(high) - Fraction(low))


def _naive(compiled, vectors, noise, cell):
    """Return the width by a half-width of each vector, combined as if independent."""
    (column,) = compiled.columns
    read = {v for leaf in leaves(column.shown) for v in _vectors(leaf)}
    each = 1 - (1 - CONFIDENCE) / len(read)

    def bounds(shown):  # noqa: PLR0911 - a form each
        if isinstance(shown, ComputedShown):
            parts = [bounds(part) for part in shown.operands]
            if shown.operation in LENIENT:
                return extreme_bounds(shown.operation, [(one, True) for one in parts])
            return computed_bounds(shown, parts)
        if isinstance(shown, NumberShown):
            return around(shown.vector)
        if isinstance(shown, AverageShown):
            over, under = around(shown.sum_vector), around(shown.count_vector)
            if under[0] < 1:
                return Fraction(shown.lower), Fraction(shown.upper)
            found = [one / other for one in over for other in under]
            return min(found), max(found)
        return shown.value, shown.value

    def around(vector):
        value = Fraction(vectors[vector][cell])
        width = noise.half_width(vector, each)
        floor = Fraction(0) if compiled.measures[vector].never_negative else -math.inf
        return max(floor, value - width), max(floor, value + width)

    low, high = bounds(column.shown)
    return float(high) - float(low)


def _vectors(shown):
    match shown:
        case NumberShown(vector):
            return (vector,)
        case AverageShown(total, number):
            return (total, number)
        case _:
            return ()


def main():
    print("| what | exact numbers | noise | holds | width | naive width |")
    print("|---|---|---|---|---|---|")
    for place, case in enumerate(CASES):
        found = measure(case, 4_000, 1_000 + place)
        share = found.held / found.asked if found.asked else 1.0
        print(
            f"| {case.name} | {', '.join(map(str, case.truth))} | {case.scale:g} | "
            f"{100 * share:.1f} % | {_shown(found.width)} | {_shown(found.naive)} |"
        )


def _shown(width):
    return "open" if math.isinf(width) else f"{width:.4g}"


if __name__ == "__main__":
    main()
