"""Listed public tables: their columns as keys, and what a code says of its name."""

# ruff: noqa: E501 - a text is one string, to be read

import random
from dataclasses import replace
from datetime import date
from decimal import Decimal

import duckdb
import pytest

from engines.duckdb.snapshots import new_hash_key, set_hash_key
from privacy.errors import QueryError
from privacy.schema import Column, ColumnType, Dataset, RangeDomain, Table, ValuesDomain
from query_lang.showing.presentation import present
from tests.semantics.engine import exact_vectors
from tests.semantics.typed.comparing import check_neighbours, compare
from tests.support.compiling import compile_query

T = ColumnType
CODES = ("R1", "R2", "R3", "R4")
PATIENTS = Table(
    "patients",
    (
        Column("patient_id", T.INTEGER, nullable=False),
        Column("region", T.TEXT, domain=ValuesDomain((*CODES, "R9"))),
        Column("ward", T.INTEGER),
        Column("sex", T.TEXT, domain=ValuesDomain(("f", "m"))),
        Column("age", T.INTEGER, domain=RangeDomain(0, 99)),
    ),
    "patient_id",
    3,
)
REGIONS = Table(
    "regions",
    (
        Column("code", T.TEXT),
        Column("name", T.TEXT),
        Column("county", T.TEXT),
        Column("population", T.INTEGER),
        Column("index", T.DECIMAL, scale=1),
        Column("since", T.DATE),
    ),
    key=("code",),
    fan_out=((("county",), 5),),
    listed=True,
)
WARDS = Table(
    "wards",
    (Column("ward", T.INTEGER), Column("house", T.TEXT)),
    key=("ward",),
    listed=True,
)
INNER = "patients p JOIN regions r ON r.code = p.region"
LEFT = "patients p LEFT JOIN regions r ON r.code = p.region"
FIRST = "regions r LEFT JOIN patients p ON p.region = r.code"
BELOW = "SELECT region AS code, COUNT(*) AS c FROM patients GROUP BY region"
TEXTS = [
    f"SELECT r.name, COUNT(*) FROM {INNER} GROUP BY r.name",
    f"SELECT r.name, r.population, COUNT(*) * 1000.0 / r.population AS rate FROM {INNER} GROUP BY r.name, r.population",
    f"SELECT p.region, r.name, r.population, COUNT(*) AS n FROM {INNER} GROUP BY 1, 2, 3",
    f"SELECT r.name, r.code, COUNT(*) AS n FROM {INNER} GROUP BY 1, 2",
    f"SELECT r.county, r.name, COUNT(*) AS n FROM {LEFT} GROUP BY 1, 2",
    f"SELECT p.region, r.county, COUNT(*) AS n FROM {LEFT} GROUP BY 1, 2",
    f"SELECT r.code, p.region, COUNT(*) AS n FROM {LEFT} GROUP BY 1, 2",
    f"SELECT p.region, r.name, COUNT(*) AS n FROM {LEFT} AND r.county = 'A' GROUP BY 1, 2",
    f"SELECT p.region, r.name, COUNT(*) AS n FROM {LEFT} AND p.sex = 'f' GROUP BY 1, 2",
    f"SELECT p.region, r.name, COUNT(*) AS n FROM {INNER} AND r.county = 'A' GROUP BY 1, 2",
    f"SELECT r.county, COALESCE(r.county, 'none') AS c, COUNT(*) AS n FROM {LEFT} GROUP BY 1, 2",
    f"SELECT r.code, CASE WHEN r.population > 1500 THEN 'large' ELSE 'small' END AS size, COUNT(*) AS n FROM {INNER} GROUP BY 1, 2",
    f"SELECT r.code, r.index, COUNT(*) AS n FROM {INNER} GROUP BY 1, 2",
    f"SELECT r.since, COUNT(*) AS n FROM {INNER} GROUP BY 1",
    f"SELECT r.index, COUNT(DISTINCT p.patient_id) AS n FROM {INNER} WHERE r.index >= 1.5 GROUP BY 1",
    f"SELECT r.code, r.name, MAX(r.population) AS people, COUNT(*) AS n FROM {INNER} GROUP BY r.name, r.code",
    f"SELECT r.code, AVG(r.population) AS people, COUNT(*) AS n FROM {INNER} GROUP BY r.code",
    f"SELECT r.code, COUNT(*) / AVG(r.population) AS rate FROM {INNER} GROUP BY r.code",
    f"SELECT r.name, COUNT(p.patient_id) AS n FROM {FIRST} GROUP BY r.name",
    f"SELECT r.code, r.name, SUM(CASE WHEN p.sex = 'f' THEN 1 ELSE 0 END) AS women FROM {FIRST} GROUP BY 1, 2",
    f"SELECT r.code, COUNT(p.patient_id) * 100.0 / r.population AS rate FROM {FIRST} AND p.age >= 50 GROUP BY r.code, r.population",
    f"SELECT r.county, COUNT(p.patient_id) AS n FROM {FIRST} WHERE p.sex = 'f' GROUP BY 1",
    f"SELECT r.name, COUNT(DISTINCT p.patient_id) AS n FROM {INNER} WHERE p.region LIKE 'R1%' GROUP BY 1",
    f"SELECT r.name, COUNT(DISTINCT p.patient_id) AS n FROM {LEFT} WHERE p.region IN ('R1', 'R2', 'R9') GROUP BY 1",
    f"SELECT r.name, COUNT(DISTINCT p.patient_id) AS n FROM {LEFT} WHERE r.county = 'A' AND r.population > 1000 GROUP BY 1",
    f"SELECT r.county, COUNT(DISTINCT p.patient_id) AS n FROM {LEFT} WHERE r.name = 'North' OR p.region IS NULL GROUP BY 1",
    f"SELECT p.region, COUNT(DISTINCT p.patient_id) AS n FROM {INNER} WHERE r.county = 'A' OR r.population IS NULL GROUP BY 1",
    f"SELECT p.region, COUNT(DISTINCT p.patient_id) AS n FROM {LEFT} WHERE r.county = 'A' GROUP BY 1",
    "SELECT q.name, COUNT(DISTINCT q.patient_id) AS n FROM (SELECT p.patient_id, p.region AS code, r.name FROM patients p JOIN regions r ON r.code = p.region) AS q WHERE q.code <> 'R1' GROUP BY 1",
    "SELECT r.county, w.house, COUNT(DISTINCT p.patient_id) AS n FROM patients p JOIN regions r ON r.code = p.region LEFT JOIN wards w ON w.ward = p.ward WHERE r.name <> 'North' AND NOT p.ward IN (1, 2) GROUP BY 1, 2",
    "SELECT p.ward, COUNT(*) AS n FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY p.ward",
    "SELECT ward, house, COUNT(*) AS n FROM patients JOIN wards USING (ward) GROUP BY ward, house",
    "SELECT w.house, r.name, COUNT(*) AS n FROM patients p JOIN regions r ON r.code = p.region JOIN wards w ON w.ward = p.ward GROUP BY 1, 2",
    "SELECT q.region, q.name, COUNT(*) AS n FROM patients p LEFT JOIN (SELECT p2.patient_id, p2.region, r.name FROM patients p2 JOIN regions r ON r.code = p2.region) AS q ON q.patient_id = p.patient_id GROUP BY 1, 2",
    "SELECT COALESCE(q.region, 'R1') AS region, q.name, COUNT(*) AS n FROM patients p LEFT JOIN (SELECT p2.patient_id, p2.region, r.name FROM patients p2 JOIN regions r ON r.code = COALESCE(p2.region, 'R1')) AS q ON q.patient_id = p.patient_id GROUP BY 1, 2",
    f"WITH n AS ({BELOW}) SELECT r.code, r.name, n.c, 1000.0 * n.c / r.population AS rate FROM n JOIN regions r ON r.code = n.code",
    f"WITH n AS ({BELOW}) SELECT code, name, c FROM n LEFT JOIN regions USING (code)",
    f"WITH n AS ({BELOW}) SELECT r.code, r.name, n.c FROM regions r JOIN n ON n.code = r.code WHERE r.county = 'A'",
    "SELECT r.code, COALESCE(n.c, 0) AS c, r.population FROM regions r LEFT JOIN (SELECT p.region AS reg, COUNT(DISTINCT p.patient_id) AS c FROM patients p WHERE p.sex = 'f' GROUP BY 1) n ON n.reg = r.code",
    "SELECT n.region, n.sex, r.name, n.years FROM (SELECT region, sex, SUM(age) AS years FROM patients GROUP BY region, sex) n JOIN regions r ON r.code = n.region",
]


