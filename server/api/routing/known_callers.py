"""Whose requests were let in last: remembered by principal, and by how they are named.

One principal can have any number of credentials: keys, tokens, and spellings of each.
So a refusal of one is a refusal of all, and a few of each principal are remembered.
"""

from collections import OrderedDict
from hashlib import blake2b
from typing import Final

MOST_CREDENTIALS: Final = 16
"""Remembered of one principal; an older one is a stranger's again."""


class KnownCallers:
    """Principals whose last request to plan or queries passed."""

    def __init__(self) -> None:
        self._principals: dict[bytes, str] = {}
        self._credentials: dict[str, OrderedDict[bytes, None]] = {}
        self._let_in: set[str] = set()

    def of(self, credential: str | None) -> str | None:
        """Return whose credential it is, if their last request passed.

        Args:
            credential: What the request's ``Authorization`` header holds.
        """
        principal = self._principals.get(_digest(credential))
        return principal if principal in self._let_in else None

    def let_in(self, credential: str | None, principal: str) -> None:
        """Note that a request of a principal passed."""
        digest = _digest(credential)
        own = self._credentials.setdefault(principal, OrderedDict())
        own[digest] = None
        own.move_to_end(digest)
        self._principals[digest] = principal
        self._let_in.add(principal)
        if len(own) > MOST_CREDENTIALS:
            oldest, _ = own.popitem(last=False)
            del self._principals[oldest]

    def refuse(self, credential: str | None) -> None:
        """Note that a request was refused, whoever's it is."""
        principal = self._principals.get(_digest(credential))
        if principal is not None:
            self._let_in.discard(principal)


def _digest(credential: str | None) -> bytes:
    """Return what a credential is remembered by; never the credential itself."""
    return blake2b((credential or "").encode(), digest_size=16).digest()
