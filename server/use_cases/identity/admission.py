"""Admission: whose request it is, by which credential, and whether it may come now."""

import hashlib
import threading
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import LedgerUnavailableError
from server.telemetry.logs import note
from server.use_cases.identity.access import (
    TOKEN_PREFIX,
    Caller,
    authenticate,
    bearer_token,
)
from server.use_cases.identity.limits import Limiter
from server.use_cases.identity.oidc import TokenReader
from server.use_cases.services.services import Services


@dataclass(frozen=True, slots=True)
class Admission:
    """Authenticates the caller of each request, and holds them to their rate limit."""

    services: Services
    limiter: Limiter
    tokens: TokenReader | None = None  # None: no issuer is trusted

    def admit(self, authorization: str | None) -> Caller:
        """Return who sent a request, and count it.

        Raises:
            UnauthenticatedError: Nobody that we know.
            RateLimitedError: They ask too often.
            CuratorError: The ledger is not the one that the anchor remembers, or its
                database cannot be reached.
        """
        caller = self.recognise(authorization)
        note(principal=caller.name)
        self.limiter.count(caller.name)
        return caller

    def recognise(self, authorization: str | None) -> Caller:
        """Return whose key or token it is, as the catalogue now stands.

        Raises:
            CuratorError: As ``admit``, but for how often they ask.
        """
        self.services.ledger.require_matched()
        claimed = self._claimed(authorization)
        try:
            return self._remembered(authorization, claimed)
        except SQLAlchemyError:
            message = "the database cannot be read: nothing was asked or spent"
            raise LedgerUnavailableError(message) from None

    def _remembered(self, authorization: str | None, claimed: str | None) -> Caller:
        """Return whose key or token it is; both end by a recorded change alone.

        A token's own end is seen where it is read, at each request.
        """
        digest = hashlib.sha256((authorization or "").encode()).digest()
        return self.services.catalogue.get(
            ("caller", digest, claimed),
            lambda connection: authenticate(connection, authorization, claimed),
        )

    def _claimed(self, authorization: str | None) -> str | None:
        """Return whom a good token of the issuer names."""
        token = bearer_token(authorization)
        if self.tokens is None or token is None or token.startswith(TOKEN_PREFIX):
            return None
        return self.tokens.principal(token)


class CallerPermit:
    """One question's permit, of those of its principal; held until its reply leaves."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._authorization: str | None = None
        self._holder: str | None = None
        self.principal: str | None = None
        """Whose it is or was, once it was taken."""
        self._is_over = False
        self._lock = threading.Lock()

    @property
    def blocks(self) -> bool:
        """Whether giving it back may wait for a database."""
        return self._holder is not None and self._admission.limiter.blocks

    def take(self, authorization: str | None) -> None:
        """Admit the caller and take a permit.

        Raises:
            CuratorError: As ``Admission.admit``; or the caller's permits are all taken.
        """
        caller = self._admission.admit(authorization)
        self._admission.limiter.enter(caller.name)
        with self._lock:
            self._authorization = authorization
            self._holder = self.principal = caller.name
        if self._is_over:  # its request ended while it was being admitted
            self.give_back()

    def holder(self) -> Caller:
        """Return whose permit it is, if the key that took it is good still.

        Raises:
            CuratorError: As ``Admission.recognise``.
        """
        return self._admission.recognise(self._authorization)

    def give_back(self) -> None:
        """Give the permit back, if one was taken; never fails."""
        with self._lock:
            self._is_over = True
            holder, self._holder = self._holder, None
        if holder is not None:
            self._admission.limiter.leave(holder)
