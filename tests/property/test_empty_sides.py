"""One person's rows never switch the work on other rows on or off, by counts of it."""

import duckdb
import pytest

from engines.duckdb.snapshots import BLIND, KEPT_OPTIMIZERS, OPTIMIZERS_OFF
from tests.property.costly_plans import DATASET, LABS, VISITS, arms
from tests.property.empty_sides import QUESTIONS, operators
from tests.support.compiling import compile_query

STRANGERS = 1_000  # with two visits and labs each: far more rows than one person has
MOST = VISITS * LABS  # rows that a join gives one person


@pytest.fixture(scope="module")
def both():
    found = arms(STRANGERS)
    yield found
    for connection in found:
        connection.close()


@pytest.fixture(scope="module")
def paid(both):
    """Return a value that the person of the first arm has, and nobody else."""
    wanted = "SELECT v.paid FROM visits v JOIN people p USING (pid, paid) WHERE pid = 0"
    (value,) = both[0].execute(wanted).fetchone()
    for table in ("people", "visits"):
        found = f"SELECT count(*) FROM {table} WHERE paid = {value}"
        assert [each.execute(found).fetchone() for each in both] == [(1,), (0,)]
    return value


def work(both, sql):
    """Return the operators of a question on both arms."""
    (statement,) = compile_query(sql, DATASET).rendered.statements
    return [operators(connection, statement) for connection in both]


@pytest.mark.parametrize("name", QUESTIONS)
def test_one_person_moves_no_operator_by_more_than_their_own_rows(both, paid, name):
    sql = QUESTIONS[name].format(who=f"p.paid = {paid}", value=paid)
    full, without = work(both, sql)
    assert [each[0] for each in full] == [each[0] for each in without]
    pairs = zip(full, without, strict=True)
    moved = [abs(one[1] - other[1]) for one, other in pairs]
    assert max(moved) <= MOST, full
    held = [rows for _, _, rows in (*full, *without) if rows is not None]
    assert min(held, default=1) > 0, "an empty side is looked up for less"
    read = [rows for kind, rows, _ in without if "SCAN" in kind]
    assert max(read) >= 2 * (STRANGERS - 1)


def test_a_scan_reads_every_row_whatever_a_filter_leaves(both):
    """No zone maps: rows of units whose condition nobody meets are read as well."""
    sql = "SELECT COUNT(*) FROM visits WHERE paid = -1 AND age > 3"
    full, without = work(both, sql)
    assert full[-1][1] == 2 * (STRANGERS - 1) + VISITS
    assert without[-1][1] == 2 * (STRANGERS - 1)


def test_every_optimizer_of_the_engine_is_kept_or_switched_off_by_name():
    connection = duckdb.connect(config=dict(BLIND))
    rows = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    named = {name for (name,) in rows}
    assert named == {*KEPT_OPTIMIZERS, *OPTIMIZERS_OFF}
    assert not set(KEPT_OPTIMIZERS) & set(OPTIMIZERS_OFF)
    (off,) = connection.execute(
        "SELECT current_setting('disabled_optimizers')"
    ).fetchone()
    assert {name.strip() for name in off.split(",")} == set(OPTIMIZERS_OFF)
