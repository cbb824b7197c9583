"""docs/manifest.md: its example runs, and it leaves no key out."""

import re
from pathlib import Path

import duckdb

from upstream.ingestion.ingestion import ingest
from upstream.manifests import declarations
from upstream.manifests.manifest import load_manifest

PAGE = (Path(__file__).parents[4] / "docs" / "manifest.md").read_text()


def test_the_example_of_the_page_does_what_the_page_says(tmp_path):
    files = re.findall(r"`(\S+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in files] == [
        "hospital.yaml",
        "encounters.csv",
        "wards.csv",
    ]
    for name, content in files:
        (tmp_path / name).write_text(content)
    ingested = ingest(
        load_manifest(tmp_path / "hospital.yaml"),
        base=tmp_path,
        import_folder=tmp_path,
        secret=bytes(32),
        target=tmp_path / "s.duckdb",
    )
    encounters, wards = ingested.report.tables
    assert (encounters.rows_read, encounters.rows_kept, encounters.units) == (4, 3, 2)
    assert (encounters.dropped_null_unit, encounters.constants_replaced) == (1, 1)
    assert wards.rows_kept == 2
    with duckdb.connect(str(tmp_path / "s.duckdb"), read_only=True) as connection:
        rows = connection.sql(
            "SELECT encounter_id, weight_kg, admitted IS NULL, sex = 'other' "
            "FROM encounters ORDER BY 1"
        ).fetchall()
    assert rows == [
        (1, 812, False, False),
        (2, None, False, False),
        (3, 125, True, True),
    ]


def test_the_page_names_every_key():
    models = (
        declarations.Declarations,
        declarations.PopulationSpec,
        declarations.TableSpec,
        declarations.ColumnSpec,
        declarations.DomainSpec,
    )
    for model in models:
        for name, field in model.model_fields.items():
            assert re.search(rf"\b{field.alias or name}\b", PAGE), name
