from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.schema import ColumnType
from query_lang.plans.compiled import (
    AverageShown,
    Bins,
    KeyShown,
    NoisyComparison,
    NoisyIn,
    NoisyIsNull,
    NoisyTruth,
    NumberShown,
    OrderTerm,
    QuantileShown,
)
from query_lang.showing.noisy_conditions import all_shown, shown_in
from query_lang.showing.presentation import present
from query_lang.syntax.logic import All, AnyOf, Negation
from tests.support.data.answers import WIDE, column, compiled, key, measure, number

WARDS = (("south",), ("north",), (None,))
COUNT = NumberShown(0)
AVERAGE = AverageShown(0, 1, *WIDE)
TENS = Bins(0, 40, 4, one_per_value=False)


def average(noisy_sum, noisy_count, scale=0, lower=WIDE[0], upper=WIDE[1]):
    query = compiled(
        [column(AverageShown(0, 1, lower, upper))], [measure(scale), measure()]
    )
    return present(query, [[noisy_sum], [noisy_count]])[0][0]


def quantile(counts, bins=TENS, q=Fraction(1, 2), kind=ColumnType.DECIMAL):
    shown = QuantileShown(0, q, bins)
    query = compiled([column(shown, kind=kind)], [measure(size=bins.count)])
    return present(query, [counts])[0][0]


def wards(counts=(7, -2, 30), cells=WARDS, **presentation):
    query = compiled([key(0), number(0)], [measure()], cells, **presentation)
    return present(query, [counts])


def kept(having, counts=(7, -2, 30), cells=WARDS):
    return [row[0] for row in wards(counts, cells, having=having)]


def ordered(*terms, counts=(7, -2, 30), cells=WARDS):
    return [row[0] for row in wards(counts, cells, order=terms)]


def test_every_cell_is_a_row_in_declared_order():
    assert wards() == [["south", 7], ["north", -2], [None, 30]]


def test_without_keys_there_is_one_row():
    query = compiled([number(0), number(0, "again")], [measure()])
    assert present(query, [[-4]]) == [[-4, -4]]


def test_keys_are_shown_in_their_types():
    cells = ((1, Decimal("0.50"), date(2024, 1, 2), datetime(2024, 1, 2, 3), True),)  # noqa: DTZ001 - timestamps have no zone
    kinds = ("integer", "decimal", "date", "timestamp", "boolean")
    columns = [key(i, kind, ColumnType(kind)) for i, kind in enumerate(kinds)]
    assert present(compiled(columns, [measure()], cells), [[0]]) == [
        [1, "0.50", date(2024, 1, 2), datetime(2024, 1, 2, 3), True]  # noqa: DTZ001 - as above
    ]


@pytest.mark.parametrize(
    ("steps", "scale", "shown"),
    [
        (-5, 2, "-0.05"),
        (1234, 2, "12.34"),
        (0, 3, "0.000"),
        (70, 0, "70"),
        (2**62 + 1, 0, "4611686018427387905"),
        (-(2**63), 1, "-922337203685477580.8"),
    ],
)
def test_a_sum_of_decimals_has_the_digits_of_its_scale(steps, scale, shown):
    query = compiled(
        [number(0, kind=ColumnType.DECIMAL, scale=scale)], [measure(scale)]
    )
    assert present(query, [[steps]]) == [[shown]]


@pytest.mark.parametrize(
    ("noisy_sum", "noisy_count", "scale", "shown"),
    [
        (10, 3, 0, "3.333333"),
        (20, 3, 0, "6.666667"),
        (-20, 3, 0, "-6.666667"),
        (1, 2_000_000, 0, "0.000000"),  # half to even
        (3, 2_000_000, 0, "0.000002"),
        (-1, 2_000_000, 0, "0.000000"),  # and no minus before nothing
        (1234, 4, 2, "3.085000"),
        (7, 1, 0, "7.000000"),
    ],
)
def test_an_average_is_sum_by_count_to_six_digits(noisy_sum, noisy_count, scale, shown):
    assert average(noisy_sum, noisy_count, scale) == shown


