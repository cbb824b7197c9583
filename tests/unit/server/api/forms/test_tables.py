from server.api.forms.tables import table_of
from tests.support.data.formed import answer


def columns(**changes):
    return {one.name: one for one in table_of(answer(**changes))}


def one_count(rows, **members):
    given = {"noise": [], "intervals": {}, **members}
    return columns(columns=[("n", "measure", "integer")], rows=rows, **given)


def test_each_measure_has_its_ends_beside_it():
    assert list(columns()) == [
        *("sex", "day", "at", "alive", "dose", "patients", "patients_low"),
        *("patients_high", "cost", "cost_low", "cost_high", "mean", "mean_low"),
        *("mean_high", "median", "median_low", "median_high"),
    ]


def test_ends_are_the_number_and_its_half_width_where_none_are_told():
    found = columns()
    assert found["patients_low"].values == [10_282, -37, -30]
    assert found["patients_high"].values == [10_342, 23, 30]
    assert found["cost_low"].values == ["-0.35", "12345678901234567889.95", "2.70"]
    assert found["cost_high"].values == ["0.25", "12345678901234567890.55", "3.30"]


def test_counts_lie_where_counts_can():
    """The client says so of the same answer."""
    noise = [{"column": "n", "half_width_95": "30"}]
    counts = [("n", "measure", "integer", "rows")]
    found = columns(columns=counts, rows=[[40], [7], [-4], [-266]], noise=noise)
    assert found["n_low"].values == [10, 0, 0, 0]
    assert found["n_high"].values == [70, 37, 30, 30]
    assert found["n"].values == [40, 7, -4, -266]


def test_ends_that_are_told_are_taken_and_open_ones_are_null():
    found = columns()
    assert found["mean_low"].values == ["67.9", None, None]
    assert found["mean_high"].values == ["68.520113", None, "0.5"]
    assert found["median_low"].type == "date"


def test_half_widths_a_row_come_before_the_noise_that_all_rows_have():
    told = [{"column": "n", "confidence": "0.99", "rows": ["1", "2.5"]}]
    found = one_count([[5], [5]], half_widths=told)
    assert found["n_low"].values == [4, "2.5"]
    assert found["n_high"].type == "decimal"


def test_a_measure_whose_noise_is_of_its_parts_has_no_ends_of_its_own():
    parts = [{"column": "n", "part": "sum", "half_width_95": "3"}]
    assert list(one_count([[5]], noise=parts)) == ["n"]


def test_what_sequences_leave_undecided_stands_beside_them():
    more = [{"column": "n", "rows": ["3"]}]
    found = one_count([[5]], undecided=more)
    assert found["n_undecided"].values == [3]


def test_a_name_that_is_taken_is_numbered():
    named = [("n", "measure", "integer"), ("n_low", "group", "text")]
    noise = [{"column": "n", "half_width_95": "1"}]
    found = columns(columns=named, rows=[[5, "x"]], intervals={}, noise=noise)
    assert list(found) == ["n", "n_low_2", "n_high", "n_low"]
    assert found["n_low"].values == ["x"]


def test_an_answer_without_rows_has_all_its_columns():
    intervals = {"mean": [], "median": []}
    assert list(columns(rows=[], intervals=intervals)) == list(columns())
