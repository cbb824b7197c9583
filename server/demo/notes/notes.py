"""Notes of made-up patients: drawn, and written into a folder with their gold standard.

Equal arguments make equal bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from server.demo.notes.forms import (
    doctor_name,
    full_name,
    hospital_name,
    initials,
    spoken_name,
    written_date,
    written_phone,
    written_record,
)
from server.demo.notes.lists import Lists
from server.demo.notes.people import (
    LAST_DAY,
    Name,
    Person,
    draw_name,
    draw_person,
    draw_phone,
    pick,
)
from server.demo.notes.wordings import (
    ALLERGIC,
    ALLERGIC_NOT,
    BODIES,
    CONDITIONS,
    FELL,
    FELL_NOT,
    HEADERS,
    SMOKES,
    SMOKES_NOT,
)
from server.demo.notes.writing import (
    Segment,
    Slots,
    broken,
    joined,
    misspelt,
    segments,
    wrapped,
)
from upstream.extraction.gold.brat import write_brat
from upstream.extraction.gold.json_spans import write_json_spans
from upstream.extraction.text.documents import Place, TextDocument, pieces_of
from upstream.extraction.text.spans import AnnotatedDocument

PATIENTS = 2_000
IDENTIFIERS = (
    *("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION"),
    *("DATE", "AGE", "ID", "PHONE"),
)
"""Types of identifiers, as in the i2b2 challenge of 2006; relatives are PATIENT."""
HABITS = ("SMOKING", "FALL", "ALLERGY")
"""What is only in the words: each marked where it is so, and not where it is denied."""
ID_PATTERN = r"(?P<id>(?P<patient_id>P\d{7})/(?P<day>[\d-]{10})-(?P<kind>[a-z]+))\.txt"
"""What the path of a note's file tells, for a source of text files."""

