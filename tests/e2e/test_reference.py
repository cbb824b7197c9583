"""Every example of the reference page gives an answer, or is refused as it says."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.duckdb_engine import DuckDbEngine
from privacy.errors import QueryError
from privacy.schema import Dataset
from query_lang.compile import compile_query
from query_lang.presentation import present
from server.demo.hospital import write_hospital
from upstream.ingestion import ingest
from upstream.manifest import load_manifest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/query-language.md"
FENCE = re.compile(r"^```sql(.*)$", re.MULTILINE)
RULE = re.compile(r"Refused by `(\w+)`:")
PATIENTS = 150
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


def load(manifest_path, folder):
    """Ingest a dataset into a snapshot of its name; return its public schema."""
    manifest = load_manifest(manifest_path)
    base = manifest_path.parent
    target = folder / f"{manifest.dataset}.duckdb"
    ingest(manifest, base=base, import_folder=base, secret=SECRET, target=target)
    return manifest.schema()


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
    engine = DuckDbEngine(folder)
    yield Installed(engine, schemas)
    engine.close()


def names(example):
    return f"line {example.line}"


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.rule], ids=names)
def test_an_example_gives_an_answer(installed, example):
    compiled = compile_query(example.sql, installed.schemas[example.dataset])
    sealed = installed.engine.execute(example.dataset, compiled.rendered)
    vectors = [vector.unseal() for vector in sealed]
    assert any(any(vector) for vector in vectors), "an answer of zeros shows nothing"
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
