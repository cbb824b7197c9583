"""The least sizes that a release's intervals leave possible."""

import pytest

from release.contract.answers import ColumnIntervals, ReleaseAnswer
from server.use_cases.questions.released_numbers import least_sizes
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

BY_SEX = "SELECT sex, COUNT(*) AS n FROM encounters GROUP BY sex"


def answer(compiled, ends):
    names = [column.name for column in compiled.columns if column.kind == "measure"]
    return ReleaseAnswer(
        columns=compiled.columns,
        rows=tuple((None,) for _ in ends),
        intervals=tuple(ColumnIntervals(name, tuple(ends)) for name in names),
        half_widths={},
        confidence="0.95",
        derivation="",
        warnings=(),
    )


def test_the_end_nearer_to_zero_is_the_least_size():
    compiled = compile_query(BY_SEX, HOSPITAL)
    cells = len(compiled.rendered.cells)
    ends = [("12.9", "30"), ("-8", "-3.5"), ("-2", "5"), None][:cells]
    assert least_sizes(compiled, answer(compiled, ends)) == [[12, 3, 0, 0][:cells]]


@pytest.mark.parametrize(
    "sql",
    [
        BY_SEX + " LIMIT 2",
        BY_SEX + " ORDER BY n DESC",
        BY_SEX + " HAVING COUNT(*) > 3",
        "SELECT sex, AVG(level) AS n FROM encounters GROUP BY sex",
        "SELECT sex, 2 * COUNT(*) AS n FROM encounters GROUP BY sex",
    ],
)
def test_of_other_questions_it_says_nothing(sql):
    compiled = compile_query(sql, HOSPITAL)
    ends = [("12", "30")] * len(compiled.rendered.cells)
    assert least_sizes(compiled, answer(compiled, ends)) is None


def test_nor_where_rows_are_missing():
    compiled = compile_query(BY_SEX, HOSPITAL)
    assert least_sizes(compiled, answer(compiled, [("12", "30")])) is None
