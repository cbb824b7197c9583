"""What a load of linked tables is given: a folder with its manifest and its files."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from server.use_cases.services.errors import CommandRefusedError
from upstream.files.sources import Folders, files_of
from upstream.manifests.manifest import Manifest

MANIFEST = "manifest.json"


def write_manifest(
    folder: Path, manifest: Manifest, file: Path, import_folder: Path
) -> Path:
    """Write a manifest into a job's folder, beside copies of its public files.

    Args:
        folder: The job's; the tables with unit keys are in it already.
        manifest: What is loaded.
        file: The linkage's file: public files are named from its folder on.
        import_folder: What no file may lie outside of.

    Raises:
        CommandRefusedError: A public file lies elsewhere.
    """
    base = file.parent
    for source in _public_files(manifest, base, import_folder):
        if not source.is_relative_to(base):
            message = f"{source.name} is read from the linkage file's folder on, down"
            raise CommandRefusedError(message)
        target = folder / source.relative_to(base)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    path = folder / MANIFEST
    path.touch(mode=0o600)
    path.write_text(manifest.canonical_json())
    return path


def _public_files(
    manifest: Manifest, base: Path, import_folder: Path
) -> Iterator[Path]:
    folders = Folders(base, import_folder)
    for table in manifest.tables:
        if table.public:
            yield from files_of(table, folders)
    for hierarchy in manifest.hierarchies:
        path = (base / hierarchy.file).resolve()
        if path.is_relative_to(import_folder.resolve()) and path.is_file():
            yield path
