"""Every example of the reference page gives an answer, or is refused as it says.

An answer's exact vectors also equal those of the independent evaluator on the rows that
ingestion stored.
"""

import re
import shutil
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from engines.duckdb.engine import DuckDbEngine
from privacy.errors import QueryError
from privacy.schema import ColumnType, Dataset, HierarchyDomain
from query_lang.hierarchies import level_values
from query_lang.showing.presentation import present
from server.demo.hospital import write_hospital
from tests.conformance.reading import tree_of
from tests.semantics.meaning.evaluator import NO_BOUNDS, Codes, Prepared
from tests.support.compiling import compile_query
from upstream.ingestion.ingestion import ingest
from upstream.manifests.manifest import load_manifest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/query-language.md"
FENCE = re.compile(r"^```sql(.*)$", re.MULTILINE)
RULE = re.compile(r"Refused by `(\w+)`:")
PATIENTS = 120
SECRET = bytes(range(32))

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Example:
    """A block of the page: its text, its dataset, and the rule that refuses it."""

    sql: str
    dataset: str
    rule: str | None
    line: int


def examples():
    """Return every ```sql block; a refused one names its rule right before it."""
    text = PAGE.read_text("utf-8")
    found = []
    for fence in FENCE.finditer(text):
        words = fence[1].split()
        end = text.index("\n```", fence.end())
        line = text.count("\n", 0, fence.start()) + 1
        before = text[: fence.start()].rstrip().rpartition("\n\n")[2]
        rules = RULE.findall(before)
        rule = rules[-1] if "refused" in words else None
        dataset = "clinic" if "clinic" in words else "hospital"
        found.append(Example(text[fence.end() + 1 : end], dataset, rule, line))
    return found


EXAMPLES = examples()


@dataclass(frozen=True)
class Installed:
    """Two ingested snapshots and the engine that reads them."""

    engine: DuckDbEngine
    schemas: dict[str, Dataset]
    rows: dict[str, dict[str, list[dict[str, object]]]]


def load(manifest_path, folder):
    """Ingest a dataset into a snapshot of its name; return its public schema."""
    manifest = load_manifest(manifest_path)
    base = manifest_path.parent
    target = folder / f"{manifest.dataset}.duckdb"
    ingest(manifest, base=base, import_folder=base, secret=SECRET, target=target)
    return manifest.schema()


def stored_rows(path, schema):
    """Return the rows of a snapshot as the evaluator reads them."""
    tables = {}
    with duckdb.connect(path, read_only=True) as connection:
        for table in schema.tables.values():
            columns = [c for c in table.columns if c.name != table.unit_column]
            own = ["_row"] if table.is_public else ["unit_key", "row_hash", "row_rank"]
            listed = ", ".join(
                f'"{name}"' for name in [*own, *(c.name for c in columns)]
            )
            found = connection.execute(
                f'SELECT {listed} FROM "{table.name}"'
            ).fetchall()
            tables[table.name] = [read_row(own, columns, row) for row in found]
    return tables


def read_row(own, columns, row):
    first = {
        "unit" if n == "unit_key" else n: v for n, v in zip(own, row, strict=False)
    }
    values = row[len(own) :]
    named = {c.name: read(c, v) for c, v in zip(columns, values, strict=True)}
    return named | first  # the owner stands where the labs have a column "unit"


def read(column, value):
    if value is None or column.type is not ColumnType.DECIMAL:
        return value
    return Decimal(value).scaleb(-column.scale)


