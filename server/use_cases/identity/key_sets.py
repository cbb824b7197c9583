"""The issuer's public keys: from a file or an https URL that the operator names.

Nothing that a token says is ever fetched, and no request waits while keys are read.
"""

import base64
import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from engines.regular_files import read_at_most
from server.use_cases.services.strict_json import (
    JsonValue,
    MalformedJsonError,
    read_json,
)

_log = logging.getLogger("curator")
PublicKey = RSAKey | ECKey | OKPKey
RETRY_SECONDS = 60.0
REFRESH_SECONDS = 300.0
"""Between readings that no request asks for: a key published earlier fits at once."""
MAX_AGE_SECONDS = 3600.0
MAX_BYTES = 256 * 1024
_TIMEOUT_SECONDS = 5.0  # of each step
_MOST_SECONDS = 30.0  # of the whole body
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


def _in_thread(work: Callable[[], None]) -> None:
    Thread(target=work, name="issuer", daemon=True).start()


@dataclass(slots=True)
class KeySource:
    """The keys as last read; read again for an unknown one, at most once a minute.

    Args:
        read: Returns the bytes of a JWK set, or raises ``OSError``.
        clock: Seconds, never set back.
        background: Runs a reading where no request waits for it.
    """

    read: Callable[[], bytes]
    clock: Callable[[], float] = time.monotonic
    background: Callable[[Callable[[], None]], None] = _in_thread
    _keys: tuple[IssuerKey, ...] = ()
    _begun: float | None = None  # the last reading
    _ended: float | None = None
    _is_reading: bool = False
    _lock: Lock = field(default_factory=Lock)  # never held while keys are read

    def load(self) -> None:
        """Read the set now.

        Raises:
            KeySetError: It cannot be read, or holds what it should not.
        """
        self._begun = self.clock()
        try:
            body = self.read()
        except OSError as error:
            message = f"the issuer's keys cannot be read ({type(error).__name__})"
            raise KeySetError(message) from None
        finally:
            self._ended = self.clock()
        self._keys = read_key_set(body)

    def keep_fresh(self) -> None:
        """Begin to read the set again, in the background, if that is due."""
        if self._ended is None or self.clock() - self._ended >= REFRESH_SECONDS:
            self._begin()

    def find(self, kid: str | None, algorithm: str) -> IssuerKey | None:
        """Return the one key that a token names, for an algorithm that it fits.

        What is unknown is looked for in the background, for whoever asks later.
        """
        if self._look_up(kid) is None:
            self._begin()
        found = self._look_up(kid)
        fits = found is not None and algorithm in found.algorithms
        return found if fits else None

    def _look_up(self, kid: str | None) -> IssuerKey | None:
        if self._is_old():
            return None
        if kid is None:  # may be left out where there is no choice
            return self._keys[0] if len(self._keys) == 1 else None
        named = [key for key in self._keys if key.kid == kid]
        return named[0] if len(named) == 1 else None

    def _is_old(self) -> bool:
        """Whether an hour has passed without even a reading that failed."""
        return self._ended is None or self.clock() - self._ended > MAX_AGE_SECONDS

    def _begin(self) -> None:
        """Begin a reading, unless one is under way or was begun a moment ago."""
        with self._lock:
            now = self.clock()
            soon = self._begun is not None and now - self._begun < RETRY_SECONDS
            if self._is_reading or soon:
                return
            self._is_reading, self._begun = True, now
        try:
            self.background(self._reload)
        except RuntimeError as error:  # no thread is left: tried again in a minute
            self._is_reading = False
            facts = {"error": type(error).__name__}
            _log.error("the issuer's keys are not being read", extra=facts)

    def _reload(self) -> None:
        """Read again; failing keeps what we have."""
        try:
            self.load()
        except KeySetError:
            return
        finally:
            self._is_reading = False


def key_source(place: str, *, verify: ssl.SSLContext | None = None) -> KeySource:
    """Return the source at a path or an https URL.

    Args:
        place: Where the set is.
        verify: Whom to trust for https; None trusts whom the host trusts.
    """
    if place.startswith("https://"):
        return KeySource(lambda: _fetch(place, verify))
    return KeySource(lambda: read_at_most(Path(place), MAX_BYTES))


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
    body, ends = bytearray(), time.monotonic() + _MOST_SECONDS
    for chunk in reply.iter_bytes():
        body += chunk
        if len(body) > size_bytes or time.monotonic() > ends:
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