def drawn(rng):
    """Return the rows of the three tables; names and numbers may be twice, or NULL."""
    kept = rng.sample((*CODES, "R7"), rng.randint(1, 5))
    regions = [
        (
            code,
            rng.choice(["North", "South", "Süd", None, code]),
            rng.choice(["A", "B", None]),
            rng.choice([1000, 1500, 2000, None]),
            rng.choice([Decimal("1.0"), Decimal("1.5"), Decimal("2.5"), None]),
            rng.choice([date(2020, 1, 1), date(2021, 1, 1), None]),
        )
        for code in (*kept, *[None] * rng.randint(0, 1))
    ]
    wards = [(n, rng.choice(["red", "blue", None])) for n in rng.sample(range(6), 3)]
    patients = [
        (
            unit,
            rng.choice([*CODES, "R9", None]),
            rng.choice([*range(7), None]),
            rng.choice(["f", "m", None]),
            rng.choice([None, *range(0, 99, 7)]),
        )
        for unit in range(1, rng.randint(3, 20))
        for _ in range(rng.randint(1, 3))
    ]
    return regions, wards, patients


def stored(connection, dataset, patients):
    """Fill the tables in the stored layout, and beside them as plain SQL reads them."""
    for table in dataset.tables.values():
        rows = table.rows or patients
        kinds = {T.INTEGER: "BIGINT", T.TEXT: "VARCHAR", T.DATE: "DATE"}
        plain = [
            f'"{c.name}" {kinds.get(c.type, "DECIMAL(18, 1)")}' for c in table.columns
        ]
        connection.execute(f"CREATE TABLE plain.{table.name} ({', '.join(plain)})")
        marks = ", ".join("?" for _ in table.columns)
        connection.executemany(
            f"INSERT INTO plain.{table.name} VALUES ({marks})", list(map(list, rows))
        )
    for table in (REGIONS, WARDS):
        columns = ", ".join(
            f'CAST("{c.name}" * 10 AS BIGINT) AS "{c.name}"'
            if c.type is T.DECIMAL
            else f'"{c.name}"'
            for c in table.columns
        )
        connection.execute(
            f"CREATE TABLE {table.name} AS SELECT row_number() OVER () AS _row, {columns} FROM plain.{table.name}"
        )
    connection.execute(
        "CREATE TABLE patients AS SELECT patient_id AS unit_key, row_number() OVER () AS row_hash, "
        "CAST(row_number() OVER (PARTITION BY patient_id) AS INTEGER) AS row_rank, * EXCLUDE patient_id FROM plain.patients"
    )


