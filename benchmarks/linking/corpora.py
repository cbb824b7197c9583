"""Records and notes of patients with several ids, and who they truly are.

Notes are the demo's own, or reports of mtsamples.com into which the identities of the
same patients are put; the model learns from notes of a hospital with other patients.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchmarks.extraction.corpora import reports_of
from benchmarks.extraction.injection import injected, ways_of
from server.demo.linking.hospital import Hospital, draw_hospital
from server.demo.notes.notes import IDENTIFIERS
from upstream.extraction.models.training import TUNED_PART
from upstream.extraction.text.spans import AnnotatedDocument, limited
from upstream.linkage.declared import FieldSpec
from upstream.linkage.records import Record

FIELDS = {
    "given": FieldSpec(kind="name"),
    "last": FieldSpec(kind="name"),
    "name": FieldSpec(kind="full_name"),
    "born": FieldSpec(kind="date"),
    "phone": FieldSpec(kind="phone"),
    "email": FieldSpec(kind="email"),
    "no": FieldSpec(kind="id"),
    "address": FieldSpec(kind="address"),
    "town": FieldSpec(kind="place"),
    "postcode": FieldSpec(kind="code"),
}
"""Of the records: columns of both exports, and what spans of notes are read as."""
TYPES = {
    **dict.fromkeys(("given", "last", "name"), "PATIENT"),
    **dict.fromkeys(("address", "town", "postcode"), "LOCATION"),
    "born": "DATE",
    "phone": "PHONE",
    "no": "ID",
    "email": "EMAIL",
}
"""The span type of each field."""
READ_AS = {
    "PATIENT": "name",
    "DATE": "born",
    "PHONE": "phone",
    "ID": "no",
    "LOCATION": "address",
}
"""Which field a span's words are a value of, by its type."""


@dataclass(frozen=True)
class Corpus:
    """What is linked, what is learned, and the truth.

    Attributes:
        records: Of tables.
        notes: With all identifiers that are in them.
        learned: Notes of other patients, to train on.
        tuned: Some more of them, to choose thresholds on.
        persons: Who a record or a note is about, by its name.
    """

    records: Sequence[Record]
    notes: Sequence[AnnotatedDocument]
    learned: Sequence[AnnotatedDocument]
    tuned: Sequence[AnnotatedDocument]
    persons: dict[str, str]


def demo_corpus(patients: int, learned: int, seed: int = 1) -> Corpus:
    """Return a hospital of the demo; the model learns from notes of another one."""
    hospital = draw_hospital(patients, seed)
    other = draw_hospital(max(learned, 20), seed + 1_000)
    return _corpus(hospital, hospital.notes, other.notes[:learned])


def report_corpus(data, patients: int, learned: int, seed: int = 1) -> Corpus:
    """Return a hospital whose patients' identities are put into reports.

    Args:
        data: The folder of all data.
        patients: How many; each note of theirs is replaced by a report.
        learned: Reports to train on, in which others' names are, in other wordings.
        seed: Another seed is another hospital.
    """
    reports = reports_of(data)
    hospital = draw_hospital(patients, seed)
    truth, ways = hospital.truth, ways_of("judge")
    numbers = {
        person: number
        for (source, number), person in truth.records.items()
        if source == "admissions"
    }
    notes = []
    for note, report in zip(hospital.notes, reports[learned:], strict=False):
        name = note.document.id
        who = truth.records["notes", name]
        person = replace(truth.people[who].person, record=numbers[who])
        notes.append(injected(name, report["text"], ways, seed, person))
    others = [
        injected(each["id"], each["text"], ways_of("train"), seed)
        for each in reports[:learned]
    ]
    return _corpus(hospital, notes, others)


def _corpus(
    hospital: Hospital,
    notes: Iterable[AnnotatedDocument],
    learned: Iterable[AnnotatedDocument],
) -> Corpus:
    kept = limited(notes, IDENTIFIERS)
    persons = {
        note.document.id: hospital.truth.records[
            "notes", note.document.id.removeprefix("mtsamples-")
        ]
        for note in kept
    }
    records = [*_records(hospital)]
    for record in records:
        persons[record.id] = hospital.truth.records[record.source, record.id]
    marked = limited(learned, IDENTIFIERS)
    train = [each for at, each in enumerate(marked) if at % TUNED_PART]
    return Corpus(records, kept, train, marked[::TUNED_PART], persons)


def _records(hospital: Hospital) -> Iterable[Record]:
    rows = [
        *(("admissions", _admission(row)) for row in hospital.admissions),
        *(("laboratory", _sample(row)) for row in hospital.laboratory),
    ]
    for number, (source, values) in enumerate(rows, 1):
        name = values.pop("id")
        held = {key: value for key, value in values.items() if value}
        yield Record(number, source, name, held)


def _admission(row: dict[str, str]) -> dict[str, str]:
    return {
        "id": row["patient_no"],
        "no": row["patient_no"],
        "given": row["given_name"],
        "last": row["surname"],
        "born": "-".join(reversed(row["born"].split("/"))),
        "phone": row["phone"],
        "address": row["street"],
        "town": row["town"],
        "postcode": row["postcode"],
    }


def _sample(row: dict[str, str]) -> dict[str, str]:
    return {
        "id": row["lab_id"],
        "given": row["first_names"],
        "last": row["family_name"],
        "born": row["birth_date"],
        "phone": row["phone_number"],
        "email": row["email"],
        "address": row["address"],
    }
