"""The hospital's files, and the truth apart from them."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from server.demo.linking.hospital import PATIENTS, Hospital, Truth, draw_hospital
from server.demo.linking.registrations import ADMISSIONS, LABORATORY, Row
from upstream.extraction.gold.json_spans import write_json_spans

NOTE_PATTERN = r"(?P<id>(?P<day>[\d-]{10})-(?P<kind>[a-z]+)-\d{6})\.txt"
"""What the path of a note's file tells, for a source of text files."""

_RECORDS = ("source", "id", "person")
_PEOPLE = (
    *("person", "household", "kind"),
    *("given_name", "surname", "earlier_surname", "born"),
)


def write_demo(folder: Path, patients: int = PATIENTS, seed: int = 1) -> Truth:
    """Write two exports, a folder of notes and the truth, and return the truth.

    Args:
        folder: Made if missing; files of the same names are replaced.
        patients: How many people there are.
        seed: Another seed is another hospital.
    """
    hospital = draw_hospital(patients, seed)
    notes, truth = folder / "notes", folder / "truth"
    for each in (notes, truth):
        each.mkdir(parents=True, exist_ok=True)
    _write_exports(folder, hospital)
    for note in hospital.notes:
        path = notes / note.document.place.file
        path.write_bytes(note.document.text.encode())
    _write_truth(truth, hospital.truth)
    write_json_spans(hospital.notes, truth / "gold.jsonl")
    return hospital.truth


def _write_exports(folder: Path, hospital: Hospital) -> None:
    admissions = _table(hospital.admissions, ADMISSIONS, ";")
    (folder / "admissions.csv").write_bytes(admissions.encode("cp1252"))
    laboratory = _table(hospital.laboratory, LABORATORY, ",")
    (folder / "laboratory.csv").write_bytes(laboratory.encode())


def _table(rows: Iterable[Row], columns: Sequence[str], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _write_truth(folder: Path, truth: Truth) -> None:
    records = [
        {"source": source, "id": name, "person": person}
        for (source, name), person in sorted(truth.records.items())
    ]
    people = [
        {
            "person": name,
            "household": str(each.household),
            "kind": each.kind,
            "given_name": each.person.name.first,
            "surname": each.person.name.last,
            "earlier_surname": each.earlier or "",
            "born": each.person.born.isoformat(),
        }
        for name, each in sorted(truth.people.items())
    ]
    for name, rows, columns in (
        ("records", records, _RECORDS),
        ("people", people, _PEOPLE),
    ):
        (folder / f"{name}.csv").write_bytes(_table(rows, columns, ",").encode())
