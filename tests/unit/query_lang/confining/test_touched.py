"""Which blocks a text is charged to: one case for each rule, and for what it is not."""

from dataclasses import replace

import pytest

from privacy.schema import Blocks
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest
from query_lang.specs.sequences import SequenceRequest
from tests.semantics import hospital
from tests.support.compiling import compile_cube, compile_query, compile_sequences

WARDS = Blocks("ward", ("encounters", "labs"), ("icu", "er", "other"))
BY_WARD = replace(hospital.DATASET, blocks=WARDS)
LEVELS = Blocks("severity", ("encounters",), (2, 1, 3))
BY_LEVEL = replace(hospital.DATASET, blocks=LEVELS)
ICU, ER, OTHER = "icu", "er", "other"
ALL = (ICU, ER, OTHER)

E = "FROM encounters AS e"
JOINED = f"{E} JOIN patients AS p ON p.patient_id = e.patient_id"
LEFT = "FROM patients AS p LEFT JOIN encounters AS e ON e.patient_id = p.patient_id"


def exists(condition):
    tied = "SELECT 1 FROM encounters AS e WHERE e.patient_id = p.patient_id"
    return f"EXISTS ({tied} AND {condition})"


def inside(condition):
    found = f"SELECT patient_id FROM encounters AS e WHERE {condition}"
    return f"p.patient_id IN ({found})"


FOUND = {
    "exists_icu": exists("ward = 'icu'"),
    "in_er": inside("ward = 'er'"),
    "in_not_er": inside("ward <> 'er'"),
}

