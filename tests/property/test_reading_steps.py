"""No text makes the server read for long: counted in calls, whatever the machine.

Each form of the language stands in itself as deep as brackets may, and as often beside
itself as a text is long. What stands for a tree that is too large is refused early.
"""

import re
import sys
from dataclasses import replace
from datetime import date

import pytest

from privacy.errors import QueryError
from privacy.schema import RangeDomain, ValuesDomain
from query_lang.plans.costs import EngineSize, cost_limits
from query_lang.reading.sqlglot_tree import _KEYWORDS
from query_lang.syntax.functions import FORMS, OTHER_FORMS
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query
from tests.support.data.hospital import ENCOUNTERS, HOSPITAL

pytestmark = pytest.mark.thorough

MOST_CALLS = 1_000_000
"""About a third of a second. The dearest of these texts takes 950,000; POWER in POWER
took more from the seventh level on, and hours at the fourteenth."""

LIMITS = cost_limits(EngineSize(64, 2, 100, 2**30, 60.0))

WHERE = "SELECT COUNT(*) FROM encounters WHERE "

NUMBERS = {
    *("@ + @", "@ * @", "@ / 3", "@ / NULLIF(@, 0)", "@ % 7", "DIV(@, 3)", "-(@)"),
    *("POWER(@, 4)", "POW(@, 2)", "ABS(@)", "SIGN(@)", "ROUND(@, -1)", "TRUNC(@)"),
    *("NULLIF(@, 1)", "COALESCE(@, @, 0)", "LEAST(@, 7)", "GREATEST(@, @)"),
    *("WIDTH_BUCKET(@, 0, 99, 9)", "SAFE_DIVIDE(@, 3)", "MOD(@, 5)", "IF(@ > 1, @, 0)"),
    *("CAST(@ AS DECIMAL(10, 2))", "LENGTH(CAST(@ AS TEXT))", "(@)::int"),
    *("CASE WHEN @ > 1 THEN @ ELSE @ + 1 END", "CASE @ WHEN 1 THEN 2 ELSE 3 END"),
    *("CASE WHEN @ BETWEEN 1 AND 5 THEN 1 ELSE 0 END",),
    *("CASE WHEN @ IN (1, 2, 3) THEN 1 ELSE 0 END",),
    *("CASE WHEN @ IS DISTINCT FROM 3 THEN 1 ELSE 0 END",),
}
DAYS = {
    *("DATE_TRUNC('week', @)", "DATE_TRUNC(@, WEEK)", "DATE_TRUNC('quarter', @)"),
    *("@ + INTERVAL '1 month'", "EOMONTH(@)", "LAST_DAY(@)", "CAST(@ AS DATE)"),
    *("DATE_ADD(@, INTERVAL 1 MONTH)", "MAKE_DATE(EXTRACT(YEAR FROM @), 1, 1)"),
}
TEXTS = {
    *("UPPER(@)", "LEFT(@, 3)", "SUBSTRING(@, 2, 3)", "CONCAT(@, 'a')", "@ || @"),
    *("TRIM(@)", "REPLACE(@, 'a', 'b')", "ICD_CHAPTER(@)"),
}
TRUTHS = {
    *("(@ IS DISTINCT FROM smoker)", "(smoker IS NOT DISTINCT FROM @)", "NOT (@)"),
    *("(@) IS TRUE", "(@) IS NOT TRUE", "(@) IS UNKNOWN", "(smoker = @)"),
}
RESULTS = {
    *("(@ + @)", "SAFE_DIVIDE(@, COUNT(*))", "NULLIF(@, 0)", "ROUND(@, 1)"),
    *("CASE WHEN @ > 0 THEN @ ELSE 0 END", "100.0 * @ / NULLIF(@, 0)", "SQRT(@)"),
    *("POWER(@, 4)", "COALESCE(@, @)", "GREATEST(@, @)", "IF(@ > 1, @, 0)"),
}
BESIDE = {
    *("CORR(age + {i}, level)", "REGR_SLOPE(age + {i}, level)", "STDDEV(age + {i})"),
    *("MEDIAN(age + {i})", "COUNT(DISTINCT level + {i})", "AVG(age + {i})"),
    *("AVG(age + {i}) / AVG(level + {i})", "COUNT(*) FILTER (WHERE age > {i})"),
    *("SUM(CASE WHEN age > {i} THEN 1 ELSE 0 END)",),
}
LAYERS = {
    *("n + n", "n + 1", "POWER(n, 4)", "n / NULLIF(n, 0)", "COALESCE(n, n)"),
    *("SUM(n) OVER (ORDER BY level)", "n - LAG(n) OVER (ORDER BY level)"),
    *("n / SUM(n) OVER ()", "CASE WHEN n > 1 THEN n END"),
}


