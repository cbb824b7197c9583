# ruff: noqa: E501 - a text is one string, to be read
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import pytest

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.errors import InvalidOptionError, QueryError, SqlNotAllowedError
from privacy.schema import Column, ColumnType, RangeDomain, Table
from query_lang.plans.compiled import KeyShown, NumberShown
from query_lang.reading.parse import parse_query
from tests.semantics import hospital as semantic
from tests.support.compiling import compile_query, compile_syntax
from tests.support.data.hospital import ENCOUNTERS, HOSPITAL, PATIENTS

COUNT = "SELECT COUNT(*) FROM encounters"
W = COUNT + " WHERE "


def compiled(sql, bounds=NO_BOUNDS, **weights):
    return compile_query(sql, HOSPITAL, bounds, weights)


# -- names and columns --------------------------------------------------------


@pytest.mark.parametrize(
    ("selected", "names"),
    [
        ("COUNT(*)", ["count"]),
        ("COUNT(DISTINCT patient_id), COUNT(*)", ["count", "count_2"]),
        ("COUNT(*), COUNT(*) AS n, COUNT(*)", ["count", "n", "count_2"]),
        ("sex, COUNT(*), Sex AS S", ["sex", "count", "s"]),
    ],
)
def test_unnamed_outputs_are_named_by_the_contract(selected, names):
    grouped = " GROUP BY sex" if "sex" in selected else ""
    query = compiled(f"SELECT {selected} FROM encounters{grouped}")
    assert [column.name for column in query.columns] == names


def test_columns_say_kind_type_unit_and_index():
    query = compiled(
        "SELECT COUNT(DISTINCT patient_id) AS p, admitted, COUNT(*), ward "
        "FROM encounters GROUP BY ward, admitted"
    )
    assert [(c.kind, c.type.value, c.unit, c.shown) for c in query.columns] == [
        ("measure", "integer", "patient", NumberShown(0)),
        ("group", "date", None, KeyShown(1)),
        ("measure", "integer", "rows", NumberShown(1)),
        ("group", "text", None, KeyShown(0)),
    ]


@pytest.mark.parametrize("keys", ["2, 1", "ward, s", "ward, sex, 1, WARD", "e.ward, s"])
def test_keys_are_columns_aliases_and_positions_each_once(keys):
    sql = f"SELECT sex AS s, ward, COUNT(*) FROM encounters e GROUP BY {keys}"
    assert compiled(sql).rendered.cells[:2] == (("north", "f"), ("north", "m"))


def test_an_input_column_wins_over_an_alias():
    sql = "SELECT ward AS sex, COUNT(*) FROM encounters GROUP BY sex"
    with pytest.raises(SqlNotAllowedError) as refused:
        compiled(sql)
    assert refused.value.rule == "not_grouped"


# -- identity -----------------------------------------------------------------

