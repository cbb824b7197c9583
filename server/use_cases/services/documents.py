"""Documents: what is stored or sent as JSON, as dictionaries."""

import json
from collections.abc import Mapping

Document = dict[str, object]
"""JSON whose members are not ours to name, such as what a manifest declares."""

Reply = Mapping[str, object]
"""A whole reply; what makes one returns a typed dictionary of its room's replies."""


def encode(document: Mapping[str, object]) -> bytes:
    """Return the JSON bytes of a body."""
    return json.dumps(document, ensure_ascii=False).encode()
