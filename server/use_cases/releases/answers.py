"""Parts of answers that releases give, in the shapes of CONTRACT 5."""

from privacy.schema_json import scalar_to_json
from release.contract.answers import ReleaseAnswer
from server.use_cases.releases.replies import (
    CellValue,
    HalfWidths,
    Intervals,
    OutputColumn,
    Undecided,
)


def release_columns(answer: ReleaseAnswer) -> list[OutputColumn]:
    """Describe an answer's columns."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "type": column.type.value,
            "unit": column.unit,
        }
        for column in answer.columns
    ]


def release_rows(answer: ReleaseAnswer) -> list[list[CellValue]]:
    """Return the rows in JSON's types."""
    return [
        [None if value is None else scalar_to_json(value) for value in row]
        for row in answer.rows
    ]


def release_intervals(answer: ReleaseAnswer) -> list[Intervals]:
    """Describe each measure's intervals, a pair of texts a row."""
    return [
        {
            "column": each.column,
            "confidence": answer.confidence,
            "rows": [None if ends is None else list(ends) for ends in each.rows],
        }
        for each in answer.intervals
    ]


def release_half_widths(answer: ReleaseAnswer) -> list[HalfWidths]:
    """Describe the half-widths of counts and sums, a text a row."""
    return [
        {"column": name, "confidence": answer.confidence, "rows": list(widths)}
        for name, widths in answer.half_widths.items()
    ]


def release_undecided(answer: ReleaseAnswer) -> list[Undecided]:
    """Say of counts of sequences how many more may match, a text a row."""
    return [
        {"column": name, "rows": list(rows)} for name, rows in answer.undecided.items()
    ]
