"""Functions of texts: what is publicly known of them, and which texts are one plan."""

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import NoPublicDomainError, QueryError
from privacy.schema import RangeDomain
from query_lang.binding.bind import bind_query
from query_lang.hierarchies import level_values
from query_lang.plans.expressions import Call, Function
from query_lang.reading.parse import parse_query
from tests.conformance.schema import CARE, DATASET
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

ICD = level_values(DATASET.tables["marks"].column("code").domain, "category", {})


def cells(key, table="marks"):
    """Return the values of a key, NULL left out."""
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM {table} GROUP BY k"
    found = [cell[0] for cell in compile_query(sql, DATASET).rendered.cells]
    return [value for value in found if value is not None]


def plan(condition):
    sql = f"SELECT COUNT(*) AS n FROM marks WHERE {condition}"
    return bind_query(parse_query(sql), DATASET, NO_BOUNDS).plan


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("UPPER(ward)", ["ICU", "ER", "東", "OTHER"]),
        ("LEFT(ward, 1)", ["i", "e", "東", "o"]),
        ("LEFT(ward, 9)", ["icu", "er", "東", "other"]),
        ("RIGHT(ward, 2)", ["cu", "er", "東"]),
        ("SUBSTRING(ward, 3)", ["u", "", "her"]),
        ("REPLACE(ward, 'er', '-')", ["icu", "-", "東", "oth-"]),
        ("LENGTH(ward)", [1, 2, 3, 5]),
        ("STRPOS(ward, 'r')", [0, 2, 5]),
        ("sure::text || LEFT(ward, 0 + 1)", None),
        ("TRIM(' ' || LEFT(ward, 1) || ' ')", ["i", "e", "東", "o"]),
        ("CONCAT(LEFT(ward, 1), 'x')", ["ix", "ex", "東x", "ox", "x"]),
        ("LEFT(ward, 1) || 'x'", ["ix", "ex", "東x", "ox"]),
        ("CASE WHEN text IN ('b', 'a') THEN text END", ["b", "a"]),
        ("CASE WHEN text = 'a' OR text = 'c' THEN text ELSE 'b' END", ["a", "c", "b"]),
        ("CASE WHEN ward LIKE '%r' THEN ward ELSE 'x' END", ["er", "other", "x"]),
        (
            "CASE WHEN text = 'a' THEN 'A' WHEN text IN ('a', 'b') THEN text END",
            ["A", "b"],
        ),
        ("CASE WHEN ward = 'er' THEN 'x' ELSE ward END", ["x", "icu", "東", "other"]),
    ],
)
def test_a_key_has_what_each_listed_value_becomes_in_order(key, expected):
    if expected is None:
        with pytest.raises(Exception, match="whole number from 1"):
            cells(key)
    else:
        assert cells(key) == expected
    assert list(CARE.codes) == ["x1", "X2", "ü.1", "z"]


def test_the_beginning_of_a_code_is_that_of_its_category():
    assert cells("LEFT(code, 3)") == list(ICD)
    assert cells("LEFT(code, 1)") == list(dict.fromkeys(code[0] for code in ICD))
    assert plan("LEFT(code, 3) = 'E11'") == plan("icd_category(code) = 'E11'")
    assert plan("LEFT(UPPER(code), 3) = 'E11'") != plan("LEFT(code, 3) = 'E11'")
    for condition in ("LEFT(code, 5) = 'E11.9'", "SUBSTRING(code, 3, 2) = '1.'"):
        assert functions(plan(condition)) & {Function.LEVEL} == set()


def functions(tree):
    """Return the functions of a plan."""
    found = set()
    if isinstance(tree, Call):
        found.add(tree.function)
    if isinstance(tree, tuple):
        return {f for part in tree for f in functions(part)}
    for name in getattr(tree, "__dataclass_fields__", ()):
        found |= functions(getattr(tree, name))
    return found


