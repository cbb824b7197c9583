"""Several releases for one loss: how it divides, exactly."""

from collections.abc import Sequence
from typing import Final

from privacy.errors import CuratorError
from privacy.losses import Loss
from privacy.wording import counted

MOST: Final = 1_000_000


class SharesRefusedError(CuratorError):
    """Shares are not what a loss can be divided by."""

    code = "refused"


def read_shares(text: str) -> tuple[int, ...]:
    """Read shares such as ``1:1`` or ``3:2:1``.

    Raises:
        SharesRefusedError: They are no whole numbers from 1 up, or only one.

    >>> read_shares("3:1")
    (3, 1)
    """
    parts = text.split(":")
    plain = all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts)  # noqa: PLR2004 - digits of MOST
    shares = tuple(map(int, parts)) if plain else (0,)
    if len(shares) < 2 or not all(1 <= share <= MOST for share in shares):  # noqa: PLR2004 - one share divides nothing
        message = "shares are whole numbers with colons between them: 1:1, 3:2:1"
        raise SharesRefusedError(message)
    return shares


def check_number(shares: Sequence[int], releases: int) -> None:
    """Refuse shares that are not one a release.

    Raises:
        SharesRefusedError: There are more or fewer.
    """
    if len(shares) != releases:
        found, wanted = counted(len(shares), "share"), counted(releases, "release")
        message = f"{found} for {wanted}: give one each"
        raise SharesRefusedError(message)


def divided(loss: Loss, shares: Sequence[int]) -> list[Loss]:
    """Return parts in proportion to shares that sum to exactly the loss.

    Each is rounded down to a nano; what is left over goes to the first.

    Raises:
        SharesRefusedError: A part would be nothing.

    >>> [str(part) for part in divided(Loss.parse("0.000000005"), (1, 1))]
    ['0.000000003', '0.000000002']
    """
    whole = sum(shares)
    nanos = [loss.nano_epsilon * share // whole for share in shares]
    nanos[0] += loss.nano_epsilon - sum(nanos)
    if min(nanos) < 1:
        message = f"a loss of {loss} is too small to be divided so"
        raise SharesRefusedError(message)
    return [Loss(nano) for nano in nanos]
