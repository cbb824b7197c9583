"""Manifests before a load: a first draft, and a check without reading rows."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from server.use_cases.services.documents import Document
from upstream.drafting.drafting import draft_manifest
from upstream.drafting.manifest_check import manifest_problems
from upstream.errors import Problem


def draft(files: Sequence[Path], units: Sequence[str]) -> Document:
    """Draft a manifest for files; its open sources keep it from being loaded.

    Raises:
        IngestionError: A file cannot be read.
    """
    return {"manifest": draft_manifest(files, units)}


def problems(manifest: Path, import_folder: Path | None) -> tuple[Problem, ...]:
    """Return all that a load would refuse without reading a row."""
    return manifest_problems(manifest, import_folder)


def report(found: Sequence[Problem]) -> Document:
    """Return problems as a document."""
    return {"ok": not found, "problems": [asdict(problem) for problem in found]}
