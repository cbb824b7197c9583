"""What is computed of results: values against plain fractions, and their intervals."""

import math
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from query_lang.plans.compiled import ComputedShown, Operation, leaves
from query_lang.showing.confidence import intervals_of
from query_lang.showing.presentation import present
from server.use_cases.questions.noise_law import AnswerNoise
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

CONFIDENCE = Fraction(95, 100)


def compiled(selected, rest="", cells=None):
    query = compile_query(f"SELECT {selected} FROM encounters {rest}", HOSPITAL)
    if cells is None:
        return query
    return replace(query, rendered=replace(query.rendered, cells=((),) * cells))


def shown(selected, *vectors, rest=""):
    """Return the one value of an answer of one cell."""
    ((value,),) = present(compiled(selected, rest), [[v] for v in vectors])
    return value


def interval(selected, *vectors, scale=10.0):
    query = compiled(selected)
    noise = AnswerNoise((scale,) * len(vectors))
    (column,) = intervals_of(query, [[v] for v in vectors], noise, CONFIDENCE)
    return column.rows[0]


@pytest.mark.parametrize(
    ("selected", "vectors", "value"),
    [
        ("COUNT(*) * 2 AS x", (21,), 42),
        ("-COUNT(*) AS x", (21,), -21),
        ("COUNT(*) / 10 AS x", (21,), "2.100000"),
        ("COUNT(age) / COUNT(*) AS x", (1, 3), "0.333333"),
        ("100.0 * COUNT(age) / COUNT(*) AS x", (2, 3), "66.666667"),
        ("ROUND(100.0 * COUNT(age) / COUNT(*), 1) AS x", (2, 3), "66.7"),
        ("100.0 * COUNT(*) AS x", (2,), "200.0"),
        ("ROUND(COUNT(*) / 2) AS x", (5,), 3),
        ("ROUND(-COUNT(*) / 2) AS x", (5,), -3),
        ("ROUND(AVG(age), 1) AS x", (10, 4), "2.5"),
        ("FLOOR(-COUNT(*) / 2) AS x", (5,), -3),
        ("CEIL(-COUNT(*) / 2) AS x", (5,), -2),
        ("CEILING(COUNT(*) / 10) AS x", (41,), 5),
        ("TRUNC(-COUNT(*) / 2) AS x", (5,), -2),
        ("TRUNC(AVG(age), 1) AS x", (11, 4), "2.7"),
        ("FLOOR(COUNT(*)) AS x", (5,), 5),
        ("SUM(dose) * 2 AS x", (125,), "25.0"),
        ("SUM(dose) * 0.5 AS x", (125,), "6.25"),
        ("GREATEST(COUNT(*), 0) AS x", (-4,), 0),
        ("LEAST(COUNT(*), 100) AS x", (4,), 4),
        ("ABS(COUNT(*) - COUNT(age)) AS x", (4, 9), 5),
        ("COALESCE(COUNT(age) / COUNT(*), 0) AS x", (4, 0), "0.000000"),
        ("COUNT(age) / NULLIF(COUNT(*), 0) AS x", (4, 8), "0.500000"),
        ("COUNT(age) / NULLIF(COUNT(*), 0) AS x", (4, 0), None),
        ("LN(COUNT(*)) AS x", (10,), "2.302585"),
        ("LN(COUNT(*)) AS x", (0,), None),
        ("EXP(COUNT(*) / 10) AS x", (20,), "7.389056"),
        ("EXP(COUNT(*)) AS x", (10**6,), None),
        ("EXP(COUNT(*)) AS x", (-(10**6),), "0.000000"),
        ("SQRT(COUNT(*)) AS x", (2,), "1.414214"),
        ("SQRT(COUNT(*)) AS x", (-2,), None),
        ("COUNT(*) * COUNT(*) AS x", (10**16,), None),
    ],
)
def test_what_is_computed_is_what_is_shown(selected, vectors, value):
    assert shown(selected, *vectors) == value


@pytest.mark.parametrize(
    ("selected", "vectors"),
    [
        ("COUNT(age) / COUNT(*) AS x", (4, 0)),
        ("COUNT(age) / COUNT(*) AS x", (4, -3)),
        ("COUNT(age) / (COUNT(*) / 1000.0) AS x", (4, 0)),
        ("COUNT(*) / (COUNT(*) + COUNT(age)) AS x", (3, -4)),
        ("COUNT(*) / SUM(age) AS x", (3, -4)),
        ("COUNT(*) / AVG(level - 1) AS x", (3, 0, 4)),
        ("COUNT(*) / (COUNT(*) - COUNT(age)) AS x", (3, 3)),
    ],
)
def test_what_cannot_divide_in_truth_makes_null(selected, vectors):
    assert shown(selected, *vectors) is None


