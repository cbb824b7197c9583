"""The issuer's public keys: from a file or an https URL that the operator names.

Nothing that a token says is ever fetched.
"""

import base64
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from server.strict_json import JsonValue, MalformedJsonError, read_json

PublicKey = RSAKey | ECKey | OKPKey
RETRY_SECONDS = 60.0
MAX_AGE_SECONDS = 3600.0
MAX_BYTES = 256 * 1024
_TIMEOUT_SECONDS = 5.0
_LEAST_RSA_BITS = 2048
_ALGORITHMS = {
    ("RSA", None): frozenset({"RS256", "PS256"}),
    ("EC", "P-256"): frozenset({"ES256"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}


class KeySetError(ValueError):
    """The key set cannot be used; the message says why and quotes nothing."""


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A public key, and the algorithms that may be used with it."""

    kid: str | None
    key: PublicKey
    algorithms: frozenset[str]


@dataclass(slots=True)
class KeySource:
    """The keys as last read; read again for an unknown one, at most once a minute.

    Args:
        read: Returns the bytes of a JWK set, or raises ``OSError``.
        clock: Seconds, never set back.
    """

    read: Callable[[], bytes]
    clock: Callable[[], float] = time.monotonic
    _keys: tuple[IssuerKey, ...] = ()
    _tried: float | None = None
    _loaded: float | None = None
    _lock: Lock = field(default_factory=Lock)

    def load(self) -> None:
        """Read the set now.

        Raises:
            KeySetError: It cannot be read, or holds what it should not.
        """
        self._tried = self.clock()
        try:
            body = self.read()
        except OSError as error:
            message = f"the issuer's keys cannot be read ({type(error).__name__})"
            raise KeySetError(message) from None
        self._keys = read_key_set(body)
        self._loaded = self.clock()

    def find(self, kid: str | None, algorithm: str) -> IssuerKey | None:
        """Return the one key that a token names, for an algorithm that it fits."""
        found = self._look_up(kid)
        if found is None or self._is_old():
            with self._lock:  # whoever waited finds what the first one read
                found = self._look_up(kid)
                if found is None or self._is_old():
                    self._reload()
                    found = self._look_up(kid)
        fits = found is not None and algorithm in found.algorithms
        return found if fits else None

    def _look_up(self, kid: str | None) -> IssuerKey | None:
        if kid is None:  # may be left out where there is no choice
            return self._keys[0] if len(self._keys) == 1 else None
        named = [key for key in self._keys if key.kid == kid]
        return named[0] if len(named) == 1 else None

    def _is_old(self) -> bool:
        return self._loaded is None or self.clock() - self._loaded > MAX_AGE_SECONDS

    def _reload(self) -> None:
        """Read again, unless tried a moment ago; failing keeps what we have."""
        if self._tried is not None and self.clock() - self._tried < RETRY_SECONDS:
            return
        try:
            self.load()
        except KeySetError:
            return


def key_source(place: str, *, verify: ssl.SSLContext | None = None) -> KeySource:
    """Return the source at a path or an https URL.

    Args:
        place: Where the set is.
        verify: Whom to trust for https; None trusts whom the host trusts.
    """
    if place.startswith("https://"):
        return KeySource(lambda: _fetch(place, verify))
    return KeySource(Path(place).read_bytes)


def _fetch(url: str, verify: ssl.SSLContext | None) -> bytes:
    trusted = True if verify is None else verify
    try:
        with (
            httpx.Client(verify=trusted, timeout=_TIMEOUT_SECONDS) as client,
            client.stream("GET", url) as reply,
        ):
            if reply.status_code != httpx.codes.OK:
                raise ConnectionError
            return _read_at_most(reply, MAX_BYTES)
    except httpx.HTTPError:
        raise ConnectionError from None


def _read_at_most(reply: httpx.Response, size_bytes: int) -> bytes:
    body = bytearray()
    for chunk in reply.iter_bytes():
        body += chunk
        if len(body) > size_bytes:
            raise ConnectionError
    return bytes(body)


def read_key_set(body: bytes) -> tuple[IssuerKey, ...]:
    """Read a JWK set; keys for other uses and of other kinds are passed over.

    Raises:
        KeySetError: It is no JWK set, or it holds a private or a symmetric key.
    """
    try:
        document = read_json(body)
    except MalformedJsonError:
        document = None
    items = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        message = "the issuer's keys are not a JWK set"
        raise KeySetError(message)
    keys = (_issuer_key(item) for item in items if isinstance(item, dict))
    return tuple(key for key in keys if key is not None)


def _issuer_key(item: dict[str, JsonValue]) -> IssuerKey | None:
    if item.keys() & {"d", "k", "p", "q"}:
        message = "the issuer's key set holds a secret; it should hold public keys"
        raise KeySetError(message)
    kind, curve = item.get("kty"), item.get("crv")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return None
    algorithms = _ALGORITHMS.get((kind, curve), frozenset())
    if "alg" in item:
        algorithms &= {str(item["alg"])}
    kid = item.get("kid")
    if (
        not algorithms
        or not _is_for_signatures(item)
        or not isinstance(kid, str | None)
    ):
        return None
    key = _import(item)
    return None if key is None else IssuerKey(kid, key, algorithms)


def _is_for_signatures(item: dict[str, JsonValue]) -> bool:
    operations = item.get("key_ops", ["verify"])
    return (
        item.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
    )


def _import(item: dict[str, JsonValue]) -> PublicKey | None:
    parts: dict[str, str | list[str]] = {
        name: value
        for name, value in item.items()
        if name in {"kty", "crv", "x", "y", "n", "e"} and isinstance(value, str)
    }
    try:
        if item["kty"] == "RSA" and _bits(str(item["n"])) < _LEAST_RSA_BITS:
            return None
        key = JWKRegistry.import_key(parts)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if isinstance(key, RSAKey | ECKey | OKPKey) else None


def _bits(number: str) -> int:
    """Return how long a number in base64url is."""
    padded = number + "=" * (-len(number) % 4)
    return int.from_bytes(base64.urlsafe_b64decode(padded)).bit_length()
