"""Doubtful pairs as a sheet (CSV) that clerks fill in beside this system.

A pair has a row, with the values of both records side by side; ``verdict`` is empty,
or what the clerk says. Cells that a spreadsheet would compute begin with an apostrophe.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from server.use_cases.linkage.opinions import Opinion, Pair
from server.use_cases.linkage.replies import RecordShape, StepShape, Verdict
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError

_PAIR: Final = re.compile(r"'?([0-9]{1,9})-([0-9]{1,9})")  # fit a column of integers
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
            return _opinions(path, rows, clerk)
    except UnicodeDecodeError:
        message = f"{path} is not in UTF-8: save it as CSV UTF-8 and import it again"
        raise CommandRefusedError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise CommandRefusedError(message) from None
    except csv.Error as error:
        message = f"{path} cannot be read as a sheet of CSV in UTF-8: {error}"
        raise CommandRefusedError(message) from None


_Said = tuple[Verdict, int]
"""A verdict, and the line that it stands in."""


def _opinions(path: Path, rows: "csv.DictReader[str]", clerk: str) -> list[Opinion]:
    flaws: list[str] = []
    seen: dict[Pair, _Said] = {}
    for row in rows:
        word = (row["verdict"] or "").strip().lower()
        pair, verdict = _pair_of(row["pair"]), _VERDICTS.get(word)
        if not word:
            continue
        if verdict is None:
            flaws.append(
                f"line {rows.line_num}: {word!r}: write match, no_match, unsure"
            )
        elif pair is None:
            flaws.append(f"line {rows.line_num}: {row['pair']!r} is no pair")
        else:
            said = verdict, rows.line_num
            flaws += _opposite(pair, seen.setdefault(pair, said), said)
    if flaws:
        message = f"{path}: {'; '.join(flaws[:10])}. Nothing was decided"
        raise CommandRefusedError(message)
    return [Opinion(pair, clerk, verdict) for pair, (verdict, _) in seen.items()]


def _pair_of(cell: str | None) -> Pair | None:
    """Return the two records of a cell such as ``12-40``, the smaller number first."""
    found = _PAIR.fullmatch((cell or "").strip())
    if found is None:
        return None
    left, right = sorted(map(int, found.groups()))
    return left, right


def _opposite(pair: Pair, first: _Said, second: _Said) -> list[str]:
    """Say that two lines say different things of one pair, if they do."""
    if first[0] == second[0]:
        return []
    told = f"{pair[0]}-{pair[1]} is {first[0]} in line {first[1]}"
    return [f"{told} and {second[0]} in line {second[1]}: say one of them"]