CONDITIONS = (
    ("ward = 'icu'", (ICU,)),
    ("'icu' = ward", (ICU,)),
    ("ward <> 'icu'", (ER, OTHER)),
    ("NOT ward = 'icu'", (ER, OTHER)),
    ("ward IN ('icu', 'er')", (ICU, ER)),
    ("ward NOT IN ('icu', 'er')", (OTHER,)),
    ("ward >= 'f'", (ICU, OTHER)),
    ("ward BETWEEN 'f' AND 'j'", (ICU,)),
    ("ward LIKE 'i%'", (ICU,)),
    ("ward LIKE '%r'", (ER, OTHER)),
    ("ward = 'icu' OR ward = 'er'", (ICU, ER)),
    ("ward = 'icu' OR age > 3", ALL),
    ("ward = 'icu' AND age > 3", (ICU,)),
    ("ward = 'icu' AND ward = 'er'", ALL),  # nobody: charged to everybody
    ("NOT (ward = 'icu' OR ward = 'er')", (OTHER,)),
    ("NOT (ward = 'icu' AND age > 3)", ALL),
    ("(ward = 'icu') IS TRUE", (ICU,)),
    ("ward IS NOT NULL", ALL),
    ("ward = 'attic'", ALL),
    ("age > 3", ALL),
    ("UPPER(ward) = 'ICU'", ALL),  # not understood
    ("CASE WHEN ward = 'icu' THEN 1 ELSE 0 END = 1", ALL),  # not understood
)
TEXTS = (
    ("SELECT COUNT(*) FROM encounters", ALL),
    ("SELECT ward, COUNT(*) FROM encounters GROUP BY ward", ALL),
    ("SELECT COUNT(*) FROM patients", ALL),
    ("SELECT COUNT(*) FROM diagnoses WHERE seq = 1", ALL),
    ("SELECT COUNT(*) FILTER (WHERE ward = 'icu') AS n FROM encounters", ALL),
    (
        "SELECT ward, COUNT(*) FROM encounters GROUP BY ward HAVING ward = 'icu'",
        ALL,  # cells are left out of the answer, not rows of the count
    ),
    (f"SELECT COUNT(*) {JOINED} WHERE e.ward = 'icu' AND p.sex = 'f'", (ICU,)),
    (f"SELECT COUNT(*) {JOINED} AND e.ward = 'icu'", (ICU,)),
    ((f"SELECT COUNT(*) {JOINED} JOIN labs AS l ON l.patient_id = e.patient_id "
     "WHERE e.ward = 'icu' AND l.ward = 'er'"), ALL),  # nobody
    ((f"SELECT COUNT(*) {JOINED} JOIN labs AS l ON l.patient_id = e.patient_id "
     "WHERE e.ward <> 'icu' AND l.ward <> 'er'"), (OTHER,)),
    (f"SELECT COUNT(*) {LEFT} AND e.ward = 'icu'", ALL),
    (f"SELECT COUNT(*) {LEFT} WHERE e.ward = 'icu'", (ICU,)),
    (f"SELECT COUNT(*) {LEFT} WHERE e.ward IS NULL", ALL),
    (f"SELECT COUNT(*) {LEFT} WHERE NOT e.ward = 'icu'", (ER, OTHER)),
    (f"SELECT COUNT(*) {LEFT} WHERE e.ward IS NULL OR e.ward = 'icu'", ALL),
    (("SELECT COUNT(*) FROM patients AS p LEFT JOIN (SELECT patient_id FROM "
      "encounters WHERE ward = 'icu') AS e ON e.patient_id = p.patient_id"), ALL),
    ((f"SELECT COUNT(*) FROM (SELECT p.patient_id, e.ward AS w {LEFT} "
      "UNION ALL SELECT patient_id, ward AS w FROM labs) AS u "
      "WHERE w IS NULL OR w = 'icu'"), ALL),
    (("SELECT COUNT(*) FROM (SELECT patient_id, LAG(ward) OVER (PARTITION BY "
      "patient_id ORDER BY started) AS w FROM encounters) AS r "
      "WHERE w IS NULL OR w = 'er'"), ALL),
    (f"SELECT COUNT(*) {LEFT} WHERE (e.ward = 'icu') IS NOT TRUE", ALL),
    ((f"SELECT COUNT(*) {E} LEFT JOIN patients AS p ON p.patient_id = e.patient_id "
     "WHERE e.ward = 'er'"), (ER,)),
    (f"SELECT COUNT(*) FROM patients AS p WHERE {FOUND['exists_icu']}",
     (ICU,)),
    (f"SELECT COUNT(*) FROM patients AS p WHERE NOT {FOUND['exists_icu']}",
     ALL),
    (f"SELECT COUNT(*) FROM patients AS p WHERE {FOUND['in_not_er']}",
     (ICU, OTHER)),
    (f"SELECT COUNT(*) FROM patients AS p WHERE NOT {FOUND['in_er']}", ALL),
    ((f"SELECT COUNT(*) FROM patients AS p WHERE {FOUND['in_er']} "
     f"OR {FOUND['exists_icu']}"), (ICU, ER)),
    (("SELECT COUNT(*) FROM labs AS l WHERE EXISTS (SELECT 1 FROM encounters AS e "
     "WHERE e.patient_id = l.patient_id AND l.ward = 'er')"), (ER,)),
    (("SELECT COUNT(*) FROM labs AS l WHERE EXISTS (SELECT 1 FROM encounters AS e "
     "WHERE e.patient_id = l.patient_id AND (e.ward = 'er' OR l.ward = 'icu'))"),
     (ICU, ER)),
    (f"SELECT COUNT(*) {E} WHERE e.ward IN (SELECT ward FROM wards WHERE ward = 'er')",
     ALL),
    (f"SELECT COUNT(*) {E} JOIN wards AS w ON w.ward = e.ward AND e.ward = 'er'",
     (ER,)),
    (f"SELECT COUNT(*) {E} LEFT JOIN wards AS w ON w.ward = e.ward AND e.ward = 'er'",
     ALL),
    (f"SELECT COUNT(*) {E} JOIN wards AS w ON w.ward = e.ward WHERE w.ward = 'er'",
     ALL),  # a public table's column is no block column
    (("SELECT COUNT(*) FROM (SELECT patient_id, ward FROM encounters WHERE ward = 'er' "
     "UNION ALL SELECT patient_id, ward FROM labs WHERE ward = 'icu') AS u"), (ICU, ER)),  # noqa: E501
    (("SELECT COUNT(*) FROM (SELECT patient_id, ward FROM encounters "
     "UNION ALL SELECT patient_id, ward FROM labs) AS u WHERE ward = 'er'"), (ER,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, ward AS w FROM encounters UNION ALL "
     "SELECT patient_id, region AS w FROM patients) AS u WHERE w = 'er'"), ALL),
    (("SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM encounters "
     "WHERE ward = 'er' GROUP BY patient_id) AS r WHERE n > 1"), (ER,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM encounters "
     "GROUP BY patient_id, ward) AS r WHERE ward = 'er'"), (ER,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, MIN(ward) AS w FROM encounters "
     "GROUP BY patient_id) AS r WHERE w = 'er'"), (ER,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, MAX(note) AS w FROM encounters "
     "GROUP BY patient_id) AS r WHERE w = 'er'"), ALL),
    (("SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM encounters "
     "GROUP BY patient_id HAVING MIN(ward) = 'icu') AS r"), (ICU,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, LAG(ward) OVER (PARTITION BY "
     "patient_id ORDER BY started) AS w FROM encounters) AS r WHERE w = 'er'"), (ER,)),
    (("SELECT COUNT(*) FROM (SELECT patient_id, LAG(ward) OVER (PARTITION BY "
     "patient_id ORDER BY started) AS w FROM encounters) AS r WHERE w IS NULL"), ALL),
    (("SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY "
     "patient_id ORDER BY started) AS n FROM encounters WHERE ward = 'er') AS r "
     "WHERE n = 1"), (ER,)),
    (("WITH i AS (SELECT patient_id FROM encounters WHERE ward = 'icu') "
     "SELECT COUNT(*) FROM i JOIN labs AS l ON l.patient_id = i.patient_id"), (ICU,)),
    ("SELECT COUNT(*), AVG(age) FROM encounters WHERE ward = 'icu' GROUP BY ROLLUP(1)"
     .replace("SELECT ", "SELECT severity, ", 1), (ICU,)),
)  # fmt: skip
NUMBERS = (
    ("severity = 2", ("2",)),
    ("severity > 1", ("2", "3")),
    ("severity >= 1.5", ("2", "3")),
    ("severity = 2.5", ("2", "1", "3")),  # nobody
    ("severity BETWEEN 1 AND 2", ("2", "1")),
    ("severity NOT IN (1, 3)", ("2",)),
    ("severity + 1 = 3", ("2", "1", "3")),  # not understood
)


def touched(sql, dataset=BY_WARD):
    return compile_query(sql, dataset).blocks


@pytest.mark.parametrize(("condition", "blocks"), CONDITIONS)
def test_a_condition_of_where_touches_the_blocks_it_can_be_true_for(condition, blocks):
    assert touched(f"SELECT COUNT(*) FROM encounters WHERE {condition}") == blocks


@pytest.mark.parametrize(("sql", "blocks"), TEXTS)
def test_a_text_touches_the_blocks_whose_units_it_can_have_rows_of(sql, blocks):
    assert touched(sql) == blocks


@pytest.mark.parametrize(("condition", "blocks"), NUMBERS)
def test_blocks_that_are_numbers_compare_as_numbers(condition, blocks):
    sql = f"SELECT COUNT(*) FROM encounters WHERE {condition}"
    assert touched(sql, BY_LEVEL) == blocks


def test_a_column_of_the_same_name_in_another_table_says_no_block():
    sql = "SELECT COUNT(*) FROM labs WHERE ward = 'icu'"
    only = replace(WARDS, tables=("encounters",))
    assert touched(sql, replace(BY_WARD, blocks=only)) == ALL
    assert touched(sql) == (ICU,)


def test_a_population_without_blocks_has_none_to_touch():
    sql = "SELECT COUNT(*) FROM encounters WHERE ward = 'icu'"
    assert touched(sql, hospital.DATASET) == ()


def test_a_cube_touches_what_its_where_can_reach():
    axes = (Axis("severity"),)
    request = CubeRequest("encounters", axes, counts_units=True, where="ward = 'er'")
    assert compile_cube(request, BY_WARD).blocks == (ER,)
    assert compile_cube(replace(request, where=None), BY_WARD).blocks == ALL


def test_sequences_touch_what_their_where_can_reach():
    request = SequenceRequest(
        "encounters", "started", Axis("severity"), 3, where="ward <> 'er'"
    )
    assert compile_sequences(request, BY_WARD).blocks == (ICU, OTHER)
