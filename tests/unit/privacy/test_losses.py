import pytest

from privacy.errors import InvalidLossError
from privacy.losses import Loss


@pytest.mark.parametrize(
    "text", ["0.1", "0.1251", "5", "0.000000001", "999999.999999999"]
)
def test_losses_survive_the_wire(text):
    assert str(Loss.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "-1", "+1", "NaN", "inf", "1e-3", ".5", "1.", "0.0000000001", "1234567", "٣",
     "1_0", " 1", "1\n", "0x1", "1,5"],
)  # fmt: skip
def test_losses_off_the_grammar_are_refused(text):
    with pytest.raises(InvalidLossError):
        Loss.parse(text)


def test_losses_below_zero_cannot_exist():
    with pytest.raises(ValueError, match="a loss must lie"):
        Loss(-1)
