"""What it takes the server to show what is computed, beside what is counted for it.

Run: ``python -m benchmarks.showing``. What ``query_lang.costs.showing`` rests on.
Prints, for each form and number of cells, the processor time of values and intervals,
and the part that it is of the public cost: below 1, or answers miss their slots.
"""

import time
from fractions import Fraction
from random import Random

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
}
KEYS = ("age", "age, dose, ward")  # 122 and 732 cells
MISS = Fraction(5, 100)


def main() -> None:
    """Measure and print."""
    print("| computed | cells | ms/cell | of the public cost |")
    print("|---|---:|---:|---:|")
    for name, form in FORMS.items():
        for keys in KEYS:
            query, spent = measured(form, keys)
            cells = len(query.rendered.cells)
            part = spent * 1e9 / query.showing_steps
            print(f"| {name} | {cells} | {1000 * spent / cells:.2f} | {part:.2f} |")


def measured(form: str, keys: str) -> tuple[CompiledQuery, float]:
    """Return a question, and the processor time to show its answer, in seconds."""
    sql = f"SELECT {keys}, {form} AS x FROM encounters GROUP BY {keys}"
    query = queries.compile_query(sql, HOSPITAL, Target(DUCKDB, UNLIMITED))
    dice = Random(1)
    vectors = [
        [
            dice.choice((3, 20, 80, 500)) + dice.randrange(-9, 9)
            for _ in query.rendered.cells
        ]
        for _ in query.measures
    ]
    noise = AnswerNoise(tuple(10.0 + place for place, _ in enumerate(vectors)))
    started = time.thread_time()
    list(present(query, vectors))
    intervals_of(query, vectors, noise, 1 - MISS)
    return query, time.thread_time() - started


if __name__ == "__main__":
    main()