def _calls(sql, dataset=HOSPITAL):
    """Return how many functions were called to read a text, or MOST_CALLS."""
    calls = 0

    class TooMany(BaseException):
        pass

    def count(_frame, event, _argument):
        nonlocal calls
        if event == "call":
            calls += 1
            if calls >= MOST_CALLS:
                raise TooMany

    sys.setprofile(count)
    try:
        compile_query(sql, dataset, limits=LIMITS)
    except (QueryError, TooMany):
        pass
    finally:
        sys.setprofile(None)
    return calls


# -- every function of the language in each of its places -------------------------

KNOWN = {
    **dict.fromkeys(("value", "cost", "change", "x", "a", "length_of_stay"), "age"),
    **dict.fromkeys(("sex", "b", "text"), "code"),
    **dict.fromkeys(("born", "arrived", "d"), "admitted"),
}
"""Columns of the forms' shapes, by what the tests' table has of their type."""
OPERANDS = (
    *(("age", "CAST(@ AS INTEGER)"), ("code", "LENGTH(@)")),
    *(("code", "CAST(@ AS TEXT)"), ("age", "CAST(@ AS TEXT)"), ("admitted", "@")),
    *(("age", "DATE '2024-01-31' + @"), ("code", "DATE '2024-01-31' + LENGTH(@)")),
    *(("smoker", "(@)"), ("age", "(@ > 1)"), ("code", "(@ = 'a')")),
    *(("age", "@"), ("code", "@")),
)
"""What stands innermost, and what makes its type of a result again."""


def _shapes():
    """Yield each form's first call, an argument of it left open, as ``@``."""
    yield from ("@ || age", "age || @", "CONCAT(@, age)", "@ || @")
    for name, form in sorted({**FORMS, **OTHER_FORMS}.items()):
        called, bracket, rest = form.shape.partition("(")
        arguments = _arguments(rest) if bracket else []
        renamed = [
            re.sub(r"[a-z_]+", lambda w: KNOWN.get(w[0], w[0]), a) for a in arguments
        ]
        for place in range(len(renamed)):
            written = [*renamed[:place], "@", *renamed[place + 1 :]]
            yield f"{name if called.isupper() else called}({', '.join(written)})"


def _known(word):
    return KNOWN.get(word[0], word[0])


def _arguments(text):
    """Return the arguments up to the closing bracket."""
    depth, parts = 0, [""]
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return [part.strip() for part in parts if part.strip()]
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return []


def _compiles(sql):
    try:
        compile_query(sql, HOSPITAL)  # whatever it would take
    except QueryError:
        return False
    return True


def _in_itself():
    """Yield the templates that can stand in themselves, and what stands innermost."""
    for shape in _shapes():
        for innermost, made in OPERANDS:
            form = shape.replace("@", made)
            once = _nested(form, innermost, 1)
            if _compiles(f"{WHERE}{once} IS NOT NULL") and _compiles(
                f"{WHERE}{_nested(form, innermost, 2)} IS NOT NULL"
            ):
                yield form, innermost
                break


