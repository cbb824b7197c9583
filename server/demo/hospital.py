"""A deterministic synthetic hospital: CSV and Parquet files and their manifest.

Ages follow an ageing population's pyramid, respiratory stays peak in winter, and
chronic diseases come together and grow with age (diabetes with hypertension, kidney
disease and metformin). Equal arguments make equal bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from server.demo.manifest import MANIFEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST_DAY = date(2020, 1, 1)
DAYS = 2_192  # 2020-01-01 to 2025-12-31
LAST_YEAR = 2025
MAX_ENCOUNTERS = 20

GROUPS = (
    "circulatory",
    "respiratory",
    "endocrine",
    "digestive",
    "injury",
    "neoplasm",
    "genitourinary",
    "mental",
    "other",
)
"""Diagnosis groups; the codes below are their ICD-10 categories."""

CODES = {
    "circulatory": ("I10", "I25.1", "I48", "I50.0", "I63.9"),
    "respiratory": ("J18.9", "J20.9", "J44.1", "J45.9"),
    "endocrine": ("E11.9", "E11.2", "E78.5", "E03.9"),
    "digestive": ("K35.8", "K80.2", "K57.3", "K21.9"),
    "injury": ("S72.0", "S06.0", "S52.5", "T14.9"),
    "neoplasm": ("C50.9", "C34.9", "C18.9", "C61"),
    "genitourinary": ("N39.0", "N18.3", "N20.0"),
    "mental": ("F32.9", "F10.2", "F41.9"),
    "other": ("R07.4", "R55", "Z03.9", "M54.5"),
}
DEPARTMENTS = {
    "circulatory": "cardiology",
    "respiratory": "pulmonology",
    "endocrine": "internal",
    "digestive": "surgery",
    "injury": "emergency",
    "neoplasm": "oncology",
    "genitourinary": "internal",
    "mental": "psychiatry",
    "other": "emergency",
}
DRUGS = {
    "circulatory": ("ramipril", "bisoprolol", "atorvastatin"),
    "respiratory": ("amoxicillin", "salbutamol", "prednisolone"),
    "endocrine": ("metformin", "insulin", "levothyroxine"),
    "digestive": ("pantoprazole", "ceftriaxone", "pantoprazole"),
    "injury": ("paracetamol", "ibuprofen", "enoxaparin"),
    "neoplasm": ("ondansetron", "dexamethasone", "morphine"),
    "genitourinary": ("ciprofloxacin", "furosemide", "ramipril"),
    "mental": ("sertraline", "lorazepam", "sertraline"),
    "other": ("paracetamol", "ibuprofen", "pantoprazole"),
}
_PYRAMID = (9, 9, 9, 11, 12, 12, 14, 12, 8, 4)  # weight of each ten years of age
_TESTS = ("hba1c", "creatinine", "crp", "haemoglobin")
_UNITS = ("%", "umol/L", "mg/L", "g/dL")


@dataclass(frozen=True, slots=True)
class _Patients:
    ids: NDArray[np.str_]
    birth_year: Ints
    female: NDArray[np.bool_]
    frailty: Floats  # multiplies how often a patient comes
    diabetic: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Encounters:
    ids: NDArray[np.str_]  # of the patients
    patient: Ints  # index into them
    day: Ints  # days since FIRST_DAY
    stay: Ints  # days
    group: Ints  # index into GROUPS
    age: Ints


def write_hospital(
    folder: Path,
    patients: int = 20_000,
    seed: int = 1,
    *,
    letter: str = "P",
    written: str = MANIFEST,
) -> Path:
    """Write the hospital's files and its manifest.

    Args:
        folder: Made if missing; files of the same names are replaced.
        patients: How many patients.
        seed: Another seed is another hospital.
        letter: With which its patients' ids begin: other patients, other letters.
        written: The manifest.

    Returns:
        The path of ``hospital.yaml``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)  # demo data, never noise
    people = _draw_patients(rng, _unit_ids(np.arange(patients), letter))
    stays = _draw_encounters(rng, people)
    _write_patients(folder, people)
    _write_encounters(folder, rng, stays)
    _write_diagnoses(folder, rng, people, stays)
    _write_prescriptions(folder, rng, people, stays)
    _write_labs(folder, rng, people, stays)
    manifest = folder / "hospital.yaml"
    manifest.write_text(written, "utf-8")
    return manifest


def _draw_patients(rng: np.random.Generator, ids: NDArray[np.str_]) -> _Patients:
    count = len(ids)
    weights = np.array(_PYRAMID) / sum(_PYRAMID)
    decade = rng.choice(len(_PYRAMID), count, p=weights)
    age = decade * 10 + rng.integers(0, 10, count)  # at the end of LAST_YEAR
    odds = np.clip((age - 25) / 220, 0.005, 0.3)
    return _Patients(
        ids=ids,
        birth_year=LAST_YEAR - age,
        female=rng.random(count) < 0.5 + np.clip(age - 70, 0, 25) / 200,
        frailty=rng.gamma(1.5, 1 / 1.5, count),
        diabetic=rng.random(count) < odds,
    )


