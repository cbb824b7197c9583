from decimal import Decimal
from fractions import Fraction

import pytest

from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from server.use_cases.questions.requests import read_request


def body(**more):
    return {"sql": "SELECT 1", "epsilon": "0.1", **more}


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
        {"sql": "x", "accuracy": {"within": "1", "confidence": Decimal("0.9")}},
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