@pytest.mark.parametrize("noisy_count", [0, -1, -1000])
def test_an_average_over_less_than_one_is_null(noisy_count):
    assert average(50, noisy_count) is None


def test_an_average_is_clamped_to_its_bounds():
    assert average(-900, 3, 1, lower=-25, upper=120) == "-2.500000"
    assert average(900, 3, 1, lower=-25, upper=120) == "12.000000"
    assert average(90, 3, 1, lower=-25, upper=120) == "3.000000"


@pytest.mark.parametrize(
    ("counts", "q", "shown"),
    [
        ([10, 0, 0, 0], Fraction(1, 2), "5.000000"),
        ([5, 5, 0, 0], Fraction(1, 2), "10.000000"),  # the first bin that reaches it
        ([5, 0, 5, 0], Fraction(1, 2), "10.000000"),
        ([0, 0, 0, 1], Fraction(1, 4), "32.500000"),
        ([2, -5, 6, 0], Fraction(1, 2), "23.333333"),
        ([1, 1, 1, 1], Fraction(999, 1000), "39.960000"),
    ],
)
def test_a_quantile_is_linear_in_the_first_bin_that_reaches_it(counts, q, shown):
    assert quantile(counts, q=q) == shown


@pytest.mark.parametrize("counts", [[0, 0, 0, 0], [-3, 0, -1, -9]])
def test_a_quantile_of_nothing_is_null(counts):
    assert quantile(counts) is None


def test_a_bin_that_is_a_value_answers_that_value():
    values = Bins(-2, 1, 4, one_per_value=True)
    assert quantile([1, 1, 1, 0], values) == "-1.000000"
    assert quantile([0, 0, 0, 9], values) == "1.000000"


def test_a_quantile_of_decimals_is_in_the_columns_unit():
    cents = Bins(0, 1000, 2, one_per_value=False, scale=2)
    assert quantile([3, 0], cents, Fraction(1, 3)) == "1.666667"


def test_a_quantile_of_days_is_a_day_rounded_down():
    days = Bins(-1, 9, 4, one_per_value=False, of_days=True)  # 2.5 days a bin
    shown = [quantile(c, days, kind=ColumnType.DATE) for c in ([1, 0, 0, 0], [0] * 4)]
    assert shown == [date(1970, 1, 1), None]
    assert quantile([0, 3, 0, 0], days, kind=ColumnType.DATE) == date(1970, 1, 3)
    assert quantile([9, 0, 0, 0], days, Fraction(1, 9), ColumnType.DATE) == date(
        1969, 12, 31
    )


def test_a_histogram_holds_its_bins_cell_by_cell():
    shown = QuantileShown(0, Fraction(1, 2), Bins(0, 20, 2, one_per_value=False))
    query = compiled([key(0), column(shown)], [measure(size=2)], WARDS)
    assert present(query, [[4, 0, 0, 4, 0, 0]]) == [
        ["south", "5.000000"],
        ["north", "15.000000"],
        [None, None],
    ]


@pytest.mark.parametrize("vectors", [[], [[1, 2]], [[1, 2, 3, 4]], [[1, 2, 3]] * 2])
def test_vectors_that_do_not_fit_the_cells_are_a_fault(vectors):
    with pytest.raises(ValueError, match="fit"):
        present(compiled([key(0), number(0)], [measure()], WARDS), vectors)


@pytest.mark.parametrize(
    ("operator", "names"),
    [
        ("=", ["south"]),
        ("<>", ["north", None]),
        ("<", ["north"]),
        ("<=", ["south", "north"]),
        (">", [None]),
        (">=", ["south", None]),
    ],
)
def test_having_compares_noisy_values(operator, names):
    assert kept(NoisyComparison(operator, COUNT, 7)) == names
    assert kept(NoisyComparison(operator, COUNT, Decimal("7.0"))) == names


def test_numbers_of_two_types_compare_exactly():
    exact = Decimal(f"{2**62 + 1}.5")
    cells = (("a",),)
    assert kept(NoisyComparison(">", exact, COUNT), [2**62 + 1], cells) == ["a"]
    assert kept(NoisyComparison("<=", exact, COUNT), [2**62 + 1], cells) == []