def _draw_encounters(rng: np.random.Generator, people: _Patients) -> _Encounters:
    age_at_end = LAST_YEAR - people.birth_year
    mean = (0.8 + age_at_end / 28) * people.frailty * (1 + 0.8 * people.diabetic)
    count = np.clip(rng.poisson(mean), 1, MAX_ENCOUNTERS)
    patient = np.repeat(np.arange(len(count)), count)
    first = np.maximum(people.birth_year[patient] - FIRST_DAY.year, 0) * 365
    day = first + (rng.random(len(patient)) * (DAYS - first)).astype(np.int64)
    age = np.maximum(_years(day) - people.birth_year[patient], 0)
    group = _draw_groups(rng, day, age, people.diabetic[patient])
    stay = np.minimum(rng.geometric(1 / (2 + age / 20)), 90)
    return _Encounters(people.ids, patient, day, stay, group, age)


def _draw_groups(
    rng: np.random.Generator, day: Ints, age: Ints, diabetic: NDArray[np.bool_]
) -> Ints:
    """Draw each stay's diagnosis group by season, age and diabetes."""
    winter = 1 + 0.7 * np.cos(2 * np.pi * (day % 365.25 - 20) / 365.25)
    old = age / 80
    weights = np.stack(
        [
            0.2 + 3.0 * old**2 + 0.6 * diabetic,
            1.0 * winter,
            0.2 + 0.4 * old + 2.2 * diabetic,
            0.9 + 0.2 * old,
            1.3 - 0.5 * np.minimum(old, 1),
            0.1 + 1.0 * old**2,
            0.3 + 0.6 * old + 0.4 * diabetic,
            np.where((age > 15) & (age < 65), 0.7, 0.25),
            np.full(len(day), 0.9),
        ],
        axis=1,
    )
    reached = np.cumsum(weights, axis=1)
    drawn = rng.random(len(day))[:, None] * reached[:, -1:]
    group: Ints = (drawn > reached).sum(axis=1)
    return group


def _years(days: Ints) -> Ints:
    """Return the calendar year of each day."""
    dates = np.datetime64(FIRST_DAY) + days
    years: Ints = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return years


def _last_of_patient(stays: _Encounters) -> NDArray[np.bool_]:
    """Mark each patient's last stay: nobody comes back after dying."""
    order = np.lexsort((stays.day, stays.patient))
    ends = np.flatnonzero(np.diff(stays.patient[order], append=-1))
    last = np.zeros(len(order), dtype=np.bool_)
    last[order[ends]] = True
    return last


def _iso_days(days: Ints) -> NDArray[np.str_]:
    return np.datetime_as_string(np.datetime64(FIRST_DAY) + days)


def _unit_ids(patient: Ints, letter: str) -> NDArray[np.str_]:
    """Name patients in an order that tells nothing of when they came."""
    return np.char.add(
        letter, np.char.zfill(((patient * 7_919 + 12_345) % 10**7).astype(str), 7)
    )


def _write_csv(path: Path, columns: dict[str, NDArray[np.generic]]) -> None:
    rows = zip(*(column.astype(str) for column in columns.values()), strict=True)
    lines = (",".join(row) for row in rows)
    path.write_text("\n".join([",".join(columns), *lines]) + "\n", "utf-8")


def _write_patients(folder: Path, people: _Patients) -> None:
    _write_csv(
        folder / "patients.csv",
        {
            "patient_id": people.ids,
            "sex": np.where(people.female, "F", "M"),
            "birth_year": people.birth_year,
        },
    )


def _write_encounters(
    folder: Path, rng: np.random.Generator, stays: _Encounters
) -> None:
    groups = np.array(GROUPS)[stays.group]
    departments = np.array([DEPARTMENTS[name] for name in GROUPS])[stays.group]
    mortality = 0.005 + 0.25 * (stays.age / 100) ** 3
    died = _last_of_patient(stays) & (rng.random(len(groups)) < mortality)
    unknown = rng.random(len(groups)) < 0.04
    ending = np.where(died, "died", np.where(unknown, "", "home"))
    _write_csv(
        folder / "encounters.csv",
        {
            "encounter_id": np.arange(len(groups)) + 1,
            "patient_id": stays.ids[stays.patient],
            "admitted": _iso_days(stays.day),
            "year": _years(stays.day),
            "age": stays.age,
            "department": departments,
            "diagnosis_group": groups,
            "length_of_stay": stays.stay,
            "discharged_to": ending,
        },
    )


