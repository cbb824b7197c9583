"""The manifest: read from YAML or JSON, checked, and turned into a public schema."""

import json
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from privacy.schema import Dataset
from upstream.declarations import Declarations
from upstream.errors import ManifestError, Problem
from upstream.manifest_rules import broken_rules
from upstream.public_schema import table_schema
from upstream.sentences import sentences_of
from upstream.yaml_nodes import KEY, Place, Places, Plain, read_json, read_yaml

_JSON_NAME = "manifest.json"


class Manifest(Declarations):
    """A manifest whose declarations agree with one another.

    Made by ``load_manifest`` and ``from_json``, which check; frozen.
    """

    def schema(self) -> Dataset:  # type: ignore[override] # pydantic's is deprecated
        """Return what everyone may know about the dataset."""
        tables = {table.name: table_schema(table) for table in self.tables}
        return Dataset(
            name=self.dataset,
            population=self.population.id,
            unit=self.population.unit,
            snapshot_date=self.snapshot_date,
            tables=MappingProxyType(tables),
        )

    def canonical_json(self) -> str:
        """Return the manifest as JSON: sorted keys, no blanks, losses as strings.

        ``from_json`` gives an equal manifest back.
        """
        content = self.model_dump(mode="json", by_alias=True)
        return json.dumps(
            _without_unsaid(content),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Read a manifest back from JSON, with the checks of ``load_manifest``.

        Raises:
            ManifestError: Every problem found, without places.
        """
        return _checked(read_json(text), {}, _JSON_NAME)


def load_manifest(path: Path) -> Manifest:
    """Read and check a manifest file.

    Raises:
        ManifestError: Every problem found, with line and column of its YAML node.
    """
    content, places = read_yaml(path)
    return _checked(content, places, str(path))


def _checked(content: Plain, places: Places, file: str) -> Manifest:
    try:
        manifest = Manifest.model_validate(content)
    except ValidationError as error:
        found = sentences_of(error)
    else:
        found = broken_rules(manifest)
        if not found:
            return manifest
    problems = []
    for at, said in found:
        line, column = _place(at, places)
        problems.append(Problem(file, line, column, said))
    raise ManifestError(tuple(sorted(problems, key=_order)))


def _order(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0


def _place(at: Place, places: Places) -> tuple[int, int] | tuple[None, None]:
    """Return where a node stands: its key's place, else that of what is around it."""
    for length in range(len(at), -1, -1):
        for candidate in ((*at[:length], KEY), at[:length]):
            if candidate in places:
                return places[candidate]
    return None, None


def _without_unsaid(value: Plain, *, inside_map: bool = False) -> Plain:
    """Drop nulls, which say nothing everywhere but among the values of ``map``."""
    if isinstance(value, list):
        return [_without_unsaid(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_unsaid(item, inside_map=key == "map")
        for key, item in value.items()
        if item is not None or inside_map
    }
