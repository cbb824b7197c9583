"""Each term of the cost of a plan, worked out by hand."""

from dataclasses import asdict, replace
from datetime import date
from typing import get_args

import pytest

from privacy.contributions import ContributionBounds
from privacy.errors import SqlNotAllowedError
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
from query_lang.binding.bind import bind_query
from query_lang.costs import constants as c
from query_lang.costs.amounts import Amount
from query_lang.costs.plans import aggregate_costs
from query_lang.plans.costs import (
    CostLimits,
    CostPart,
    EngineSize,
    cost_limits,
    job_limits,
)
from query_lang.reading.parse import parse_query
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest
from query_lang.specs.sequences import SequenceRequest
from query_lang.syntax.automata import reading_of
from query_lang.syntax.patterns import regular_pattern
from tests.support.compiling import compile_cube, compile_query, compile_sequences

UNITS, VISITS, LABS, CODES = 1_000, 40, 10, 50
ALL_VISITS, ALL_LABS = 20_000, 5_000  # fewer than every unit's cap together
NOTE = 200
NUMBER = ColumnType.INTEGER
PID = Column("pid", NUMBER, nullable=False)


def dataset():
    visits = Table(
        "visits",
        (
            PID,
            Column("age", NUMBER, domain=RangeDomain(0, 120)),
            Column("paid", NUMBER),
            Column("seen", ColumnType.DATE),
            Column(
                "ward", ColumnType.TEXT, domain=ValuesDomain(("ward one", "x" * 30))
            ),
            Column("note", ColumnType.TEXT, max_length=NOTE),
            Column("item", ColumnType.TEXT, domain=HierarchyDomain("own")),
            Column("icd", ColumnType.TEXT, domain=HierarchyDomain("icd10")),
        ),
        "pid",
        VISITS,
        max_rows=ALL_VISITS,
    )
    labs = Table(
        "labs",
        (PID, Column("result", NUMBER), Column("visit", NUMBER)),
        "pid",
        LABS,
        ("visit",),
        max_rows=ALL_LABS,
    )
    people = Table("people", (PID, Column("sex", NUMBER)), "pid", 1, ("pid",))
    code = Column("code", ColumnType.TEXT, nullable=False, max_length=20)
    codes = Table("codes", (code, Column("number", NUMBER)), max_rows=CODES)
    keyed = replace(codes, name="keyed", key=("code",))
    fanned = replace(codes, name="fanned", fan_out=((("number",), 3),))
    tables = (visits, labs, people, codes, keyed, fanned)
    own = Hierarchy("own", ("part",), {f"C{each}": ("p",) for each in range(70)})
    return Dataset(
        "d",
        "p",
        "patient",
        date(2026, 1, 1),
        {table.name: table for table in tables},
        {"own": own},
        UNITS,
    )


DATASET = dataset()


def parts(sql, bounds=None):
    """Return steps and bytes by construct, of each statement."""
    bound = bind_query(parse_query(sql), DATASET, bounds or ContributionBounds())
    costs = aggregate_costs(bound.plan, DATASET, ["SELECT 1"])
    return [meter.by_construct for meter in costs.meters]


def steps(sql, construct, bounds=None):
    """Return the steps that rows take, beside those that the first ones begin."""
    taken = [each[construct][0] for each in parts(sql, bounds)]
    return sum((Amount(n.unit, n.whole - n.startup) for n in taken), Amount(0, 0))


def begun(sql):
    """Return the steps that the first rows begin, which the whole holds."""
    taken = [steps for each in parts(sql) for steps, _ in each.values()]
    assert all(each.startup <= each.whole for each in taken)
    return sum(each.startup for each in taken)


def memory(sql, construct):
    """Return the bytes that rows take, beside the pages that the first ones begin."""
    held = [each[construct][1] for each in parts(sql)]
    return sum((Amount(n.unit, n.whole - n.startup) for n in held), Amount(0, 0))


def paged(sql, construct=None):
    """Return the bytes of the pages that the first rows begin."""
    held = [
        size
        for each in parts(sql)
        for name, (_, size) in each.items()
        if construct in {None, name}
    ]
    assert all(each.startup <= each.whole for each in held)
    return sum(each.startup for each in held)


def rows(unit, whole, each):
    return Amount(unit * each, whole * each)


# -- scans -----------------------------------------------------------------------------

ONE_COLUMN = c.READ_ROW_STEPS + 2 * c.READ_VALUE_STEPS + 1
ONE_NUMBER = ONE_COLUMN - 1 + c.EACH_STEPS


def test_a_scan_reads_its_columns_of_every_stored_row():
    assert steps("SELECT SUM(age) FROM visits", "reading visits") == rows(
        VISITS, ALL_VISITS, ONE_NUMBER
    )


def test_a_scan_reads_what_a_bound_leaves_out_too():
    bounds = ContributionBounds(tables=(("visits", 2),))
    found = steps("SELECT SUM(age) FROM visits", "reading visits", bounds)
    assert found == rows(VISITS, ALL_VISITS, ONE_NUMBER)
    kept = steps("SELECT SUM(age) FROM visits", "aggregates", bounds)
    assert kept == rows(2, 2 * UNITS, c.AGGREGATE_STEPS + c.CLAMP_STEPS)


def test_rows_are_never_more_than_every_units_cap():
    found = steps("SELECT COUNT(*) FROM people", "aggregates")
    assert found == rows(1, UNITS, c.AGGREGATE_STEPS)


def test_a_text_counts_its_declared_bytes():
    short = steps("SELECT COUNT(*) FROM visits WHERE ward > 'a'", "reading visits")
    long = steps("SELECT COUNT(*) FROM visits WHERE note > 'a'", "reading visits")
    assert long.unit - short.unit >= VISITS * (NOTE - 30) // c.BYTES_A_STEP


# -- expressions -----------------------------------------------------------------------


def where(condition, table="visits"):
    return steps(f"SELECT COUNT(*) FROM {table} WHERE {condition}", "WHERE")


