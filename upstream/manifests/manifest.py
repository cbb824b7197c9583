"""The manifest: read from YAML or JSON, checked, and turned into a public schema."""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from pydantic import PrivateAttr, ValidationError

from privacy.schema import Blocks, Dataset, Hierarchy
from upstream.errors import ManifestError, Problem
from upstream.manifests.declarations import Declarations
from upstream.manifests.derived import broken_derived_rules
from upstream.manifests.hierarchies import read_hierarchies
from upstream.manifests.public_schema import table_schema
from upstream.manifests.rules.manifest_rules import broken_rules, source_problems
from upstream.manifests.sentences import MOST_TOLD, sentences_of
from upstream.manifests.table_words import with_table_words
from upstream.manifests.yaml_nodes import (
    KEY,
    Place,
    Places,
    Plain,
    YamlFile,
    read_json,
    read_yaml,
)

_JSON_NAME = "manifest.json"


class Manifest(Declarations):
    """A manifest whose declarations agree with one another.

    Made by ``load_manifest`` and ``from_json``, which check; frozen.
    """

    _own: Mapping[str, Hierarchy] = PrivateAttr(default_factory=dict)

    def schema(self) -> Dataset:  # type: ignore[override] # pydantic's is deprecated
        """Return what everyone may know about the dataset."""
        tables = {table.name: table_schema(table) for table in self.tables}
        told = self.population.blocks
        return Dataset(
            name=self.dataset,
            population=self.population.id,
            unit=self.population.unit,
            snapshot_date=self.snapshot_date,
            tables=MappingProxyType(tables),
            hierarchies=self._own,
            max_units=self.population.most_units,
            blocks=None
            if told is None
            else Blocks(told.column, told.tables, told.values),
        )

    def with_hierarchies(self, own: Mapping[str, Hierarchy]) -> "Manifest":
        """Return the manifest with its own hierarchies, as their files have them."""
        copy = self.model_copy(deep=True)
        copy._own = own  # noqa: SLF001 - our own copy
        for table in copy.tables:
            domains = [column.domain for column in table.columns]
            domains += [column.domain for column in table.derived or ()]
            for domain in domains:
                if domain is not None:
                    domain.attach(own)
        return copy

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

        Its own hierarchies are not read: ``with_hierarchies`` gives it them.

        Raises:
            ManifestError: Every problem found, without places.
        """
        return checked_manifest(read_json(text), {}, _JSON_NAME)


def load_manifest(
    path: Path, import_folder: Path | None = None, read: YamlFile | None = None
) -> Manifest:
    """Read and check a manifest file and the hierarchies that it names.

    Args:
        path: The manifest.
        import_folder: The folder that real paths must lie under; None: the manifest's.
        read: What the file says, where it was read already.

    Raises:
        ManifestError: Every problem found, with line and column of its YAML node.
    """
    read = read or read_yaml(path)
    manifest = checked_manifest(read.content, read.places, str(path))
    base = path.resolve().parent
    whole = manifest.with_hierarchies(
        read_hierarchies(manifest.hierarchies, base, import_folder or base)
    )
    if found := list(broken_derived_rules(whole.tables, whole.schema())):
        raise ManifestError(_problems(found, read.places, str(path)))
    return whole


def checked_manifest(content: Plain, places: Places, file: str) -> Manifest:
    """Return a manifest of a content that was read, with the checks of all of them.

    Raises:
        ManifestError: Every problem found, with the places that are known.
    """
    try:
        manifest = with_table_words(Manifest.model_validate(content))
    except ValidationError as error:
        shape = sentences_of(error)
        told = {at for at, _ in shape}
        sources = (one for one in source_problems(content) if one[0] not in told)
        found = [*shape, *islice(sources, MOST_TOLD - len(shape))]
    else:
        found = broken_rules(manifest)
        if not found:
            return manifest
    raise ManifestError(_problems(found, places, file))


def _problems(
    found: Iterable[tuple[Place, str]], places: Places, file: str
) -> tuple[Problem, ...]:
    """Return broken rules in the order of their places."""
    problems = []
    for at, said in found:
        line, column = _place(at, places)
        problems.append(Problem(file, line, column, said))
    return tuple(sorted(problems, key=_order))


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