def test_what_may_be_negative_divides_though_it_is():
    assert shown("COUNT(*) / (COUNT(*) - COUNT(age)) AS x", 3, 9) == "-0.500000"
    assert shown("COUNT(*) / (COUNT(*) / 1000.0) AS x", 500) == "1000.000000"


@pytest.mark.parametrize("seed", range(200))
def test_what_is_computed_is_what_fractions_say(seed):
    """Random trees over three counts, evaluated by Python's own operators."""
    rng = random.Random(seed)
    names = ("COUNT(*)", "COUNT(age)", "COUNT(DISTINCT patient_id)")
    counts = [rng.randint(1, 50) for _ in names]
    used = {}

    def tree(depth):
        if depth == 0 or rng.random() < 0.2:
            if rng.random() < 0.3:
                number = rng.randint(1, 9)
                return str(number), Fraction(number)
            place = rng.randrange(3)
            used.setdefault(place, counts[place])
            return names[place], Fraction(counts[place])
        left, right = tree(depth - 1), tree(depth - 1)
        sign = rng.choice("+-*/")
        one, other = left[1], right[1]
        if None in (one, other) or (sign == "/" and other == 0):
            value = None
        else:
            value = {
                "+": one + other,
                "-": one - other,
                "*": one * other,
                "/": one / other if sign == "/" else 0,
            }[sign]
        return f"({left[0]} {sign} {right[0]})", value

    text, value = tree(4)
    if not used:
        return
    negative_divisors = value is not None and "/" in text and "-" in text
    found = shown(f"{text} * 1.000000 AS x", *used.values())
    if negative_divisors and found is None:
        return  # a divisor that cannot be negative in truth
    if value is None or abs(value) > 10**30:
        assert found is None
    else:
        assert abs(Fraction(found) - value) <= Fraction(1, 2 * 10**6)


def test_having_and_order_by_read_what_is_computed_by_alias_or_written_out():
    query = compiled(
        "ward, ROUND(100.0 * COUNT(age) / COUNT(*), 0) AS share",
        "GROUP BY ward HAVING share > 10 ORDER BY COUNT(age) / COUNT(*) DESC LIMIT 2",
    )
    cells = len(query.rendered.cells)
    over = list(range(1, cells + 1))
    rows = present(query, [over, [10] * cells])
    assert [row[1] for row in rows] == [10 * n for n in over if n > 1][::-1][:2]
    assert len(query.measures) == 2


def test_a_computed_column_has_a_type_and_unit_of_its_own():
    query = compiled(
        "COUNT(*) + COUNT(age) AS a, COUNT(*) / COUNT(DISTINCT patient_id) AS b, "
        "COUNT(*) / COUNT(age) AS c, 2 * COUNT(*) AS d, ROUND(AVG(age), 2) AS e, "
        "SUM(dose) / COUNT(*)"
    )
    told = [(c.name, c.type.value, c.scale, c.unit) for c in query.columns]
    assert told == [
        ("a", "integer", 0, "rows"),
        ("b", "decimal", 6, "rows per patient"),
        ("c", "decimal", 6, None),
        ("d", "integer", 0, None),
        ("e", "decimal", 2, None),
        ("computed", "decimal", 6, None),
    ]


def test_whole_numbers_divided_warn_that_nothing_is_cut():
    codes = [w.code for w in compiled("COUNT(age) / COUNT(*) AS x").warnings]
    assert codes == ["exact_division"]
    assert not compiled("100.0 * COUNT(age) / COUNT(*) AS x").warnings
    for cast in ("COUNT(age)::numeric / COUNT(*)", "COUNT(age) / COUNT(*)::float"):
        assert not compiled(f"{cast} AS x").warnings
    assert not compiled("(COUNT(age) * COUNT(*))::numeric / COUNT(*) AS x").warnings


def test_a_sum_of_counts_over_groups_is_a_numeric_elsewhere_too():
    sql = (
        "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share, COUNT(*) AS n "
        "FROM encounters GROUP BY ward"
    )
    assert "exact_division" not in {
        w.code for w in compile_query(sql, HOSPITAL).warnings
    }


def test_a_weight_goes_to_the_vectors_of_a_computed_column():
    query = compile_query(
        "SELECT COUNT(age) / COUNT(*) AS share, COUNT(DISTINCT patient_id) AS n "
        "FROM encounters",
        HOSPITAL,
        weights={"share": Fraction(4)},
    )
    assert [m.weight for m in query.measures] == [2, 2, 1]


# -- intervals -------------------------------------------------------------------


def test_a_sum_has_its_half_width_on_either_side():
    assert interval("COUNT(*) * 2 AS x", 100) == ("140", "260")
    assert interval("COUNT(*) - COUNT(age) AS x", 100, 90) == ("-32", "52")


def test_a_number_over_itself_has_no_noise():
    query = compiled("COUNT(*) / COUNT(*) AS x, COUNT(*) - COUNT(*) AS y")
    noise = AnswerNoise((10.0,))
    columns = intervals_of(query, [[50]], noise, CONFIDENCE)
    assert [column.rows for column in columns] == [(None,), (None,)]


