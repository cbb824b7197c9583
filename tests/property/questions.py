"""Random hospitals and random questions of the language, for property tests."""

from datetime import date, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from tests.property.evaluator import Question
from tests.support.data.hospital import ranked

INTEGERS = st.sampled_from([-(2**63), -1, 0, 1, 2, 59, 60, 61, 120, 2**63 - 1])
DATES = st.sampled_from([date(2024, 1, 29) + timedelta(days=n) for n in range(5)])
TIMES = st.sampled_from(
    [datetime(2024, 1, 30) + timedelta(microseconds=n) for n in range(3)]  # noqa: DTZ001
)
TEXTS = st.sampled_from(["", "E11", "e11", "E10' --", "é", "z", "other", "🩺", " "])
TENTHS = st.integers(-25, 25).map(lambda n: Decimal(n) / 10)
CENTS = st.one_of(
    st.integers(-300, 300).map(lambda n: Decimal(n) / 100),
    st.sampled_from([Decimal(2**63 - 1).scaleb(-2), Decimal(-(2**63)).scaleb(-2)]),
)
FINE = st.one_of(
    st.integers(-3000, 3000).map(lambda n: Decimal(n) / 1000),
    INTEGERS,
    st.integers(-3, 3).map(lambda n: n + Decimal("0.5")),
)
BOOLEANS = st.booleans()
VALUES = {  # what rows hold, what literals are written beside the column
    "age": (st.one_of(st.none(), st.sampled_from([0, 59, 60, 61, 120])), FINE),
    "visits": (st.one_of(st.none(), INTEGERS), FINE),
    "ward": (st.sampled_from([None, "north", "south"]), TEXTS),
    "code": (st.one_of(st.none(), TEXTS), TEXTS),
    "level": (st.integers(1, 3), FINE),
    "stay": (st.one_of(st.none(), TENTHS), FINE),
    "cost": (st.one_of(st.none(), CENTS), FINE),
    "dose": (st.sampled_from([Decimal("0.5"), Decimal("1.5")]), FINE),
    "admitted": (
        st.sampled_from([None, *(date(2024, 1, 30) + timedelta(n) for n in range(3))]),
        DATES,
    ),
    "discharged": (st.one_of(st.none(), DATES), DATES),
    "seen": (st.one_of(st.none(), TIMES), TIMES),
    "smoker": (st.sampled_from([None, True, False]), BOOLEANS),
    "urgent": (BOOLEANS, BOOLEANS),
}
NUMBERS = ["age", "visits", "level", "stay", "cost", "dose"]
COMPARABLE = [
    NUMBERS,
    ["ward", "code", "sex"],
    ["admitted", "discharged"],
    ["smoker", "urgent"],
    ["seen"],
]
KEYS = ["sex", "ward", "level", "dose", "admitted", "smoker", "urgent"]
MAX_ROWS = 4


@st.composite
def hospitals(draw):
    """Return rows as ingestion leaves them: bounded, ranked, constants constant."""
    rows = []
    for unit in range(draw(st.integers(0, 4))):
        sex = draw(st.sampled_from(["f", "m", "other"]))
        count = draw(st.integers(1, MAX_ROWS))
        hashes = draw(
            st.lists(
                st.integers(-(2**63), 2**63 - 1),
                min_size=count,
                max_size=count,
                unique=True,
            )
        )
        for row_hash in hashes:
            row = {name: draw(held) for name, (held, _) in VALUES.items()}
            rows.append({**row, "sex": sex, "unit": unit, "row_hash": row_hash})
    return ranked(rows)


OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
WRITTEN = {**VALUES, "sex": (st.sampled_from(["f", "m", "other"]), TEXTS)}
COLUMNS = st.sampled_from(sorted(WRITTEN))


def literal(column):
    return WRITTEN[column][1].map(lambda content: ("literal", content))


@st.composite
def comparisons(draw):
    column = draw(COLUMNS)
    own = ("column", column)
    family = next(names for names in COMPARABLE if column in names)
    other = draw(
        st.one_of(literal(column), st.sampled_from(family).map(lambda c: ("column", c)))
    )
    left, right = draw(st.permutations([own, other]))
    return ("compare", draw(OPERATORS), left, right)


@st.composite
def tests_of_one_column(draw):
    column = draw(COLUMNS)
    own, negated = ("column", column), draw(BOOLEANS)
    kind = draw(st.sampled_from(["between", "in", "null"]))
    if kind == "between":
        return (kind, own, draw(literal(column)), draw(literal(column)), negated)
    if kind == "in":
        values = draw(st.lists(WRITTEN[column][1], min_size=1, max_size=4))
        return (kind, column, tuple(values), negated)
    return (kind, column, negated)


CONDITIONS = st.recursive(
    st.one_of(
        comparisons(),
        tests_of_one_column(),
        st.sampled_from([("boolean", "smoker"), ("boolean", "urgent")]),
    ),
    lambda inner: st.one_of(
        inner.map(lambda item: ("not", item)),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: ("and", *items)),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: ("or", *items)),
    ),
    max_leaves=5,
)
BOUNDS = st.one_of(st.none(), st.integers(1, MAX_ROWS + 1))


def questions():
    """Return questions over one table, with and without bounds."""
    return st.builds(
        Question,
        measures=st.lists(
            st.sampled_from(["rows", "units"]), min_size=1, max_size=2
        ).map(tuple),
        keys=st.lists(st.sampled_from(KEYS), max_size=3, unique=True).map(tuple),
        condition=st.one_of(st.none(), CONDITIONS),
        table_rows=BOUNDS,
        max_rows=BOUNDS,
        max_groups=BOUNDS,
    )
