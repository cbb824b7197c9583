"""A sum whose interval is wrong moves by no more than its sensitivity says."""

from dataclasses import replace

from privacy.contributions import NO_BOUNDS
from query_lang.binding.bind import bind_query
from query_lang.plans.nodes import SumMeasure
from query_lang.reading.parse import parse_query
from query_lang.rendering.duckdb.render import render_plan
from query_lang.syntax.nodes import Position
from tests.semantics import engine, hospital

SQL = "SELECT SUM(days), SUM(wide % 1000), COUNT(days) FROM encounters"


def test_a_sum_holds_each_value_within_its_bounds():
    bound = bind_query(parse_query(SQL), hospital.DATASET, NO_BOUNDS)
    first, second, number = bound.plan.measures
    narrow = replace(first, lower=-1, upper=2), replace(second, lower=5, upper=9)
    assert isinstance(first, SumMeasure)
    plan = replace(bound.plan, measures=(*narrow, number))
    rendered = render_plan(plan, {}, Position(1, 1))
    tables = {name: [] for name in hospital.DATASET.tables}
    columns = engine.declared_of(hospital.ENCOUNTERS)
    for rank, (days, wide) in enumerate(((14, 999), (-3, None), (None, -5), (1, 7))):
        row = {column.name: None for column in columns}
        row |= {"started": hospital.FIRST_DAY, "severity": 1, "urgent": True}
        stored = {"unit": 1, "row_hash": rank, "row_rank": rank + 1}
        tables["encounters"].append({**row, **stored, "days": days, "wide": wide})
    with engine.connect() as connection:
        engine.load(connection, tables)
        assert engine.exact_vectors(connection, rendered) == [[2], [21], [3]]
