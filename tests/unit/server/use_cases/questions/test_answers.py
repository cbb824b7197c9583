import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from budget.charging.splices import Splice, joined
from mechanisms.scales.half_widths import half_width
from mechanisms.scales.pricing import price
from privacy.errors import InvalidOptionError
from privacy.losses import Loss
from privacy.schema import ColumnType
from query_lang.binding.bind import ResolvedQuery
from query_lang.normalising.questions import NormalQuestion
from query_lang.plans.compiled import (
    AverageShown,
    Bins,
    KeyShown,
    NoisyComparison,
    NumberShown,
    OrderTerm,
    QuantileShown,
    WindowShown,
)
from query_lang.syntax.nodes import Position
from server.use_cases.questions.answers import (
    answer_document,
    free_pieces,
    plan_document,
)
from server.use_cases.questions.paid.documents import _intervals
from server.use_cases.questions.questions import Question
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.prices import priced_wish
from server.use_cases.questions.wishes.ranges import LossRange
from server.use_cases.services.documents import encode
from tests.support.data.answers import WIDE, column, compiled, key, measure, number


def test_an_interval_of_a_derived_count_holds_nothing_below_0():
    told = _intervals(number("n", 0), [-9, 5], [4, 7], [0, 1], never_negative=True)
    assert told["rows"] == [["0", "0"], ["0", "12"]]
    told = _intervals(number("n", 0), [-9], [4], [0], never_negative=False)
    assert told["rows"] == [["-13", "-5"]]


DAYS = Bins(0, 10, 2, one_per_value=False, of_days=True)
MEDIAN_DAY = QuantileShown(2, Fraction(1, 2), DAYS)
CELLS = ((Decimal("0.5"),), (Decimal("1.5"),), (None,))
LOSSES = LossRange(Loss.parse("0.001"), Loss.parse("5"))
REMAINING = {"project": "4", "principal": None}
LEFT = {"project": "3.5", "principal": None}


def question(columns, measures, cells=((),), **presentation):
    query = compiled(columns, measures, cells, **presentation)
    event = price(
        [m.sensitivity for m in measures], [m.weight for m in measures], Loss.parse("1")
    )
    bound = ResolvedQuery(None, Position(1, 1))  # no release is asked in its place
    normal = NormalQuestion("sources", (), ())
    told = "s_1", "patient", normal, "identity", "former", "text"
    return Question(bound, query, event, LOSSES, *told)


def every_kind(**presentation):
    return question(
        [
            key(0, "dose", ColumnType.DECIMAL),
            number(0),
            column(AverageShown(1, 0, *WIDE), "mean"),
            column(MEDIAN_DAY, "middle", ColumnType.DATE),
        ],
        [measure(), measure(scale=1), measure(size=2)],
        CELLS,
        **presentation,
    )


VECTORS = [[4, 2, 0], [25, -10, 5], [1, 0, 0, 1, -1, 0]]


def answered(asked, vectors=VECTORS):
    return answer_document(
        asked, query_id="q_1", noisy_vectors=vectors, remaining=REMAINING
    )


def test_rows_are_numbers_strings_and_null_alone():
    body = json.loads(encode(answered(every_kind())))
    assert body["rows"] == [
        ["0.5", 4, "0.625000", "1970-01-03"],
        ["1.5", 2, "-0.500000", "1970-01-08"],
        [None, 0, None, None],
    ]
    assert [column["type"] for column in body["columns"]] == [
        "decimal",
        "integer",
        "decimal",
        "date",
    ]


def test_an_average_has_two_parts_in_the_noise():
    parts = [(n["column"], n.get("part")) for n in answered(every_kind())["noise"]]
    assert parts == [("n", None), ("mean", "sum"), ("mean", "count"), ("middle", None)]


def test_a_plan_counts_all_cells_whatever_is_shown_of_them():
    asked = every_kind(limit=1, having=NoisyComparison(">", NumberShown(0), 1))
    body = plan_document(asked, affordable=True, remaining=REMAINING)
    assert body["cells"] == 3
    assert body["noise"] == answered(every_kind())["noise"]
    assert len(answered(asked)["rows"]) == 1


