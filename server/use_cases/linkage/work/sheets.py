"""Doubtful pairs as a sheet (CSV) that clerks fill in beside this system.

A pair has a row, with the values of both records side by side; ``verdict`` is empty,
or what the clerk says. Cells that a spreadsheet would compute begin with an apostrophe.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, cast

from server.use_cases.linkage.opinions import Opinion
from server.use_cases.linkage.replies import RecordShape, StepShape, Verdict
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_VERDICTS: Final[dict[str, Verdict]] = {
    "match": "match",
    "yes": "match",
    "y": "match",
    "no_match": "no_match",
    "no match": "no_match",
    "no": "no_match",
    "n": "no_match",
    "unsure": "unsure",
    "?": "unsure",
}
_COLUMNS: Final = (
    "pair",
    "verdict",
    "score",
    "reason",
    "source left",
    "id left",
    "source right",
    "id right",
)
Shown = tuple[int, int, float, str, Document]
"""A doubtful pair: left, right, score, reason, and its body."""


def write_sheet(path: Path, doubts: Sequence[Shown]) -> int:
    """Write a sheet that only its owner reads; return how many pairs it has."""
    steps = [cast("list[StepShape]", body["steps"]) for *_, body in doubts[:1]]
    fields = [step["field"] for told in steps for step in told]
    path.touch(mode=0o600)
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        sheet = csv.writer(file)
        sides = ("left", "right")
        values = [f"{field} {side}" for field in fields for side in sides]
        sheet.writerow([*_COLUMNS, *values])
        for left, right, score, reason, body in doubts:
            one, other = cast("list[RecordShape]", body["records"])
            row = [f"{left}-{right}", "", f"{score:.4f}", reason]
            row += [one["source"], one["id"], other["source"], other["id"]]
            for field in fields:
                row += [one["values"].get(field, ""), other["values"].get(field, "")]
            sheet.writerow([_inert(cell) for cell in row])
    return len(doubts)


def _inert(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell


def read_sheet(path: Path, clerk: str) -> list[Opinion]:
    """Return what a clerk wrote; rows without a verdict say nothing.

    Raises:
        CommandRefusedError: It is no such sheet; the lines that are wrong are named.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            sample = file.readline()
            file.seek(0)
            separator = ";" if sample.count(";") > sample.count(",") else ","
            rows = csv.DictReader(file, delimiter=separator)
            if not {"pair", "verdict"} <= set(rows.fieldnames or ()):
                message = f"{path}: a sheet has the columns pair and verdict"
                raise CommandRefusedError(message)
            return list(_opinions(path, rows, clerk))
    except UnicodeDecodeError:
        message = f"{path} is not in UTF-8: save it as CSV UTF-8 and import it again"
        raise CommandRefusedError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise CommandRefusedError(message) from None
    except csv.Error as error:
        message = f"{path} cannot be read as a sheet of CSV in UTF-8: {error}"
        raise CommandRefusedError(message) from None


def _opinions(path: Path, rows: "csv.DictReader[str]", clerk: str) -> Iterator[Opinion]:
    flaws = []
    for row in rows:
        said = (row["verdict"] or "").strip().lower()
        if not said:
            continue
        left, _, right = (row["pair"] or "").lstrip("'").partition("-")
        if said not in _VERDICTS:
            flaws.append(
                f"line {rows.line_num}: {said!r}: write match, no_match, unsure"
            )
        elif not (left.isascii() and left.isdigit() and right.isdigit()):
            flaws.append(f"line {rows.line_num}: {row['pair']!r} is no pair")
        else:
            yield Opinion((int(left), int(right)), clerk, _VERDICTS[said])
    if flaws:
        message = f"{path}: {'; '.join(flaws[:10])}. Nothing was decided"
        raise CommandRefusedError(message)
