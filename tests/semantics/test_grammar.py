"""The grammar reaches every construct, and its texts are SQL."""

import random
from collections import Counter

import pytest
import sqlglot

from tests.semantics import hospital
from tests.semantics.grammar import constructs, random_question
from tests.semantics.meaning.answers import prepare

pytestmark = pytest.mark.thorough

QUESTIONS = 400
CONSTRUCTS = """
    CTE, CTE used twice, Derived, UnionAll, select distinct, where, group_by, having,
    order_by, limit, inner join private, left join private, inner join public,
    left join public, join using, exists, exists in exists, InQuery, Star,
    And, Or, Not, Between, InList, IsNull, IsTruth, IsDistinct, NullIf, Like,
    case, case operand, Coalesce,
    Compare =, Compare <>, Compare <, Compare <=, Compare >, Compare >=,
    Arith +, Arith -, Arith *, Arith /, Arith %, Divide, Minus, Today, Cast,
    extract year, extract quarter, extract month, extract day, extract isodow,
    function age_band, function age_years, function date_diff, function icd_chapter,
    function level, function abs, function sign, function mod, function round,
    function trunc, function floor, function ceil, function ceiling, function least,
    function greatest, function width_bucket, function length, function strpos,
    function upper, function lower, function left, function substring, function right,
    function concat, function replace, function regexp_like, Arith ||,
    literal int, literal Decimal, literal str, literal bool,
    literal date, literal datetime,
    aggregate count(*), aggregate count, aggregate count distinct, aggregate sum,
    aggregate avg, aggregate median, aggregate quantile, aggregate min, aggregate max,
    aggregate filter,
    aggregate bool_and, aggregate bool_or, aggregate first, aggregate last,
    window row_number, window lag, window lead, window first_value, window last_value,
    window first_value framed, window last_value framed, window count
"""
RARE = """
    extract dow, extract doy, extract week, extract isoyear, extract minute,
    function date_trunc, function to_char, function add_months, function last_day,
    function timestampdiff, function trim, function starts_with,
    function ends_with, function contains,
    extract hour, function icd_block, function icd_category, window sum, window min,
    window max, window bool_and, window bool_or, window sum framed, window min framed,
    window max framed, window count framed, window bool_and framed,
    window bool_or framed, aggregate var_pop, aggregate var_samp, aggregate stddev_pop,
    aggregate stddev_samp, aggregate covar_pop, aggregate covar_samp, aggregate corr,
    aggregate regr_slope
"""


@pytest.fixture(scope="module")
def questions():
    return [random_question(random.Random(seed)) for seed in range(QUESTIONS)]


def names(text):
    return {name.strip() for name in " ".join(text.split()).split(",")}


def test_every_construct_is_reached(questions):
    counts = Counter()
    for question in questions:
        counts.update(constructs(question.tree))
    assert names(CONSTRUCTS) - set(counts) == set()
    unknown = set(counts) - names(CONSTRUCTS) - names(RARE)
    assert {
        name for name in unknown if name.startswith(("aggregate", "window"))
    } == set()


def test_every_text_is_sql_and_fits_in_a_request(questions):
    for question in questions:
        assert len(question.sql.encode()) <= 16 * 1024
        assert sqlglot.parse_one(question.sql, read="duckdb") is not None


def test_questions_and_databases_depend_on_their_seed_alone():
    assert random_question(random.Random(5)) == random_question(random.Random(5))
    one, two = (hospital.random_tables(random.Random(5)) for _ in range(2))
    assert one == two


@pytest.mark.long
def test_many_answers_are_not_empty(questions):
    tables = hospital.random_tables(random.Random(0))
    filled = sum(
        any(any(vector) for vector in prepare(question, tables).exact_vectors())
        for question in questions
    )
    assert filled > QUESTIONS // 3
