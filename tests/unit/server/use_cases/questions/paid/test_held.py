"""How large numbers are at most, by sums that hold them."""

from fractions import Fraction
from types import SimpleNamespace

from mechanisms.scales.noises import LAPLACE
from query_lang.deriving.derivations import Taken
from server.use_cases.questions.paid import derived
from server.use_cases.questions.paid.derived import Held

MISS = Fraction(1, 10)
SOURCE = SimpleNamespace(
    scale=5.0, noise=LAPLACE, grid=SimpleNamespace(axes=[SimpleNamespace(parts="abc")])
)


def test_what_holds_many_cells_is_added_up_and_its_noise_looked_at_once(monkeypatch):
    looked_at, real = [], derived.sum_half_width

    def once(*given):
        looked_at.append(given)
        return real(*given)

    monkeypatch.setattr(derived, "sum_half_width", once)
    whole = Taken(0, Fraction(1), (0b111,))
    held = Held([SOURCE], [[[whole]] * 5_000 + [[]]])
    (cells,) = held.most({0: [10, 20, 30]}, MISS)
    reach = real([(Fraction(1), 5.0, 3)], MISS, LAPLACE.sums)
    assert set(cells[:-1]) == {int(60 + reach)}
    assert cells[-1] is None
    assert len(looked_at) == 1