SAME = [
    ("age >= 60", "60 <= AGE"),
    ("age >= 60", "(encounters.age >= 60.00)"),
    ("age BETWEEN 1 AND 2", "age >= 1 AND age <= 2"),
    ("age NOT IN (1, 2)", "NOT age IN (1, 2, 1)"),
    ("smoker AND urgent AND age = 1", "smoker AND (urgent AND (age = 1))"),
    ("admitted = '2024-01-30'", "admitted = DATE '2024-01-30'"),
    ("seen = '2024-01-30'", "seen = TIMESTAMP '2024-01-30T00:00:00.000'"),
    ("cost = 1.50", "cost == 1.5 -- the same"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_question_share_its_identity(one, other):
    assert compiled(W + one).canonical == compiled(W + other).canonical


DIFFERENT = [
    "age >= 60",
    "age > 60",
    "age <> 60",
    "NOT age >= 60",
    "level >= 60",
    "age >= level",
    "level >= age",
    "smoker",
    "smoker IS NULL",
    "smoker IS NOT NULL",
    "smoker OR urgent",
    "smoker AND urgent",
    "age IN (60)",
    "age IN (60, 61)",
    "code = '60'",
    "code IN ('60')",
]


def test_different_questions_have_different_identities():
    texts = {compiled(W + condition).canonical for condition in DIFFERENT}
    texts |= {
        compiled(sql).canonical
        for sql in (
            COUNT,
            COUNT.replace("*)", "*) AS n"),
            "SELECT COUNT(*) FROM patients",
            "SELECT COUNT(DISTINCT patient_id) FROM encounters",
            "SELECT sex, COUNT(*) FROM encounters GROUP BY sex",
            "SELECT COUNT(*), sex FROM encounters GROUP BY sex",
        )
    }
    assert len(texts) == len(DIFFERENT) + 6


def test_bounds_belong_to_the_identity_where_they_act():
    asked = [
        NO_BOUNDS,
        ContributionBounds((("encounters", 2),)),
        ContributionBounds((), 2),
        ContributionBounds((), 3),
    ]
    assert len({compiled(COUNT, bounds).canonical for bounds in asked}) == 4
    idle = ContributionBounds((("encounters", 4), ("patients", 1)), 9, 1)
    assert compiled(COUNT, idle) == compiled(COUNT)


def test_weights_belong_to_the_identity_as_shares():
    sql = "SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS p FROM encounters"
    even = compiled(sql).canonical
    assert compiled(sql, n=Fraction(2), p=Fraction(2)).canonical == even
    assert compiled(sql, n=Fraction(2)).canonical != even


# -- options ------------------------------------------------------------------


def test_weights_go_to_vectors_and_a_shared_one_takes_the_greater():
    sql = (
        "SELECT COUNT(*) AS a, COUNT(DISTINCT patient_id) AS b, COUNT(*) AS c "
        "FROM encounters"
    )
    weights = [
        m.weight for m in compiled(sql, a=Fraction(1, 2), c=Fraction(3)).measures
    ]
    assert weights == [Fraction(3), Fraction(1)]
    weights = [m.weight for m in compiled(sql, a=Fraction(1, 2)).measures]
    assert weights == [Fraction(1), Fraction(1)]


@pytest.mark.parametrize(
    "weights",
    [
        {"unknown": Fraction(1)},
        {"sex": Fraction(1)},
        {"count": Fraction(0)},
        {"count": Fraction(-1)},
    ],
)
def test_weights_that_fit_no_measure_are_refused(weights):
    with pytest.raises(InvalidOptionError, match="weights"):
        compiled("SELECT sex, COUNT(*) FROM encounters GROUP BY 1", **weights)


@pytest.mark.parametrize(
    "bounds",
    [
        ContributionBounds((("wards", 1),)),
        ContributionBounds((("unknown", 1),)),
        ContributionBounds((("encounters", 0),)),
        ContributionBounds((("patients", -1),)),
        ContributionBounds((), 0),
        ContributionBounds((), None, -1),
    ],
)
def test_bounds_that_fit_nothing_are_refused(bounds):
    with pytest.raises(InvalidOptionError, match=r"bounds\."):
        compiled(COUNT, bounds)


def test_a_private_table_without_a_row_bound_is_refused():
    for bound in (None, 0):
        table = replace(PATIENTS, max_rows_per_unit=bound)
        dataset = replace(HOSPITAL, tables={"patients": table})
        with pytest.raises(SqlNotAllowedError) as refused:
            compile_query("SELECT COUNT(*) FROM patients", dataset)
        assert refused.value.rule == "row_bound_needed"


def test_the_unit_column_need_not_be_listed_among_the_columns():
    table = replace(ENCOUNTERS, columns=ENCOUNTERS.columns[1:])
    dataset = replace(HOSPITAL, tables={"encounters": table})
    sql = "SELECT COUNT(DISTINCT patient_id) FROM encounters"
    assert compile_query(sql, dataset).measures[0].sensitivity.l1 == 1
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query("SELECT COUNT(*) FROM encounters GROUP BY patient_id", dataset)
    assert refused.value.rule == "unit_key_opaque"


def test_scales_too_far_apart_for_128_bits_are_refused():
    columns = (
        Column("wide", ColumnType.DECIMAL, 20),
        Column("whole", ColumnType.INTEGER),
        Column("tenth", ColumnType.DECIMAL, 1),
    )
    dataset = replace(HOSPITAL, tables={"t": Table("t", columns, "u", 1)})
    assert compile_query("SELECT COUNT(*) FROM t WHERE wide > tenth", dataset)
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query("SELECT COUNT(*) FROM t WHERE wide > whole", dataset)
    assert refused.value.rule == "column_types"


def test_the_two_halves_make_the_whole():
    tree = parse_query(COUNT)
    assert compile_syntax(tree, HOSPITAL) == compile_query(COUNT, HOSPITAL)


# -- warnings -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("age > 120 AND age >= 0", 0),
        ("age > 120.5", 1),
        ("age IN (-1, 5, 121)", 1),
        ("age IN (-1, 5, 121) OR age NOT IN (-1)", 2),
        ("ward = 'east'", 1),
        ("ward = 'north' OR sex = 'other'", 0),
        ("ward = 'other'", 1),
        ("admitted BETWEEN '2024-01-29' AND '2024-02-02'", 2),
        ("dose = 1.50", 0),
        ("dose = 1", 1),
        ("age < 121 AND admitted < '2024-02-03'", 1),
        ("age > 121 OR age = 121", 2),
        ("code = 'anything' AND seen < '1000-01-01'", 0),
    ],
)
def test_a_literal_outside_the_domain_is_accepted_and_warns(condition, count):
    codes = [warning.code for warning in compiled(W + condition).warnings]
    assert codes == ["literal_outside_domain"] * count


