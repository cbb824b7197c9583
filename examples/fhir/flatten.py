"""Flatten a FHIR R4 bulk export (ndjson) into the CSV tables of ``fhir.yaml``.

Usage: python flatten.py EXPORT_FOLDER OUT_FOLDER

Reads every ``*.ndjson`` of the folder, whatever resources it mixes, a line at a time.
A resource whose status says that it was entered in error is left out. Nothing is looked
up and nothing is guessed: what has no code of a system that is named here, or no whole
day, becomes an empty field. Change SYSTEMS to the code systems that your server sends.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

Resource = Mapping[str, Any]
Row = dict[str, object]

SYSTEMS = {
    "Condition": (
        "http://hl7.org/fhir/sid/icd-10-cm",
        "http://hl7.org/fhir/sid/icd-10",
    ),
    "Observation": ("http://loinc.org",),
}
COLUMNS = {
    "patients": ("patient_id", "sex", "birth_year", "deceased"),
    "encounters": (
        *("encounter_id", "patient_id", "class_code", "status", "started", "ended"),
    ),
    "conditions": ("condition_id", "patient_id", "encounter_id", "code", "recorded"),
    "observations": (
        *("observation_id", "part", "patient_id", "encounter_id"),
        *("code", "value", "unit", "observed"),
    ),
}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WRONG = "entered-in-error"


def rows_of(resource: Resource) -> Iterator[tuple[str, Row]]:
    """Yield the rows of one resource, each with its table."""
    reader = _READERS.get(str(resource.get("resourceType")))
    if reader is not None and not _is_wrong(resource):
        yield from reader(resource)


def reference(resource: Resource, member: str) -> str:
    """Return the id that a reference ends in.

    >>> reference({"subject": {"reference": "https://a.org/fhir/Patient/7"}}, "subject")
    '7'
    >>> reference({"subject": {"reference": "urn:uuid:0b1c"}}, "subject")
    '0b1c'
    """
    found = str((resource.get(member) or {}).get("reference") or "")
    without_version = found.partition("/_history/")[0]
    return re.split(r"[/:]", without_version)[-1]


def code_of(concept: object, systems: tuple[str, ...]) -> str:
    """Return the first code of the first system that the concept has one of."""
    codings = concept.get("coding") or [] if isinstance(concept, Mapping) else []
    for system in systems:
        for coding in codings:
            if coding.get("system") == system and coding.get("code"):
                return str(coding["code"])
    return ""


def day(*moments: object) -> str:
    """Return the day of the first moment that has one, as it was written there.

    >>> day(None, "2024-02", "2024-02-03T23:30:00-05:00")
    '2024-02-03'
    """
    for moment in moments:
        found = _DAY.match(str(moment or ""))
        if found is not None:
            return found[0]
    return ""


def _is_wrong(resource: Resource) -> bool:
    codings = (resource.get("verificationStatus") or {}).get("coding") or []
    said = {resource.get("status"), *(coding.get("code") for coding in codings)}
    return _WRONG in said


def _patient(resource: Resource) -> Iterator[tuple[str, Row]]:
    is_dead = bool(resource.get("deceasedDateTime") or resource.get("deceasedBoolean"))
    yield (
        "patients",
        {
            "patient_id": resource.get("id"),
            "sex": resource.get("gender"),
            "birth_year": str(resource.get("birthDate") or "")[:4],
            "deceased": str(is_dead).lower(),
        },
    )


def _encounter(resource: Resource) -> Iterator[tuple[str, Row]]:
    period = resource.get("period") or {}
    yield (
        "encounters",
        {
            "encounter_id": resource.get("id"),
            "patient_id": reference(resource, "subject"),
            "class_code": (resource.get("class") or {}).get("code"),
            "status": resource.get("status"),
            "started": day(period.get("start")),
            "ended": day(period.get("end")),
        },
    )


def _condition(resource: Resource) -> Iterator[tuple[str, Row]]:
    yield (
        "conditions",
        {
            "condition_id": resource.get("id"),
            "patient_id": reference(resource, "subject"),
            "encounter_id": reference(resource, "encounter"),
            "code": code_of(resource.get("code"), SYSTEMS["Condition"]),
            "recorded": day(
                resource.get("onsetDateTime"), resource.get("recordedDate")
            ),
        },
    )


def _observation(resource: Resource) -> Iterator[tuple[str, Row]]:
    """Yield a row of the value, and one of each component, such as two pressures."""
    parts = [resource, *(resource.get("component") or [])]
    for number, part in enumerate(parts):
        quantity = part.get("valueQuantity") or {}
        if quantity.get("value") is None:
            continue
        yield (
            "observations",
            {
                "observation_id": resource.get("id"),
                "part": number,
                "patient_id": reference(resource, "subject"),
                "encounter_id": reference(resource, "encounter"),
                "code": code_of(part.get("code"), SYSTEMS["Observation"]),
                "value": f"{Decimal(quantity['value']):f}",
                "unit": quantity.get("code") or quantity.get("unit"),
                "observed": day(
                    resource.get("effectiveDateTime"),
                    (resource.get("effectivePeriod") or {}).get("start"),
                    resource.get("issued"),
                ),
            },
        )


_READERS = {
    "Patient": _patient,
    "Encounter": _encounter,
    "Condition": _condition,
    "Observation": _observation,
}


def flatten(export: Path, out: Path) -> Counter[str]:
    """Write the tables; return how many rows each has, and how many were passed over.

    Raises:
        ValueError: A line is no JSON; file and line are named.
    """
    out.mkdir(parents=True, exist_ok=True)
    counted: Counter[str] = Counter()
    with ExitStack() as stack:
        writers = {}
        for table, columns in COLUMNS.items():
            file = stack.enter_context(
                (out / f"{table}.csv").open("w", encoding="utf-8", newline="")
            )
            writers[table] = csv.DictWriter(file, columns)
            writers[table].writeheader()
        for resource in _resources(export):
            rows = list(rows_of(resource))
            counted["passed over"] += not rows
            for table, row in rows:
                writers[table].writerow(row)
                counted[table] += 1
    return counted


def _resources(export: Path) -> Iterator[Resource]:
    for path in sorted(export.glob("*.ndjson")):
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    resource = json.loads(line, parse_float=Decimal)
                except json.JSONDecodeError as error:
                    message = f"{path.name}, line {number}: no JSON ({error.msg})"
                    raise ValueError(message) from error
                yield resource if isinstance(resource, dict) else {}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for name, rows in sorted(flatten(Path(sys.argv[1]), Path(sys.argv[2])).items()):
        print(f"{name}: {rows}")
