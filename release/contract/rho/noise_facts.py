"""What a manifest says of a model's noise, where it is not discrete Laplace noise."""

from collections.abc import Mapping
from typing import Final

from mechanisms.scales.noises import GAUSSIAN, LAPLACE, Noise
from release.contract.models import PublicFacts

NOISE: Final = "noise"
_KINDS: Final[Mapping[str, Noise]] = {
    noise.mechanism: noise for noise in (LAPLACE, GAUSSIAN)
}


def noise_facts(noise: Noise) -> PublicFacts:
    """Return the member that names Gaussian noise; Laplace noise goes without saying.

    Manifests of releases that were paid in epsilon are so what they always were.
    """
    return {NOISE: noise.mechanism} if noise.has_l2 else {}


def noise_in(facts: Mapping[str, object]) -> Noise:
    """Return the kind of noise that a model's facts name.

    Raises:
        KeyError: There is no such kind.
    """
    return _KINDS[str(facts.get(NOISE, LAPLACE.mechanism))]