def test_half_widths_and_intervals_of_chosen_rows_hold_after_the_choice():
    order = (OrderTerm(NumberShown(0), descending=True, nulls_first=False),)
    by_key = (OrderTerm(KeyShown(0), descending=True, nulls_first=False),)
    mean = column(AverageShown(1, 0, -1_000, 1_000), "mean")
    vectors = [[400, 2, 0], [2_500, -10, 5]]

    def told(**presentation):
        columns, measures = [key(0), number(0), mean], [measure(), measure(scale=1)]
        asked = question(columns, measures, CELLS, **presentation)
        return asked, answered(asked, vectors)

    _, whole = told()
    for chosen in (
        {"having": NoisyComparison(">", NumberShown(0), 9)},
        {"order": order},
    ):
        asked, body = told(limit=1, **chosen)
        steps = half_width(asked.event.vectors[0].scale, 1 - Fraction(1, 60))
        assert body["noise"][0]["half_width_95"] == str(steps)
        assert len(body["rows"]) == 1
        (low, high), *_ = body["intervals"][0]["rows"]
        (all_low, all_high), *_ = whole["intervals"][0]["rows"]
        assert Decimal(low) < Decimal(all_low) < Decimal(all_high) < Decimal(high)
    for unchosen in ({"limit": 1, "order": by_key}, {"order": order}):
        assert told(**unchosen)[1]["noise"] == whole["noise"]


@pytest.mark.parametrize(
    ("name", "operator", "least"),
    [("row_number", "<=", 2), ("rank", "<=", 2), ("rank", "=", 1), ("lag", "<=", 1)],
)
def test_windows_by_which_noise_of_one_row_chooses_others_widen_all(
    name, operator, least
):
    order = (OrderTerm(NumberShown(0), descending=True, nulls_first=False),)
    operand = NumberShown(0) if name == "lag" else None
    window = WindowShown(name, operand, (), order, (None, 0), False, 1, None, 0)
    kept = NoisyComparison(operator, window, 2 if name != "lag" else 400)
    asked = question([key(0), number(0)], [measure()], CELLS, kept=kept)
    body = answered(asked, [[400, 2, 2]])
    assert len(body["rows"]) >= least
    part = Fraction(least, len(CELLS))
    steps = half_width(asked.event.vectors[0].scale, 1 - part / 20)
    assert body["noise"][0]["half_width_95"] == str(steps)


def test_of_rows_that_noise_chose_few_are_wrong():
    generator = np.random.default_rng(3)
    cells = tuple((Decimal(n),) for n in range(100))
    order = (OrderTerm(NumberShown(0), descending=True, nulls_first=False),)
    asked = question([key(0), number(0)], [measure()], cells, limit=5, order=order)
    missed = before = 0
    for _ in range(200):
        first, second = generator.geometric(1 - np.exp(-1.0), (2, 100))
        told = answered(asked, [(50 + first - second).tolist()])
        off = [abs(row[1] - 50) for row in told["rows"]]
        missed += sum(each > float(told["noise"][0]["half_width_95"]) for each in off)
        before += sum(each > half_width(1.0, Fraction(95, 100)) for each in off)
    assert missed < 70
    assert before > 200


def test_a_plan_says_what_the_rest_would_bring_only_where_it_is_shown():
    asked = every_kind()

    def attainable(affordable, **remaining):
        body = plan_document(asked, affordable=affordable, remaining=remaining)
        return body["attainable"]

    assert attainable(True, project="0.5", principal=None) is None
    assert attainable(False, project="4", principal=None) is None  # a hidden limit
    assert attainable(False, project="0.0009", principal=None) is None
    told = attainable(False, project="0.5", principal="0.25")
    assert told["epsilon"] == "0.25"
    scales = [float(n["scale"]) for n in told["noise"]]
    whole = [float(n["scale"]) for n in answered(asked)["noise"]]
    assert scales == pytest.approx([4 * scale for scale in whole])


