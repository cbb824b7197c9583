"""Bearer tokens of the one issuer that the operator trusts (JWT, RFC 7519 and 9068).

A token says who sends it, and nothing else: role, projects and budgets are the
catalogue's. Every token that is refused is refused alike.
"""

import base64
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import cast

from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

from engines.regular_files import read_at_most
from server.configuration.settings import Settings
from server.use_cases.identity.key_sets import (
    IssuerKey,
    KeySetError,
    KeySource,
    key_source,
)
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.strict_json import (
    JsonValue,
    MalformedJsonError,
    read_json,
)

MOST_SUBJECTS_BYTES = 2**24  # of the file that binds them to principals
MAX_TOKEN_BYTES = 8 * 1024
LEEWAY_SECONDS = 60
MAX_LIFE_SECONDS = 24 * 3600
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "EdDSA"})
_TYPES = {"jwt", "at+jwt", "application/jwt", "application/at+jwt"}
_DANGEROUS = {  # keys, addresses of keys, other formats, what must be understood
    "jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "cty",
}  # fmt: skip
_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class _BadTokenError(ValueError):
    """A token is not good; why is told to nobody."""


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Reads tokens of one issuer for one audience.

    Args:
        issuer: What ``iss`` must be, letter by letter.
        audience: What ``aud`` must be or hold, letter by letter.
        claim: The claim that says who it is.
        subjects: Principals by that claim's value; None where it is their name.
        keys: The issuer's keys.
        clock: Seconds since 1970.
    """

    issuer: str
    audience: str
    claim: str
    subjects: Mapping[str, str] | None
    keys: KeySource
    clock: Callable[[], float] = time.time

    def principal(self, token: str) -> str | None:
        """Return whose token this is, or None where it is not good."""
        try:
            subject = self._subject(token)
        except (JoseError, ValueError, ArithmeticError):
            return None
        if self.subjects is None:
            return subject
        return self.subjects.get(subject)

    def _subject(self, token: str) -> str:
        if len(token) > MAX_TOKEN_BYTES or _FORM.fullmatch(token) is None:
            raise _BadTokenError
        header, payload, signature = token.split(".")
        self._check_signature(_object(header), f"{header}.{payload}", signature)
        claims = _object(payload)
        self._check_claims(claims)
        subject = claims.get(self.claim)
        if not isinstance(subject, str):
            raise _BadTokenError
        return subject

    def _check_signature(
        self, header: Mapping[str, JsonValue], signed: str, signature: str
    ) -> None:
        algorithm, key = self._key(header)
        if not JWSRegistry.algorithms[algorithm].verify(
            signed.encode(), _decoded(signature), key.key
        ):
            raise _BadTokenError

    def _key(self, header: Mapping[str, JsonValue]) -> tuple[str, IssuerKey]:
        kid, algorithm = header.get("kid"), header.get("alg")
        kind = header.get("typ", "JWT")
        if header.keys() & _DANGEROUS:
            raise _BadTokenError
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise _BadTokenError
        if not isinstance(kind, str) or kind.lower() not in _TYPES:
            raise _BadTokenError
        named = isinstance(kid, str) or "kid" not in header
        key = self.keys.find(cast("str | None", kid), algorithm) if named else None
        if key is None:
            raise _BadTokenError
        return algorithm, key

    def _check_claims(self, claims: Mapping[str, JsonValue]) -> None:
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != self.issuer or self.audience not in audiences:
            raise _BadTokenError
        if "cnf" in claims:  # bound to a key whose possession nobody proves here
            raise _BadTokenError
        now = Decimal(self.clock())
        expires, issued = _instant(claims, "exp"), _instant(claims, "iat")
        starts = _instant(claims, "nbf") if "nbf" in claims else issued
        if max(issued, starts) > now + LEEWAY_SECONDS:
            raise _BadTokenError
        if expires <= now - LEEWAY_SECONDS or expires - issued > MAX_LIFE_SECONDS:
            raise _BadTokenError


def token_reader(settings: Settings) -> TokenReader | None:
    """Return the reader that the settings ask for; None where no issuer is trusted.

    Raises:
        CommandRefusedError: A file that they name cannot be used.
    """
    if not settings.oidc_issuer:
        return None
    keys = key_source(settings.oidc_jwks)
    if not settings.oidc_jwks.startswith("https://"):
        try:
            keys.load()
        except KeySetError as error:
            message = f"CURATOR_OIDC_JWKS: {error}"
            raise CommandRefusedError(message) from None
    return TokenReader(
        issuer=settings.oidc_issuer,
        audience=settings.oidc_audience,
        claim=settings.oidc_principal_claim,
        subjects=_subjects(settings.oidc_subjects),
        keys=keys,
    )


def _subjects(path: Path | None) -> Mapping[str, str] | None:
    """Read the file that binds the issuer's subjects to principals."""
    if path is None:
        return None
    try:
        document = read_json(read_at_most(path, MOST_SUBJECTS_BYTES))
    except (OSError, MalformedJsonError):
        document = None
    if isinstance(document, dict):
        names = {text: name for text, name in document.items() if isinstance(name, str)}
        if len(names) == len(document):
            return names
    message = (
        'CURATOR_OIDC_SUBJECTS: a JSON file {"subject": "principal", ...} is wanted'
    )
    raise CommandRefusedError(message)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _object(part: str) -> Mapping[str, JsonValue]:
    value = read_json(_decoded(part))
    if not isinstance(value, dict):
        raise _BadTokenError
    return value


def _instant(claims: Mapping[str, JsonValue], name: str) -> Decimal:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _BadTokenError
    return Decimal(value)
