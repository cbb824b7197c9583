"""Variances and correlations by the engine, of rows with NULL, against plain lists."""

import statistics

import pytest

from query_lang.showing.presentation import present
from tests.conformance.hostile import TABLES
from tests.conformance.schema import DATASET
from tests.support.compiling import compile_query

ROWS = TABLES["hostile"]["marks"]
DAYS = [row["days"] for row in ROWS if row["days"] is not None]
PAIRS = [
    (row["days"], row["age"])
    for row in ROWS
    if row["days"] is not None and row["age"] is not None
]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("selected", "value"),
    [
        ("VAR_POP(days)", statistics.pvariance(DAYS)),
        ("STDDEV(days)", statistics.stdev(DAYS)),
        ("COVAR_SAMP(age, days)", statistics.covariance(*zip(*PAIRS, strict=True))),
        ("CORR(days, age)", statistics.correlation(*zip(*PAIRS, strict=True))),
        (
            "REGR_SLOPE(age, days)",
            statistics.linear_regression(*zip(*PAIRS, strict=True)).slope,
        ),
    ],
)
def test_rows_without_a_value_are_left_out(engine, selected, value):
    assert len(PAIRS) < len(DAYS) < len(ROWS)
    compiled = compile_query(f"SELECT {selected} AS v FROM marks", DATASET)
    ((found,),) = present(compiled, engine.vectors("hostile", compiled.rendered))
    assert float(found) == pytest.approx(value, abs=1e-5)
