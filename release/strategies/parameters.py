"""Parameters of strategies, and how a loss is divided without losing a nano."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction

from mechanisms.meter import Part, laplace_scale
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from release.domain import CubeDomain
from release.errors import ReleaseRefusedError
from release.sealed_cube import MAX_DENSE_CELLS
from release.strategies.contract import Parameters


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
    value = parameters.get(name, default)
    if isinstance(value, str | Decimal | float) and not isinstance(value, bool):
        try:
            exact = Fraction(str(value))
        except ValueError:
            exact = Fraction(0)
        if 0 < exact < 1:
            return exact
    message = f"{name} is a number strictly between 0 and 1"
    raise ReleaseRefusedError(message)


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


def refuse_too_small(l1_sensitivity: int, loss: Loss) -> None:
    """Refuse, before any charge, a part that no noise could be had for.

    Args:
        l1_sensitivity: In grid steps.
        loss: Of the part.

    Raises:
        ReleaseRefusedError: The noise would be wider than mechanisms draw.

    Neighbouring relation: add or remove all rows of one unit.
    """
    try:
        laplace_scale(Fraction(l1_sensitivity), loss)
    except InvalidLossError as error:
        message = f"a part of epsilon {loss} is too small: {error}"
        raise ReleaseRefusedError(message) from error


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
        message = f"an epsilon of {loss} is too small to be divided into parts"
        raise ReleaseRefusedError(message)
    return tuple(
        Part(name, Loss(nano)) for (name, _), nano in zip(weights, nanos, strict=True)
    )
