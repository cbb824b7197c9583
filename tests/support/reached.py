"""Which cells one unit's rows lie in, beside those that conditions leave."""

from contextlib import contextmanager
from dataclasses import replace

from tests.support.data import hospital


@contextmanager
def held_by_one_unit(table, rows):
    """Lend a database in which one unit has all rows of a table."""
    connection = hospital.connect()
    numbered = [{**row, "unit": 1, "row_hash": n} for n, row in enumerate(rows)]
    hospital.create_table(connection, table, hospital.ranked(numbered))
    yield connection
    connection.close()


def counted_everywhere(database, compiled, sql):
    """Return the cells that are said to be empty, and what DuckDB counts in all.

    No row is in an empty one.
    """
    (statement,) = compiled.rendered.statements
    everywhere = replace(statement, empty=())  # rows in other cells are shown here
    plan = replace(compiled.rendered, statements=(everywhere,))
    (vector,) = hospital.run(database, plan)
    assert not any(vector[place] for place in statement.empty), sql
    return statement.empty, vector


def condition(rng, comparison, joined_by_and, depth=0):
    """Return a random condition of comparisons, NOT, AND and OR."""
    form = rng.random()
    if depth > 2 or form < 0.4:
        return comparison(rng)

    def part():
        return condition(rng, comparison, joined_by_and, depth + 1)

    if form < 0.5:
        return f"NOT ({part()})"
    word = " AND " if form < joined_by_and else " OR "
    return "(" + word.join(part() for _ in range(2)) + ")"
