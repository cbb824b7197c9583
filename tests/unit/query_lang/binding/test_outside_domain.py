import pytest

from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.binding.outside_domain import (
    MOST_PAIRS,
    MOST_TOLD,
    declared_instead,
    nearest_value,
)
from query_lang.binding.scalars.narrowing import matches_none
from query_lang.binding.sizes import MOST_TRIED, Tries
from query_lang.plans.expressions import (
    Constant,
    Facts,
    FieldRef,
    Function,
    truth_of,
)
from query_lang.plans.literals import constant_facts
from tests.unit.query_lang.test_compile import compiled

WARDS = ("cardiology", "internal medicine", "intensive care", "surgery", "1")


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("Cardiology", "cardiology"),
        (" surgery ", "surgery"),
        ("cardiologie", "cardiology"),
        ("surg", "surgery"),
        ("intensive care unit", "intensive care"),
        ("int", None),
        ("dermatology", None),
        ("", None),
        ("11", "1"),
    ],
)
def test_the_value_that_may_have_been_meant_is_found(written, near):
    assert nearest_value(written, WARDS) == near


def test_long_lists_are_not_looked_through():
    values = tuple(f"code {n}" for n in range(257))
    assert nearest_value("code 1", values) is None
    assert nearest_value("code 1", values[:256]) == "code 1"
    told = Facts(ColumnType.TEXT, domain=ValuesDomain(values))
    assert declared_instead("x", told, is_near_wanted=True).endswith("and 251 more")


def test_long_texts_are_compared_by_their_beginning_and_not_letter_by_letter():
    ending = "of other and unspecified sites " * 3
    values = tuple(f"neoplasm {n:03} {ending}" for n in range(256))
    assert nearest_value(values[7].upper(), values) == values[7]
    assert nearest_value("Neoplasm 007", values) == values[7]
    misspelt = values[7].replace("sites", "sights")
    assert nearest_value(misspelt, values) is None
    assert nearest_value("neoplasn 007", values) is None


@pytest.mark.parametrize(("more", "near"), [(0, "a" * 99 + "b"), (1, None)])
def test_what_is_spelt_alike_is_looked_for_up_to_a_number_of_pairs(more, near):
    declared = ("a" * 99 + "b", "c" * more)
    assert len("a" * 100) * sum(map(len, declared)) == MOST_PAIRS + 100 * more
    assert nearest_value("a" * 100, declared) == near


def test_ranges_are_told_by_their_ends():
    years = Facts(ColumnType.INTEGER, domain=RangeDomain(2020, 2025))
    said = declared_instead(1999, years, is_near_wanted=True)
    assert said == ": declared are 2020 to 2025"


def test_a_warning_says_what_may_have_been_meant_and_stops_looking_in_long_texts():
    texts = [f"ward = 'nort{n}'" for n in range(4)]
    sql = f"SELECT COUNT(*) FROM encounters WHERE {' OR '.join(texts)}"
    said = [warning.detail for warning in compiled(sql).warnings]
    looked = ["did you mean 'north'? declared: north" in each for each in said]
    assert looked == [True] * 2 + [False] * 2
    assert all("declared: north" in each for each in said)


@pytest.mark.parametrize("form", ["IN ({})", "= ANY (ARRAY[{}])", "<> ALL ({})"])
def test_literals_of_one_list_are_one_warning_with_three_places(form):
    listed = form.format(", ".join(f"'nort{n}'" for n in range(5)))
    sql = f"SELECT COUNT(*) FROM encounters\nWHERE ward {listed}"
    (warning,) = compiled(sql).warnings
    assert "5 literals of a list lie outside the declared domain of ward" in (
        warning.detail
    )
    assert warning.detail.count("line 2, column") == 3
    assert "and 2 more)" in warning.detail
    assert "no row holds one of them: did you mean 'north'?" in warning.detail


def test_a_literal_written_twice_in_a_list_is_told_once():
    sql = "SELECT COUNT(*) FROM encounters WHERE ward IN ('x', 'x', 'north')"
    (warning,) = compiled(sql).warnings
    assert warning.detail.startswith("the literal at line 1, column 48 lies")


def test_many_literals_outside_are_told_in_few_warnings():
    texts = [f"ward = 'nort{n}'" for n in range(300)]
    sql = f"SELECT COUNT(*) FROM encounters WHERE {' OR '.join(texts)}"
    warnings = compiled(sql).warnings
    assert len(warnings) == MOST_TOLD + 1
    assert warnings[-1].code == "literal_outside_domain"
    assert warnings[-1].detail.startswith(f"{300 - MOST_TOLD} more literals or lists")


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("ward LIKE 'North%'", True),
        ("ward NOT LIKE 'North%'", True),
        ("ward LIKE 'nor%'", False),
        ("ward ILIKE 'NOR%'", False),
        ("ward LIKE 'N%' OR ward LIKE 'S%'", True),
        ("LEFT(ward, 3) = 'Nor'", True),
        ("LEFT(ward, 3) IN ('nor', 'Sou')", True),
        ("LEFT(ward, 3) = 'nor'", False),
        ("UPPER(ward) = 'north'", True),
        ("code LIKE 'north%'", False),
        ("ward ~ '^North'", True),
        ("ward ~* '^North'", False),
        ("ward ~ '^Nor.h'", True),
        ("ward LIKE 'Nor_h%'", True),
        ("ward LIKE 'nor_h%'", False),
        ("ward ~ '^(Nor|nor)th'", False),
        ("ward ~ 'o.*t'", False),
    ],
)
def test_a_pattern_that_no_listed_value_matches_is_told(condition, told):
    sql = f"SELECT COUNT(*) FROM encounters WHERE {condition}"
    said = [w.detail for w in compiled(sql).warnings]
    assert bool(said) is told
    assert all("did you mean '" in each for each in said)


def test_patterns_are_not_tried_on_lists_without_end():
    values = tuple(f"code {n}" for n in range(10_001))
    for count, none in ((10_000, True), (10_001, False)):
        listed = Facts(ColumnType.TEXT, domain=ValuesDomain(values[:count]))
        value = FieldRef(1, listed)
        other = Constant("x", constant_facts("x", ColumnType.TEXT))
        condition = truth_of(Function.EQ, (value, other))
        assert matches_none(condition, value, Tries()) is none


def test_what_is_tried_to_tell_of_patterns_is_counted_and_leaves_what_keys_need():
    values = tuple(f"code {n}" for n in range(10_000))
    facts = Facts(ColumnType.TEXT, domain=ValuesDomain(values))
    value, tries, counted = FieldRef(1, facts), Tries(), []
    for number in range(9):
        other = Constant("x", constant_facts(f"x{number}", ColumnType.TEXT))
        condition = truth_of(Function.EQ, (value, other))
        matches_none(condition, value, tries, counted.append)
    assert sum(counted) == MOST_TRIED


def test_a_code_that_several_declared_ones_begin_with_is_told_so():
    codes = Facts(ColumnType.TEXT, domain=ValuesDomain(("I20.0", "I50.1", "I50.9")))
    said = declared_instead("I50", codes, is_near_wanted=True)
    assert said.startswith(": 2 begin so, which LIKE takes with % at its end; declared")
    said = declared_instead("I20", codes, is_near_wanted=True)
    assert said.startswith(": did you mean 'I20.0'?")
