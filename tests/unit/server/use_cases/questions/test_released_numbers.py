"""The sizes that a release's intervals leave possible."""

from fractions import Fraction

import pytest

from release.contract.answers import ColumnIntervals, ReleaseAnswer
from server.use_cases.questions.released_numbers import confidence_text, sizes_told
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


def test_the_end_nearer_to_zero_is_the_least_size_and_the_other_the_greatest():
    compiled = compile_query(BY_SEX, HOSPITAL)
    cells = len(compiled.rendered.cells)
    ends = [("12.9", "30"), ("-8", "-3.5"), ("-2", "5"), None][:cells]
    least, most = sizes_told(compiled, answer(compiled, ends))
    assert least == [[12, 3, 0, 0][:cells]]
    assert most == [[30, 8, 5, 0][:cells]]


def test_a_confidence_that_no_release_tells_asks_none():
    assert confidence_text(Fraction(1, 2 * 10**9)) is None
    assert confidence_text(Fraction(1, 10**9)) == "0.999999999"


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
    assert sizes_told(compiled, answer(compiled, ends)) is None


def test_nor_where_rows_are_missing():
    compiled = compile_query(BY_SEX, HOSPITAL)
    assert sizes_told(compiled, answer(compiled, [("12", "30")])) is None
