"""Documents: what is stored or sent as JSON, as dictionaries.

Replies are typed dictionaries; the text under each member is its description in the
OpenAPI document (``server.api.schemas.descriptions``). Numbers that have to be exact
are texts, each kind of them one named type.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import WithJsonSchema
from typing_extensions import TypeAliasType

LOSS_SCHEMA: Final[dict[str, object]] = {
    "type": "string",
    "pattern": r"^[0-9]{1,10}(\.[0-9]{1,9})?$",
    "description": "A privacy loss (epsilon, or rho where that is counted): a decimal "
    "string with at most nine places after the point, so that it stays exact.",
    "examples": ["0.25"],
}
LossText = TypeAliasType("LossText", Annotated[str, WithJsonSchema({**LOSS_SCHEMA})])
PLAIN_CONFIDENCE: Final = re.compile(r"0\.[0-9]{1,30}", re.ASCII)
"""A confidence as text; longer ones are beyond all meaning."""
ConfidenceText = TypeAliasType(
    "ConfidenceText",
    Annotated[
        str,
        WithJsonSchema(
            {
                "type": "string",
                "pattern": r"^0\.[0-9]{1,30}$",
                "description": "A confidence between 0 and 1, as a decimal string.",
                "examples": ["0.95"],
            }
        ),
    ],
)
NumberText = TypeAliasType(
    "NumberText",
    Annotated[
        str,
        WithJsonSchema(
            {
                "type": "string",
                "pattern": r"^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$",
                "description": "A number as a decimal string, so that no digit is "
                "lost.",
                "examples": ["30", "10.000000000000002"],
            }
        ),
    ],
)
TimeText = TypeAliasType(
    "TimeText",
    Annotated[
        str,
        WithJsonSchema(
            {
                "type": "string",
                "format": "date-time",
                "description": "A time in UTC, ISO 8601.",
                "examples": ["2026-05-04T09:30:00+00:00"],
            }
        ),
    ],
)
DayText = TypeAliasType(
    "DayText",
    Annotated[
        str,
        WithJsonSchema(
            {
                "type": "string",
                "format": "date",
                "description": "A day, ISO 8601.",
                "examples": ["2027-06-30"],
            }
        ),
    ],
)

Document = dict[str, object]
"""JSON whose members are not ours to name, such as what a manifest declares."""

Reply = Mapping[str, object]
"""A whole reply; what makes one returns a typed dictionary of its room's replies."""


def encode(document: Mapping[str, object]) -> bytes:
    """Return the JSON bytes of a body."""
    return json.dumps(document, ensure_ascii=False).encode()
