"""What a pure mechanism costs, whatever its population counts."""

import pytest

from mechanisms.scales.conversions.pure import pure_ceil
from privacy.losses import Loss
from privacy.measures import PURE, zcdp


@pytest.mark.parametrize(
    ("epsilon", "rho"), [("0.1", "0.004995838"), ("1", "0.462117158")]
)
def test_an_epsilon_costs_itself_or_its_rho(epsilon, rho):
    loss = Loss.parse(epsilon)
    assert pure_ceil(PURE, loss) == loss
    assert pure_ceil(zcdp(Loss.parse("0.000001")), loss) == Loss.parse(rho)