_FIRST_DAY = date(2023, 1, 1)
_KINDS_BETWEEN = ("progress", "nursing", "radiology", "progress")
_CAPITALS, _ONE_CASE = 0.05, 0.07  # parts of notes that are all in one case


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay in hospital: when, where, and who was in charge."""

    admitted: date
    discharged: date
    hospital: str
    other_hospital: str
    doctor: Name
    colleague: Name
    condition: Mapping[str, str]


def draw_notes(
    patients: int = PATIENTS, seed: int = 1, lists: Lists | None = None
) -> Iterator[AnnotatedDocument]:
    """Yield the notes of patients, one patient after the other, each in order of time.

    Args:
        patients: How many.
        seed: Another seed is other patients.
        lists: What names and places are drawn from; none: all that there are.
    """
    for _, notes in _drawn(patients, seed, lists or Lists()):
        yield from notes


def _drawn(
    patients: int, seed: int, lists: Lists
) -> Iterator[tuple[Person, list[AnnotatedDocument]]]:
    for number in range(patients):
        rng = np.random.default_rng((seed, number))
        person = draw_person(rng, lists, number)
        stays = [draw_stay(rng, lists) for _ in range(1 + int(rng.random() < 0.25))]
        stays.sort(key=lambda stay: stay.admitted)
        notes = chain.from_iterable(
            notes_of_stay(rng, person, stay, lists) for stay in stays
        )
        yield person, list({note.document.id: note for note in notes}.values())


def draw_stay(rng: np.random.Generator, lists: Lists) -> Stay:
    """Return a stay of two to eleven days, with the people in charge."""
    days = int(rng.integers(2, 12))
    span = (LAST_DAY - _FIRST_DAY).days - days
    admitted = _FIRST_DAY + timedelta(days=int(rng.integers(span)))
    woman, other = rng.random(2) < 0.5
    return Stay(
        admitted,
        admitted + timedelta(days=days),
        hospital_name(rng, lists),
        hospital_name(rng, lists),
        draw_name(rng, lists, is_female=bool(woman)),
        draw_name(rng, lists, is_female=bool(other)),
        pick(rng, CONDITIONS),
    )


def notes_of_stay(
    rng: np.random.Generator, person: Person, stay: Stay, lists: Lists
) -> Iterator[AnnotatedDocument]:
    """Yield the notes of one stay, in order of time; two of a kind may share a day."""
    nights = (stay.discharged - stay.admitted).days
    between = sorted(int(rng.integers(1, nights)) for _ in range(rng.integers(0, 3)))
    days = [stay.admitted + timedelta(days=each) for each in between]
    for kind, day in (
        ("admission", stay.admitted),
        *((pick(rng, _KINDS_BETWEEN), day) for day in days),
        ("discharge", stay.discharged),
    ):
        slots = slots_of(rng, person, stay, day, lists)
        wording = _wording(rng, kind, person, stay)
        text, spans = joined(_in_haste(rng, segments(rng, wording, slots)))
        text = _laid_out(rng, text)
        name = f"{person.id}/{day.isoformat()}-{kind}"
        document = TextDocument(
            name,
            text,
            Place(f"{name}.txt"),
            pieces_of(text, "utf-8"),
            {"patient_id": person.id, "day": day.isoformat(), "kind": kind},
        )
        yield AnnotatedDocument(document, spans)


def _wording(rng: np.random.Generator, kind: str, person: Person, stay: Stay) -> str:
    """Return a header and sentences, whose habits and conditions are words by now."""
    told = {
        "{smoking}": pick(rng, SMOKES if person.smokes else SMOKES_NOT),
        "{fall}": pick(rng, FELL if person.fell else FELL_NOT),
        "{allergy}": pick(rng, ALLERGIC if person.allergy else ALLERGIC_NOT),
    }
    gap = pick(rng, (" ", " ", "\n", "  "))
    sentences = [pick(rng, options) for options in BODIES[kind]]
    text = pick(rng, HEADERS[kind]) + gap.join(filter(None, sentences))
    for slot, words in told.items():
        text = text.replace(slot, words)
    for slot, words in stay.condition.items():
        text = text.replace(f"{{{slot}}}", words)
    return text


def slots_of(
    rng: np.random.Generator, person: Person, stay: Stay, day: date, lists: Lists
) -> Slots:
    """Return what a note's writer knows, each as it is written this time."""
    she = person.is_female
    plain = {
        "he": "she" if she else "he",
        "He": "She" if she else "He",
        "his": "her" if she else "his",
        "His": "Her" if she else "His",
        "him": "her" if she else "him",
        "sex": "F" if she else "M",
        "sex_word": pick(
            rng, ("female", "woman", "lady") if she else ("male", "man", "gentleman")
        ),
        "title": pick(rng, ("Mrs.", "Ms.", "Ms") if she else ("Mr.", "Mr.", "Mr")),
        "relation": person.relation,
    }
    nurse = draw_name(rng, lists, is_female=bool(rng.random() < 0.8))
    name, kin = person.name, person.relative
    marked: Mapping[str, tuple[str, Callable[[], str]]] = {
        "patient": ("PATIENT", lambda: full_name(rng, name)),
        "patient_spoken": ("PATIENT", lambda: spoken_name(rng, name)),
        "kin": ("PATIENT", lambda: pick(rng, (kin.first, spoken_name(rng, kin)))),
        "kin_full": ("PATIENT", lambda: full_name(rng, kin)),
        "last": ("PATIENT", lambda: name.last),
        "doctor": ("DOCTOR", lambda: doctor_name(rng, stay.doctor)),
        "doctor_full": ("DOCTOR", lambda: spoken_name(rng, stay.doctor)),
        "colleague": ("DOCTOR", lambda: doctor_name(rng, stay.colleague)),
        "colleague_full": ("DOCTOR", lambda: spoken_name(rng, stay.colleague)),
        "nurse": ("DOCTOR", lambda: f"{nurse.first[0]}. {nurse.last}"),
        "hospital": ("HOSPITAL", partial(_called, rng, stay.hospital)),
        "other_hospital": ("HOSPITAL", partial(_called, rng, stay.other_hospital)),
        "city": ("LOCATION", lambda: person.city),
        "address": ("LOCATION", lambda: person.address),
        "age": ("AGE", lambda: str(person.age(day))),
        "record": ("ID", lambda: written_record(rng, person.record)),
        "phone": ("PHONE", lambda: written_phone(rng, person.phone)),
        "kin_phone": ("PHONE", lambda: written_phone(rng, draw_phone(rng))),
        "clinic_phone": ("PHONE", lambda: written_phone(rng, draw_phone(rng))),
        "pager": ("PHONE", lambda: f"{rng.integers(1000, 99999)}"),
        "allergen": ("ALLERGY", lambda: _allergen(rng, person.allergy)),
        "born": ("DATE", lambda: written_date(rng, person.born)),
        **_days(rng, stay, day),
    }
    slots: dict[str, Callable[[], Segment]] = {
        key: partial(Segment, words) for key, words in plain.items()
    }
    for key, (label, write) in marked.items():
        slots[key] = partial(_marked, label, write)
    return slots


