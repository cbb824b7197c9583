import re
from decimal import Decimal
from fractions import Fraction

import pytest

from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from server.use_cases.questions.requests import read_request


def body(**more):
    return {"sql": "SELECT 1", "epsilon": "0.1", **more}


def wish(**accuracy):
    return {"sql": "SELECT 1", "accuracy": accuracy}


def test_a_confidence_as_text_is_the_number():
    asked = [
        read_request(wish(within=1, confidence=given)).accuracy
        for given in ("0.9", "0.900", Decimal("0.9"))
    ]
    assert asked == [asked[0]] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        None, [], "x", 3, {}, {"sql": "x"}, {"epsilon": "1"},
        {"sql": 1, "epsilon": "1"},
        body(extra=1), body(accuracy={"within": 1, "confidence": Decimal("0.9")}),
        {"sql": "x", "epsilon": None}, {"sql": "x", "epsilon": True},
        {"sql": "x", "epsilon": ["1"]}, {"sql": "x", "accuracy": {}},
        {"sql": "x", "accuracy": {"within": 0, "confidence": Decimal("0.9")}},
        {"sql": "x", "accuracy": {"within": 1, "confidence": 1}},
        wish(within=1, confidence="95%"), wish(within=1, confidence="0.0"),
        wish(within=1, confidence="0." + "9" * 31), wish(within=1, confidence="1e-1"),
        {"sql": "x", "accuracy": {"within": "1", "confidence": Decimal("0.9")}},
        wish(relative="5%"), wish(relative="5%", within=1, at_least=1),
        wish(at_least=1),
        wish(relative=5, at_least=1), wish(relative="0%", at_least=1),
        wish(relative="101%", at_least=1), wish(relative="5", at_least=1),
        wish(within=1, cells="0%"), wish(within=1, cells=Decimal("0.9")),
        wish(within=1, at_most=True), wish(within=1, at_least=1), wish(within=1, x=1),
        wish(rows=100), wish(within=1, rows=0), wish(within=1, rows=10**9 + 1),
        wish(within=1, rows="100"), wish(within=1, rows=True),
        wish(within=1, rows=Decimal("100.0")), wish(within=1, rows=None),
        wish(relative="5%", at_least=1, rows=100),
        body(project=None), body(project=1), body(options=None), body(options={"x": 1}),
        body(options={"reuse": "maybe"}), body(options={"prefer": "answer"}),
        body(options={"weights": []}), body(options={"weights": {"a": 0}}),
        body(options={"weights": {"a": "1"}}), body(options={"weights": {"a": True}}),
        body(options={"bounds": {"tables": {"t": 0}}}),
        body(options={"bounds": {"tables": {"t": Decimal("1.5")}}}),
        body(options={"bounds": {"tables": {"t": Decimal("1.0")}}}),
        body(options={"bounds": {"max_rows_per_unit": True}}),
        body(options={"bounds": {"max_groups_per_unit": -1}}),
        body(options={"bounds": {"other": 1}}),
    ],
)  # fmt: skip
def test_bodies_of_the_wrong_form_are_refused(wrong):
    with pytest.raises(InvalidOptionError):
        read_request(wrong)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (wish(relative=5, at_least=1), 'write "5%"'),
        (wish(relative="5", at_least=1), 'write "5%"'),
        (wish(relative="0.05", at_least=1), 'write "5%"'),
        (wish(relative=Decimal("0.025"), at_least=1), 'write "2.5%"'),
        (wish(relative="1000", at_least=1), 'at most "100%"'),
        (wish(relative="5%"), "accuracy.at_least is missing"),
        (wish(relative="5%", at_least=1, rows=9), '{"within": 0.5, "rows": 100}'),
        (wish(within=1, rows=0), "from 1 to 1000000000"),
        (wish(relative="5%", within=1, at_least=1), "not both"),
    ],
)
def test_a_wrong_accuracy_is_answered_with_the_right_form(asked, words):
    with pytest.raises(InvalidOptionError, match=re.escape(words)):
        read_request(asked)


def test_an_accuracy_is_absolute_or_relative_for_each_cell_or_a_share():
    absolute = read_request(wish(within=20)).accuracy
    assert (absolute.within, absolute.confidence) == (20, Fraction(95, 100))
    assert (absolute.relative, absolute.cells, absolute.at_most) == (None, None, None)
    assert (absolute.rows, read_request(wish(within=1, rows=9)).accuracy.rows) == (
        None,
        9,
    )
    relative = read_request(
        wish(relative="2.5%", at_least=10, cells="90%", at_most="0.5")
    ).accuracy
    assert (relative.relative, relative.within) == (Fraction(1, 40), 10)
    assert (relative.cells, relative.at_most) == (Fraction(9, 10), "0.5")


@pytest.mark.parametrize(
    ("epsilon", "nano"),
    [("0.1", 10**8), (Decimal("0.1"), 10**8), (Decimal("1E-9"), 1), (2, 2 * 10**9)],
)
def test_losses_are_read_by_their_exact_value(epsilon, nano):
    assert read_request({"sql": "x", "epsilon": epsilon}).loss() == Loss(nano)


@pytest.mark.parametrize(
    "epsilon",
    [
        "", "NaN", "-1", "1e-3", "1/3", Decimal("1E-10"), Decimal(-1), -1, 10**6,
        Decimal("1E+999999999"), Decimal("1E-999999999"), Decimal("0.1000000001"),
    ],
)  # fmt: skip
def test_losses_off_the_grid_are_refused(epsilon):
    with pytest.raises(InvalidLossError):
        read_request({"sql": "x", "epsilon": epsilon}).loss()


def test_options_are_normalised_so_that_equal_questions_are_equal():
    one = read_request(body(options={"weights": {"b": 1, "a": Decimal("0.5")}}))
    two = read_request(body(options={"weights": {"a": Decimal("0.50"), "b": 1}}))
    assert one.weights == two.weights == (("a", Fraction(1, 2)), ("b", Fraction(1)))


def test_an_option_beside_options_is_told_where_it_stands():
    with pytest.raises(InvalidOptionError, match="bounds stands in options"):
        read_request(body(bounds={"tables": {"t": 1}}))