@pytest.mark.parametrize(
    "key",
    [
        *("LEFT(text, 3)", "UPPER(code)", "text || ward", "LEFT(code, 4)"),
        *("UPPER(local)", "LEFT(local, 1)"),  # "x1", "X1" and "x.1" are one code
    ],
)
def test_what_has_no_list_is_no_key(key):
    with pytest.raises(NoPublicDomainError) as refused:
        cells(key)
    assert "CASE WHEN" in refused.value.hint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("text ~ '^E11'", "text LIKE 'E11%'"),
        ("text ~ 'E11'", "CONTAINS(text, 'E11')"),
        ("text RLIKE '9$'", "ENDS_WITH(text, '9')"),
        ("text ~ '^E11$'", "text = 'E11'"),
        ("text ~ '^(E11|E12)$'", "text IN ('E11', 'E12')"),
        ("text ~ '^a|b$'", "text LIKE 'a%' OR text LIKE '%b'"),
        ("text LIKE 'E11'", "text = 'E11'"),
        ("text SIMILAR TO 'E(1|2)'", "text ~ '^E(1|2)$'"),
        ("text LIKE 'E_'", "text ~ '^E.$'"),
        ("text ILIKE 'E11%'", "LOWER(text) LIKE 'e11%'"),
        ("text ~* '^E11'", "text ILIKE 'e11%'"),
        ("REGEXP_LIKE(text, 'a.c', 'i')", "text ~ '(?i)A.C'"),
        ("text LIKE 'a!%%' ESCAPE '!'", r"text LIKE 'a\%%'"),
        ("LEFT(text, 2) = 'E1'", "SUBSTRING(text FROM 1 FOR 2) = 'E1'"),
        ("POSITION('x' IN text) = 1", "STRPOS(text, 'x') = 1"),
        ("(text || 'a') || ward = 'x'", "text || ('a' || ward) = 'x'"),
        ("text = UPPER('e11')", "text = 'E11'"),
    ],
)
def test_spellings_of_one_test_are_one_plan(one, other):
    assert plan(one) == plan(other)


def test_a_pattern_looks_at_no_more_of_a_text_than_it_must():
    for condition, length in {
        "text ~ '^E1[0-4]'": 3,
        "text ~ '^E1[0-4]?$'": 4,
        "text ~ '^E1[0-4]|^J4_5$'": 5,
        "text ~* '^e(11)?'": 3,
        "text LIKE 'E_1%'": 3,
        "text ILIKE 'e11%'": 3,
    }.items():
        assert [1, length] in parts_taken(plan(condition)), condition
    for condition in ("text ~ 'E1[0-4]'", "text ~ '^E1*$'", "text ILIKE '%e11%'"):
        assert parts_taken(plan(condition)) == []


def parts_taken(tree):
    """Return the parameters of SUBSTRING in a plan."""
    found = []
    if isinstance(tree, Call) and tree.function is Function.SUBSTRING:
        found.append(list(tree.parameters))
    parts = tree if isinstance(tree, tuple) else ()
    names = getattr(tree, "__dataclass_fields__", ())
    for part in (*parts, *(getattr(tree, name) for name in names)):
        found += parts_taken(part)
    return found


def test_lengths_are_bounded_by_what_a_column_may_hold():
    sql = "SELECT AVG(LENGTH({})) AS a FROM marks"
    widest = {
        "text": 1_000,
        "RIGHT(text, 5)": 20,
        "REPLACE(text, 'a', 'bbb')": 3_000,
        "CONCAT(text, 'ü')": 1_002,
        "COALESCE(text, code)": 1_000,
    }
    for value, most in widest.items():
        tree = parse_query(sql.format(value))
        plan = bind_query(tree, DATASET, NO_BOUNDS).plan
        ends = {RangeDomain(0, most)} & domains(plan)
        assert ends, value


def domains(tree):
    """Return the domains of the calls of a plan."""
    found = {tree.facts.domain} if isinstance(tree, Call) else set()
    parts = tree if isinstance(tree, tuple) else ()
    names = getattr(tree, "__dataclass_fields__", ())
    for part in (*parts, *(getattr(tree, name) for name in names)):
        found |= domains(part)
    return found


def parts_of(form, where=""):
    sql = f"SELECT {form} AS part, COUNT(*) AS n FROM encounters {where} GROUP BY part"
    return compile_query(sql, HOSPITAL)


@pytest.mark.parametrize(
    ("call", "north", "south"),
    [
        ("SPLIT_PART(ward, 'o', 2)", "rth", "uth"),
        ("SPLIT_PART(ward, 'th', 1)", "nor", "sou"),
        ("SPLIT_PART(ward, 'r', 2)", "th", ""),
        ("SPLIT_PART(ward, '-', 1)", "north", "south"),
    ],
)
def test_a_part_of_a_listed_text_is_a_case_of_its_values(call, north, south):
    cases = f"CASE ward WHEN 'north' THEN '{north}' WHEN 'south' THEN '{south}' END"
    assert parts_of(call).canonical == parts_of(cases).canonical


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("SPLIT_PART(code, '-', 2)", "text_part"),
        ("SPLIT_PART(LOWER(ward), '-', 2)", "text_part"),
        ("SPLIT_PART(SPLIT_PART(ward, 'o', 2), 't', 1)", "text_part"),
        ("SPLIT_PART(ward, 'o', 0)", "text_part"),
        ("SPLIT_PART(ward, '', 1)", "text_literal"),
        ("SPLIT_PART(age, '-', 1)", "text_needed"),
    ],
)
def test_parts_of_what_lists_no_values_are_refused(call, rule):
    with pytest.raises(QueryError) as refused:
        parts_of(call)
    assert refused.value.rule == rule
