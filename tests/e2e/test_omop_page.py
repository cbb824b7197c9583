"""Every query of the page about OMOP is answered on real tables of the model."""

import gzip
import shutil

import pytest

from server.configuration.settings import Settings
from tests.integration.loading.test_ingestion_omop import CONCEPTS, EXAMPLES, rows_of
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.pages import blocks
from tests.support.noise.samplers import ZeroSampler
from upstream.manifests.manifest import load_manifest

pytestmark = pytest.mark.thorough
QUERIES = blocks("omop.md", "sql")
BOUNDED = {"visit_occurrence": 100, "measurement": 500}  # as the page says


@pytest.fixture(scope="module")
def source(test_data):
    folder = test_data / "omop_synthea27nj"
    if not folder.is_dir():
        pytest.skip("no OMOP test data")
    return folder


@pytest.fixture(scope="module")
def answered(source, tmp_path_factory):
    """Return the rows that each query of the page has, without noise."""
    folder = tmp_path_factory.mktemp("omop")
    manifest = folder / "omop_cdm54.yaml"
    shutil.copy(EXAMPLES / manifest.name, manifest)
    (folder / "concept.csv").write_text(CONCEPTS)
    for table in load_manifest(manifest).tables:
        packed = source / f"{table.name.upper()}.csv.gz"
        if packed.exists():
            with gzip.open(packed) as file, (folder / table.files[0]).open("wb") as out:
                shutil.copyfileobj(file, out)
    permits = Settings.model_fields["permits"].default  # what a question may cost
    made = Installation(folder, permits=permits).create()
    made.load_manifest(manifest)
    key = made.analyst(dataset="omop", allotment="9")
    with serve_in_thread(made, ZeroSampler) as url, client(url, key) as http:
        replies = [
            ask(http, sql, dataset="omop", options=_options(sql)) for sql in QUERIES
        ]
    refused = [reply.text for reply in replies if reply.status_code != 200]
    assert refused == []
    return [reply.json()["rows"] for reply in replies]


def _options(sql):
    tables = {name: most for name, most in BOUNDED.items() if f"FROM {name}" in sql}
    return {"bounds": {"tables": tables}} if tables else {}


def test_every_query_of_the_page_is_answered(answered):
    assert len(answered) == len(QUERIES) == 7


def test_persons_by_sex_are_those_of_the_table(answered, source):
    people = rows_of(source / "PERSON.csv.gz")
    women = sum(row["gender_concept_id"] == "8532" for row in people)
    assert dict(map(tuple, answered[0]))[8532] == women
    assert ["FEMALE", women] in answered[6]


def test_a_cohort_counts_as_in_plain_python(answered, source):
    born = {
        row["person_id"]: int(row["year_of_birth"])
        for row in rows_of(source / "PERSON.csv.gz")
    }
    first = {}
    for row in rows_of(source / "CONDITION_OCCURRENCE.csv.gz"):
        if row["condition_concept_id"] == "320128":
            day = row["condition_start_date"]
            first[row["person_id"]] = min(day, first.get(row["person_id"], day))
    late = [who for who, day in first.items() if int(day[:4]) - born[who] >= 40]
    assert sum(count for _, count in answered[2]) == len(late)
