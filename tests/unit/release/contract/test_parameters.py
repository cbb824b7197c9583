"""Numbers in a strategy's parameters come from people, as text, ints or decimals."""

from decimal import Decimal
from fractions import Fraction

import pytest

from release.contract.errors import ReleaseRefusedError
from release.contract.parameters import not_negative, share
from release.cubes.strategies.partitions.dpcube import DPCube
from tests.support.noise.meters import domain_of, epsilon

BEYOND_USE = [
    "1e-10000000",
    Decimal("1e-10000000"),
    Decimal("NaN"),
    Decimal("Infinity"),
    "1/0",
    "1/" + "9" * 5_000,
    "0." + "1" * 1_000_000,
    10**5_000,
    float("nan"),
    float("inf"),
    "",
    "half",
    None,
    True,
    [],
]


@pytest.mark.parametrize("value", BEYOND_USE, ids=lambda value: str(type(value)))
def test_a_number_that_is_none_or_beyond_use_is_refused_at_once(value):
    with pytest.raises(ReleaseRefusedError):
        share({"s": value}, "s", "0.5")
    with pytest.raises(ReleaseRefusedError):
        not_negative({"s": value}, "s", 1.0)


@pytest.mark.parametrize("value", ["0.1", Decimal("0.1"), 0.1, "1/10", "1e-1"])
def test_a_share_is_exactly_what_was_written(value):
    assert share({"s": value}, "s", "0.5") == Fraction(1, 10)


@pytest.mark.parametrize("value", ["0", "1", 1, "-0.1", 1.5])
def test_a_share_lies_strictly_between_nothing_and_all(value):
    with pytest.raises(ReleaseRefusedError):
        share({"s": value}, "s", "0.5")


@pytest.mark.parametrize("threshold", [0, 2, 2.5, Decimal("2.5")])
def test_a_threshold_may_be_any_number_as_bodies_are_read(threshold):
    assert DPCube().parts(domain_of(9, 9), epsilon("1"), {"gain_threshold": threshold})


@pytest.mark.parametrize("parameters", [{"split_rule": ["x"]}, {"split_rule": {}}])
def test_a_rule_that_is_no_name_is_refused(parameters):
    with pytest.raises(ReleaseRefusedError):
        DPCube().parts(domain_of(9, 9), epsilon("1"), parameters)