def test_a_share_lies_between_0_and_1():
    low, high = interval("COUNT(*) / (COUNT(*) + COUNT(age)) AS x", 40, 3)
    assert 0 < Decimal(low) < Decimal("0.93") < Decimal(high) == 1


def test_noise_that_both_have_counts_once():
    low, high = interval("(COUNT(*) - COUNT(age)) / COUNT(*) AS x", 500, 20)
    other = interval("COUNT(age) / COUNT(*) AS x", 20, 500)
    assert (1 - Fraction(high), 1 - Fraction(low)) == pytest.approx(
        [float(Fraction(end)) for end in other], abs=2e-6
    )


def test_an_odds_ratio_has_two_parts():
    """Each ratio has 97.5 %: narrower than four numbers with 98.75 % each."""
    vectors = (100, 900, 50, 950)
    a, b, c, d = (f"COUNT(CASE WHEN age < {n} THEN 1 END)" for n in (9, 19, 29, 39))
    low, high = interval(f"({a} * {d}) / ({b} * {c}) AS x", *vectors_in(a, d, b, c))
    width = math.log(Fraction(high) / Fraction(low))
    each = -math.log(0.0125) * 10
    naive = sum(math.log((v + each) / (v - each)) for v in vectors)
    assert 0 < width < 0.8 * naive


def vectors_in(*_):
    """The numbers of a, d, b and c, in the order in which they are written."""
    return (100, 950, 900, 50)


def test_where_null_is_shown_or_a_number_of_the_text_there_is_no_interval():
    assert interval("COUNT(age) / COUNT(*) AS x", 4, 0) is None
    assert interval("COALESCE(NULL, 5, COUNT(*)) AS x", 40) is None


@pytest.mark.parametrize(
    ("selected", "numbers", "held"),
    [
        ("COALESCE(COUNT(age) / COUNT(*), 700)", (400, 9), 700),
        ("COALESCE(COUNT(age) / COUNT(*), -1)", (4, 0), Fraction(4, 3)),
        ("COALESCE(AVG(age), 700)", (90, 3), 700),
        ("COALESCE(NULLIF(COUNT(*), 12), 700)", (9,), 700),
        ("COALESCE(LN(COUNT(*) - 30), 700)", (40,), 700),
        ("COALESCE(SQRT(COUNT(*) - 30), 700)", (40,), 700),
        ("COALESCE(EXP(COUNT(*)), 700)", (50,), 700),
        ("GREATEST(COUNT(age) / COUNT(*), -5)", (400, 9), -5),
        ("LEAST(COUNT(age) / COUNT(*), 700)", (400, 9), 700),
    ],
)
def test_what_noise_shows_may_be_null_in_truth_and_the_other_way_round(
    selected, numbers, held
):
    low, high = interval(f"{selected} AS x", *numbers)
    assert low is None or Fraction(low) <= held
    assert high is None or held <= Fraction(high)


def test_what_is_surely_not_null_is_shown_as_it_is():
    """The divisor's interval is one of two, so that both are wider than one alone."""
    first = interval("COALESCE(COUNT(age) / COUNT(*), -50) AS x", 400, 900)
    alone = interval("COUNT(age) / COUNT(*) AS x", 400, 900)
    assert 0 < Fraction(first[0]) < Fraction(alone[0])
    assert Fraction(alone[1]) < Fraction(first[1]) < Fraction("0.6")


def test_an_end_that_noise_does_not_bound_is_open():
    low, high = interval("COUNT(age) / COUNT(*) AS x", 400, 5)
    assert Decimal(low) > 5
    assert high is None


def test_functions_of_one_part_move_its_ends():
    low, high = interval("COUNT(age) / COUNT(*) AS x", 300, 500)
    lower, higher = interval("LN(COUNT(age) / COUNT(*)) AS x", 300, 500)
    assert float(lower) == pytest.approx(math.log(float(low)), abs=2e-6)
    assert float(higher) == pytest.approx(math.log(float(high)), abs=2e-6)


def test_what_cuts_digits_moves_the_ends_of_an_interval():
    low, high = interval("COUNT(*) / 7 AS x", 100)
    for name, cut in (
        ("FLOOR", math.floor),
        ("CEIL", math.ceil),
        ("TRUNC", math.trunc),
    ):
        found = interval(f"{name}(COUNT(*) / 7) AS x", 100)
        assert list(map(int, found)) == [cut(Decimal(low)), cut(Decimal(high))]


def test_each_vector_is_named_once_among_what_is_computed():
    (column,) = compiled("COUNT(*) / (COUNT(*) + COUNT(age)) AS x").columns
    assert isinstance(column.shown, ComputedShown)
    assert column.shown.operation is Operation.DIVIDE
    assert len(list(leaves(column.shown))) == 3