def test_having_on_a_key_goes_by_value_and_code_point():
    assert kept(NoisyComparison("<", KeyShown(0), "p")) == ["north"]
    assert kept(NoisyIn(KeyShown(0), ("south", "attic"))) == ["south"]
    cells = ((date(2024, 1, 31),), (date(2023, 2, 1),))
    late = NoisyComparison(">=", KeyShown(0), date(2024, 1, 1))
    assert kept(late, [1, 2], cells) == [date(2024, 1, 31)]


def test_a_boolean_key_is_a_condition():
    cells = ((False,), (True,), (None,))
    assert kept(NoisyTruth(KeyShown(0)), cells=cells) == [True]
    assert kept(Negation(NoisyTruth(KeyShown(0))), cells=cells) == [False]


def test_null_makes_a_comparison_unknown_and_unknown_leaves_a_cell_out():
    for condition in (
        NoisyComparison("=", KeyShown(0), "south"),
        NoisyIn(KeyShown(0), ("south",)),
    ):
        assert kept(condition) == ["south"]
        assert kept(Negation(condition)) == ["north"]
    assert kept(NoisyIsNull(KeyShown(0))) == [None]
    assert kept(Negation(NoisyIsNull(KeyShown(0)))) == ["south", "north"]


UNKNOWN = NoisyComparison("=", KeyShown(0), "x")
TRUE = NoisyIsNull(KeyShown(0))
FALSE = Negation(TRUE)


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        (All((UNKNOWN, TRUE)), False, False),
        (All((UNKNOWN, FALSE)), False, True),
        (All((TRUE, TRUE)), True, False),
        (AnyOf((UNKNOWN, TRUE)), True, False),
        (AnyOf((UNKNOWN, FALSE)), False, False),
        (AnyOf((FALSE, FALSE)), False, True),
        (Negation(UNKNOWN), False, False),
    ],
)
def test_conditions_join_in_three_values(condition, holds, fails):
    assert bool(kept(condition, [1], ((None,),))) is holds
    assert bool(kept(Negation(condition), [1], ((None,),))) is fails


def test_having_sees_the_average_that_is_shown():
    query = compiled(
        [column(AVERAGE)],
        [measure(), measure()],
        having=NoisyComparison("=", AVERAGE, Decimal("0.333333")),
    )
    assert present(query, [[1], [3]]) == [["0.333333"]]


def test_having_and_order_may_speak_of_vectors_that_no_column_shows():
    days = Bins(0, 10, 1, one_per_value=False, of_days=True)
    median = QuantileShown(1, Fraction(1, 2), days)
    query = compiled(
        [key(0)],
        [measure(), measure()],
        WARDS,
        having=NoisyComparison("=", median, date(1970, 1, 6)),
        order=(OrderTerm(COUNT),),
    )
    assert present(query, [[3, 2, 1], [1, 1, 0]]) == [["north"], ["south"]]


def test_a_key_is_ordered_as_declared_and_null_is_last():
    cells = ((None,), ("south",), ("north",))
    by_key = OrderTerm(KeyShown(0))
    assert ordered(by_key, cells=cells) == ["south", "north", None]
    assert ordered(by_key) == ["south", "north", None]


def test_a_key_descending_is_the_reverse_of_declared_and_null_is_last():
    assert ordered(OrderTerm(KeyShown(0), descending=True)) == ["north", "south", None]


def test_null_is_first_where_it_is_asked_first():
    for descending in (False, True):
        term = OrderTerm(KeyShown(0), descending=descending, nulls_first=True)
        assert ordered(term)[0] is None


def test_measures_are_ordered_by_number_and_not_by_text():
    counts = (9, -10, 100)
    assert ordered(OrderTerm(COUNT), counts=counts) == ["north", "south", None]
    descending = OrderTerm(COUNT, descending=True)
    assert ordered(descending, counts=counts) == [None, "south", "north"]


