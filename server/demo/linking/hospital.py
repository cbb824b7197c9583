"""The hospital: its patients, the records that they have, and the notes about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from server.demo.linking.errors import Clerk
from server.demo.linking.households import Resident, draw_residents
from server.demo.linking.names import common_lists
from server.demo.linking.registrations import Row, admission, sample
from server.demo.notes.notes import draw_stay, notes_of_stay
from upstream.extraction.text.documents import Place
from upstream.extraction.text.spans import AnnotatedDocument

PATIENTS = 2_000
SOURCES = ("admissions", "laboratory", "notes")
"""Where records come from, as the truth names it."""
_IN_ADMISSIONS, _IN_LABORATORY, _HAVE_NOTES = 0.9, 0.7, 0.4
_TWICE = 0.1  # of those in an export


@dataclass(frozen=True)
class Truth:
    """Which person a record is about.

    Attributes:
        people: Everybody, by their person's id.
        records: Person's id, by source and the record's id in it.
    """

    people: Mapping[str, Resident]
    records: Mapping[tuple[str, str], str]

    def persons(self, *sources: str) -> set[str]:
        """Return the ids of the persons with a record in one of these sources.

        Args:
            sources: Of ``SOURCES``; none: all of them.
        """
        told = sources or SOURCES
        return {person for (at, _), person in self.records.items() if at in told}


@dataclass
class Hospital:
    """All records of a hospital, and whose they are.

    Attributes:
        admissions: Rows, by ``ADMISSIONS``.
        laboratory: Rows, by ``LABORATORY``.
        notes: In no order that says whose they are.
        truth: Whose each record is.
    """

    truth: Truth
    admissions: list[Row] = field(default_factory=list)
    laboratory: list[Row] = field(default_factory=list)
    notes: list[AnnotatedDocument] = field(default_factory=list)


def draw_hospital(patients: int = PATIENTS, seed: int = 1) -> Hospital:
    """Return a hospital; equal arguments bring equal ones.

    Args:
        patients: How many people, each with a record at least.
        seed: Another seed is another hospital.
    """
    people = draw_residents(patients, seed)
    records: dict[tuple[str, str], str] = {}
    by_id = {each.person.id: each for each in people}
    hospital = Hospital(Truth(by_id, records))
    ids = _Ids(seed)
    for number, resident in enumerate(people):
        rng = np.random.default_rng((seed, 1, number))
        is_admitted = bool(rng.random() < _IN_ADMISSIONS)
        mine = list(_admit(hospital, rng, resident, ids)) if is_admitted else []
        if not is_admitted or rng.random() < _IN_LABORATORY:
            mine += _sampled(hospital, rng, resident, ids)
        records.update(dict.fromkeys(mine, resident.person.id))
    _sort(hospital)
    return hospital


class _Ids:
    """Numbers that nobody else has, and that tell nothing."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng((seed, 2))
        self._hospital = iter(rng.permutation(9_000_000))
        self._laboratory = iter(rng.permutation(900_000))
        self._notes = iter(rng.permutation(1_000_000))

    def hospital(self) -> str:
        """Return seven digits."""
        return str(1_000_000 + int(next(self._hospital)))

    def laboratory(self) -> str:
        """Return a letter and six digits."""
        return f"L{100_000 + int(next(self._laboratory))}"

    def note(self) -> str:
        """Return six digits."""
        return f"{int(next(self._notes)):06}"


def _admit(
    hospital: Hospital,
    rng: np.random.Generator,
    resident: Resident,
    ids: _Ids,
) -> Iterator[tuple[str, str]]:
    """Add a patient's admissions and notes; yield their sources and ids."""
    lists = common_lists()
    for _ in range(1 + int(rng.random() < _TWICE)):
        number, stay = ids.hospital(), draw_stay(rng, lists)
        row = admission(Clerk(rng), resident, number, stay.admitted)
        hospital.admissions.append(row)
        yield "admissions", number
        if rng.random() < _HAVE_NOTES:
            person = replace(resident.person, record=number)
            for note in notes_of_stay(rng, person, stay, lists):
                found = _unnamed(note, ids.note())
                hospital.notes.append(found)
                yield "notes", found.document.id


def _unnamed(note: AnnotatedDocument, number: str) -> AnnotatedDocument:
    """Return a note whose id and place do not tell whose it is."""
    fields = note.document.fields
    name = f"{fields['day']}-{fields['kind']}-{number}"
    document = replace(
        note.document,
        id=name,
        place=Place(f"{name}.txt"),
        fields={"day": fields["day"], "kind": fields["kind"]},
    )
    return replace(note, document=document)


def _sampled(
    hospital: Hospital,
    rng: np.random.Generator,
    resident: Resident,
    ids: _Ids,
) -> Iterator[tuple[str, str]]:
    """Add a patient's samples; yield their source and ids."""
    for _ in range(1 + int(rng.random() < _TWICE)):
        number = ids.laboratory()
        hospital.laboratory.append(sample(Clerk(rng), resident, number))
        yield "laboratory", number


def _sort(hospital: Hospital) -> None:
    """Put all records in an order that says nothing."""
    hospital.admissions.sort(key=lambda row: (_day_first(row["admitted"]), row["ward"]))
    hospital.laboratory.sort(key=lambda row: row["lab_id"])
    hospital.notes.sort(key=lambda note: note.document.id)


def _day_first(text: str) -> date:
    day, month, year = map(int, text.split("/"))
    return date(year, month, day)
