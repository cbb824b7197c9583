"""The population that a pipeline's file declares, for who begins with texts alone."""

from pathlib import Path

from server.use_cases.extraction.declarations import found_in
from server.use_cases.extraction.pipelines.files import Pipeline, manifest_of
from upstream.manifests.declarations import PopulationSpec
from upstream.manifests.yaml_nodes import read_yaml

_NO_TABLE = "table.csv"  # of a pipeline's manifest; nothing is read


def population_of(path: Path) -> PopulationSpec | None:
    """Return the population of a pipeline's manifest; None: the file is no pipeline.

    Reads the file alone: neither texts nor models need to be there.

    Raises:
        CommandRefusedError: The file is too large.
        IngestionError: Every problem found, with its line and column.
    """
    read = read_yaml(path)
    if not isinstance(read.content, dict) or "load" not in read.content:
        return None
    found = found_in(Pipeline, path, read)
    manifest = manifest_of(found.declared, str(path), found.places, _NO_TABLE)
    return manifest.population