def _days(
    rng: np.random.Generator, stay: Stay, day: date
) -> dict[str, tuple[str, Callable[[], str]]]:
    days = {
        "today": day,
        "admitted": stay.admitted,
        "discharged": stay.discharged,
        "onset": stay.admitted - timedelta(days=int(rng.integers(1, 20))),
        "next_day": day + timedelta(days=int(rng.integers(1, 4))),
        "follow_up": stay.discharged + timedelta(days=int(rng.integers(7, 40))),
    }
    found: dict[str, tuple[str, Callable[[], str]]] = {
        key: ("DATE", partial(_dated, rng, each)) for key, each in days.items()
    }
    short = partial(written_date, rng, day, has_year=False)
    return {**found, "today_short": ("DATE", short)}


def _dated(rng: np.random.Generator, day: date) -> str:
    return written_date(rng, day, has_year=bool(rng.random() < 0.8))


def _marked(label: str, write: Callable[[], str]) -> Segment:
    return Segment(write(), label)


def _called(rng: np.random.Generator, hospital: str) -> str:
    return initials(hospital) if rng.random() < 0.12 else hospital


def _allergen(rng: np.random.Generator, allergy: str | None) -> str:
    known = allergy or ""
    return pick(rng, (known, known, known.capitalize(), known.upper()))


def _in_haste(rng: np.random.Generator, parts: list[Segment]) -> list[Segment]:
    """Return segments with misspellings, and some notes all in one case."""
    spelt = misspelt(rng, parts, float(pick(rng, (0.0, 0.0, 0.01, 0.03))))
    drawn = rng.random()
    if drawn < _CAPITALS:
        return [Segment(each.text.upper(), each.label) for each in spelt]
    if drawn < _ONE_CASE:
        return [Segment(each.text.lower(), each.label) for each in spelt]
    return spelt


def _laid_out(rng: np.random.Generator, text: str) -> str:
    """Return a text with the line breaks of some program; no character moves."""
    drawn = rng.random()
    if drawn < 0.3:
        return wrapped(text, int(rng.integers(45, 90)))
    return broken(rng, text, 0.02) if drawn < 0.4 else text


def write_notes(
    folder: Path, patients: int = PATIENTS, seed: int = 1, *, brat: bool = False
) -> Path:
    """Write notes, their gold standard, and a table of what only the notes say.

    The folder then holds ``notes/PATIENT/DAY-KIND.txt``, ``gold.jsonl`` (as
    ``read_json_spans`` reads it), ``patients.csv`` and ``habits.csv``; with ``brat``,
    the gold standard in ``brat``, too.

    Args:
        folder: Made if missing; files of the same names are replaced.
        patients: How many patients.
        seed: Another seed is other patients.
        brat: Whether to write brat's files, which must not be there yet.

    Returns:
        The path of the folder with the notes.
    """
    found = list(_drawn(patients, seed, Lists()))
    documents = [note for _, notes in found for note in notes]
    root = folder / "notes"
    for each in documents:
        path = root / each.document.place.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each.document.text.encode())
    write_json_spans(documents, folder / "gold.jsonl")
    if brat:
        write_brat(documents, folder / "brat")
    people = [person for person, _ in found]
    _write_tables(folder, people)
    return root


def _write_tables(folder: Path, people: Iterable[Person]) -> None:
    patients = ["patient_id,sex,birth_year"]
    habits = ["patient_id,smokes,fell,allergy"]
    for each in people:
        patients.append(f"{each.id},{'F' if each.is_female else 'M'},{each.born.year}")
        smokes, fell = str(each.smokes).lower(), str(each.fell).lower()
        habits.append(f"{each.id},{smokes},{fell},{each.allergy or ''}")
    for name, lines in (("patients", patients), ("habits", habits)):
        (folder / f"{name}.csv").write_bytes("\n".join([*lines, ""]).encode())
