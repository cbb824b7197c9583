"""Parameters of strategies, and how a loss is divided without losing a nano."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from mechanisms.measuring.meter import Part
from mechanisms.samplers.biased_tests import path_factor
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.errors import ReleaseRefusedError
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.contract.strategies import Parameters

_LONGEST: Final = 100
"""Characters of a number."""

_LARGEST_POWER: Final = 30
"""The largest exponent of ten: a fraction beyond costs more the longer it is."""


def refuse_unknown(parameters: Parameters, known: Collection[str]) -> None:
    """Refuse parameters that a strategy does not have.

    Raises:
        ReleaseRefusedError: There is another name than the known ones.
    """
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        message = f"no such parameter: {', '.join(unknown)}; there are {sorted(known)}"
        raise ReleaseRefusedError(message)


def whole(parameters: Parameters, name: str, default: int, most: int) -> int:
    """Return a whole number in 1..most.

    Raises:
        ReleaseRefusedError: It is no such number.
    """
    value = parameters.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        message = f"{name} is a whole number from 1 to {most}"
        raise ReleaseRefusedError(message)
    return value


def share(parameters: Parameters, name: str, default: str) -> Fraction:
    """Return a share strictly between 0 and 1, exactly as it was written.

    Raises:
        ReleaseRefusedError: It is no such share.
    """
    exact = _exact(parameters.get(name, default))
    if exact is None or not 0 < exact < 1:
        message = f"{name} is a number strictly between 0 and 1"
        raise ReleaseRefusedError(message)
    return exact


def not_negative(parameters: Parameters, name: str, default: float) -> float:
    """Return a number from 0 up.

    Raises:
        ReleaseRefusedError: It is no such number.
    """
    value = parameters.get(name, default)
    exact = None if isinstance(value, str) else _exact(value)
    if exact is None or exact < 0:
        message = f"{name} is a number, 0 or more"
        raise ReleaseRefusedError(message)
    return float(exact)


def _exact(value: object) -> Fraction | None:
    """Return a number exactly as it was written; None where it is none of any use."""
    if isinstance(value, bool) or not isinstance(value, str | Decimal | float | int):
        return None
    try:
        text = str(value)
        ratio = "/" in text
        number = Decimal(0 if ratio else text)
        useless = not number.is_finite() or abs(number.adjusted()) > _LARGEST_POWER
        if useless or len(text) > _LONGEST:
            return None
        return Fraction(text) if ratio else Fraction(number)
    except (ValueError, ArithmeticError):
        return None


def refuse_large(domain: CubeDomain) -> None:
    """Refuse a domain whose cells cannot be held one by one.

    Raises:
        ReleaseRefusedError: There are more cells than that.
    """
    if domain.size > MAX_DENSE_CELLS:
        message = (
            f"{domain.size} cells are more than the {MAX_DENSE_CELLS} that this "
            "strategy can hold; take coarser dimensions, or sparse_cells"
        )
        raise ReleaseRefusedError(message)


def refuse_too_small(
    l1_sensitivity: int,
    loss: Loss,
    noise: Noise = LAPLACE,
    l2_squared: int | None = None,
) -> None:
    """Refuse, before any charge, a part that no noise could be had for.

    Args:
        l1_sensitivity: In grid steps.
        loss: Of the part.
        noise: That it is to buy.
        l2_squared: Of what it measures, where that is less than L1 squared.

    Raises:
        ReleaseRefusedError: The noise would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit.
    """
    try:
        noise.scale(moved_by(l1_sensitivity, l2_squared), loss)
    except InvalidLossError as error:
        word = "rho" if noise.has_l2 else "epsilon"
        message = f"a part of {word} {loss} is too small: {error}"
        raise ReleaseRefusedError(message) from error


def refuse_small_choices(
    sensitivity: int, parts: Sequence[Part], noise: Noise = LAPLACE
) -> None:
    """Refuse, before any charge, parts of which one would buy no choice by scores.

    Args:
        sensitivity: How far one unit moves any score.
        parts: Of choices.
        noise: Of the release.

    Raises:
        ReleaseRefusedError: The scale would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit; the scales are those of
    ``Meter.choose``.
    """
    moved = sensitivity if noise.has_l2 else 2 * sensitivity
    refuse_small_parts(moved, parts, noise)


def refuse_small_parts(
    l1_sensitivity: int, parts: Sequence[Part], noise: Noise = LAPLACE
) -> None:
    """Refuse, before any charge, parts of which one would buy no noise.

    Args:
        l1_sensitivity: Of what each part measures, in grid steps.
        parts: All of one sensitivity.
        noise: That they are to buy.

    Raises:
        ReleaseRefusedError: The noise would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit.
    """
    for part in parts:
        refuse_too_small(l1_sensitivity, part.loss, noise)


def refuse_small_tests(l1_sensitivity: int, fanout: int, loss: Loss) -> None:
    """Refuse, before any charge, a part that no biased tests could be had for.

    Args:
        l1_sensitivity: Of the nodes of one depth, in grid steps.
        fanout: Of the tests.
        loss: Of the part.

    Raises:
        ReleaseRefusedError: The noise would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit; the factor is that of
    docs/proofs/privtree.md.
    """
    factor = path_factor(fanout)
    refuse_too_small(
        l1_sensitivity * factor.numerator,
        Loss(loss.nano_epsilon * factor.denominator),
    )


def divide(loss: Loss, weights: Sequence[tuple[str, Fraction]]) -> tuple[Part, ...]:
    """Return parts in proportion to weights that sum to exactly the loss.

    Each part is rounded down; what is left over goes to the last one.

    Raises:
        ReleaseRefusedError: The loss is too small to be divided so.
    """
    whole_weight = sum(weight for _, weight in weights)
    nanos = [int(loss.nano_epsilon * weight / whole_weight) for _, weight in weights]
    nanos[-1] += loss.nano_epsilon - sum(nanos)
    if min(nanos) < 1:
        message = f"a loss of {loss} is too small to be divided into parts"
        raise ReleaseRefusedError(message)
    return tuple(
        Part(name, Loss(nano)) for (name, _), nano in zip(weights, nanos, strict=True)
    )