def test_a_plan_predicts_errors_of_averages_and_quantiles():
    body = plan_document(every_kind(), affordable=True, remaining=REMAINING)
    assert [(e["column"], e["of"]) for e in body["expected"]] == [
        ("mean", "value"),
        ("middle", "share"),
    ]
    assert all(len(e["counted"]) == len(e["half_widths"]) for e in body["expected"])


def test_a_free_answer_has_the_stored_rows_and_noise():
    asked = every_kind(order=(OrderTerm(NumberShown(0)),))
    stored = encode(answered(asked))
    pieces = free_pieces(stored, asked, query_id="q_22", remaining=LEFT)
    assert joined(pieces, stored) == encode(
        {
            **json.loads(stored),
            "query_id": "q_22",
            "charge": {"epsilon": "0", "delta": "0", "reused": True},
            "remaining": LEFT,
        }
    )


def test_a_free_answer_to_other_words_speaks_of_them():
    asked = every_kind()
    stored = encode(answered(asked))
    words = 'as é, "charge": {"epsilon": "9", "derivation": "'
    said = replace(asked, compiled=replace(asked.compiled, derivation=words))
    pieces = free_pieces(stored, said, query_id="q_2", remaining=LEFT)
    first = joined(pieces, stored)
    assert json.loads(first)["derivation"] == words
    assert json.loads(first)["rows"] == json.loads(stored)["rows"]
    paid = encode(answered(said))
    again = free_pieces(paid, said, query_id="q_2", remaining=LEFT)
    assert joined(again, paid) == first


def test_what_is_kept_of_a_free_answer_does_not_grow_with_its_rows():
    def kept(cells):
        asked = question(
            [key(0, "dose", ColumnType.INTEGER), number(0)],
            [measure()],
            tuple((cell,) for cell in range(cells)),
        )
        stored = encode(answered(asked, [range(cells)]))
        pieces = free_pieces(stored, asked, query_id="q_2", remaining=LEFT)
        return len(stored), len(Splice.of(joined(pieces, stored), pieces).encode())

    (small, few), (large, many) = kept(10), kept(5_000)
    assert large > 100 * small
    assert few < 500
    assert many < few + 20  # the digits of where ranges end


def test_keys_of_every_type_are_written_as_json():
    cells = ((date(2024, 1, 2), True, 7),)
    kinds = (ColumnType.DATE, ColumnType.BOOLEAN, ColumnType.INTEGER)
    columns = [key(index, f"k{index}", kind) for index, kind in enumerate(kinds)]
    rows = answered(question(columns, [measure()], cells), [[5]])["rows"]
    assert rows == [["2024-01-02", True, 7]]


def wished(query, within):
    """Return the noise that an accuracy buys."""
    wish = Accuracy(Fraction(within), Fraction(95, 100))
    loss = priced_wish(query, LOSSES, wish, lambda _: None).loss
    measures = query.measures
    return price([m.sensitivity for m in measures], [m.weight for m in measures], loss)


def test_an_accuracy_is_in_the_unit_of_each_column():
    query = question(
        [number(0), number(1, "grams", ColumnType.DECIMAL, 2)],
        [measure(), measure(scale=2, l1=100)],
    ).compiled
    event = wished(query, 20)
    rows, grams = (half_width(v.scale, Fraction(95, 100)) for v in event.vectors)
    assert (rows, grams) <= (20, 2_000)
    assert grams > 1_900


@pytest.mark.parametrize(
    "asked",
    [
        question([column(AverageShown(0, 1, *WIDE))], [measure(), measure()]),
        question(
            [number(0)],
            [measure(), measure(), measure(size=2)],
            order=(OrderTerm(MEDIAN_DAY),),
        ),
        question(
            [number(0)],
            [measure(), measure()],
            having=NoisyComparison(">", AverageShown(0, 1, *WIDE), 3),
        ),
    ],
)
def test_an_accuracy_without_rows_is_for_counts_and_sums(asked):
    with pytest.raises(InvalidOptionError, match=r"how many values|for a quantile"):
        wished(asked.compiled, 20)
