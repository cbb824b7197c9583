"""What statements tell of anonymized copies: to whom records went, and what for."""

from sqlalchemy import Connection

from server.use_cases.anonymization.grants import read_grants
from server.use_cases.oversight.markdown import moment, table

_HEADER = (
    *("recipient", "purpose", "copy", "time", "handed out by", "approved by"),
    "sha256 of its manifest",
)
_NO_PROMISE = (
    "Records that left, as custodians say. They are no differential privacy: what is "
    "promised above is not promised of them."
)


def copies_handed_out(connection: Connection, population: str) -> list[str]:
    """Return a section on copies of a population's records; none where none left."""
    rows = [
        (
            one.to.recipient,
            one.to.purpose,
            f"{one.name}, {one.copy}",
            moment(one.shown["time"]),
            one.shown["by"],
            one.shown["approved_by"] or "nobody: one custodian",
            one.sha256,
        )
        for one in read_grants(connection)
        if one.population == population
    ]
    if not rows:
        return []
    return ["## Anonymized copies handed out", _NO_PROMISE, table(_HEADER, rows)]
