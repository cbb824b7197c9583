"""What a hint names means to plain DuckDB what was asked, where values are NULL too."""

# ruff: noqa: E501 - a text is one string, to be read

import re
from itertools import chain, combinations_with_replacement

import duckdb
import pytest

from privacy.errors import QueryError
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

VALUES = (None, 1, 2)
LISTS = tuple(
    chain.from_iterable(combinations_with_replacement(VALUES, n) for n in range(4))
)


def hint_of(sql):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    return refused.value.hint


@pytest.fixture(scope="module")
def connection():
    """Return rows of every small list, one patient a list and a value before it."""
    with duckdb.connect(":memory:") as made:
        made.execute("CREATE TABLE encounters (patient_id INT, age INT)")
        made.execute("CREATE TABLE labs (patient_id INT, value INT)")
        cases = [(value, listed) for value in VALUES for listed in LISTS]
        for patient, (value, listed) in enumerate(cases):
            made.execute("INSERT INTO encounters VALUES (?, ?)", [patient, value])
            for item in listed:
                made.execute("INSERT INTO labs VALUES (?, ?)", [patient, item])
        yield made


def patients(connection, sql):
    return sorted(row[0] for row in connection.execute(sql).fetchall())


OF_THE_SAME = "(SELECT value FROM labs WHERE labs.patient_id = e.patient_id)"
FOUND = "SELECT e.patient_id FROM encounters AS e WHERE {}"


def test_not_in_says_what_a_null_does(connection):
    """NOT EXISTS of an equal row alone found whom NOT IN leaves out."""
    asked = f"discharged_to NOT IN {OF_THE_SAME.replace('value', 'test')}"
    hint = hint_of(f"SELECT COUNT(*) FROM encounters AS e WHERE {asked}")
    told = "among the rows of the same patient: "
    assert hint.startswith(f"{told}NOT EXISTS (SELECT * FROM (SELECT patient_id, test ")
    hint = hint.removeprefix(told).replace("FROM ...", "FROM labs")
    names = {"discharged_to": "age", "test": "value"}
    hint = re.sub(r"\b(discharged_to|test)\b", lambda found: names[found[1]], hint)
    wanted = patients(connection, FOUND.format(f"age NOT IN {OF_THE_SAME}"))
    assert wanted
    assert patients(connection, FOUND.format(hint)) == wanted


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("word", ["ANY", "SOME", "ALL"])
def test_any_and_all_name_the_end_that_they_compare_with(connection, word, sign):
    """Of ANY the hint named MAX, which asks for all."""
    asked = f"age {sign} {word} {OF_THE_SAME}"
    hint = hint_of(f"SELECT COUNT(*) FROM encounters AS e WHERE {asked}")
    found = re.search(r"((?:LEFT )?JOIN \(.+\)) WHERE x ([^:]+)", hint)
    assert found is not None
    join = found[1].replace("(y)", "(value)").replace("FROM ...", "FROM labs")
    named = f"SELECT patient_id FROM encounters {join} WHERE age {found[2]}"
    is_told = word == "ALL"
    assert ("a y that is NULL makes it unknown" in hint) is is_told
    unknown = "SELECT patient_id FROM labs WHERE value IS NULL"
    left = f" AND e.patient_id NOT IN ({unknown})" if is_told else ""
    wanted = patients(connection, FOUND.format(asked + left))
    told = patients(connection, named)
    if is_told:
        known = set(patients(connection, FOUND.format(f"TRUE{left}")))
        told = [patient for patient in told if patient in known]
    assert wanted
    assert told == wanted


def test_one_patients_median_is_the_mean_of_the_middle_rows(connection):
    hint = hint_of(
        "SELECT COUNT(*) FROM (SELECT patient_id, MEDIAN(age) AS m FROM encounters GROUP BY patient_id) AS t WHERE m > 40"
    )
    found = re.search(r"AVG\(age\) \.\.\. (WHERE .+) over (\(SELECT .+\) AS r)", hint)
    assert found is not None
    named = f"SELECT patient_id, AVG(age) AS m FROM {found[2]} {found[1]}"
    compile_query(f"SELECT COUNT(*) FROM ({named}) AS t WHERE m > 40", hospital())
    named = named.replace("FROM encounters", "FROM labs").replace("age", "value")
    median = "SELECT patient_id, MEDIAN(value) FROM labs GROUP BY 1 HAVING COUNT(value) > 0 ORDER BY 1"
    wanted = connection.execute(median).fetchall()
    assert connection.execute(f"{named} ORDER BY 1").fetchall() == wanted


def test_one_patients_spread_is_compared_by_squares(connection):
    hint = hint_of(
        "SELECT COUNT(*) FROM (SELECT patient_id, STDDEV(age) AS s FROM encounters GROUP BY patient_id) AS t WHERE s > 10"
    )
    found = re.search(r"STDDEV\(age\) > 10 as (.+ > 10 \* 10 .+); over", hint)
    assert found is not None
    having = f"SELECT patient_id FROM encounters GROUP BY patient_id HAVING {found[1]}"
    compile_query(f"SELECT COUNT(*) FROM ({having}) AS t", hospital())
    of_labs = "SELECT patient_id FROM labs GROUP BY patient_id HAVING "
    limit = found[1].replace("age", "value").replace("10 * 10", "0.5 * 0.5")
    wanted = patients(connection, f"{of_labs}STDDEV(value) > 0.5")
    assert wanted
    assert patients(connection, of_labs + limit) == wanted