def dataset_of(regions, wards):
    tables = (PATIENTS, replace(REGIONS, rows=tuple(regions)), replace(WARDS, rows=tuple(wards)))  # fmt: skip
    return Dataset("d", "p", "patient", date(2024, 1, 1), {t.name: t for t in tables})


def _number(value, column):
    """Return a decimal, which an answer holds as text, as a number."""
    is_decimal = column.type is T.DECIMAL and value is not None
    return Decimal(str(value)) if is_decimal else value


@pytest.mark.parametrize("seed", range(12))
def test_texts_over_listed_tables_find_what_plain_sql_finds(seed):
    rng = random.Random(seed)
    regions, wards, patients = drawn(rng)
    dataset, answered = dataset_of(regions, wards), 0
    connection = duckdb.connect()
    set_hash_key(connection, new_hash_key())
    connection.execute("CREATE SCHEMA plain")
    stored(connection, dataset, patients)
    for text in TEXTS:
        compiled = compiled_unless_empty(text, dataset)
        if compiled is None:
            continue
        rows = present(compiled, exact_vectors(connection, compiled.rendered))
        mine = [list(map(_number, row, compiled.columns)) for row in rows]
        connection.execute("SET schema = 'plain'")
        theirs = connection.execute(text).fetchall()
        connection.execute("SET schema = 'main'")
        compare(compiled.columns, mine, theirs)
        if "FROM regions r LEFT" in text:  # no group of SQL's is lost
            assert keys_of(compiled, theirs) <= keys_of(compiled, mine), text
        check_neighbours(connection, compiled, private=["patients"])
        answered += 1
    assert answered >= len(TEXTS) // 3


def keys_of(compiled, rows):
    places = [n for n, c in enumerate(compiled.columns) if c.kind == "group"]
    return {tuple(row[place] for place in places) for row in rows}


def compiled_unless_empty(text, dataset):
    """Return a compiled text; None where it is refused for NULLs in a listed table."""
    tables = [table for table in dataset.tables.values() if table.rows]
    is_short = any(
        table.domain_of(number) is None or table.rows[-1][0] is None
        for table in tables
        for number, _ in enumerate(table.columns)
    )
    try:
        return compile_query(text, dataset)
    except QueryError:
        if not is_short:
            raise
    return None


