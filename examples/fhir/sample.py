"""Make up a FHIR R4 bulk export, to try ``flatten.py`` without a server.

Usage: python sample.py OUT_FOLDER [PATIENTS]

The people are made up: a seeded generator draws them, and nothing is read.
"""

import json
import random
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

Resource = dict[str, object]
ICD = "http://hl7.org/fhir/sid/icd-10-cm"
LOINC = "http://loinc.org"
CODES = ("E11.9", "I10", "J44.1", "N18.3", "E78.5", "F32.9")
DEFAULT_PATIENTS = 400


def resources(patients: int) -> Iterator[Resource]:
    """Yield the resources of made-up people."""
    draw = random.Random(7)  # noqa: S311 - made-up people
    for number in range(1, patients + 1):
        who = f"p-{number:05d}"
        yield _patient(who, draw)
        for visit in range(draw.randrange(1, 5)):
            yield from _visit(who, f"{who}-{visit}", draw)


def _patient(who: str, draw: random.Random) -> Resource:
    born = date(1930, 1, 1) + timedelta(days=draw.randrange(27_000))
    written = draw.choice([born.isoformat(), born.isoformat()[:7], str(born.year)])
    return {
        "resourceType": "Patient",
        "id": who,
        "gender": draw.choice(["female", "male", "female", "male", "unknown"]),
        "birthDate": written,
        "deceasedBoolean": draw.random() < 0.05,
    }


def _visit(who: str, visit: str, draw: random.Random) -> Iterator[Resource]:
    begun = date(2024, 1, 1) + timedelta(days=draw.randrange(360))
    about: Resource = {
        "subject": {"reference": f"Patient/{who}"},
        "encounter": {"reference": f"Encounter/{visit}"},
    }
    yield {
        "resourceType": "Encounter",
        "id": visit,
        "status": "finished",
        "class": {"code": draw.choice(["AMB", "IMP", "EMER"])},
        "subject": about["subject"],
        "period": {"start": f"{begun}T08:30:00+01:00", "end": str(begun)},
    }
    yield {
        "resourceType": "Condition",
        "id": f"{visit}-c",
        **about,
        "code": {"coding": [{"system": ICD, "code": draw.choice(CODES)}]},
        "recordedDate": str(begun),
    }
    yield {
        "resourceType": "Observation",
        "id": f"{visit}-a1c",
        "status": "final",
        **about,
        "code": {"coding": [{"system": LOINC, "code": "4548-4"}]},
        "valueQuantity": {"value": round(draw.uniform(4.5, 11), 1), "code": "%"},
        "effectiveDateTime": f"{begun}T09:00:00+01:00",
    }
    pressures = (
        ("8480-6", draw.randrange(95, 190)),
        ("8462-4", draw.randrange(55, 110)),
    )
    yield {
        "resourceType": "Observation",
        "id": f"{visit}-bp",
        "status": "entered-in-error" if draw.random() < 0.02 else "final",
        **about,
        "code": {"coding": [{"system": LOINC, "code": "85354-9"}]},
        "component": [
            {
                "code": {"coding": [{"system": LOINC, "code": code}]},
                "valueQuantity": {"value": value, "code": "mm[Hg]"},
            }
            for code, value in pressures
        ],
        "effectiveDateTime": str(begun),
    }


def write(out: Path, patients: int = DEFAULT_PATIENTS) -> None:
    """Write a file a type of resource, as bulk exports do."""
    out.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[str]] = {}
    for resource in resources(patients):
        lines.setdefault(str(resource["resourceType"]), []).append(json.dumps(resource))
    for kind, written in lines.items():
        (out / f"{kind}.ndjson").write_text("\n".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    write(Path(sys.argv[1]), int((*sys.argv, DEFAULT_PATIENTS)[2]))
