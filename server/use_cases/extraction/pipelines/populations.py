"""The population of a file, for who begins with texts or copies alone."""

from pathlib import Path

from server.use_cases.extraction.declarations import found_in
from server.use_cases.extraction.pipelines.files import Pipeline, manifest_of
from upstream.manifests.declarations import PopulationSpec
from upstream.manifests.manifest import checked_manifest
from upstream.manifests.yaml_nodes import Plain, YamlFile, read_yaml

_NO_TABLE = "table.csv"  # of a manifest that nothing is read by


def population_of(path: Path) -> PopulationSpec | None:
    """Return the population of a pipeline's manifest, or of a file that has one alone.

    None: it is neither. Reads the file alone: neither texts nor models need be there.

    Raises:
        CommandRefusedError: The file is too large.
        IngestionError: Every problem found, with its line and column.
    """
    read = read_yaml(path)
    if not isinstance(read.content, dict):
        return None
    if read.content.keys() == {"population"}:
        return _alone(path, read, read.content["population"])
    if "load" not in read.content:
        return None
    found = found_in(Pipeline, path, read)
    manifest = manifest_of(found.declared, str(path), found.places, _NO_TABLE)
    return manifest.population


def _alone(path: Path, read: YamlFile, population: Plain) -> PopulationSpec:
    """Return a population that is declared by itself.

    Raises:
        IngestionError: Every problem found, with its line and column.
    """
    named = population if isinstance(population, dict) else {}
    unit_type = named.get("unit_type", "text")
    table: dict[str, Plain] = {
        "name": "none",
        "files": [_NO_TABLE],
        "unit_column": "unit",
        "max_rows_per_unit": 1,
        "source": "no table",
        "columns": [{"name": "unit", "type": unit_type, "nullable": False}],
    }
    whole: dict[str, Plain] = {
        "version": 1,
        "population": population,
        "dataset": "none",
        "snapshot_date": "2000-01-01",
        "tables": [table],
    }
    return checked_manifest(whole, read.places, str(path)).population