def test_each_text_is_answered_where_every_column_has_values():
    regions = [("R1", "North", "A", 1000, Decimal("1.0"), date(2020, 1, 1))]
    dataset = dataset_of(regions, [(1, "red")])
    assert all(compile_query(text, dataset) for text in TEXTS)


def test_what_counts_a_row_without_a_match_is_refused():
    dataset = dataset_of(*drawn(random.Random(5))[:2])
    with pytest.raises(QueryError) as error:
        compile_query(f"SELECT r.code, COUNT(*) FROM {FIRST} GROUP BY 1", dataset)
    assert error.value.rule == "constant_rows"
    assert "COUNT(e.encounter_id)" in error.value.hint


def test_what_is_joined_to_a_listed_table_first_has_values_without_a_match():
    """Of a region without patients SQL counts its ward."""
    dataset = dataset_of(*drawn(random.Random(5))[:2])
    with pytest.raises(QueryError) as error:
        compile_query(
            f"SELECT r.code, COUNT(w.house) FROM {FIRST} LEFT JOIN wards w ON w.ward = r.population GROUP BY 1",
            dataset,
        )
    assert error.value.rule == "public_first"


def test_a_column_goes_before_an_alias_in_the_keys_of_groups():
    dataset = dataset_of(*drawn(random.Random(5))[:2])
    groups = "SELECT region AS ward, COUNT(*) AS c FROM patients GROUP BY region, {}"
    text = f"WITH n AS ({groups}) SELECT r.code, r.name, n.c FROM n JOIN regions r ON r.code = n.ward"
    by_column, by_alias = (text.format(key) for key in ("sex", "ward"))
    assert len(compile_query(by_column, dataset).rendered.cells) > 5
    with pytest.raises(QueryError) as error:
        compile_query(by_alias, dataset)
    assert error.value.rule == "group_by_unit"


def test_a_key_that_two_tables_list_stays_the_key():
    regions = [(code, code, "A", 1000, None, None) for code in CODES]
    dataset = dataset_of(regions, [(1, "red")])
    text = f"SELECT n.code, r.name, q.population, n.c FROM ({BELOW}) n JOIN regions r ON r.code = n.code JOIN regions q ON q.code = n.code"
    once = f"SELECT n.code, r.name, n.c FROM ({BELOW}) n JOIN regions r ON r.code = n.code"  # fmt: skip
    found = [len(compile_query(each, dataset).rendered.cells) for each in (text, once)]
    assert found == [len(CODES) + 2, len(CODES)]  # R9 and NULL are values of the key


@pytest.mark.parametrize(
    "text",
    [  # a group would meet several rows, or a row that stays would be lost
        "WITH n AS (SELECT region AS county, COUNT(*) AS c FROM patients GROUP BY 1) SELECT r.name, n.c FROM n JOIN regions r ON r.county = n.county",
        "SELECT r.code, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1 HAVING COUNT(*) > 2) n ON n.region = r.code",
        "SELECT r.code, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code WHERE n.c IS NULL",
        "SELECT n.region, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code",
        "SELECT r.code, n.sex, n.c FROM regions r LEFT JOIN (SELECT region, sex, COUNT(*) AS c FROM patients GROUP BY 1, 2) n ON n.region = r.code",
        "SELECT r.code, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code AND r.county = 'A'",
        "WITH n AS (SELECT region AS county, COUNT(*) AS c FROM patients GROUP BY 1) SELECT county, n.c FROM n JOIN regions r ON r.code = n.county",
        "WITH n AS (SELECT region, age AS years, COUNT(*) AS c FROM patients GROUP BY region) SELECT r.code, n.c FROM n JOIN regions r ON r.code = n.region WHERE n.years > 30",
        "WITH n AS (SELECT region, COUNT(*) AS c FROM patients GROUP BY region) SELECT r.code, n.c FROM n JOIN regions r ON r.code = UPPER(n.region)",
        "SELECT r.code, COALESCE(n.c, -1) FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code",
        "SELECT r.code, n.c + 1 FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code",
        "SELECT r.code, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) + 1 AS c FROM patients GROUP BY 1) n ON n.region = r.code",
        "SELECT r.code, CASE WHEN n.region IS NULL THEN 'none' ELSE 'some' END AS k, n.c FROM regions r LEFT JOIN (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n ON n.region = r.code",
        # two columns of one name; what SQL has no table of that name for
        "SELECT r.code, n.c FROM (SELECT region AS x, sex AS x, COUNT(*) AS c FROM patients GROUP BY region, sex) n JOIN regions r ON r.code = n.x",
        "SELECT n.region, n.c FROM (SELECT region, SUM(r.population) AS c FROM patients GROUP BY region) n JOIN regions r ON r.code = n.region",
        "SELECT n.region, n.c FROM (SELECT region, COUNT(*) AS c FROM patients WHERE EXISTS (SELECT 1 FROM wards w WHERE w.house = county) GROUP BY region) n JOIN regions r ON r.code = n.region",
        # names of a subquery, and of the rows below, which SQL hides
        "SELECT r.code, n.c FROM (SELECT region AS reg, sex AS region, COUNT(*) AS c FROM patients GROUP BY 1, 2) n JOIN regions r ON r.code = n.reg WHERE EXISTS (SELECT 1 FROM regions q WHERE q.code = region)",
        "SELECT r.code, n.c FROM (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n JOIN regions r ON r.code = n.region AND EXISTS (SELECT 1 FROM wards w WHERE w.house = n.region)",
        "SELECT r.code, n.c FROM (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n JOIN regions r ON r.code = n.region WHERE age > 50",
        "SELECT r.code, n.c FROM (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n JOIN regions r ON r.code = n.region AND patients.age > 50",
        "SELECT r.code, n.c FROM (SELECT region, COUNT(*) AS c FROM patients GROUP BY 1) n JOIN regions r ON r.code = n.region ORDER BY sex",
    ],
)
def test_groups_that_are_not_as_many_below_stay_refused(text):
    dataset = dataset_of(*drawn(random.Random(5))[:2])
    with pytest.raises(QueryError) as error:
        compile_query(text, dataset)
    assert error.value.rule in {"group_by_unit", "public_first", "unknown_column"}


