"""The public cost of showing what is computed of an answer's numbers."""

import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.costs.showing import FUNCTION_STEPS
from query_lang.plans.costs import (
    MAX_SHOWING_STEPS,
    EngineSize,
    cost_limits,
)
from server.api.routing.backlog import work_of
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

A, B, C, D = (
    f"COUNT(CASE WHEN visits {condition} THEN 1 END)"
    for condition in ("< 1", ">= 4", "< 3", ">= 3")
)
SHARE = f"{A} / ({A} + {B} + {C})"
SO_FAR = "SUM(COUNT(*)) OVER (ORDER BY age)"


def compiled(column, keys="age", **more):
    sql = f"SELECT {keys}, {column} AS x FROM encounters GROUP BY {keys}"
    return compile_query(sql, HOSPITAL, **more)


def steps(column, keys="age"):
    return compiled(column, keys).showing_steps


@pytest.mark.parametrize("column", ["COUNT(*)", "AVG(level)", A])
def test_what_is_not_computed_costs_nothing_more(column):
    assert steps(column) == 0


@pytest.mark.parametrize("column", [f"{A} - {B}", SHARE, "COUNT(*) * age"])
def test_the_cost_grows_with_the_cells(column):
    few, many = (compiled(column, keys) for keys in ("age", "age, ward"))
    cells = [len(one.rendered.cells) for one in (few, many)]
    assert many.showing_steps * cells[0] == few.showing_steps * cells[1] > 0
    assert work_of(many).storing - work_of(few).storing > (
        (many.showing_steps - few.showing_steps) / 1e9
    )


def test_the_cost_grows_with_the_terms():
    told = [
        f"{A} + {B}",
        f"{A} / ({A} + {B})",
        SHARE,
        f"{A} / ({A} + {B} + {C} + {D})",
        f"GREATEST({SHARE}, {B} / ({A} + {B} + {D}))",
    ]
    assert [steps(one) for one in told] == sorted({steps(one) for one in told})


def test_a_window_costs_the_rows_that_it_reads():
    whole = "SUM(COUNT(*)) OVER ()"
    near = "SUM(COUNT(*)) OVER (ORDER BY age ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    few, many = (steps(whole, keys) for keys in ("age", "age, ward, dose"))
    cells = [
        len(compiled("COUNT(*)", keys).rendered.cells)
        for keys in ("age", "age, ward, dose")
    ]
    assert many / few > cells[1] / cells[0]  # its frames grow, too
    assert steps("LAG(COUNT(*)) OVER (ORDER BY age)") < steps(near) < steps(whole)
    assert steps(whole) <= steps(SO_FAR)


def test_what_takes_too_long_to_show_is_refused_with_what_to_do():
    limits = cost_limits(EngineSize(64, 2, 100, 2**40, 10**6))
    keys = "age, ward, sex, dose, level"
    assert compiled(f"{A} - {B}", keys, limits=limits).showing_steps > 0
    with pytest.raises(SqlNotAllowedError) as refused:
        compiled(SHARE, keys, limits=limits)
    assert refused.value.rule == "too_costly"
    assert "ms to show" in str(refused.value)
    assert "fewer keys" in refused.value.hint
    assert steps(SHARE, keys) > MAX_SHOWING_STEPS


def limited(tail):
    sql = f"SELECT age, {SO_FAR} AS x, {SHARE} AS y FROM encounters GROUP BY age {tail}"
    return compile_query(sql, HOSPITAL).showing_steps


def test_what_having_computes_is_counted():
    """A kilobyte of logarithms kept the server for fifteen seconds, uncounted."""
    terms = [f"LN(1 + LN(1 + LN({A} + {n}))) > 9" for n in range(1, 9)]
    few, many = (
        compile_query(
            f"SELECT age, COUNT(*) FROM encounters GROUP BY age HAVING {said}",
            HOSPITAL,
        ).showing_steps
        for said in (terms[0], " OR ".join(terms))
    )
    assert many > 7 * few > 7 * 10**8 / 2


def test_limit_leaves_out_what_intervals_of_other_rows_would_cost():
    whole = limited("ORDER BY age")
    assert limited("ORDER BY age LIMIT 2") * 5 < whole
    assert limited("ORDER BY age LIMIT 100000") == whole
    # what orders or keeps rows is read of all of them
    assert limited(f"ORDER BY {SHARE} LIMIT 2") * 20 > whole
    shares = f"SELECT age, {SHARE} AS y FROM encounters GROUP BY age"
    having = " HAVING COUNT(*) > 3"
    one, all_rows = (
        compile_query(f"{shares}{having}{tail}", HOSPITAL).showing_steps
        for tail in (" ORDER BY age LIMIT 2", " ORDER BY age")
    )
    assert one == all_rows > 0  # HAVING reads all


def test_values_are_computed_in_all_rows_whatever_limit_shows():
    """A dozen logarithms of 732 rows took a second, of which LIMIT 1 counted none."""
    logs = " + ".join(f"LN({A} + {n})" for n in range(2, 13))
    one, whole = (
        compile_query(
            f"SELECT age, {logs} AS x FROM encounters GROUP BY age {tail}", HOSPITAL
        )
        for tail in ("LIMIT 1", "")
    )
    rows = len(whole.rendered.cells)
    assert one.showing_steps > rows * 11 * FUNCTION_STEPS > whole.showing_steps / 10