ICD10 = Codes(  # the published places of the clinic's codes, written by hand
    {
        level: level_values(HierarchyDomain("icd10"), level, {})
        for level in ("chapter", "block", "category")
    },
    {
        code: dict(zip(("chapter", "block", "category"), places, strict=True))
        for code, places in {
            "E119": ("IV", "E10-E14", "E11"),
            "E101": ("IV", "E10-E14", "E10"),
            "I10": ("IX", "I10-I15", "I10"),
            "I639": ("IX", "I60-I69", "I63"),
            "J450": ("X", "J40-J47", "J45"),
        }.items()
    },
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    clinic = tmp_path_factory.mktemp("clinic")
    shutil.copytree(ROOT / "examples/clinic", clinic, dirs_exist_ok=True)
    hospital = write_hospital(tmp_path_factory.mktemp("demo"), PATIENTS)
    schemas = {
        "hospital": load(hospital, folder),
        "clinic": load(clinic / "clinic.yaml", folder),
    }
    rows = {
        name: stored_rows(folder / f"{name}.duckdb", schema)
        for name, schema in schemas.items()
    }
    engine = DuckDbEngine(folder)
    yield Installed(engine, schemas, rows)
    engine.close()


def names(example):
    return f"line {example.line}"


MONTHS = [f"DATE '2024-{month:02}-01'" for month in range(1, 13)]
BY_MONTH = " ".join(
    f"WHEN DATE_TRUNC('month', admitted) = {day} THEN {day}" for day in MONTHS[:-1]
)
IN_ONE_LEVEL = {  # the same vectors in words that the evaluator has
    "WITH bands (name, low, high)": "SELECT CASE WHEN age BETWEEN 0 AND 17 THEN "
    "'child' WHEN age BETWEEN 18 AND 64 THEN 'adult' ELSE 'old' END AS name, "
    "COUNT(DISTINCT patient_id) AS patients FROM encounters GROUP BY 1",
    "SELECT m AS month": f"SELECT CASE {BY_MONTH} ELSE {MONTHS[-1]} END AS month, "
    "COUNT(*) AS stays FROM encounters WHERE EXTRACT(YEAR FROM admitted) = 2024 "
    "GROUP BY 1",
    "SELECT drugs": "SELECT CASE WHEN i AND m THEN 'both' WHEN i THEN 'i' ELSE 'm' END "
    "AS drugs, COUNT(*) AS n FROM (SELECT patient_id, BOOL_OR(drug = 'insulin') AS i, "
    "BOOL_OR(drug = 'metformin') AS m FROM prescriptions WHERE drug IN ('insulin', "
    "'metformin') GROUP BY patient_id) AS p GROUP BY 1",
    "SELECT EXTRACT(MONTH FROM admitted) AS month, TO_CHAR(admitted, 'Mon') AS name": (
        "SELECT EXTRACT(MONTH FROM admitted) AS month, COUNT(DISTINCT patient_id) AS n "
        "FROM encounters GROUP BY 1"
    ),
    "WITH diabetic": "SELECT step, COUNT(DISTINCT patient_id) AS n FROM (SELECT "
    "patient_id, 'a' AS step FROM diagnoses WHERE code LIKE 'E11%' UNION ALL SELECT "
    "patient_id, 'b' FROM prescriptions WHERE drug = 'metformin' AND patient_id IN "
    "(SELECT patient_id FROM diagnoses WHERE code LIKE 'E11%')) AS u GROUP BY step",
    "SELECT (SELECT COUNT(DISTINCT patient_id) FROM labs WHERE abnormal)": "SELECT "
    "COUNT(DISTINCT CASE WHEN abnormal THEN patient_id END) AS a, "
    "COUNT(DISTINCT patient_id) AS b FROM labs",
    "SELECT p.sex AS sex": "SELECT sex, COUNT(*) AS patients FROM (SELECT "
    "p.patient_id, p.sex, COUNT(e.encounter_id) AS n FROM patients AS p LEFT JOIN "
    "encounters AS e ON e.patient_id = p.patient_id GROUP BY p.patient_id, p.sex) AS g "
    "WHERE n >= 3 GROUP BY sex",
    "SELECT e.department AS first_in": "SELECT e.department, COUNT(*) AS n FROM "
    "encounters AS e JOIN (SELECT patient_id, MIN(admitted) AS first FROM encounters "
    "GROUP BY patient_id) AS f ON f.patient_id = e.patient_id WHERE "
    "e.admitted = f.first GROUP BY e.department",
    "WITH standard (band, weight)": "SELECT CASE WHEN age < 40 THEN 'a' WHEN age < 65 "
    "THEN 'b' ELSE 'c' END AS band, COUNT(*) FILTER (WHERE diagnosis_group = "
    "'circulatory') AS events, COUNT(*) AS stays FROM encounters GROUP BY 1",
    "SELECT code": "SELECT CASE WHEN code = 'E11.9' THEN 'E11.9' ELSE 'I10' END AS c, "
    "COUNT(*) AS n FROM diagnoses WHERE code IN ('E11.9', 'I10') GROUP BY 1",
    "SELECT year, department": "SELECT year, department, COUNT(*) AS stays "
    "FROM encounters GROUP BY year, department",
    "WITH yearly": "SELECT year, COUNT(*) AS stays, COUNT(*) - LAG(COUNT(*)) OVER "
    "(ORDER BY year) AS change FROM encounters GROUP BY year ORDER BY year",
    "SELECT CASE WHEN GROUPING(department)": "SELECT department, year, "
    "COUNT(*) AS stays, AVG(length_of_stay) AS mean_days "
    "FROM encounters GROUP BY department, year",  # its totals are these, added up
}
ROWS_MET = {  # the same by its first line, as joins
    "SELECT e.department, AVG(x.n) AS earlier_labs": "SELECT department, AVG(n) AS n "
    "FROM (SELECT e.patient_id, e.encounter_id, e.department AS department, "
    "COUNT(l.taken) AS n FROM encounters AS e LEFT JOIN labs AS l ON l.patient_id = "
    "e.patient_id AND l.taken < e.admitted GROUP BY e.patient_id, e.encounter_id, "
    "e.department) AS g GROUP BY department",
    "SELECT department, COUNT(*) AS back_soon FROM encounters AS e": "SELECT "
    "department, COUNT(*) AS n FROM (SELECT e.patient_id, e.encounter_id, "
    "e.department AS department, COUNT(x.admitted) AS n FROM encounters AS e JOIN "
    "encounters AS x ON x.patient_id = e.patient_id WHERE x.admitted BETWEEN "
    "e.admitted - 90 AND e.admitted GROUP BY e.patient_id, e.encounter_id, "
    "e.department) AS g WHERE n >= 2 GROUP BY department",
    "SELECT codes, COUNT(*) AS stays": "SELECT codes, COUNT(*) AS n FROM (SELECT "
    "patient_id, encounter_id, LEAST(COUNT(*), 5) AS codes FROM diagnoses GROUP BY "
    "patient_id, encounter_id) AS g GROUP BY codes",
}


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.rule], ids=names)
def test_an_example_gives_an_answer(installed, example):
    compiled = compile_query(example.sql, installed.schemas[example.dataset])
    sealed = installed.engine.execute(example.dataset, compiled.rendered)
    vectors = [vector.unseal() for vector in sealed]
    assert any(any(vector) for vector in vectors), "an answer of zeros shows nothing"
    schema, tables = installed.schemas[example.dataset], installed.rows[example.dataset]
    first = example.sql
    for end in (" AS (", ", COUNT", " = 1 THEN", " * 100.0"):
        first = first.split(end)[0]
    line, _, _ = example.sql.partition("\n")
    tree = tree_of(IN_ONE_LEVEL.get(first, ROWS_MET.get(line, example.sql)))
    expected = Prepared(tree, tables, schema, NO_BOUNDS, {"icd10": ICD10})
    assert [list(vector) for vector in vectors] == expected.exact_vectors()
    rows = present(compiled, vectors)
    assert all(len(row) == len(compiled.columns) for row in rows)
    assert rows


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.rule], ids=names)
def test_a_refused_example_is_refused_by_the_rule_named(installed, example):
    with pytest.raises(QueryError) as refused:
        compile_query(example.sql, installed.schemas[example.dataset])
    assert refused.value.rule == example.rule
    assert refused.value.hint


def test_the_page_has_examples_of_every_kind():
    assert sum(e.rule is None for e in EXAMPLES) >= 35
    assert sum(e.rule is not None for e in EXAMPLES) >= 12
    assert {e.dataset for e in EXAMPLES} == {"hospital", "clinic"}
    fences = PAGE.read_text("utf-8").count("```sql refused")
    assert fences == sum(e.rule is not None for e in EXAMPLES)