def test_a_warning_names_column_and_place_but_not_the_literal():
    (warning,) = compiled(W + "ward = 'east'").warnings
    assert "line 1, column 46" in warning.detail
    assert "ward" in warning.detail
    assert "east" not in warning.detail


@pytest.mark.parametrize(
    ("kind", "low", "high", "inside", "outside"),
    [
        (
            ColumnType.TIMESTAMP,
            datetime(2024, 1, 1),  # noqa: DTZ001 - columns hold no zone
            datetime(2024, 1, 2, 12),  # noqa: DTZ001
            "'2024-01-02 12:00:00'",
            "'2024-01-02 12:00:00.5'",
        ),
        (ColumnType.TEXT, "b", "d", "'c'", "'a'"),
    ],
)
def test_ranges_of_every_type_are_held_against_literals(
    kind, low, high, inside, outside
):
    column = Column("x", kind, domain=RangeDomain(low, high))
    dataset = replace(HOSPITAL, tables={"t": Table("t", (column,), "u", 1)})
    for literal, count in ((inside, 0), (outside, 1)):
        query = compile_query(f"SELECT COUNT(*) FROM t WHERE x = {literal}", dataset)
        assert len(query.warnings) == count


@pytest.mark.parametrize(
    ("sql", "codes"),
    [
        ("SELECT COUNT(*) FROM {}", ["rows_multiplied"]),
        ("SELECT COUNT(DISTINCT e.patient_id) FROM {}", []),
        ("SELECT COUNT(e.patient_id) FROM {}", ["rows_counted", "rows_multiplied"]),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT e.patient_id, e.ward FROM {}) t", []),
    ],
)
def test_joins_that_make_many_rows_are_told_of_where_rows_are_counted(sql, codes):
    joined = "encounters e JOIN encounters f ON f.patient_id = e.patient_id"
    three = f"{joined} JOIN encounters g ON g.patient_id = e.patient_id"
    told = [warning.code for warning in compiled(sql.format(three)).warnings]
    assert [code for code in told if code != "other_values"] == codes


def test_bounds_that_may_drop_rows_warn():
    bounds = ContributionBounds((("encounters", 2),), None, 1)
    sql = "SELECT ward, COUNT(*) FROM encounters GROUP BY 1"
    (warning,) = compiled(sql, bounds).warnings
    assert warning.code == "rows_bounded"
    assert "groups beyond 1, rows of encounters beyond 2" in warning.detail
    (warning,) = compiled(COUNT, ContributionBounds((), 1)).warnings
    assert "rows beyond 1 of each patient" in warning.detail


@pytest.mark.parametrize(
    ("rest", "is_warned"),
    [
        ("HAVING n > 20", True),
        ("HAVING NOT (ward = 'icu' OR n BETWEEN 1 AND 5)", True),
        ("HAVING n IN (3, 4)", True),
        ("ORDER BY n DESC LIMIT 1", True),
        ("HAVING ward <> 'icu'", False),
        ("ORDER BY n DESC", False),
        ("ORDER BY ward LIMIT 1", False),
        ("", False),
    ],
)
def test_rows_that_noise_chooses_warn(rest, is_warned):
    sql = f"SELECT ward, COUNT(*) AS n FROM encounters GROUP BY ward {rest}"
    codes = [warning.code for warning in compiled(sql).warnings]
    assert ("rows_chosen" in codes) is is_warned


