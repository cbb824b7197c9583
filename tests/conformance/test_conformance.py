"""Every construct on every engine over hostile values: none raises, all are exact."""

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import get_args

import pytest

from privacy.sealed import SATURATION
from query_lang.binding.bind import bind_query
from query_lang.plans import expressions
from query_lang.plans import nodes as plan
from query_lang.plans.expressions import Function
from query_lang.reading.parse import parse_query
from tests.conformance.hostile import POOLS, TABLES, declared, pool
from tests.conformance.reading import tree_of
from tests.conformance.rows import ROWS
from tests.conformance.schema import DATASET, HIERARCHIES
from tests.semantics.meaning.evaluator import Prepared
from tests.support.compiling import compile_query

WINDOW_ALONE = {"row_number", "lag", "lead"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_a_construct_never_raises_and_equals_the_evaluator_on_hostile_rows(
    engine, name
):
    sql, bounds = ROWS[name]
    compiled = compile_query(sql, DATASET, bounds)
    tree = tree_of(sql)
    for stored, tables in TABLES.items():
        expected = Prepared(tree, tables, DATASET, bounds, HIERARCHIES)
        assert list(compiled.rendered.cells) == expected.cells, stored
        found = engine.vectors(stored, compiled.rendered)
        assert found == sealed(expected.exact_vectors()), stored


def sealed(vectors):
    """Return what a sealed vector holds: its values saturate at 2**62 (PRIVACY 4)."""
    return [[max(-SATURATION, min(SATURATION, n)) for n in v] for v in vectors]


def parts(value):
    """Yield a plan and everything in it."""
    if isinstance(value, tuple):
        for item in value:
            yield from parts(item)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from parts(getattr(value, field.name))


def classes(union: UnionType):
    """Return the classes that a union of classes names."""
    return set(get_args(union))


@pytest.fixture(scope="module")
def used():
    """Every part of every plan of the suite."""
    found = []
    for sql, bounds in ROWS.values():
        found += parts(bind_query(parse_query(sql), DATASET, bounds).plan)
    return found


def test_every_function_has_a_row(used):
    made = {part.function for part in used if isinstance(part, expressions.Call)}
    assert set(Function) - made == set()


def test_every_kind_of_window_has_a_row(used):
    kinds = set(get_args(plan.WindowKind))
    made = {part.kind for part in used if isinstance(part, plan.WindowItem)}
    assert kinds - made == {"count_distinct"}  # DISTINCT stands in no window


def test_every_kind_of_roll_up_has_a_row(used):
    kinds = set(get_args(plan.WindowKind)) - WINDOW_ALONE
    made = {part.kind for part in used if isinstance(part, plan.RollupItem)}
    assert kinds - made == set()


@pytest.mark.parametrize(
    "union",
    [plan.Node, plan.PublicNode, plan.MeasureKind, expressions.Expression],
    ids=["nodes", "public nodes", "measures", "expressions"],
)
def test_every_class_of_a_plan_has_a_row(used, union):
    assert classes(union) - {type(part) for part in used} == set()


def test_every_aggregate_of_the_reading_tree_has_a_row():
    words = " ".join(sql for sql, _ in ROWS.values())
    for name in ("BOOL_AND", "BOOL_OR", "MEDIAN(", "QUANTILE(", "FIRST(", "LAST("):
        assert name in words


def test_the_hostile_rows_hold_every_hostile_value():
    for table in DATASET.tables.values():
        for column in declared(table) if not table.is_public else ():
            found = {row[column.name] for row in TABLES["hostile"][table.name]}
            wanted = set(pool(column)) | ({None} if column.nullable else set())
            assert wanted <= found, (table.name, column.name)
    assert set(POOLS) < {column.type for column in DATASET.tables["marks"].columns}
