"""More precision is measured for what it is short of, and for no less."""

from dataclasses import replace
from fractions import Fraction

import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.refined_laplace import Shown, can_refine, refine_event
from mechanisms.samplers.queries import QuerySampler
from mechanisms.scales.pricing import price
from privacy.charges import Charge
from privacy.events import VectorSensitivity
from privacy.losses import Loss
from privacy.measures import zcdp
from privacy.sealed import Exact
from tests.support.noise.samplers import ZeroSampler

ONE = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))
TWO = VectorSensitivity(Fraction(2), Fraction(4), Fraction(2))


def event_at(text, *sensitivities):
    sensitivities = sensitivities or (ONE,)
    return price(sensitivities, [Fraction(1)] * len(sensitivities), Loss.parse(text))


def refine(shown, event, paid, vectors=((5, 7),), sampler=None):
    sealed = [Exact(vector) for vector in vectors]
    charge = Charge("q", Loss.parse(paid))
    return refine_event(sealed, shown, event, charge, sampler or ZeroSampler())


def test_the_difference_pays_for_it():
    shown = Shown(event_at("0.2"), [[6, 6]])
    assert refine(shown, event_at("0.5"), "0.3") == [[5, 7]]


@pytest.mark.parametrize("paid", ["0.299999999", "0.1"])
def test_less_than_the_difference_opens_no_seal(paid):
    shown = Shown(event_at("0.2"), [[6, 6]])
    with pytest.raises(UnpaidMeasurementError):
        refine(shown, event_at("0.5"), paid)


def test_several_vectors_are_refined_by_their_own_scales():
    shown = Shown(event_at("0.2", ONE, TWO), [[6, 6], [9, 9]])
    found = refine(shown, event_at("0.5", ONE, TWO), "0.3", ((5, 7), (1, 2)))
    assert found == [[5, 7], [1, 2]]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (event_at("0.5"), event_at("0.51")),  # hardly more
        (event_at("0.5"), event_at("0.4")),  # less
        (event_at("0.2"), event_at("0.5", TWO)),  # another sensitivity
        (event_at("0.2"), event_at("0.5", ONE, ONE)),  # another number of vectors
    ],
)
def test_what_is_not_the_same_request_is_not_refined(before, now):
    assert not can_refine(before, now)
    with pytest.raises(UnpaidMeasurementError):
        refine(Shown(before, [[6, 6]]), now, "5")


def test_gaussian_noise_is_not_refined_so():
    rho = zcdp(Loss.parse("0.000001"))
    events = [price([ONE], [Fraction(1)], Loss.parse(n), rho) for n in ("0.2", "0.5")]
    assert not can_refine(*events)


def test_a_scale_that_spends_more_than_its_part_opens_no_seal():
    now = event_at("0.5")
    (vector,) = now.vectors
    finer = replace(now, vectors=(replace(vector, scale=vector.scale / 2),))
    with pytest.raises(UnpaidMeasurementError):
        refine(Shown(event_at("0.2"), [[6, 6]]), finer, "0.3")


def test_numbers_that_do_not_match_open_no_seal():
    with pytest.raises(UnpaidMeasurementError):
        refine(Shown(event_at("0.2"), []), event_at("0.5"), "0.3")


def test_the_real_sampler_refines_each_number_by_its_own_noise():
    """At a tiny scale next to nothing is left of the noise that was shown."""
    shown = Shown(event_at("0.2"), [[6, 6]])
    found = refine(shown, event_at("50"), "49.8", sampler=QuerySampler())
    assert found == [[5, 7]]