def test_what_a_code_tells_is_not_measured_and_makes_no_cell():
    regions = [
        (code, f"name of {code}", "A", 1000 + place, None, None)
        for place, code in enumerate(CODES)
    ]
    dataset = dataset_of(regions, [(1, "red")])
    text = f"SELECT r.code, r.name, MAX(r.population), AVG(r.population), COUNT(*) FROM {INNER} GROUP BY 1, 2"
    found = compile_query(text, dataset)
    assert (len(found.rendered.cells), len(found.measures)) == (4, 1)
    rows = present(found, [[1, 2, 3, 4]])
    assert rows[1] == ["R2", "name of R2", 1001, "1001", 2]


def test_order_by_of_groups_and_a_table_is_first_what_is_shown():
    """``c`` is a column of the groups, too, and would choose another row."""
    regions = [(code, code, "A", 1000 * (9 - place), None, None) for place, code in enumerate(CODES)]  # fmt: skip
    dataset = dataset_of(regions, [(1, "red")])
    text = f"SELECT n.c * 1000.0 / r.population AS c, r.name FROM ({BELOW}) n JOIN regions r ON r.code = n.code ORDER BY c DESC LIMIT 1"
    found = compile_query(text, dataset)
    assert present(found, [[10, 0, 0, 9]])[0][1] == "R4"
    by_count = compile_query(text.replace("BY c DESC", "BY n.c DESC"), dataset)
    assert present(by_count, [[10, 0, 0, 9]])[0][1] == "R1"


@pytest.mark.parametrize(
    ("said", "groups"),
    [
        (f"{INNER} WHERE p.region LIKE 'R1%'", 1),
        (f"{INNER} WHERE r.population BETWEEN 1001 AND 1002", 2),
        (f"{INNER} WHERE p.region LIKE 'R1%' OR p.age > 50", 3),  # its most rows
        (f"{LEFT} WHERE p.region IN ('R1', 'R9')", 2),  # R9 has no name
        (f"{INNER} WHERE NOT (r.name = 'name of R1' OR r.code IN ('R2'))", 2),
    ],
)
def test_where_narrows_names_by_the_rows_that_they_stand_in(said, groups):
    regions = [
        (code, f"name of {code}", "A", 1000 + place, None, None)
        for place, code in enumerate(CODES)
    ]
    dataset = dataset_of(regions, [(1, "red")])
    text = f"SELECT r.name, COUNT(DISTINCT p.patient_id) AS n FROM {said} GROUP BY 1"
    found = compile_query(text, dataset)
    assert found.measures[0].sensitivity.l1 == groups
    assert [w.code for w in found.warnings] == ["empty_cells"] * (groups < 3)


def test_without_rows_in_the_schema_nothing_follows():
    dataset = dataset_of([], [])
    with pytest.raises(QueryError) as error:
        compile_query(TEXTS[0], dataset)
    assert error.value.rule == "no_public_domain"
