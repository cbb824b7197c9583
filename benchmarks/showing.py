"""What it takes the server to show what is computed, beside what is counted for it.

Run: ``python -m benchmarks.showing``. What ``query_lang.costs.showing`` rests on.
Prints, for each form and number of cells, the processor time of values and intervals,
and the part that it is of the public cost: below 1, or answers miss their slots.
"""

import time
from fractions import Fraction
from random import Random

from mechanisms.scales.noises import GAUSSIAN, LAPLACE, Noise
from privacy.errors import QueryError
from query_lang import compile as queries
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import UNLIMITED
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from query_lang.showing.confidence import intervals_of
from query_lang.showing.presentation import present
from server.use_cases.questions.noise_law import AnswerNoise
from tests.support.data.hospital import HOSPITAL

A, B, C, D, E = (
    f"COUNT(CASE WHEN visits {condition} THEN 1 END)"
    for condition in ("< 1", ">= 4", "< 3", ">= 3", ">= 9")
)
FORMS = {
    "difference": f"{A} - {B}",
    "weighted sum": "SUM(level) + COUNT(*) * 7",
    "share of two": f"{A} / ({A} + {B})",
    "share of three": f"{A} / ({A} + {B} + {C})",
    "share of five": f"{A} / ({A} + {B} + {C} + {D} + {E})",
    "greatest of two shares": (
        f"GREATEST({A} / ({A} + {B} + {C}), {D} / ({D} + {E} + {C}))"
    ),
    "odds ratio": f"({A} * {D}) / ({B} * {C})",
    "logarithm": f"LN({A} / {B})",
    "average": "AVG(level) * 2",
    "of a key": "COUNT(*) * age",
    "change": "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY age)",
    "sum so far": "SUM(COUNT(*)) OVER (ORDER BY age)",
    "moving average": (
        "AVG(COUNT(*)) OVER (ORDER BY age ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING)"
    ),
    "share of the total": "COUNT(*) / SUM(COUNT(*)) OVER ()",
    "share so far": "COUNT(*) / SUM(COUNT(*)) OVER (ORDER BY age)",
    "rank": "RANK() OVER (ORDER BY COUNT(*))",
    "percent, rounded": f"ROUND(100.0 * {A} / NULLIF({A} + {B}, 0), 1)",
    "root": f"SQRT({A}) / {B}",
    "deviation": "STDDEV(level) * 1",
    "correlation": "CORR(level, age) + 0",
    "slope": "REGR_SLOPE(level, visits) * 2",
    "median": "MEDIAN(level) * 2",
    "median of 64 bins": "MEDIAN(age) * 2",
    "first that is there": f"COALESCE({A} / NULLIF({B}, 0), {D} / NULLIF({E}, 0), 0)",
    "product of six": f"{A} * {B} * {C} * {D} * {E} * COUNT(*)",
    "quotients in quotients": f"{A} / ({B} / ({C} / ({D} / {E})))",
    "within ends": f"LEAST(GREATEST({A} - {B}, 0), {C} + 1)",
    "running share of a window": (
        "SUM(COUNT(*)) OVER (ORDER BY age ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)"
        " / SUM(COUNT(*)) OVER ()"
    ),
    "greatest so far": "MAX(COUNT(*)) OVER (ORDER BY age)",
    "change in per cent": (
        "100.0 * (COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY age))"
        " / LAG(COUNT(*)) OVER (ORDER BY age)"
    ),
    "vast literal": f"{A} * 123456789.123456789 / 987654321.987654321 - {B} / 777.7",
    "conditions": "COUNT(*) HAVING " + " OR ".join(f"{A} > {n}" for n in range(9)),
    "conditions computed": (
        "COUNT(*) HAVING " + " OR ".join(f"{A} / ({B} + {n}) > {n}" for n in range(9))
    ),
    "logarithms in conditions": (
        "COUNT(*) HAVING "
        + " OR ".join(f"LN(1 + LN(1 + LN({A} + {n}))) > 9" for n in range(1, 9))
    ),
    "order": f"COUNT(*) HAVING {A} + {B} > 3 ORDER BY {A} / ({B} + 1), {C}",
    "forty operations": " + ".join(f"{A} * {n} / ({B} + {n})" for n in range(8)),
}
KEYS = ("age", "age, dose, ward")  # 122 and 732 cells
MISS = Fraction(5, 100)


def main() -> None:
    """Measure and print."""
    print("| computed | cells | ms/cell | of the public cost |")
    print("|---|---:|---:|---:|")
    for name, form in FORMS.items():
        for keys in KEYS:
            for by in (keys, f"ROLLUP({keys})"):
                show(name, form, keys, by)


def show(name: str, form: str, keys: str, by: str) -> None:
    """Print a row for each kind of noise; none where it is refused."""
    for kind in (LAPLACE, GAUSSIAN):
        try:
            query, spent = measured(form, keys, by, kind)
        except QueryError:
            continue
        cells = query.row_count
        part = spent * 1e9 / query.showing_steps
        named = f"{name}{', totals' if by != keys else ''} ({kind.mechanism})"
        print(f"| {named} | {cells} | {1000 * spent / cells:.2f} | {part:.2f} |")


def measured(form: str, keys: str, by: str, kind: Noise) -> tuple[CompiledQuery, float]:
    """Return a question, and the processor time to show its answer, in seconds."""
    shown, *having = form.split(" HAVING ")
    sql = f"SELECT {keys}, {shown} AS x FROM encounters GROUP BY {by}"
    sql += "".join(f" HAVING {condition}" for condition in having)
    query = queries.compile_query(sql, HOSPITAL, Target(DUCKDB, UNLIMITED))
    dice = Random(1)
    vectors = [
        [
            dice.choice((3, 20, 80, 500)) + dice.randrange(-9, 9)
            for _ in range(len(query.rendered.cells) * measure.size)
        ]
        for measure in query.measures
    ]
    scales = tuple(10.0 + place for place, _ in enumerate(vectors))
    noise = AnswerNoise(scales, kind)
    started = time.thread_time()
    list(present(query, vectors))
    intervals_of(query, vectors, noise, 1 - MISS)
    return query, time.thread_time() - started


if __name__ == "__main__":
    main()
