"""What an activation's child is asked, and what it replies.

Apart from the comparison that asks, so that the child loads little before it begins.
"""

from dataclasses import dataclass, field

from privacy.schema_json import JsonObject


@dataclass(frozen=True, slots=True)
class Asked:
    """What the activation's child is asked.

    Attributes:
        file: The snapshot.
        schema: What it declares.
        coinciding: Places whose numbers were declared to be no unit ids.
        headers: What files call columns, where that differs.
        active: The active snapshot.
        active_schema: What that declares; None where there is none.
        target: A path beside which the child may write.
        overlaps: The folder of overlap files.
        populations: The digest of each population's.
        secret: The installation's, in hexadecimal digits.
    """

    file: str
    schema: JsonObject
    coinciding: list[str]
    headers: dict[str, list[str]]
    active: str
    active_schema: JsonObject | None
    target: str
    overlaps: str
    populations: dict[str, str]
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the activation's child replies.

    Attributes:
        refused: Why the snapshot must not be shown, in sentences; none: it may.
        named: Other populations whose units it names.
        rows: What it has as public tables, in words of
            ``upstream.ingestion.public_rows``.
        active_rows: As before, of the active snapshot; None where it cannot be read.
    """

    refused: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    rows: dict[str, str] = field(default_factory=dict)
    active_rows: dict[str, str] | None = None