def test_no_function_binds_an_operand_twice_in_any_place():
    """Else each level would double the work of those below it."""
    found = list(_in_itself())
    assert len(found) > 100
    dear = {
        form: n
        for form, innermost in found
        if (n := _calls(f"{WHERE}{_nested(form, innermost, 12)} IS NOT NULL"))
        >= MOST_CALLS // 2
    }
    assert not dear


LISTED = {
    *("UPPER(code || '{i}') = 'A'", "LEFT(code, {i} % 4 + 1) || '{i}' = 'A'"),
    *("CONCAT(code, '{i}') = 'A'", "TRIM(REPLACE(code, '{i}', 'x')) = 'A'"),
    *("NULLIF(code, '{i}') = 'a'", "LENGTH(REPLACE(code, '{i}', '')) = {i}"),
    *("CASE WHEN code = '{i}' THEN 'x' ELSE code END = 'x'", "code = '{i}'"),
    "CASE WHEN code = '{i}' OR code LIKE '{i}%' THEN code || '{i}' ELSE code END = 'x'",
    *("TO_CHAR(admitted, 'YYYY-MM-DD {i}') = 'a'", "code LIKE '{i}%'"),
    "TO_CHAR(admitted + {i}, 'FMMonth FMDay') = 'x'",
    *("CAST(admitted + {i} AS TEXT) = 'a'", "LAST_DAY(admitted + {i}) > admitted"),
    *("DATE_TRUNC('month', admitted + {i}) > admitted", "code IN ('{i}', 'b')"),
    *("(level * {i} % 1000) || code = 'a'", "STRPOS(code, '{i}') = 1"),
}
LONG_LISTS = {
    "code": ValuesDomain(tuple(f"C{number:04d}" for number in range(9_500))),
    "admitted": RangeDomain(date(2000, 1, 1), date(2024, 12, 31)),
}


@pytest.fixture(scope="module")
def listing():
    columns = tuple(
        replace(column, domain=LONG_LISTS.get(column.name, column.domain))
        for column in ENCOUNTERS.columns
    )
    table = replace(ENCOUNTERS, columns=columns)
    return replace(HOSPITAL, tables={**HOSPITAL.tables, table.name: table})


@pytest.mark.parametrize("form", sorted(LISTED))
def test_no_form_over_long_lists_of_values_takes_long(listing, form):
    parts = [form.replace("{i}", str(i)) for i in range(150)]
    where = " OR ".join(parts)
    assert _calls(WHERE + where, listing) < MOST_CALLS
    counted = ", ".join(
        f"COUNT(CASE WHEN {part} THEN code END) AS n{i}"
        for i, part in enumerate(parts[:60])
    )
    sql = f"SELECT code, {counted} FROM encounters WHERE {parts[0]} GROUP BY code"
    assert _calls(sql + " LIMIT 3", listing) < MOST_CALLS


@pytest.mark.parametrize(
    "form",
    sorted(
        TEXTS
        | {"NULLIF(@, 'x')", "IF(@ = 'a', @, 'b')", "COALESCE(NULLIF(@, 'x'), 'z')"}
    ),
)
def test_nor_does_one_that_stands_in_itself(listing, form):
    innermost = "CONCAT(code, TO_CHAR(admitted, 'YYYY'))"
    parts = [f"{_nested(form, innermost, d)} = 'a'" for d in range(1, 25)]
    assert _calls(
        WHERE + " OR ".join(parts)[:12_000].rpartition(" OR ")[0], listing
    ) < (MOST_CALLS)