@pytest.mark.parametrize(
    ("condition", "more", "each"),
    [
        ("age > 5", "age > 5 AND age > 6", 2 * c.SIMPLE_STEPS + c.VALUE_STEPS),
        ("paid > 5", "paid + paid > 5", c.WIDE_STEPS),
        ("seen > CURRENT_DATE", "seen + 9 > CURRENT_DATE", c.DATE_STEPS),
        ("age > 5", "age_years(seen, CURRENT_DATE) > 5", c.AGE_STEPS),
        ("age > 5", "EXTRACT(YEAR FROM seen) > 5", c.DATE_STEPS),
        ("age > 5", "age_band(age, 10) = '10-19'", c.BAND_STEPS),
        ("note > 'a'", "icd_chapter(icd) > 'a'", c.LEVEL_STEPS),
        ("note > 'a'", "level(item, 'part') > 'a'", 70 * c.CODE_STEPS),
        ("note LIKE 'a%'", "note LIKE '%a%'", NOTE * (c.SEARCHED_BYTE_STEPS - 1)),
        ("seen > CURRENT_DATE", "note LIKE 'a%'", NOTE // c.BYTES_A_STEP - 9),
        ("seen > CURRENT_DATE", "note LIKE '%a'", NOTE // c.BYTES_A_STEP - 9),
        ("age IN (1, 2)", f"age IN {tuple(range(100))}", 98 * c.ITEM_STEPS),
        ("note > 'a'", f"note > '{'a' * 100}'", 90 // c.BYTES_A_STEP),
        (
            "age > 5",
            "CASE WHEN age > 1 THEN note WHEN age > 2 THEN ward ELSE 'a' END > 'a'",
            NOTE // c.BYTES_A_STEP,
        ),
        (
            "CASE age WHEN 1 THEN 2 END = 2",
            "CASE age WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 4 THEN 5 END = 2",
            2 * c.SIMPLE_STEPS,
        ),
    ],
)
def test_an_expression_counts_what_it_does(condition, more, each):
    cheap, dear = where(condition), where(more)
    assert dear.unit - cheap.unit >= VISITS * each
    assert dear.whole - cheap.whole >= ALL_VISITS * each


MANY_SETS = "^(a|b)*a(a|b){6}$"


def test_each_byte_of_one_unit_may_make_another_state_of_a_pattern():
    reading = reading_of(regular_pattern(MANY_SETS))
    few, many = where("note ~ '^E1[0-4]'"), where(f"note ~ '{MANY_SETS}'")
    read = VISITS * NOTE
    assert reading.steps < read < ALL_VISITS * NOTE  # all of them may be made
    each = c.READ_ON_STEPS + c.LIVE_STEPS * reading.live
    assert many.unit - few.unit >= reading.steps * (each - c.READ_ON_STEPS)
    alike = (many.whole - many.unit) - (few.whole - few.unit)
    assert alike < (ALL_VISITS - VISITS) * NOTE * 2 * c.MATCHED_BYTE_STEPS
    bounded = ContributionBounds(max_rows_per_unit=1)
    sql = "SELECT COUNT(*) FROM visits WHERE note ~ '{}'"
    one = steps(sql.format(MANY_SETS), "WHERE", bounded)
    other = steps(sql.format("^E1[0-4]"), "WHERE", bounded)
    assert reading.steps > NOTE  # of one row not more than its bytes
    assert NOTE * c.READ_ON_STEPS <= one.unit - other.unit < read * each


def test_450_likes_count_450_times():
    one, many = where("note LIKE '%a%'"), where(" OR ".join(["note LIKE '%a%'"] * 450))
    assert many.unit >= 440 * (one.unit - VISITS * c.SIMPLE_STEPS)


def test_what_cannot_be_named_is_counted_as_often_as_it_is_written():
    """In the ON of a LEFT join a nested sum doubles at each level."""
    sum_of = "v.paid"
    found = []
    for _ in range(3):
        sum_of = f"({sum_of} + v.paid)"
        sql = (
            "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.pid = v.pid"
            f" AND {sum_of} > p.sex"
        )
        found.append(steps(sql, "joins").unit)
    assert found[2] - found[1] > 2 * (found[1] - found[0])


# -- joins -----------------------------------------------------------------------------


def pair(columns):
    return c.PAIR_STEPS + c.PAIR_VALUE_STEPS * columns


def sides(*rows_and_columns):
    return sum(
        many * (c.JOIN_ROW_STEPS + c.JOIN_VALUE_STEPS * columns + width // 2)
        for many, columns, width in rows_and_columns
    )


def test_a_join_pairs_the_rows_of_a_unit():
    found = steps("SELECT COUNT(*) FROM visits JOIN labs USING (pid)", "joins")
    both = ALL_VISITS * LABS  # less than ALL_LABS * VISITS and UNITS * 400
    assert found == Amount(
        sides((VISITS, 1, 8), (LABS, 1, 8)) + VISITS * LABS * pair(2),
        sides((ALL_VISITS, 1, 8), (ALL_LABS, 1, 8)) + both * pair(2),
    )


@pytest.mark.parametrize(
    ("tables", "held"),
    [
        ("visits JOIN labs", (LABS, ALL_LABS)),
        ("labs JOIN visits", (LABS, ALL_LABS)),
        ("visits LEFT JOIN labs", (LABS, ALL_LABS)),
        ("labs LEFT JOIN visits", (VISITS, ALL_VISITS)),
    ],
)
def test_a_join_holds_the_side_with_fewer_rows_a_unit_or_that_of_a_left_join(
    tables, held
):
    one, _, two = tables.partition(" ")[0], "", tables.rpartition(" ")[2]
    sql = f"SELECT COUNT(*) FROM {tables} ON {one}.pid = {two}.pid"
    assert memory(sql, "joins") == rows(*held, c.JOIN_ROW_BYTES + 8)


def test_a_condition_on_one_side_is_evaluated_below_the_join():
    sql = "SELECT COUNT(*) FROM visits v {} JOIN labs l ON v.pid = l.pid {}"
    one = "v.note LIKE '%a%'"
    once = VISITS * (NOTE + c.TEXT_BYTES) * c.SEARCHED_BYTE_STEPS
    for kind in ("", "LEFT"):
        found = steps(sql.format(kind, f"WHERE {one}"), "WHERE")
        assert once <= found.unit <= once + VISITS * 2 * c.SIMPLE_STEPS
    on = "SELECT COUNT(*) FROM labs l LEFT JOIN visits v ON v.pid = l.pid AND "
    assert steps(on + one, "WHERE").unit == found.unit


def test_a_self_join_multiplies():
    sql = "SELECT COUNT(*) FROM labs a JOIN labs b ON a.pid = b.pid"
    twice, thrice = sql, f"{sql} JOIN labs c ON c.pid = b.pid"
    assert steps(thrice, "joins").unit >= LABS**3 * pair(2)
    assert steps(thrice, "joins").whole >= ALL_LABS * LABS**2 * pair(2)
    assert steps(twice, "joins").whole < ALL_LABS * LABS**2 * pair(2)


def test_a_join_by_a_key_pairs_nothing_more():
    sql = (
        "SELECT COUNT(*) FROM visits v JOIN labs l ON v.pid = l.pid AND l.visit = v.age"
    )
    keyed = (VISITS + LABS) * c.KEYED_STEPS
    assert steps(sql, "joins").unit == (
        sides((VISITS, 2, 16), (LABS, 2, 16)) + keyed + VISITS * pair(4)
    )
    compared = sql.replace("= v.age", "= v.age + 1")  # computed, so counted for pairs
    assert (
        steps(compared, "joins").unit > steps(sql, "joins").unit + VISITS * c.WIDE_STEPS
    )


def test_rows_are_looked_up_by_the_whole_key_of_a_join():
    """Else every row of a unit meets every other, and is dropped then."""
    sql = (
        "SELECT COUNT(*) FROM visits v JOIN labs l ON v.pid = l.pid {} l.visit = v.age"
    )
    for joint in ("AND", "WHERE"):
        (statement,) = compile_query(sql.format(joint), DATASET).rendered.statements
        on = statement.sql.partition(" ON ")[2]
        assert " WHERE " not in on
        assert on.count(" = ") == 3  # the unit key, the visit and their keyed hash


SOME = "EXISTS (SELECT 1 FROM people p WHERE p.pid = v.pid AND p.sex > 1)"


def test_an_equality_that_holds_a_subquery_is_no_key():
    """It is tested on the pairs, so pairs are counted."""
    sql = (
        "SELECT COUNT(*) FROM visits v JOIN labs l ON v.pid = l.pid "
        f"AND l.visit = CASE WHEN {SOME} THEN v.age ELSE 1 END"
    )
    assert steps(sql, "joins").unit >= VISITS * LABS * pair(4)
    inner = f"k.code = CASE WHEN {SOME} THEN v.note ELSE 'a' END"
    looked_up = f"EXISTS (SELECT 1 FROM keyed k WHERE {inner})"
    sql = f"SELECT COUNT(*) FROM visits v WHERE {looked_up}"
    assert steps(sql, "EXISTS").unit >= VISITS * CODES * c.PAIR_STEPS
    with pytest.raises(SqlNotAllowedError) as refused:
        steps(f"SELECT COUNT(*) FROM visits v JOIN keyed k ON {inner}", "EXISTS")
    assert refused.value.rule == "public_join_key"


def test_the_numbers_of_rows_that_a_nested_exists_met_are_kept_once_a_pair():
    sql = (
        "SELECT COUNT(*) FROM visits v WHERE v.age > 100 OR EXISTS ("
        "SELECT 1 FROM labs l WHERE l.pid = v.pid AND "
        "(l.visit > v.age OR l.visit + v.age NOT IN "
        "(SELECT number FROM codes WHERE number IS NOT NULL)))"
    )
    assert memory(sql, "EXISTS").unit >= VISITS * LABS * c.JOIN_ROW_BYTES


def test_distinct_texts_are_kept_at_their_width():
    wards = 2 * (c.GROUP_BYTES + c.NUMBER_BYTES + c.TEXT_BYTES + 30)
    sql = "SELECT COUNT(DISTINCT ward) FROM visits"
    assert memory(sql, "COUNT(DISTINCT)").unit == wards


def test_the_condition_of_a_left_join_is_evaluated_for_each_pair():
    sql = "SELECT COUNT(*) FROM visits v LEFT JOIN labs l ON v.pid = l.pid"
    plain = steps(sql, "joins")
    searched = steps(f"{sql} AND v.note LIKE '%a%'", "joins")
    pairs = VISITS * LABS + VISITS
    assert searched.unit - plain.unit >= pairs * NOTE * c.SEARCHED_BYTE_STEPS


J = "public joins"


def test_a_public_join_meets_its_fan_out():
    sql = "SELECT COUNT(*) FROM visits v JOIN {} k ON {}"
    keyed = steps(sql.format("keyed", "k.number = v.age AND k.code = v.ward"), J)
    fanned = steps(sql.format("fanned", "k.number = v.age AND k.code = v.ward"), J)
    compared = fanned.unit - keyed.unit
    assert compared > 2 * VISITS * pair(4)
    assert keyed.whole - keyed.unit * ALL_VISITS // VISITS == sides((CODES, 2, 44))
    assert compared % (2 * VISITS) == 0


def test_a_condition_on_the_public_side_is_evaluated_on_public_rows():
    sql = (
        "SELECT COUNT(*) FROM visits v {} JOIN keyed k ON k.code = v.ward"
        " {} k.code LIKE '%a%'"
    )
    for written in (sql.format("", "WHERE"), sql.format("LEFT", "AND")):
        found = steps(written, "WHERE")
        assert found.unit == 0
        assert found.whole >= CODES * 20 * c.SEARCHED_BYTE_STEPS
        assert found.whole < CODES * 60 * c.SEARCHED_BYTE_STEPS


# -- subqueries ------------------------------------------------------------------------

EXISTS = (
    "SELECT COUNT(*) FROM visits v WHERE EXISTS"
    " (SELECT * FROM labs l WHERE l.pid = v.pid{})"
)


def test_exists_pairs_outer_and_inner_rows_of_a_unit():
    found = steps(EXISTS.format(" AND l.result > v.age"), "EXISTS")
    tied = steps(EXISTS.format(""), "EXISTS")
    assert found.unit - tied.unit >= VISITS * LABS * c.HALF_PAIR_STEPS
    assert found.whole - tied.whole >= ALL_VISITS * LABS * c.HALF_PAIR_STEPS
    looked_up = c.JOIN_ROW_STEPS + 9 * c.JOIN_VALUE_STEPS
    assert tied.unit < (VISITS + LABS) * looked_up


def test_a_pair_may_be_asked_of_alone_where_a_join_keeps_or_drops_a_row():
    """Of a unit of many rows among units of few, an operator is a vector's for one."""
    joined = "SELECT COUNT(*) FROM visits v {} JOIN labs l ON l.pid = v.pid AND {}"
    plain, computed = "l.result > v.age + 3", "l.result - v.age IN (3, 4, 5, 6)"
    vectors = 2  # of a table, whose rows of one unit stand together
    pairs = vectors * LABS
    alone = 6 * pairs * c.LONE_OPERATOR_STEPS  # a difference, the value, four items
    for form, construct in (
        (EXISTS.replace("{}", " AND {}"), "EXISTS"),
        (joined.replace("{}", "LEFT", 1), "joins"),
    ):
        keyed = steps(form.format(plain), construct)
        asked = steps(form.format(computed), construct)
        assert keyed.unit >= pairs * c.LONE_PAIR_STEPS
        assert alone <= asked.unit - keyed.unit < 2 * alone
    found = steps(joined.format("", computed), "joins")
    keyed = steps(joined.format("", plain), "joins")
    assert found.unit - keyed.unit < alone / 2, "an inner join gathers its pairs"


CHOSEN = "CASE WHEN v.age IN (3, 4, 5, 6) THEN 1 ELSE 2 END"


@pytest.mark.parametrize(
    "condition",
    [
        f"{CHOSEN} = 1",
        "v.age <> 3 AND v.age <> 4 AND v.age <> 5 AND v.age <> 6",
        # the optimizer knows that it is a constant
        f"{CHOSEN} = CASE WHEN l.result > 5 AND 1 = 2 THEN 5 ELSE 1 END",
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        EXISTS.replace("WHERE EXISTS", "WHERE NOT EXISTS"),
        "SELECT COUNT(*) FROM visits v LEFT JOIN labs l ON l.pid = v.pid{}",
    ],
)
def test_what_is_compared_with_a_constant_is_asked_of_pairs(form, condition):
    """A condition of the rows that look, which no join can hold to its own side."""
    construct = "EXISTS" if "EXISTS" in form else "joins"
    found = steps(form.format(f" AND {condition}"), construct)
    keyed = steps(form.format(" AND l.result > v.age"), construct)
    alone = 3 * 2 * LABS * c.LONE_OPERATOR_STEPS
    assert found.unit - keyed.unit >= alone


def test_rows_of_a_join_may_look_alone_each_by_itself():
    both = "people p JOIN visits v ON v.pid = p.pid"
    text = (
        f"SELECT COUNT(*) FROM {both} WHERE EXISTS (SELECT * FROM labs l"
        " WHERE l.pid = v.pid AND l.result - v.age - p.sex IN (3, 4, 5, 6))"
    )
    assert steps(text, "EXISTS").unit >= 6 * VISITS * LABS * c.LONE_OPERATOR_STEPS


@pytest.mark.parametrize(
    ("condition", "operators"),
    [
        ("l.result - v.age > 3", 2),
        ("l.result - v.age BETWEEN 3 AND 9", 3),
        ("(l.result > v.age OR l.result < 3)", 4),
        ("COALESCE(l.result, v.age) = 4", 3),
        ("v.paid - l.result > 3", 3),
        ("level(v.item, 'part') = 'x' OR l.result > v.age", 12 + 3),
    ],
)
def test_operators_are_those_that_are_rendered(condition, operators):
    keyed = steps(EXISTS.format(" AND l.result > v.age"), "EXISTS").unit
    found = steps(EXISTS.format(f" AND ({condition})"), "EXISTS").unit
    least = operators * 2 * LABS * c.LONE_OPERATOR_STEPS
    assert found - keyed >= least - VISITS * LABS * c.HALF_PAIR_STEPS


COUNTED = (
    "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM labs l WHERE l.pid = v.pid{})"
    " THEN 1 ELSE 0 END) FROM visits v"
)


def test_exists_holds_its_inner_rows_and_no_pairs():
    held = memory(EXISTS.format(" AND l.result > v.age"), "EXISTS")
    assert held == rows(LABS, ALL_LABS, c.JOIN_ROW_BYTES + 16)


def test_exists_as_a_value_holds_the_rows_around_it_and_their_numbers():
    tied = memory(COUNTED.format(" AND l.result > 5"), "EXISTS")
    assert tied == rows(LABS, ALL_LABS, c.JOIN_ROW_BYTES + 8)
    inner = rows(LABS, ALL_LABS, c.JOIN_ROW_BYTES + 16)
    each = 2 * (c.ROW_BYTES + 8 + 16) + c.JOIN_ROW_BYTES + 8
    held = memory(COUNTED.format(" AND l.result > v.age"), "EXISTS")
    assert held == inner + rows(VISITS, ALL_VISITS, each)


def test_exists_as_a_value_counts_its_pairs_and_two_looks_at_each_number():
    plain = steps(EXISTS.format(" AND l.result > v.age"), "EXISTS")
    found = steps(COUNTED.format(" AND l.result > v.age"), "EXISTS")
    looks = 2 * (c.JOIN_ROW_STEPS + c.JOIN_VALUE_STEPS) + c.NUMBERED_ROW_STEPS
    assert found.unit - plain.unit >= VISITS * looks
    assert found.whole - plain.whole >= ALL_VISITS * looks


def test_the_condition_of_exists_is_evaluated_for_each_pair():
    cheap = steps(EXISTS.format(" AND l.result > v.age"), "EXISTS")
    more = EXISTS.format(" AND l.result > v.age AND v.note LIKE '%a%'")
    dear = steps(more, "EXISTS")
    assert dear.unit - cheap.unit >= VISITS * LABS * NOTE * c.SEARCHED_BYTE_STEPS


def test_exists_within_exists_multiplies():
    inner = (
        " AND l.result > v.age AND EXISTS (SELECT * FROM labs m WHERE m.pid = l.pid"
        " AND m.result > v.age AND m.result > l.result)"
    )
    found = steps(EXISTS.format(inner), "EXISTS")
    assert found.unit >= VISITS * LABS * LABS * c.HALF_PAIR_STEPS


def test_exists_over_a_public_table_pairs_all_of_it():
    sql = "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM {} k WHERE {})"
    found = steps(sql.format("codes", "k.number > v.age"), "EXISTS")
    assert found.unit >= VISITS * CODES * c.LOOP_PAIR_STEPS
    assert found.whole >= ALL_VISITS * CODES * c.LOOP_PAIR_STEPS
    keyed = steps(sql.format("keyed", "k.code = v.note AND k.number > v.age"), "EXISTS")
    assert keyed.unit < found.unit - VISITS * (CODES - 1) * c.LOOP_PAIR_STEPS
    fanned = steps(sql.format("fanned", "k.number = v.age"), "EXISTS")
    assert fanned.unit >= VISITS * 3 * c.LOOP_PAIR_STEPS
    assert fanned.unit < found.unit - VISITS * (CODES - 3) * c.LOOP_PAIR_STEPS


def test_in_looks_each_row_up():
    sql = "SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM labs)"
    found = steps(sql, "IN (SELECT ...)")
    assert found == Amount(
        sides((LABS, 1, 8), (VISITS, 1, 0)),
        sides((ALL_LABS, 1, 8), (ALL_VISITS, 1, 0)),
    )
    assert memory(sql, "IN (SELECT ...)") == rows(LABS, ALL_LABS, c.JOIN_ROW_BYTES + 8)


# -- windows and roll-ups --------------------------------------------------------------


def window(*items):
    made = ", ".join(f"{item} AS w{place}" for place, item in enumerate(items))
    read = " AND ".join(f"w{place} > 1" for place in range(len(items)))
    return f"SELECT COUNT(*) FROM (SELECT pid, {made} FROM visits) AS x WHERE {read}"


LAG = "LAG(age) OVER (PARTITION BY pid ORDER BY {})"


def test_each_order_of_a_window_is_a_sort_of_its_own():
    one = steps(window(LAG.format("age"), LAG.format("age")), "windows")
    two = steps(window(LAG.format("age"), LAG.format("paid")), "windows")
    sort = c.WINDOW_ROW_STEPS + c.SORT_STEPS * ALL_VISITS.bit_length()
    assert two.unit - one.unit >= VISITS * sort
    assert one.unit >= VISITS * sort
    held = memory(window(LAG.format("age"), LAG.format("paid")), "windows")
    assert held.unit >= 2 * VISITS * c.ROW_BYTES


def test_forty_windows_count_forty_times():
    one = steps(window(LAG.format("age")), "windows")
    lags = [f"LAG(age, {n}) OVER (PARTITION BY pid ORDER BY age)" for n in range(1, 41)]
    many = steps(window(*lags), "windows")
    assert many.unit - one.unit >= VISITS * 39 * c.WINDOW_ITEM_STEPS


def test_a_frame_counts_the_halvings_of_its_rows():
    over = "SUM(paid) OVER (PARTITION BY pid ORDER BY age ROWS BETWEEN {} AND {})"
    running = window(over.format("UNBOUNDED PRECEDING", "CURRENT ROW"))
    short = window(over.format("1 PRECEDING", "1 FOLLOWING"))
    long = window(over.format("9999 PRECEDING", "9999 FOLLOWING"))
    halvings = VISITS.bit_length() - 2  # no frame is longer than a unit
    found = [steps(sql, "windows").unit for sql in (running, short, long)]
    assert found[1] - found[0] == VISITS * 2 * c.FRAME_STEPS
    assert found[2] - found[1] == VISITS * halvings * c.FRAME_STEPS


def test_a_wide_row_is_carried_through_a_window():
    narrow = "SELECT COUNT(*) FROM (SELECT pid, {} AS w FROM visits) AS x WHERE w > 1"
    thin = memory(narrow.format(LAG.format("age")), "windows")
    over = "LAG(age) OVER (PARTITION BY pid, note ORDER BY age)"
    wide = memory(narrow.format(over), "windows")
    assert wide.unit - thin.unit >= VISITS * NOTE


def texts(over, many=1):
    made = ", ".join(over.format(n) + f" AS w{n}" for n in range(many))
    read = " AND ".join(f"w{n} > 'a'" for n in range(many))
    return f"SELECT COUNT(*) FROM (SELECT pid, {made} FROM visits) AS x WHERE {read}"


RUNNING = "MAX(note) OVER (PARTITION BY pid ORDER BY seen ROWS {} PRECEDING)"


def test_each_byte_of_a_row_is_carried_through_an_order():
    over = "LAG(age) OVER (PARTITION BY pid{} ORDER BY age)"
    thin, wide = (
        steps(window(over.format(keys)), "windows") for keys in ("", ", note")
    )
    assert wide.unit - thin.unit >= VISITS * NOTE * c.SORTED_BYTE_STEPS


@pytest.mark.parametrize("over", ["PARTITION BY pid, {} ORDER BY 1", "ORDER BY {}"])
def test_a_text_in_an_order_is_compared_at_each_doubling(over):
    keys = over if "PARTITION" in over else "PARTITION BY pid " + over
    keys = keys.replace("ORDER BY 1", "ORDER BY age")
    number, text = (
        steps(window(f"LAG(age) OVER ({keys.format(key)})"), "windows")
        for key in ("paid", "note")
    )
    carried = NOTE * (c.SORTED_BYTE_STEPS + c.SORT_KEY_BYTE_STEPS)
    compared = c.SORT_TEXT_STEPS * ALL_VISITS.bit_length()
    assert text.unit - number.unit >= VISITS * (carried + compared)


def test_each_text_that_a_window_gives_is_copied_and_unpacked():
    lag = "LAG(note, {}) OVER (PARTITION BY pid ORDER BY seen)"
    one, many = texts(lag.replace("{}", "1")), texts(lag.replace("{}", "1{}"), 9)
    taken = steps(many, "windows").unit - steps(one, "windows").unit
    assert taken >= VISITS * 8 * NOTE
    held = memory(many, "windows").unit - memory(one, "windows").unit
    assert held >= VISITS * 8 * NOTE


def test_the_greatest_text_of_each_frame_is_copied_at_each_halving_and_kept():
    one, many = (
        texts(RUNNING.replace("{}", "5")),
        texts(RUNNING.replace("{}", "5{}"), 9),
    )
    taken = steps(many, "windows").unit - steps(one, "windows").unit
    assert taken >= VISITS * 8 * NOTE * (2 + (6).bit_length())
    held = memory(many, "windows").unit - memory(one, "windows").unit
    assert held >= VISITS * 8 * (NOTE + NOTE // c.FRAME_TEXT_SHARE)
    assert memory(many, "windows").whole >= 8 * c.VECTOR_ROWS * NOTE


def test_a_vector_of_texts_is_unpacked_as_it_is_read():
    found = memory("SELECT COUNT(*) FROM visits WHERE note > 'a'", "reading visits")
    width = NOTE + c.TEXT_BYTES
    assert found == Amount(VISITS * width, c.VECTOR_ROWS * width)


def rolled(items, keys="", read="n"):
    return (
        f"SELECT COUNT(*) FROM (SELECT pid{keys}, {items} AS {read} FROM visits"
        f" GROUP BY pid{keys}) AS r WHERE {read} > 1"
    )


def test_a_roll_up_leaves_one_row_a_unit_or_a_group():
    alone = rolled("COUNT(*)")
    assert steps(alone, "WHERE") == rows(
        1, UNITS, 2 * c.VALUE_STEPS + c.SIMPLE_STEPS * 2
    )
    keyed = rolled("COUNT(*)", ", age")
    assert steps(keyed, "WHERE").unit == VISITS * (
        2 * c.VALUE_STEPS + c.SIMPLE_STEPS * 2
    )
    assert memory(keyed, "GROUP BY").whole >= ALL_VISITS * c.GROUP_BYTES


def test_a_roll_ups_distinct_ordered_and_text_values_count():
    plain = steps(rolled("MAX(age)"), "GROUP BY")
    text = steps(
        "SELECT COUNT(*) FROM (SELECT pid, MAX(note) AS m FROM visits GROUP BY pid)"
        " AS r WHERE m > 'a'",
        "GROUP BY",
    )
    copied = c.TEXT_STATE_STEPS + NOTE * c.TEXT_STATE_BYTE_STEPS
    assert text.unit - plain.unit >= VISITS * copied
    first = steps(rolled("FIRST(age ORDER BY seen)"), "GROUP BY")
    assert first.unit - plain.unit >= VISITS * c.ORDERED_ROW_STEPS
    held = memory(rolled("FIRST(age ORDER BY seen)"), "GROUP BY")
    assert held.unit >= VISITS * c.ROW_BYTES + c.ORDERED_GROUP_BYTES
    distinct = steps(rolled("COUNT(DISTINCT age)"), "COUNT(DISTINCT)")
    assert distinct.unit >= VISITS * c.DISTINCT_ROW_STEPS


# -- texts in every place --------------------------------------------------------------

FIRST_OF = (
    "SELECT COUNT(*) FROM (SELECT pid, age, {} AS m FROM visits GROUP BY pid, age)"
)
FIRST_OF += " AS r WHERE m > 'a'"
KEPT = NOTE + c.TEXT_BYTES
TERMS = ", ".join(f"COALESCE(note, 'k{each}')" for each in range(8))


def test_every_text_of_the_order_of_first_counts_for_each_group():
    one = FIRST_OF.format("FIRST(note ORDER BY seen)")
    many = FIRST_OF.format(f"FIRST(note ORDER BY note, note DESC, {TERMS}, seen)")
    held = memory(many, "GROUP BY").unit - memory(one, "GROUP BY").unit
    assert held >= VISITS * 10 * KEPT * (c.TEXT_STATE_COPIES + 1)
    taken = steps(many, "GROUP BY").unit - steps(one, "GROUP BY").unit
    assert taken >= VISITS * 10 * KEPT * (c.ORDERED_BYTE_STEPS + c.KEPT_BYTE_STEPS)


def test_keys_of_orders_are_made_a_vector_at_a_time():
    """Of groups that are few, the rows of a vector are what memory holds most."""
    rolled_up = "SELECT COUNT(*) FROM (SELECT pid, FIRST(age ORDER BY {}) AS m FROM"
    rolled_up += " visits GROUP BY pid) AS r WHERE m > 1"
    one, many = (
        memory(rolled_up.format(terms), "GROUP BY").whole
        for terms in ("note", f"note, {TERMS}")
    )
    assert many - one >= (c.VECTOR_ROWS + UNITS * c.TEXT_STATE_COPIES) * 8 * KEPT


@pytest.mark.parametrize(
    "over", ["PARTITION BY pid, {}", "PARTITION BY pid ORDER BY {}"]
)
def test_every_text_of_a_windows_order_is_kept_beside_each_row(over):
    sql = "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER ({}) AS n FROM visits) AS x"
    sql += " WHERE n > 1"
    one, many = (sql.format(over.format(terms)) for terms in ("note", f"note, {TERMS}"))
    held = memory(many, "windows").unit - memory(one, "windows").unit
    assert held >= VISITS * 8 * (KEPT + KEPT // c.SORT_KEY_SHARE)
    taken = steps(many, "windows").unit - steps(one, "windows").unit
    assert taken >= VISITS * 8 * KEPT * c.SORT_KEY_BYTE_STEPS


def test_texts_that_one_order_gives_are_carried_through_the_next():
    lag = "LAG(COALESCE(note, 'k{0}')) OVER (PARTITION BY pid ORDER BY {1})"
    same, apart = (
        texts_over(lag.format(each, order.format(each)) for each in range(8))
        for order in ("paid", "paid + {}")
    )
    held = memory(apart, "windows").unit - memory(same, "windows").unit
    assert held >= VISITS * 2 * 8 * KEPT
    taken = steps(apart, "windows").unit - steps(same, "windows").unit
    assert taken >= VISITS * 8 * 7 * 8 * KEPT * c.SORTED_BYTE_STEPS // 2


def texts_over(items):
    made = [f"{item} AS w{place}" for place, item in enumerate(items)]
    read = " AND ".join(f"w{place} > 'a'" for place in range(len(made)))
    rows = f"SELECT pid, {', '.join(made)} FROM visits"
    return f"SELECT COUNT(*) FROM ({rows}) AS x WHERE {read}"


def test_the_greatest_text_of_a_group_takes_up_to_twice_its_bytes():
    number, text = (
        memory(FIRST_OF.format(f"MAX({value})"), "GROUP BY").unit
        for value in ("ward", "note")
    )
    longer = NOTE - 30  # the longest ward has 30 bytes
    unpacked = 1  # as the vector is read
    assert text - number >= VISITS * (c.TEXT_STATE_COPIES + unpacked) * longer


def test_pages_of_wide_groups_and_distinct_values_are_not_full():
    wide = 8 * KEPT
    rows = f"SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid, {TERMS}"
    held = memory(f"SELECT COUNT(*) FROM ({rows}) AS x WHERE n > 1", "GROUP BY")
    assert held.unit >= VISITS * (wide + wide // c.TEXT_SHARE)


ON = "SELECT COUNT(*) FROM visits v {} visits w ON v.pid = w.pid AND {}"
MEETS = "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE {})"
TIED = MEETS.format("v.pid = w.pid AND {}")


@pytest.mark.parametrize(
    ("sql", "sign", "construct"),
    [
        (ON.format("JOIN", "{}"), "=", "joins"),
        (ON.format("LEFT JOIN", "{}"), "=", "joins"),
        (ON.format("LEFT JOIN", "{}"), ">=", "joins"),
        (TIED, "=", "EXISTS"),
        (TIED, ">=", "EXISTS"),
    ],
)
def test_texts_that_a_join_compares_are_kept_as_computed(sql, sign, construct):
    keys = [
        f"COALESCE(v.note, 'k{each}') {sign} COALESCE(w.note, 'k{each}')"
        for each in range(8)
    ]
    one = memory(sql.format(keys[0]), construct)
    many = memory(sql.format(" AND ".join(keys)), construct)
    assert many.unit - one.unit >= VISITS * 7 * KEPT
    assert many.whole - one.whole >= ALL_VISITS * 7 * KEPT


def test_a_range_keeps_its_value_twice():
    sql = ON.format("LEFT JOIN", "{}")
    value = "COALESCE(w.note, 'k')"
    once = memory(sql.format(f"{value} >= v.ward"), "joins")
    twice = memory(sql.format(f"{value} BETWEEN v.ward AND v.note"), "joins")
    assert twice.unit - once.unit >= VISITS * KEPT


def test_what_a_subquery_looks_up_is_kept_as_computed():
    sql = "SELECT COUNT(*) FROM visits WHERE note IN (SELECT {} FROM codes)"
    stored, made = (
        memory(sql.format(item), "IN (SELECT ...)").whole
        for item in ("code", f"COALESCE(code, '{'x' * 400}')")
    )
    assert made - stored >= CODES * 360


def test_a_division_of_wide_numbers_takes_a_step_a_bit_and_more():
    product, quotient = (
        steps(f"SELECT COUNT(*) FROM visits WHERE paid {by} > 5", "WHERE").unit
        for by in ("* age", "/ NULLIF(age, 0)")
    )
    assert quotient - product == VISITS * (c.DIVIDE_STEPS - c.WIDE_STEPS)


def test_arithmetic_keeps_vectors_however_many_rows_there_are():
    sums = " + ".join(f"paid * {each}" for each in range(2, 12))
    held = memory(f"SELECT COUNT(*) FROM visits WHERE {sums} > 5", "WHERE")
    assert held == Amount(0, 19 * c.ARITHMETIC_BYTES)


def test_each_byte_of_a_long_text_is_read_from_pages_of_its_own():
    longer = replace(
        DATASET.tables["visits"].column("note"), max_length=c.LONG_TEXT_BYTES
    )
    longest = replace(longer, max_length=2 * c.LONG_TEXT_BYTES)
    one, two = (scanned(note).unit for note in (longer, longest))
    assert two - one >= VISITS * c.LONG_TEXT_BYTES * (1 + 1 // c.BYTES_A_STEP)


def scanned(note):
    visits = DATASET.tables["visits"]
    columns = [note if each.name == "note" else each for each in visits.columns]
    tables = {**DATASET.tables, "visits": replace(visits, columns=tuple(columns))}
    changed = replace(DATASET, tables=tables)
    sql = "SELECT COUNT(*) FROM visits WHERE note > 'a'"
    bound = bind_query(parse_query(sql), changed, ContributionBounds())
    (meter,) = aggregate_costs(bound.plan, changed, [""]).meters
    return meter.by_construct["reading visits"][0]


# -- whole plans -----------------------------------------------------------------------


def test_union_all_reads_every_part():
    part = "SELECT pid, age FROM visits"
    sql = "SELECT SUM(age) FROM ({}) AS u"
    found = steps(sql.format(" UNION ALL ".join([part] * 5)), "UNION ALL")
    each = c.READ_ROW_STEPS + c.READ_VALUE_STEPS
    assert found == rows(5 * VISITS, 5 * ALL_VISITS, each)


def test_the_rows_of_all_parts_are_measured():
    part = "SELECT pid, age FROM visits"
    sql = "SELECT SUM(age) FROM ({}) AS u"
    once = steps(sql.format(" UNION ALL ".join([part] * 2)), "aggregates")
    many = steps(sql.format(" UNION ALL ".join([part] * 6)), "aggregates")
    assert (many.unit, many.whole) == (3 * once.unit, 3 * once.whole)


def test_each_code_of_an_own_hierarchy_is_passed():
    sql = "SELECT COUNT(*) FROM visits WHERE level(item, 'part') = 'p'"
    plan = bind_query(parse_query(sql), DATASET, ContributionBounds()).plan
    own = DATASET.hierarchies["own"]
    longer = replace(own, codes={**own.codes, "D1": ("p",), "D2": ("p",)})
    few, many = (
        aggregate_costs(plan, replace(DATASET, hierarchies={"own": each}), [""]).cost()
        for each in (own, longer)
    )
    assert many.unit_steps - few.unit_steps == 2 * c.CODE_STEPS * VISITS


def test_dots_of_own_codes_count_up_to_twice_the_longest_one():
    sql = "SELECT COUNT(*) FROM visits WHERE level(item, 'part') = 'p'"
    plan = bind_query(parse_query(sql), DATASET, ContributionBounds()).plan
    costs = {}
    for size in (3, 4, 400, 500, 600):  # items are of 1,000 bytes
        own = Hierarchy("own", ("part",), {"C" * size: ("p",)})
        dataset = replace(DATASET, hierarchies={"own": own})
        costs[size] = aggregate_costs(plan, dataset, [""]).cost().unit_steps
    assert costs[4] - costs[3] == 2 * c.DOT_STEPS * VISITS
    assert costs[500] - costs[400] == 200 * c.DOT_STEPS * VISITS
    assert costs[600] - costs[500] == (c.TEXT_BYTES * c.DOT_STEPS) * VISITS


def test_a_common_table_counts_as_often_as_it_is_read():
    sql = (
        "WITH d AS (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)"
        " SELECT COUNT(*) FROM d AS a {}"
    )
    once = steps(sql.format(""), "reading visits")
    joins = " ".join(f"JOIN d AS d{each} ON d{each}.pid = a.pid" for each in range(3))
    assert steps(sql.format(joins), "reading visits") == once.times(4)


def test_each_histogram_is_a_statement_that_reads_again():
    one = parts("SELECT MEDIAN(age) FROM visits")
    both = parts("SELECT MEDIAN(age), QUANTILE(age, 0.9, 50), COUNT(*) FROM visits")
    assert len(one) == 1
    assert len(both) == 3
    bits = (120 * 64).bit_length()
    each = c.AGGREGATE_STEPS + c.HISTOGRAM_STEPS + bits * c.HISTOGRAM_BIT_STEPS
    assert one[0]["aggregates"][0] == rows(VISITS, ALL_VISITS, each)


def test_a_bin_takes_a_division_of_as_many_bits_as_the_range_has():
    wide = replace(
        DATASET.tables["visits"],
        columns=tuple(
            replace(column, domain=RangeDomain(0, 2**62 - 1))
            if column.name == "age"
            else column
            for column in DATASET.tables["visits"].columns
        ),
    )
    plan, steps_of = "SELECT QUANTILE(age, 0.5, {}) FROM visits", {}
    dataset = replace(DATASET, tables={**DATASET.tables, "visits": wide})
    for bins in (2, 1024):
        bound = bind_query(
            parse_query(plan.format(bins)), dataset, ContributionBounds()
        )
        meters = aggregate_costs(bound.plan, dataset, [""]).meters
        steps_of[bins] = meters[0].by_construct["aggregates"][0].unit
    fixed = c.AGGREGATE_STEPS + c.HISTOGRAM_STEPS
    assert steps_of[2] == VISITS * (fixed + 63 * c.HISTOGRAM_BIT_STEPS)
    assert steps_of[1024] == VISITS * (fixed + 72 * c.HISTOGRAM_BIT_STEPS)


def test_a_bin_of_one_value_takes_no_division():
    one = parts("SELECT QUANTILE(age, 0.5, 121) FROM visits")[0]
    each = c.AGGREGATE_STEPS + c.HISTOGRAM_STEPS
    assert one["aggregates"][0] == rows(VISITS, ALL_VISITS, each)


def test_distinct_units_are_held_by_group():
    sql = "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"
    found = steps(sql, "COUNT(DISTINCT)")
    width = c.TEXT_BYTES + 30 + 2 * c.NUMBER_BYTES
    assert found == rows(
        VISITS, ALL_VISITS, c.DISTINCT_ROW_STEPS + width // c.BYTES_A_STEP
    )
    cells = 4  # two wards and NULL, and one more
    held = memory(sql, "COUNT(DISTINCT)")
    assert held == rows(cells, cells * UNITS, c.GROUP_BYTES + width)


def test_steps_add_up_over_statements_and_memory_does_not():
    sql = "SELECT MEDIAN(age), QUANTILE(age, 0.9, 50) FROM visits"
    compiled = compile_query(sql, DATASET)
    one = compile_query("SELECT MEDIAN(age) FROM visits", DATASET)
    assert compiled.cost.unit_steps > 1.9 * one.cost.unit_steps
    assert compiled.cost.unit_memory_bytes < 1.9 * one.cost.unit_memory_bytes
    texts = sum(len(each.sql) for each in compiled.rendered.statements)
    fixed = 2 * c.STATEMENT_STEPS + texts * c.TEXT_STEPS
    assert compiled.cost.steps > fixed


def test_bounds_after_filters_count_their_windows():
    bounds = ContributionBounds(max_rows_per_unit=2, max_groups_per_unit=1)
    sql = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    found = steps(sql, "bounds", bounds)
    sort = c.WINDOW_ROW_STEPS + c.SORT_STEPS * ALL_VISITS.bit_length()
    assert found.unit >= 4 * VISITS * sort


def test_cubes_and_sequences_have_a_cost():
    cube = compile_cube(
        CubeRequest("visits JOIN labs USING (pid)", (Axis("age"),), counts_units=True),
        DATASET,
    )
    assert cube.cost.unit_steps >= VISITS * LABS * pair(2)
    request = SequenceRequest("visits", "seen", Axis("ward"), 20)
    sequences = compile_sequences(request, DATASET)
    assert sequences.cost.unit_steps >= VISITS * (c.MARK_STEPS + c.ORDERED_ROW_STEPS)
    longer = compile_sequences(replace(request, max_length=900), DATASET)
    assert longer.cost.memory_bytes - sequences.cost.memory_bytes >= 880 * UNITS


# -- limits ----------------------------------------------------------------------------

SIZE = EngineSize(64, 2, 100, 2**30, 60.0)


# -- what the first rows begin ---------------------------------------------------------


def ordered(partition, *, function="COUNT(*)", order=""):
    over = f"PARTITION BY pid{partition} {order}"
    return begun(
        f"SELECT COUNT(*) FROM (SELECT pid, {function} OVER ({over}) AS m FROM visits)"
        " AS x WHERE m > 3"
    )


def test_an_order_begins_once_and_fills_one_bin_of_a_unit():
    one = c.STARTED_TERM + c.BIN_STEPS + c.BIN_TERM_STEPS
    found = ordered("")
    assert found >= c.STARTED_ORDER + c.STARTED_ITEM + one
    assert ordered("", order="ORDER BY age") - found >= (
        c.STARTED_TERM + c.BIN_TERM_STEPS
    )


@pytest.mark.parametrize("term", ["age", "age + 0", "paid", "ward"])
def test_every_term_of_a_partition_counts_in_each_bin_that_a_unit_can_fill(term):
    few, many = ordered(f", {term}"), ordered(", " + ", ".join([term] * 301))
    each = c.STARTED_TERM + min(VISITS, c.ORDER_BINS) * c.BIN_TERM_STEPS
    assert many - few >= 300 * each


def test_a_partition_beyond_the_unit_key_fills_as_many_bins_as_it_has_rows():
    more = ordered(", age") - ordered("")
    assert more >= (min(VISITS, c.ORDER_BINS) - 1) * c.BIN_STEPS


def test_what_a_unit_begins_is_no_less_where_it_is_alone():
    over = f"PARTITION BY pid, {', '.join(['age'] * 900)}"
    sql = (
        f"SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER ({over}) AS m FROM visits"
        " WHERE age = 120) AS x WHERE m > 3"
    )
    with pytest.raises(SqlNotAllowedError, match="at most") as refused:
        compile_query(sql, DATASET, limits=cost_limits(SIZE))
    assert refused.value.rule == "too_costly"


@pytest.mark.parametrize(
    ("fewer", "more", "each"),
    [
        ("SUM(age) AS a", "SUM(age) AS a, SUM(paid) AS b", c.STARTED_AGGREGATE),
        (
            "SUM(age) AS a",
            "SUM(age) AS a, COUNT(DISTINCT paid) AS b",
            c.STARTED_DISTINCT,
        ),
        (
            "SUM(age) AS a",
            "SUM(age) AS a, FIRST(paid ORDER BY seen) AS b",
            c.STARTED_CHOICE,
        ),
    ],
)
def test_functions_of_groups_begin_too(fewer, more, each):
    sql = "SELECT COUNT(*) FROM (SELECT pid, {} FROM visits GROUP BY pid) x WHERE a > 1"
    condition = " AND b > 1"
    assert begun(sql.format(more) + condition) - begun(sql.format(fewer)) >= each


def test_groups_joins_and_frames_begin_too():
    plain = begun("SELECT COUNT(*) FROM visits")
    assert begun("SELECT COUNT(DISTINCT age) FROM visits") - plain >= c.STARTED_DISTINCT
    joined = begun("SELECT COUNT(*) FROM visits JOIN labs USING (pid)")
    assert joined - plain == 2 * c.STARTED_JOIN
    rolled = "SELECT COUNT(*) FROM (SELECT pid FROM visits GROUP BY pid{}) x"
    groups = begun(rolled.format(""))
    assert groups - plain == c.STARTED_GROUPS + c.STARTED_KEY
    assert begun(rolled.format(", age")) - groups == 2 * c.STARTED_KEY  # and its hash
    by_age = "ORDER BY age"
    frame = f"{by_age} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
    numbered = ordered("", function="ROW_NUMBER()", order=by_age)
    assert ordered("", order=frame) - numbered == c.STARTED_FRAME - c.STARTED_ITEM
    wide = "SELECT COUNT(*) FROM visits WHERE {} > 5"
    sums = begun(wide.format("paid + paid")) - begun(wide.format("paid"))
    assert sums == c.STARTED_ARITHMETIC
    looked_up = "SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM labs)"
    assert begun(looked_up) - plain == 2 * c.STARTED_JOIN


ROLLED = "SELECT COUNT(*) FROM (SELECT pid, {} FROM visits GROUP BY pid) x WHERE a > 1"
WINDOWED = "SELECT COUNT(*) FROM (SELECT pid, {} FROM visits) x WHERE a > 1 AND b > 1"


@pytest.mark.parametrize(
    ("sql", "construct", "pages"),
    [
        ("SELECT COUNT(*) FROM visits", None, 0),
        ("SELECT COUNT(DISTINCT age) FROM visits", None, c.DISTINCT_BYTES),
        (ROLLED.format("MAX(age) AS a"), None, c.GROUPS_BYTES),
        (
            ROLLED.format("FIRST(age ORDER BY seen) AS a"),
            None,
            c.GROUPS_BYTES + c.CHOICE_BYTES,
        ),
        (
            ROLLED.format("COUNT(DISTINCT age) AS a"),
            "COUNT(DISTINCT)",
            c.DISTINCT_BYTES,
        ),
        ("SELECT age, COUNT(*) FROM visits GROUP BY age", None, c.GROUPS_BYTES),
        ("SELECT COUNT(*) FROM visits JOIN labs USING (pid)", None, c.TABLE_BYTES),
        (
            (
                "SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid"
                " WHERE a.note <> b.note"
            ),
            None,
            c.TABLE_BYTES + c.TABLE_TEXT_BYTES,
        ),
        (EXISTS.format(""), None, c.TABLE_BYTES),
        (
            "SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM labs)",
            None,
            c.TABLE_BYTES,
        ),
        (
            COUNTED.format(" AND l.result > v.age"),
            None,
            2 * c.TABLE_BYTES + c.ORDER_BYTES,
        ),
        (
            COUNTED.format(" AND l.result > v.age") + " WHERE v.note <> 'a'",
            None,
            2 * c.TABLE_BYTES + c.ORDER_BYTES,
        ),
        (window(LAG.format("age")), None, c.ORDER_BYTES),
        (window(LAG.format("note")), None, c.ORDER_BYTES + c.ORDER_TEXT_BYTES),
        (
            WINDOWED.format(
                "COUNT(*) OVER (PARTITION BY pid, age) AS a,"
                " COUNT(*) OVER (PARTITION BY pid, paid) AS b"
            ),
            None,
            c.ORDER_BYTES + c.NEXT_ORDER_BYTES,
        ),
    ],
)
def test_first_rows_begin_pages_of_each_table_and_order(sql, construct, pages):
    assert paged(sql, construct) == pages


def test_pages_of_first_rows_are_part_of_the_whole_and_have_a_limit():
    many = ", ".join(f"COUNT(DISTINCT age + {each})" for each in range(33))
    cost = compile_query(f"SELECT {many} FROM visits", DATASET).cost
    assert cost.startup_memory_bytes == 33 * c.DISTINCT_BYTES
    assert cost.memory_bytes > cost.startup_memory_bytes
    limits = replace(cost_limits(SIZE), startup_steps=10**9)
    with pytest.raises(SqlNotAllowedError, match="first rows start up could hold 132"):
        compile_query(f"SELECT {many} FROM visits", DATASET, limits=limits)


def test_limits_follow_from_public_settings():
    limits = cost_limits(SIZE)
    slot = 100 * 10**6
    assert limits == CostLimits(
        *(6 * 10**9, 2**29, slot // 4 // 32, 2**24, slot // 4, 2**27),
        showing_steps=3 * 10**9,
    )
    assert cost_limits(replace(SIZE, permits=65)).unit_steps == 100 * 10**6 // 4 // 33
    assert cost_limits(replace(SIZE, slot_ms=0)).unit_steps == limits.unit_steps
    assert cost_limits(replace(SIZE, executors=4)).unit_steps == 2 * limits.unit_steps
    assert job_limits(SIZE).unit_steps == 25 * 10**6


ATTACK = (
    "SELECT COUNT(*) FROM {} WHERE EXISTS (SELECT * FROM {} WHERE l0.pid = m0.pid"
    " AND l0.result <> m0.result AND l4.result <> m4.result)"
)


def joined(name, many):
    joins = "".join(
        f" JOIN labs {name}{each} ON {name}{each}.pid = {name}0.pid"
        for each in range(1, many)
    )
    return f"labs {name}0{joins}"


def test_pairs_of_self_joins_are_refused_with_the_bound_that_suffices():
    sql = ATTACK.format(joined("m", 5), joined("l", 5))
    bounds = ContributionBounds(tables=(("labs", 5),))
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, DATASET, bounds, limits=cost_limits(SIZE))
    assert refused.value.rule == "too_costly"
    assert (
        'ask with the options {"bounds": {"tables": {"labs": 2}}}' in refused.value.hint
    )
    lower = ContributionBounds(tables=(("labs", 2),))
    compile_query(sql, DATASET, lower, limits=cost_limits(SIZE))


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT COUNT(*) FROM visits a\n JOIN visits b ON a.pid = b.pid", (2, 2)),
        (window(LAG.format("note")), (1, 35)),
        (EXISTS.format(" AND l.result > v.age"), (1, 37)),
        ("SELECT COUNT(*) FROM visits WHERE note LIKE '%a%'", (1, 1)),
    ],
)
def test_a_refusal_points_at_what_takes_most(sql, place):
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, DATASET, limits=replace(cost_limits(SIZE), unit_steps=1))
    assert (refused.value.line, refused.value.column) == place


@pytest.mark.parametrize(
    "part",
    get_args(CostPart),
)
def test_each_part_of_the_cost_is_held_to_its_limit(part):
    sql = "SELECT COUNT(*) FROM visits JOIN labs USING (pid)"
    cost = compile_query(sql, DATASET).cost
    exact = CostLimits(**asdict(cost))
    compile_query(sql, DATASET, limits=exact)
    below = replace(exact, **{part: getattr(cost, part) - 1})
    with pytest.raises(SqlNotAllowedError, match="at most"):
        compile_query(sql, DATASET, limits=below)


def test_what_no_bound_mends_is_refused_with_other_words():
    sql = "SELECT COUNT(*) FROM visits WHERE note LIKE '%a%'"
    few = replace(cost_limits(SIZE), steps=10**6)
    with pytest.raises(SqlNotAllowedError) as refused:
        compile_query(sql, DATASET, limits=few)
    assert "max_length" in refused.value.hint


def test_a_cube_and_sequences_are_held_to_limits():
    limits = replace(job_limits(SIZE), unit_steps=10)
    cube = CubeRequest("visits", (Axis("age"),), counts_units=True)
    with pytest.raises(SqlNotAllowedError):
        compile_cube(cube, DATASET, limits)
    request = SequenceRequest("visits", "seen", Axis("ward"), 20)
    with pytest.raises(SqlNotAllowedError):
        compile_sequences(request, DATASET, limits)


def test_a_window_that_nothing_reads_orders_nothing():
    made = "LAG(age) OVER (PARTITION BY pid ORDER BY seen) AS m"
    unread = f"SELECT COUNT(*) FROM (SELECT pid, age, {made} FROM visits) AS x"
    assert steps(unread, "windows") == Amount(0, 0)
    assert compile_query(unread, DATASET, limits=cost_limits(SIZE)).cost.steps
