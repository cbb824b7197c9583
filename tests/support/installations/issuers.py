"""An issuer of tokens for tests: real keys, and a JWK set in a file."""

import base64
import functools
import json
import time

from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

ISSUER = "https://login.hospital.example/realm"
AUDIENCE = "curator"
_MAKERS = {
    "RS256": lambda: RSAKey.generate_key(2048),
    "PS256": lambda: RSAKey.generate_key(2048),
    "ES256": lambda: ECKey.generate_key("P-256"),
    "EdDSA": lambda: OKPKey.generate_key("Ed25519"),
}


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@functools.cache
def private_key(kid):
    """Return the key of this id; its algorithm is the first part of its name."""
    return _MAKERS[kid.partition("-")[0]]()


def public(kid):
    """Return the public JWK of this id."""
    return {**private_key(kid).as_dict(private=False), "kid": kid, "use": "sig"}


def key_set(*kids):
    """Return the bytes of a JWK set."""
    return json.dumps({"keys": [public(kid) for kid in kids]}).encode()


def claims(**changes):
    """Return good claims of ada, changed; a value of None leaves the claim out."""
    now = int(time.time())
    good = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300,
        **changes,
    }  # fmt: skip
    return {name: value for name, value in good.items() if value is not None}


def sign(header, payload, key):
    """Sign these very texts; an object is written as JSON first."""
    algorithm = header["alg"] if isinstance(header, dict) else "RS256"
    parts = [
        base64url(part if isinstance(part, bytes) else json.dumps(part).encode())
        for part in (header, payload)
    ]
    text = ".".join(parts)
    signature = JWSRegistry.algorithms[algorithm].sign(text.encode(), key)
    return f"{text}.{base64url(signature)}"


def token(kid="RS256-1", header=None, **changes):
    """Return a token of the issuer's: good, but for the changes."""
    algorithm = kid.partition("-")[0]
    whole = {"alg": algorithm, "typ": "JWT", "kid": kid, **(header or {})}
    whole = {name: value for name, value in whole.items() if value is not None}
    return sign(whole, claims(**changes), private_key(kid))