@pytest.mark.parametrize(
    "sql",
    [
        WHERE
        + " OR ".join(
            f"age{''.join(f' % {n}' for n in range(999, 910, -1))} = 1"
            for _ in range(10)
        ),
        WHERE + " OR ".join(["-age = 1"] * 390),
        "SELECT code, COUNT(*) FROM encounters GROUP BY code ORDER BY "
        + ", ".join(["1"] * 900),
        WHERE
        + " OR ".join(
            f"code NOT IN ({', '.join(repr(f'D{n}{i}') for n in range(250))})"
            for i in range(3)
        ),
        "SELECT CASE "
        + " ".join(f"WHEN code <> 'C{n:04d}' THEN '{n}'" for n in range(300))
        + " END AS k, COUNT(*) FROM encounters GROUP BY 1",
        "SELECT CASE "
        + " ".join(f"WHEN code = 'C{n:04d}' THEN code" for n in range(390))
        + " END AS k, COUNT(*) FROM encounters GROUP BY 1",
        "SELECT "
        + "COALESCE(NULLIF(" * 8
        + "code"
        + "".join(f", 'C{n:04d}'), '{n}')" for n in range(8))
        + " AS k, COUNT(*) FROM encounters WHERE code <> 'C0009' GROUP BY 1",
    ],
    ids=[
        *("remainders", "negatives", "order", "lists", "branches", "columns"),
        "texts in texts",
    ],
)
def test_nor_do_these(listing, sql):
    assert _calls(sql, listing) < MOST_CALLS


@pytest.mark.parametrize("key", ["1", "k"])
@pytest.mark.parametrize("more", ["", " ORDER BY 1", " HAVING k <> 'g1'"])
def test_a_case_over_a_long_list_is_the_same_key_wherever_it_stands(listing, key, more):
    """What may still be tried must not depend on how often it was bound before."""
    branches = " ".join(
        f"WHEN code IN ('C{2 * n:04d}', 'C{2 * n + 1:04d}') THEN 'g{n}'"
        for n in range(5)
    )
    sql = (
        f"SELECT CASE {branches} ELSE code END AS k, COUNT(*) AS n FROM encounters "
        f"GROUP BY {key}{more}"
    )
    assert len(compile_query(sql, listing).rendered.cells) == 9_496


def test_idle_conditions_before_a_list_hide_nothing_of_it(listing):
    idle = "".join(f"code <> 'C{n:04d}' AND " for n in range(11))
    sql = (
        "SELECT code, COUNT(DISTINCT patient_id) FROM encounters "
        f"WHERE {idle}code IN ('C0100', 'C0101') GROUP BY 1"
    )
    (measure,) = compile_query(sql, listing).measures
    assert measure.sensitivity.l1 == 2


def test_one_function_of_a_long_list_may_stand_often(listing):
    """It is listed once: seventeen groups of codes are no seventeen lists."""
    counted = ", ".join(
        f"SUM(CASE WHEN LEFT(code, 3) IN ('C{i:02d}', 'X') THEN 1 ELSE 0 END) AS n{i}"
        for i in range(17)
    )
    compile_query(f"SELECT {counted} FROM encounters", listing)
    many = " OR ".join(f"LEFT(code || '{i}', 3) = 'a'" for i in range(30))
    with pytest.raises(QueryError, match="lists with more than 100,000 values"):
        compile_query(WHERE + many, listing)


def test_no_word_of_the_parser_doubles_its_work_by_standing_in_itself():
    words = sorted(w for w in _KEYWORDS if re.fullmatch(r"[A-Z_][A-Z0-9_ ]*", w))
    assert {"DOUBLE PRECISION", "CHAR VARYING", "TIMESTAMP_S"} <= {*words}
    forms = ("{}(@)", "{}(1, @)", "CASE {}(@) WHEN 1 THEN 2 END", "{}(@) OVER ()")
    dear = {
        (word, form)
        for word in words
        for form in forms
        if _calls(WHERE + _nested(form.format(word), "age", 13)) >= MOST_CALLS // 10
    }
    assert not dear


def _nested(form, within, depth):
    for _ in range(depth):
        longer = form.replace("@", within)
        if len(longer) > 15_000:
            break
        within = longer
    return within


