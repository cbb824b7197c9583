"""Notes of patients with several each, and copies that are declared of them."""

import csv
import json
import random
import re
from pathlib import Path

import yaml
from sqlalchemy import insert

from server.persistence import tables
from server.use_cases.anonymization.copies import CopyFolders, copy_id
from server.use_cases.anonymization.work.texts.jobs import DOCUMENTS
from server.use_cases.services.services import random_id

PAGE = Path(__file__).parents[2] / "docs" / "anonymization.md"
PATIENTS = {
    "p1": ("Alice Stone", "30322"),
    "p2": ("Henry Marsh", "03601"),
    "p3": ("Zorblax Quibble", "10001"),
}
STAY = (
    *("patient_id", "age", "postcode", "sex", "admitted"),
    *("outcome", "drug", "ward", "mrn"),
)
VISITS = ("March 5, 2024", "March 12, 2024", "May 1, 2024")
MARKED = re.compile(r"<(\w+):([^>]*)>")


def note(patient, visit):
    """Return a note with its spans marked, such as ``<NAME:Ann>``."""
    name, code = PATIENTS[patient]
    given, family = name.split()
    return (
        f"<NAME:{name}>, <AGE:{40 + len(name)}> years, of <ZIP:{code}>. Seen "
        f"<DATE:{visit}>. MRN <MRN:60-71-{code[:2]}>. {family} slept well; "
        f"<FALL:fell> once. Signed for <NAME:{given[0]}. {family.upper()}>.\n"
    )


def unmarked(told):
    """Return a note's text and its spans."""
    text, spans, at = "", [], 0
    for found in MARKED.finditer(told):
        text += told[at : found.start()]
        spans.append([len(text), len(text) + len(found[2]), found[1]])
        text += found[2]
        at = found.end()
    return text + told[at:], spans


def write_notes(folder, patients=PATIENTS, *, population="people", name="notes"):
    """Write all notes as a gold standard; return what declares it."""
    with (folder / f"{name}.jsonl").open("w") as file:
        for patient in patients:
            for number, visit in enumerate(VISITS):
                text, spans = unmarked(note(patient, visit))
                own = {"id": f"{patient}_{number}", "text": text, "spans": spans}
                fields = {"patient_id": patient}
                file.write(json.dumps({**own, "fields": fields}) + "\n")
    path = folder / f"{name}.yaml"
    gold = {"format": "json", "path": f"{name}.jsonl"}
    told = {"population": population, "collection": name, "gold": gold}
    path.write_text(json.dumps(told))
    return path


def write_copy(folder, **changes):
    """Write the file that the page about copies shows, with other keys."""
    shown = re.search(
        r"```yaml\n(# registry.yaml\n.*?)```", PAGE.read_text(), re.DOTALL
    )
    told = yaml.safe_load(shown[1])
    told |= {"population": "people", "finder": "gold", **changes}
    path = folder / "registry.yaml"
    path.write_text(json.dumps({k: v for k, v in told.items() if v is not None}))
    return path


def write_stays(
    folder, *, name="stays.csv", separator=",", encoding="utf-8", first=0, patients=120
):
    """Write rows of stays; every second patient has two."""
    drawn = random.Random(18)
    with (folder / name).open("w", encoding=encoding, newline="") as file:
        rows = csv.writer(file, delimiter=separator)
        rows.writerow(STAY)
        for patient in range(120):
            for _ in range(1 + patient % 2):
                row = (
                    f"p{patient:03d}",
                    drawn.randint(20, 90),
                    f"{drawn.choice([303, 304])}{drawn.randint(10, 40)}",
                    drawn.choice("FM"),
                    f"2024-{drawn.randint(1, 12):02d}-{drawn.randint(1, 28):02d}",
                    drawn.choice(["home", "died", "moved"]),
                    drawn.choice(["d1", "d2", "NA"]),
                    drawn.choice(["S\u00fcd", "Nord"]),
                    70_000 + patient,
                )
                if first <= patient < patients:
                    rows.writerow(row)


def write_table_copy(folder, **changes):
    """Write the file that the page shows of copies of tables, with other keys."""
    return _write_shown(folder, "stays.yaml", changes)


def write_codes_copy(folder, **changes):
    """Write the file that the page shows of copies of codes, with other keys."""
    return _write_shown(folder, "codes.yaml", changes)


def _write_shown(folder, name, changes):
    """Write a file of the page; a key of ``...`` is left out."""
    shown = re.search(rf"```yaml\n(# {name}\n.*?)```", PAGE.read_text(), re.DOTALL)
    told = yaml.safe_load(shown[1]) | {"population": "people", **changes}
    path = folder / name
    path.write_text(json.dumps({k: v for k, v in told.items() if v is not ...}))
    return path


def documents_of(services, copy):
    """Return the documents of a copy, by its id."""
    path = CopyFolders(services.settings.anonymized).path(copy) / DOCUMENTS
    return [json.loads(line) for line in path.read_text().splitlines()]


def store_copy(services, population):
    """Write a copy of a population; return its id."""
    job = random_id("job")
    folders = CopyFolders(services.settings.anonymized)
    part = folders.stage(job)
    (part / DOCUMENTS).write_text('{"id": "d_1", "text": "[NAME]"}\n')
    told = {"name": "registry", "population": population, "kind": "texts"}
    made = {"created": "2026-05-04T09:30:00+00:00", "created_by": "local:test"}
    done = {"profile": "full", "counts": {"documents": 1}}
    folders.finish(part, {**told, **made, **done}, None)
    folders.settle(part, job)
    row = {"id": job, "kind": "anonymize.texts", "population": population}
    row |= {"parameters": "{}", "actor": "local:test", "created": made["created"]}
    row |= {"state": "done", "attempts": 1, "cancel_requested": False, "done": 1}
    with services.databases.work.begin() as connection:
        connection.execute(insert(tables.job).values(**row, lineage="{}"))
    return copy_id(job)
