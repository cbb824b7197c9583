"""A fixed schema with a corner for every rule, and small random databases over it."""

from datetime import date, datetime
from decimal import Decimal

from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from tests.semantics.meaning.evaluator import Codes
from tests.semantics.meaning.values import GREATEST, LEAST

T = ColumnType
FIRST_DAY, LAST_DAY = date(2020, 1, 30), date(2020, 3, 2)
FIRST_BIRTH, LAST_BIRTH = date(1919, 12, 31), date(2020, 2, 29)
DAYS = RangeDomain(FIRST_DAY, LAST_DAY)

PATIENTS = Table(
    "patients",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("sex", T.TEXT, nullable=False, domain=ValuesDomain(("f", "m"), True)),
        Column("birth", T.DATE, domain=RangeDomain(FIRST_BIRTH, LAST_BIRTH)),
        Column("smoker", T.BOOLEAN),
        Column("region", T.TEXT, domain=ValuesDomain(("nord", "süd", "東"))),
    ),
    unit_column="patient_id",
    max_rows_per_unit=1,
    key=("patient_id",),
)
ENCOUNTERS = Table(
    "encounters",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("started", T.DATE, nullable=False, domain=DAYS),
        Column("ended", T.DATE, domain=DAYS),
        Column("ward", T.TEXT, domain=ValuesDomain(("icu", "er"), other=True)),
        Column("age", T.INTEGER, domain=RangeDomain(0, 120)),
        Column("severity", T.INTEGER, nullable=False, domain=ValuesDomain((2, 1, 3))),
        Column("days", T.INTEGER, domain=RangeDomain(-3, 14)),
        Column(
            "cost",
            T.DECIMAL,
            scale=2,
            domain=RangeDomain(Decimal("-1.50"), Decimal("99.99")),
        ),
        Column("urgent", T.BOOLEAN, nullable=False),
        Column("note", T.TEXT),
        Column("wide", T.INTEGER),
        Column("vast", T.INTEGER, domain=RangeDomain(LEAST, GREATEST)),
    ),
    unit_column="patient_id",
    max_rows_per_unit=4,
)
DIAGNOSES = Table(
    "diagnoses",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("seq", T.INTEGER, nullable=False, domain=RangeDomain(1, 4)),
        Column("code", T.TEXT, domain=HierarchyDomain("icd10")),
        Column("local", T.TEXT, domain=HierarchyDomain("care")),
        Column("noted", T.DATE, domain=DAYS),
        Column("certain", T.BOOLEAN),
    ),
    unit_column="patient_id",
    max_rows_per_unit=4,
    key=("patient_id", "seq"),
)
LABS = Table(
    "labs",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("analyte", T.TEXT, nullable=False, domain=ValuesDomain(("na", "k"))),
        Column(
            "taken",
            T.TIMESTAMP,
            domain=RangeDomain(datetime(2020, 1, 30), datetime(2020, 3, 2, 23, 59, 59)),  # noqa: DTZ001 - no zone
        ),
        Column(
            "result",
            T.DECIMAL,
            scale=3,
            domain=RangeDomain(Decimal("-0.500"), Decimal("12.000")),
        ),
        Column("raw", T.DECIMAL, scale=1),
        Column("level", T.INTEGER, domain=ValuesDomain((10, 0, 5))),
        Column("ward", T.TEXT, domain=ValuesDomain(("icu", "er"), other=True)),
    ),
    unit_column="patient_id",
    max_rows_per_unit=5,
)
WARDS = Table(
    "wards",
    (
        Column("ward", T.TEXT),
        Column("floor", T.INTEGER, domain=RangeDomain(-1, 3)),
        Column("title", T.TEXT, nullable=False),
    ),
    key=("ward",),
)
GRADES = Table(
    "grades",
    (
        Column("severity", T.INTEGER),
        Column("grade", T.TEXT, nullable=False, domain=ValuesDomain(("low", "high"))),
        Column("points", T.INTEGER, domain=RangeDomain(-2, 5)),
    ),
    fan_out=((("severity",), 2),),
)
CARE = Hierarchy(
    "care",
    ("kind", "place"),
    {
        "x1": ("drug", "home"),
        "X2": ("drug", None),
        "y.1": ("test", "home"),
        "z": (None, "ward"),
    },
)
DATASET = Dataset(
    name="hospital",
    population="people",
    unit="patient",
    snapshot_date=date(2020, 3, 1),
    tables={t.name: t for t in (PATIENTS, ENCOUNTERS, DIAGNOSES, LABS, WARDS, GRADES)},
    hierarchies={"care": CARE},
)

CHAPTERS = (
    "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII"
)
ICD10 = Codes(
    {"chapter": tuple(CHAPTERS.split()), "block": None, "category": None},
    {
        code: {"chapter": chapter, "block": block, "category": category}
        for code, chapter, block, category in (
            ("E11", "IV", "E10-E14", "E11"),
            ("E119", "IV", "E10-E14", "E11"),
            ("E14", "IV", "E10-E14", "E14"),
            ("I10", "IX", "I10-I15", "I10"),
            ("I639", "IX", "I60-I69", "I63"),
            ("Z000", "XXI", "Z00-Z13", "Z00"),
        )
    },
)
HIERARCHIES = {"icd10": ICD10}

