"""Documents: what is stored or sent as JSON, as plain dictionaries."""

import json
from collections.abc import Mapping

Document = dict[str, object]


def encode(document: Mapping[str, object]) -> bytes:
    """Return the JSON bytes of a body."""
    return json.dumps(document, ensure_ascii=False).encode()