# -- derivation ---------------------------------------------------------------


def test_a_derivation_says_why_and_how_to_make_it_smaller():
    text = compiled("SELECT ward, COUNT(*) n FROM encounters GROUP BY 1").derivation
    assert "one patient has at most 4 rows in encounters" in text.lower()
    assert "L1 4, L2 squared 16, L-infinity 4" in text
    assert "To make it smaller" in text
    assert "COUNT(DISTINCT unit key)" in text


def test_a_derivation_of_the_least_sensitivity_offers_no_advice():
    sql = "SELECT sex, COUNT(DISTINCT patient_id) FROM encounters GROUP BY sex"
    text = compiled(sql).derivation
    assert "constant within one patient" in text
    assert "To make it smaller" not in text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM encounters e JOIN diagnoses d ON d.seq = e.severity",
        "SELECT COUNT(*) FROM (SELECT seq, COUNT(*) AS n FROM diagnoses GROUP BY 1) t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT seq FROM diagnoses) t",
        "SELECT COUNT(*) FROM (SELECT LAG(seq) OVER (PARTITION BY seq) FROM diagnoses)",
        "SELECT COUNT(*) FROM encounters e WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.seq = e.severity)",
        "SELECT COUNT(*) FROM diagnoses WHERE NOT EXISTS (SELECT 1 FROM encounters WHERE severity = seq)",
    ],
)
def test_where_a_declared_key_stands_for_the_unit_key_it_is_told(sql):
    warnings = compile_query(sql, semantic.DATASET).warnings
    assert [warning.code for warning in warnings] == ["unit_key_added"]


TIED = "SELECT COUNT(*) FROM encounters e WHERE {}EXISTS (SELECT 1 FROM diagnoses d WHERE {}d.seq = e.severity AND d.seq > 1)"


@pytest.mark.parametrize("word", ["", "NOT ", "age > 60 OR "])
def test_exists_by_a_declared_key_is_that_of_one_unit(word):
    written = compile_query(
        TIED.format(word, "d.patient_id = e.patient_id AND "), semantic.DATASET
    )
    found = compile_query(TIED.format(word, ""), semantic.DATASET)
    assert replace(found, warnings=()) == replace(written, warnings=())


@pytest.mark.parametrize(
    "within",
    [
        "diagnoses d WHERE d.seq > e.severity",
        "diagnoses d WHERE d.seq = e.severity OR d.seq = 1",
        "labs l WHERE l.ward = e.ward",
        "labs l LEFT JOIN diagnoses d ON d.patient_id = l.patient_id WHERE d.seq = e.severity",
    ],
)
def test_exists_by_no_key_of_every_row_names_the_unit(within):
    sql = f"SELECT COUNT(*) FROM encounters e WHERE EXISTS (SELECT 1 FROM {within})"
    with pytest.raises(QueryError) as refused:
        compile_query(sql, semantic.DATASET)
    assert refused.value.rule == "subquery_tie"


def test_the_derivation_tells_rows_without_a_match_from_row_numbers():
    joined = "encounters e LEFT JOIN encounters f ON f.patient_id = e.patient_id"
    told = compiled(f"SELECT COUNT(*) FROM {joined} WHERE f.patient_id IS NULL")
    assert "Those without a match are at most 4 rows of one" in told.derivation
    assert "The row number" not in told.derivation


def test_a_declared_key_ties_to_a_unit_key_that_is_never_null():
    inner = (
        "(SELECT l.patient_id AS lp, {} e.severity AS s FROM encounters e LEFT JOIN"
        " labs l ON l.patient_id = e.patient_id AND l.level = 1) x"
    )
    joined = "SELECT COUNT(*) FROM diagnoses d JOIN {} ON x.s = d.seq"
    found = compile_query(
        joined.format(inner.format("e.patient_id AS ep,")), semantic.DATASET
    )
    other = compile_query(
        joined.format(inner.format("e.patient_id AS ep,")) + " AND x.ep = d.patient_id",
        semantic.DATASET,
    )
    assert found.rendered.statements[0].sql == other.rendered.statements[0].sql
    without = compile_query(joined.format(inner.format("")), semantic.DATASET)
    assert without.rendered.statements[0].sql == found.rendered.statements[0].sql
