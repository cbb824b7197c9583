"""A5: what could raise for one patient's row alone is refused before any charge."""

import pytest

from tests.support.installations.arms import shape
from tests.support.installations.harness import ask

RAISING = (
    "CAST(note AS INTEGER)",
    "note::DATE",
    "TRY_CAST(note AS INTEGER)",
    "CAST(age AS UTINYINT)",
    "age::DATE",
    "MAKE_DATE(age, 2, 29)",
    "note::BOOLEAN",
    "note::UUID",
    "note::BLOB",
    "note::no_such_type",
    "error(note)",
    "error('seen: ' || note)",
    "1 / 0",
    "1 / (age - 111)",
    "age // 0",
    "age % 0",
    "mod(age, 0)",
    "patient_id / 0",
    "age + 9223372036854775807",
    "age * 9223372036854775807",
    "-(-9223372036854775808)",
    "abs(-9223372036854775808)",
    "9223372036854775808 + age",
    "1e999 + age",
    "sqrt(0 - age)",
    "ln(age - 111)",
    "log(0)",
    "exp(age * 1000)",
    "power(age, 400)",
    "factorial(age)",
    "1 << age",
    "1 << -1",
    "chr(age * 100000)",
    "unhex(note)",
    "from_base64(note)",
    "decode(encode(note))",
    "strptime(note, '%Y')",
    "make_date(age, age, age)",
    "date_trunc(note, day)",
    "date_part(note, day)",
    "EXTRACT(YEAR FROM note)",
    "day + age * 1000000000",
    "day - DATE '0001-01-01'",
    "INTERVAL (age) YEAR",
    "json(note)",
    "json_extract(note, '$[')",
    "note ->> '$.a'",
    "regexp_matches(note, '(')",
    "regexp_extract(note, '(', 5)",
    "note SIMILAR TO '('",
    "note LIKE '%a%a%a%a%a%a%a%'",
    "note COLLATE nowhere",
    "repeat(note, 2000000000)",
    "zeroblob(2000000000)",
    "printf('%d', note)",
    "format('{:d}', note)",
    "list_extract([1, 2], age)",
    "[1, 2][age]",
    "struct_extract(note, 'x')",
    "unnest([age])",
    "generate_series(1, age * 1000000000)",
    "(SELECT age FROM visits)",
    "(SELECT error(note) FROM visits)",
    "getvariable(note)",
    "nextval('s')",
    "setseed(age)",
    "query('SELECT 1')",
    "query_table(note)",
    "read_text(note)",
    "sleep(age)",
    "CASE WHEN age = 111 THEN 1 / 0 ELSE 1 END",
    "CASE WHEN age = 111 THEN error(note) ELSE 'x' END",
    "IF(age = 111, 1 / 0, 1)",
    "COALESCE(NULLIF(1 / (age - 111), 1), 1)",
    "GREATEST(CAST(note AS INTEGER), 1)",
    "age BETWEEN 1 AND 1 / 0",
    "age IN (1 / (age - 111))",
    "$1",
    "?",
)
TOTAL = frozenset(  # they raise elsewhere; here they saturate or are NULL
    {
        "age + 9223372036854775807",
        "age * 9223372036854775807",
        "-(-9223372036854775808)",
        "day + age * 1000000000",
        "day - DATE '0001-01-01'",
        "1 / (age - 111)",
        "COALESCE(NULLIF(1 / (age - 111), 1), 1)",
        "abs(-9223372036854775808)",
    }
)
POSITIONS = {
    "where": "SELECT COUNT(*) FROM visits WHERE ({x}) = 1",
    "guarded where": "SELECT COUNT(*) FROM visits WHERE age = 111 AND ({x}) = ({x})",
    "aggregate": "SELECT COUNT(DISTINCT {x}) FROM visits",
    "group by": "SELECT {x}, COUNT(*) FROM visits GROUP BY {x}",
}
REFUSALS = {"sql_syntax", "sql_not_allowed", "unknown_column", "no_public_domain"}
EDGES = (
    "age = 9223372036854775807",
    "age >= -9223372036854775808",
    "age <> 0.5",
    "age IN (-9223372036854775808, 9223372036854775807, 0.000000000000000001)",
    "day > '0001-01-01' AND day < '9999-12-31'",
    "day = '2023-02-28'",
    "note = '' OR note IS NULL",
    "note = 'é́\U0001f600'",
    "note > '%_\\'",
    "ward <> 'nowhere'",
    "NOT (note IN ('NaN', 'Infinity', '1e999'))",
)


@pytest.mark.parametrize("position", POSITIONS)
def test_raising_expressions_are_refused_alike_before_any_charge(neighbours, position):
    before = [arm.dump() for arm in neighbours]
    for expression in [x for x in RAISING if x not in TOTAL]:
        sql = POSITIONS[position].format(x=expression)
        replies = [ask(arm.http, sql, epsilon="5") for arm in neighbours]
        assert shape(replies[0]) == shape(replies[1]), sql
        assert replies[0].status_code == 422, sql
        assert replies[0].json()["type"] in REFUSALS, sql
    assert [arm.dump() for arm in neighbours] == before


@pytest.mark.parametrize("position", POSITIONS)
def test_what_raises_elsewhere_and_is_total_here_is_the_same_on_both_arms(
    neighbours, position
):
    for expression in TOTAL:
        sql = POSITIONS[position].format(x=expression)
        replies = [ask(arm.http, sql, epsilon="1") for arm in neighbours]
        statuses = {reply.status_code for reply in replies}
        assert statuses in ({200}, {422}), sql
        assert shape(replies[0]) == shape(replies[1]), sql


def test_there_are_sixty_raising_expressions():
    assert len(set(RAISING) - TOTAL) >= 60
    assert set(RAISING) >= TOTAL


@pytest.mark.parametrize("condition", EDGES)
def test_conditions_at_the_edges_of_types_are_answered_on_every_arm(arms, condition):
    sql = f"SELECT COUNT(*) FROM visits WHERE {condition}"
    replies = [ask(arm.http, sql) for arm in arms.values()]
    assert [reply.status_code for reply in replies] == [200, 200, 200]


def test_literals_beyond_a_type_are_refused_on_every_arm_alike(arms):
    for condition in ("age > 9223372036854775808", "day > '2024-02-30'", "age = NULL"):
        sql = f"SELECT COUNT(*) FROM visits WHERE {condition}"
        shapes = [shape(ask(arm.http, sql)) for arm in arms.values()]
        assert shapes[0] == shapes[1] == shapes[2]
        assert shapes[0][0] == 422
