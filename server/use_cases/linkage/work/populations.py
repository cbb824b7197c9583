"""The population that a linkage's file declares, for who begins with it."""

from pathlib import Path

from server.use_cases.extraction.declarations import found_in
from server.use_cases.extraction.pipelines import populations
from server.use_cases.linkage.work.declarations import Linkage, manifest_of
from upstream.manifests.declarations import PopulationSpec
from upstream.manifests.yaml_nodes import read_yaml


def population_of(path: Path) -> PopulationSpec | None:
    """Return the population that a linkage's or a pipeline's file loads.

    None: it is neither, or loads nothing. Reads the file alone.

    Raises:
        CommandRefusedError: The file is too large.
        IngestionError: Every problem found, with its line and column.
    """
    read = read_yaml(path)
    if not isinstance(read.content, dict) or "linkage" not in read.content:
        return populations.population_of(path)
    found = found_in(Linkage, path, read)
    manifest = manifest_of(found.declared, str(path), found.places)
    return None if manifest is None else manifest.population
