"""A public schema with a column for every type, once declared and once without."""

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
from query_lang.hierarchies import level_values
from tests.semantics.meaning.evaluator import Codes, own_codes

T = ColumnType
LEAST, GREATEST = -(2**63), 2**63 - 1
FIRST, LAST = date(1, 1, 1), date(9999, 12, 31)
OPENING = datetime(1, 1, 1)  # noqa: DTZ001 - timestamps have no zone
CLOSING = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - as above

PEOPLE = Table(
    "people",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("sex", T.TEXT, nullable=False, domain=ValuesDomain(("f", "m"), True)),
        Column("born", T.DATE, domain=RangeDomain(FIRST, LAST)),
        Column("smoker", T.BOOLEAN),
    ),
    unit_column="person",
    max_rows_per_unit=1,
    key=("person",),
)
MARKS = Table(
    "marks",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("seq", T.INTEGER, nullable=False, domain=RangeDomain(1, 4)),
        Column("a", T.INTEGER),
        Column("b", T.INTEGER, domain=RangeDomain(LEAST, GREATEST)),
        Column("age", T.INTEGER, domain=RangeDomain(0, 120)),
        Column("days", T.INTEGER, domain=RangeDomain(-3, 14)),
        Column("raw", T.DECIMAL, scale=4),
        Column(
            "cost",
            T.DECIMAL,
            scale=2,
            domain=RangeDomain(Decimal(LEAST).scaleb(-2), Decimal(GREATEST).scaleb(-2)),
        ),
        Column("day", T.DATE, domain=RangeDomain(FIRST, LAST)),
        Column("until", T.DATE),
        Column("stamp", T.TIMESTAMP, domain=RangeDomain(OPENING, CLOSING)),
        Column("text", T.TEXT),
        Column("ward", T.TEXT, domain=ValuesDomain(("icu", "er", "東"), other=True)),
        Column("code", T.TEXT, domain=HierarchyDomain("icd10")),
        Column("local", T.TEXT, domain=HierarchyDomain("care")),
        Column("flag", T.BOOLEAN),
        Column("sure", T.BOOLEAN, nullable=False),
    ),
    unit_column="person",
    max_rows_per_unit=4,
    key=("person", "seq"),
)
EVENTS = Table(
    "events",
    (
        Column("person", T.INTEGER, nullable=False),
        Column("at", T.DATE, domain=RangeDomain(FIRST, LAST)),
        Column("drug", T.TEXT, domain=ValuesDomain(("met", "ins"))),
        Column("dose", T.INTEGER, domain=RangeDomain(LEAST, GREATEST)),
    ),
    unit_column="person",
    max_rows_per_unit=3,
)
WARDS = Table(
    "wards",
    (
        Column("ward", T.TEXT),
        Column("floor", T.INTEGER, domain=RangeDomain(-1, 3)),
        Column("title", T.TEXT),
    ),
    key=("ward",),
)
GRADES = Table(
    "grades",
    (
        Column("seq", T.INTEGER),
        Column("grade", T.TEXT, domain=ValuesDomain(("low", "high"))),
        Column("points", T.INTEGER),
    ),
    fan_out=((("seq",), 2),),
)
CARE = Hierarchy(
    "care",
    ("kind", "place"),
    {
        "x1": ("drug", "home"),
        "X2": ("drug", None),
        "ü.1": ("test", "home"),
        "z": (None, "ward"),
    },
)
DATASET = Dataset(
    "hostile",
    "people",
    "person",
    date(2020, 2, 29),
    {table.name: table for table in (PEOPLE, MARKS, EVENTS, WARDS, GRADES)},
    {"care": CARE},
)

_ICD = HierarchyDomain("icd10")
_LEVELS = ("chapter", "block", "category")
ICD10 = Codes(  # the published place of each code that the rows hold, written by hand
    {level: level_values(_ICD, level, {}) for level in _LEVELS},
    {
        code: dict(zip(_LEVELS, places, strict=True))
        for code, places in {
            "A00": ("I", "A00-A09", "A00"),
            "E119": ("IV", "E10-E14", "E11"),
            "Z999": ("XXI", "Z80-Z99", "Z99"),
            "U071": ("XXII", "U00-U49", "U07"),
        }.items()
    },
)
HIERARCHIES = {"icd10": ICD10, "care": own_codes(CARE)}