def test_null_averages_are_last_in_both_directions():
    for descending, names in ((False, ["north", None]), (True, [None, "north"])):
        query = compiled(
            [key(0)],
            [measure(), measure()],
            WARDS,
            order=(OrderTerm(AVERAGE, descending=descending),),
        )
        shown = present(query, [[5, 4, 9], [0, 2, 3]])
        assert [row[0] for row in shown] == [*names, "south"]


def test_quantiles_of_days_are_ordered_as_days():
    days = Bins(0, 30_000, 2, one_per_value=True, of_days=True)
    median = QuantileShown(0, Fraction(1, 2), days)
    query = compiled(
        [key(0)],
        [measure(size=2)],
        WARDS,
        order=(OrderTerm(median, descending=True),),
    )
    rows = present(query, [[1, 0, 0, 1, 0, 0]])
    assert rows == [["north"], ["south"], [None]]


def test_ties_keep_the_declared_order_in_both_directions():
    counts = (1, 1, 1)
    for descending in (False, True):
        term = OrderTerm(COUNT, descending=descending)
        assert ordered(term, counts=counts) == ["south", "north", None]


def test_the_first_term_counts_most():
    counts = (1, 1, 0)
    terms = (OrderTerm(COUNT), OrderTerm(KeyShown(0), descending=True))
    assert ordered(*terms, counts=counts) == [None, "north", "south"]


@pytest.mark.parametrize("limit", [0, 1, 3, 10])
def test_the_limit_cuts_after_having_and_order(limit):
    shown = wards(
        having=NoisyComparison(">", COUNT, 0),
        order=(OrderTerm(COUNT, descending=True),),
        limit=limit,
    )
    assert shown == [[None, 30], ["south", 7]][:limit]


def test_everything_that_a_condition_speaks_of_is_found():
    condition = All(
        (
            AnyOf((NoisyComparison("<", COUNT, AVERAGE), NoisyTruth(KeyShown(0)))),
            Negation(NoisyIn(NumberShown(4), (1,))),
            NoisyIsNull(KeyShown(1)),
            NoisyComparison("=", 1, NumberShown(5)),
        )
    )
    assert list(shown_in(condition)) == [
        COUNT,
        AVERAGE,
        KeyShown(0),
        NumberShown(4),
        KeyShown(1),
        NumberShown(5),
    ]


def test_everything_that_a_query_speaks_of_is_found():
    plain = compiled([key(0), number(0)], [measure()], WARDS)
    assert list(all_shown(plain)) == [KeyShown(0), COUNT]
    rich = compiled(
        [number(0)],
        [measure(), measure()],
        order=(OrderTerm(AVERAGE),),
        having=NoisyIsNull(NumberShown(1)),
    )
    assert list(all_shown(rich)) == [COUNT, AVERAGE, NumberShown(1)]


@given(
    counts=st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    sums=st.lists(st.integers(-3, 3), min_size=40, max_size=40),
    terms=st.lists(
        st.builds(
            OrderTerm,
            st.sampled_from([KeyShown(0), KeyShown(1), NumberShown(0), AVERAGE]),
            st.booleans(),
            st.booleans(),
        ),
        max_size=4,
    ),
)
def test_ordering_is_a_permutation_and_ordering_again_changes_nothing(
    counts, sums, terms
):
    cells = [(place % 5 or None, place) for place in range(len(counts))]
    vectors = [sums[: len(counts)], counts]

    def positions(order):
        query = compiled([key(1)], [measure(), measure()], cells, order=tuple(order))
        return [row[0] for row in present(query, vectors)]

    once = positions(terms)
    assert sorted(once) == list(range(len(counts)))
    assert positions([*terms, OrderTerm(KeyShown(1))]) == once  # stable
    assert positions([*terms, *terms]) == once


@given(
    order=st.permutations(range(6)),
    value=st.sampled_from([NumberShown(0), KeyShown(0)]),
)
def test_without_ties_and_nulls_descending_is_the_reverse(order, value):
    cells = [(f"k{n}",) for n in range(6)]
    up = ordered(OrderTerm(value), counts=order, cells=cells)
    down = ordered(OrderTerm(value, descending=True), counts=order, cells=cells)
    assert down == up[::-1]