IN_EACH_OTHER = (
    (NUMBERS, "age", WHERE + "{} > 1"),
    (DAYS, "admitted", WHERE + "{} > DATE '2024-01-31'"),
    (TEXTS, "code", WHERE + "{} = 'a'"),
    (TRUTHS, "smoker", WHERE + "{}"),
    (RESULTS, "COUNT(*)", "SELECT level, {} AS x FROM encounters GROUP BY level"),
)


def _in_each_other(depth):
    for forms, within, text in IN_EACH_OTHER:
        for form in sorted(forms):
            yield text.format(_nested(form, within, depth))


def _layered(depth):
    for form in sorted(LAYERS):
        steps = ["n0 AS (SELECT level, COUNT(*) AS n FROM encounters GROUP BY 1)"]
        for step in range(depth):
            read = f"SELECT level, {form} AS n FROM n{step}"
            steps.append(f"n{step + 1} AS ({read})")
        yield f"WITH {', '.join(steps)} SELECT level, n FROM n{depth}"


def _beside(count):
    for form in sorted(BESIDE):
        items = ", ".join(form.format(i=place) for place in range(count))
        yield f"SELECT {items} FROM encounters"
        said = [f"age BETWEEN {place} AND {place + 9}" for place in range(count)]
        for joining in (" OR ", " AND "):
            yield f"SELECT {items} FROM encounters WHERE {joining.join(said)}"
    for word in ("UNION", "UNION ALL", "INTERSECT", "EXCEPT"):
        chain = f" {word} ".join(["SELECT patient_id FROM patients"] * 2 * count)
        yield f"SELECT COUNT(*) FROM ({chain}) AS s"


def _texts():
    for depth in (5, 14, 28):
        yield from _in_each_other(depth)
        yield from _layered(depth)
    for count in (30, 120):
        yield from _beside(count)


@pytest.mark.parametrize("part", range(6))
def test_every_text_is_read_in_a_bounded_number_of_calls(part):
    dear = {
        sql[:200]: n
        for sql in list(_texts())[part::6]
        if (n := _calls(sql)) >= MOST_CALLS
    }
    assert not dear


def _doubling():
    """Yield texts in which each table below reads the one below it twice."""
    for branches in (
        "WHEN x < {i} THEN x ELSE x",
        "WHEN x < 9{i} THEN -x WHEN x > 2 THEN x ELSE x + 1",
    ):
        read = "SELECT patient_id, FLOOR(level * 1.99) * 3 AS x FROM encounters"
        for i in range(12):
            case = f"CASE {branches.format(i=i)} END"
            read = f"SELECT patient_id, {case} AS x FROM ({read}) AS t{i}"
        yield f"SELECT SUM(x) FROM ({read}) AS t"


def test_branches_of_tables_below_each_other_are_read_in_a_bounded_number_of_calls():
    """Each level doubled what is known of the one below: eleven took 22 seconds."""
    listed = ValuesDomain(tuple(range(1, 1_000)))
    columns = tuple(
        replace(c, domain=listed) if c.name == "level" else c
        for c in ENCOUNTERS.columns
    )
    tables = {**HOSPITAL.tables, "encounters": replace(ENCOUNTERS, columns=columns)}
    dataset = replace(HOSPITAL, tables=tables)
    for sql in _doubling():
        assert _calls(sql, dataset) < MOST_CALLS


def test_ids_within_ids_are_read_in_a_bounded_number_of_calls():
    """FROM of each was bound twice: ten levels took 34 seconds."""
    branches = " ".join(f"WHEN x.age < {i} THEN x.year * {i}" for i in range(60))
    read = f"SELECT x.encounter_id, CASE {branches} END AS age FROM encounters AS x"
    for i in range(10):
        within = f"SELECT s.encounter_id FROM ({read}) AS s WHERE s.age < d{i}.age"
        read = (
            f"SELECT d{i}.encounter_id, d{i}.age FROM encounters AS d{i} "
            f"WHERE d{i}.encounter_id IN ({within})"
        )
    assert _calls(f"SELECT COUNT(*) FROM ({read}) AS z", hospital()) < MOST_CALLS