# What literals and rows are drawn from: corners first.
CODES = ("E11", "e11.9", "E14", "I10", "I63.9", "z000")
LOCALS = ("x1", "X2", "y.1", "Y1", "z")
NOTES = (
    "",
    "fall",
    "Fall",
    "fallen",
    "über",
    "u\u0308ber",
    "東京",
    "a'b",
    "%",
    "ß\U0001f600",
)
PATTERNS = (
    "f_",
    "%a%n",
    "_%",
    "fa%",
    "%n",
    "%al%",
    "ü%",
    "%京",
    "%'%",
    "%\U0001f600",
    "F%",
)
EXPRESSIONS = ("^f", "n$", "a|京", "^(f|m)$", "[^a-z]", "^.{3}$", "a.*n", r"\d+")
INTEGERS = (0, 1, -1, 2, 3, 7, 60, LEAST, GREATEST, GREATEST - 1, LEAST + 1)
MOMENTS = (
    datetime(2020, 2, 29, 0, 0, 0),  # noqa: DTZ001 - timestamps have no zone
    datetime(2020, 2, 29, 23, 59, 59, 999999),  # noqa: DTZ001 - as above
    datetime(2020, 3, 1, 12, 30, 0),  # noqa: DTZ001 - as above
    datetime(2020, 1, 30, 0, 0, 0),  # noqa: DTZ001 - as above
)
DAY_POOL = (
    FIRST_DAY,
    LAST_DAY,
    date(2020, 2, 28),
    date(2020, 2, 29),
    date(2020, 3, 1),
    date(2020, 1, 31),
)
BIRTHS = (
    FIRST_BIRTH,
    LAST_BIRTH,
    date(2004, 2, 29),
    date(2000, 3, 1),
    date(1999, 12, 31),
)
COSTS = tuple(map(Decimal, ("0.00", "-1.50", "99.99", "10.00", "10.01", "0.05")))
RESULTS = tuple(map(Decimal, ("0.000", "-0.500", "12.000", "5.125", "5.126", "10.000")))
RAWS = tuple(map(Decimal, ("0.0", "-0.5", "12.0", "922337203685477580.7")))


def random_tables(rng):
    """Return {table name: rows} of four to eight units; hashes clash across units."""
    units = rng.sample(
        [-5, 0, 1, 2, 3, 7, 11, 2**40, 1 - 2**63, 2**63 - 1], rng.randint(4, 8)
    )
    tables = {name: [] for name in DATASET.tables}
    for unit in units:
        if rng.random() < 0.85:
            _give(rng, tables, "patients", unit, [_patient(rng)])
        for name, make, most in (
            ("encounters", _encounter, 4),
            ("labs", _lab, 5),
        ):
            count = rng.choice((0, 1, 1, 2, 2, 3, most))
            _give(rng, tables, name, unit, [make(rng) for _ in range(count)])
        seqs = rng.sample((1, 2, 3, 4), rng.choice((0, 1, 2, 2, 4)))
        _give(rng, tables, "diagnoses", unit, [_diagnosis(rng, s) for s in seqs])
    tables["wards"] = _wards(rng)
    tables["grades"] = _grades(rng)
    return tables


def _give(rng, tables, name, unit, rows):
    """Add a unit's rows in any order, with hashes and the ranks they give."""
    pool = (LEAST, -9, -1, 0, 1, 5, 6, 7, GREATEST)
    hashes = rng.sample(pool, len(rows))
    ranks = {value: rank for rank, value in enumerate(sorted(hashes), start=1)}
    for value, row in zip(hashes, rows, strict=True):
        tables[name].append(
            {"unit": unit, "row_hash": value, "row_rank": ranks[value], **row}
        )


def _or_null(rng, pool, chance=0.2):
    return None if rng.random() < chance else rng.choice(pool)


def _patient(rng):
    return {
        "sex": rng.choice(("f", "m", "other")),
        "birth": _or_null(rng, BIRTHS),
        "smoker": _or_null(rng, (True, False)),
        "region": _or_null(rng, ("nord", "süd", "東")),
    }


def _encounter(rng):
    return {
        "started": rng.choice(DAY_POOL),
        "ended": _or_null(rng, DAY_POOL),
        "ward": _or_null(rng, ("icu", "er", "other")),
        "age": _or_null(rng, (0, 9, 10, 59, 60, 120)),
        "severity": rng.choice((1, 2, 3)),
        "days": _or_null(rng, (-3, -1, 0, 1, 2, 14)),
        "cost": _or_null(rng, COSTS),
        "urgent": rng.choice((True, False)),
        "note": _or_null(rng, NOTES),
        "wide": _or_null(rng, INTEGERS),
        "vast": _or_null(rng, INTEGERS),
    }


def _diagnosis(rng, seq):
    return {
        "seq": seq,
        "code": _or_null(rng, CODES),
        "local": _or_null(rng, LOCALS),
        "noted": _or_null(rng, DAY_POOL),
        "certain": _or_null(rng, (True, False)),
    }


def _lab(rng):
    return {
        "analyte": rng.choice(("na", "k")),
        "taken": _or_null(rng, MOMENTS),
        "result": _or_null(rng, RESULTS),
        "raw": _or_null(rng, RAWS),
        "level": _or_null(rng, (10, 0, 5)),
        "ward": _or_null(rng, ("icu", "er", "other")),
    }


def _wards(rng):
    names = rng.sample(("icu", "er", "other", "attic"), rng.randint(0, 4))
    return [
        {
            "ward": name,
            "floor": _or_null(rng, (-1, 0, 3)),
            "title": rng.choice(NOTES),
        }
        for name in names
    ]


def _grades(rng):
    rows = []
    for severity in (1, 2, 3):
        for _ in range(rng.randint(0, 2)):
            grade = rng.choice(("low", "high"))
            points = _or_null(rng, (-2, 0, 5))
            rows.append({"severity": severity, "grade": grade, "points": points})
    rng.shuffle(rows)
    return rows


MAKERS = {
    "patients": _patient,
    "encounters": _encounter,
    "diagnoses": lambda rng: _diagnosis(rng, rng.choice((1, 2, 3, 4))),
    "labs": _lab,
}
"""One random row of a private table, without unit, hash and rank."""
