"""Spec files on the host: YAML or JSON, refused with line and column."""

from pathlib import Path

from release.contract.spec import ReleaseSpec
from server.use_cases.publishing.specs import SpecRefusedError, read_spec
from upstream.errors import ManifestError, Problem
from upstream.manifests.yaml_nodes import KEY, Places, read_yaml


def read_spec_file(path: Path) -> tuple[ReleaseSpec, Places]:
    """Return the spec of a YAML or JSON file, and where its keys stand.

    Raises:
        ManifestError: Each problem with its line and column.
    """
    read = read_yaml(path)
    content, places = read.content, read.places
    try:
        return read_spec(content if isinstance(content, dict) else {}), places
    except SpecRefusedError as error:
        raise placed(error, path, places) from None


def placed(error: SpecRefusedError, path: Path, places: Places) -> ManifestError:
    """Return a refusal with the line and column that it is about."""
    for length in range(len(error.place), -1, -1):
        for at in ((*error.place[:length], KEY), error.place[:length]):
            if at in places:
                problem = Problem(str(path), *places[at], str(error))
                return ManifestError((problem,))
    return ManifestError((Problem(str(path), None, None, str(error)),))