def _write_diagnoses(
    folder: Path, rng: np.random.Generator, people: _Patients, stays: _Encounters
) -> None:
    """Write the main codes, and the chronic ones that age and diabetes bring."""
    main = _pick(rng, CODES, stays.group)
    main[(main == "C61") & people.female[stays.patient]] = "C50.9"
    diabetic = people.diabetic[stays.patient]
    chronic = {
        "E11.9": 0.8 * diabetic,
        "I10": np.clip(stays.age / 130 + 0.2 * diabetic, 0, 0.8),
        "N18.3": np.clip((stays.age - 40) / 300, 0, 0.2) + 0.15 * diabetic,
    }
    encounter = np.arange(len(main)) + 1
    parts = [(encounter, stays.patient, main, "main")]
    for code, probability in chronic.items():
        coded = (rng.random(len(main)) < probability) & (main != code)
        codes = np.full(int(coded.sum()), code)
        parts.append((encounter[coded], stays.patient[coded], codes, "secondary"))
    _write_csv(
        folder / "diagnoses.csv",
        {
            "encounter_id": np.concatenate([part[0] for part in parts]),
            "patient_id": stays.ids[np.concatenate([part[1] for part in parts])],
            "code": np.concatenate([part[2] for part in parts]),
            "rank": np.concatenate(
                [np.broadcast_to(np.array(part[3]), len(part[0])) for part in parts]
            ),
        },
    )


def _pick(
    rng: np.random.Generator, names: Mapping[str, tuple[str, ...]], group: Ints
) -> NDArray[np.str_]:
    width = max(len(options) for options in names.values())
    table = np.array(
        [[names[g][i % len(names[g])] for i in range(width)] for g in GROUPS]
    )
    picked: NDArray[np.str_] = table[group, rng.integers(0, width, len(group))]
    return picked


def _write_prescriptions(
    folder: Path, rng: np.random.Generator, people: _Patients, stays: _Encounters
) -> None:
    """Write drugs as Parquet: one or two a stay, metformin for most with diabetes."""
    given = rng.random(len(stays.day)) < 0.85
    metformin = people.diabetic[stays.patient] & (rng.random(len(given)) < 0.6)
    patient = np.concatenate([stays.patient[given], stays.patient[metformin]])
    drug = np.concatenate(
        [
            _pick(rng, DRUGS, stays.group)[given],
            np.full(int(metformin.sum()), "metformin"),
        ]
    )
    day = np.concatenate([stays.day[given], stays.day[metformin]])
    frame = {
        "patient_id": stays.ids[patient],
        "started": (np.datetime64(FIRST_DAY) + day).astype("datetime64[D]"),
        "drug": drug,
        "days_supply": rng.choice([7, 14, 28, 90], len(day)),
    }
    _write_parquet(folder / "prescriptions.parquet", frame)


def _write_parquet(path: Path, columns: dict[str, NDArray[np.generic]]) -> None:
    csv = path.with_suffix(".part.csv")
    _write_csv(csv, columns)
    types = (
        "{'patient_id': 'VARCHAR', 'started': 'DATE',"
        " 'drug': 'VARCHAR', 'days_supply': 'INTEGER'}"
    )
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_csv($1, columns = {types}, header = true)) "  # noqa: S608 - our own words
            f"TO '{path}' (FORMAT parquet)",
            [str(csv)],
        )
    csv.unlink()


def _write_labs(
    folder: Path, rng: np.random.Generator, people: _Patients, stays: _Encounters
) -> None:
    """Write one or two results a stay; HbA1c runs high with diabetes."""
    repeat = rng.integers(0, 3, len(stays.day))
    index = np.repeat(np.arange(len(stays.day)), repeat)
    test = rng.integers(0, len(_TESTS), len(index))
    diabetic = people.diabetic[stays.patient[index]]
    means = np.stack(
        [
            np.where(diabetic, 7.6, 5.4),
            70 + stays.age[index] * 0.5 + 15 * diabetic,
            np.full(len(index), 22.0),
            np.where(people.female[stays.patient[index]], 13.0, 14.5),
        ],
        axis=1,
    )
    spread = np.array([0.6, 18.0, 15.0, 1.4])[test]
    value = means[np.arange(len(index)), test] + rng.normal(0, 1, len(index)) * spread
    _write_csv(
        folder / "labs.csv",
        {
            "patient_id": stays.ids[stays.patient[index]],
            "taken": _iso_days(np.minimum(stays.day[index] + 1, DAYS - 1)),
            "test": np.array(_TESTS)[test],
            "value": np.char.mod("%.1f", np.clip(value, 0.1, None)),
            "unit": np.array(_UNITS)[test],
            "abnormal": np.where(
                np.abs(value - means[np.arange(len(index)), test]) > spread,
                "true",
                "false",
            ),
        },
    )
