"""What a load of linked tables is given: a folder with its manifest and its files.

What is public has a folder of its own, in which the tables with unit keys are not: no
public file takes the place of one, and no pattern of a public table names one.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from server.use_cases.services.errors import CommandRefusedError
from upstream.files.sources import Folders, files_of
from upstream.manifests.manifest import Manifest

MANIFEST = "manifest.json"
PUBLIC = "public"


def write_manifest(
    folder: Path, manifest: Manifest, file: Path, import_folder: Path
) -> Path:
    """Write a manifest beside copies of its public files, in a folder of their own.

    Args:
        folder: The job's; what an earlier attempt copied is deleted.
        manifest: What is loaded.
        file: The linkage's file: public files are named from its folder on.
        import_folder: What no file may lie outside of.

    Raises:
        CommandRefusedError: A public file lies elsewhere.
    """
    base, public = file.parent, folder / PUBLIC
    shutil.rmtree(public, ignore_errors=True)
    public.mkdir(mode=0o700)
    for source in _public_files(manifest, base, import_folder):
        if not source.is_relative_to(base):
            message = f"{source.name} is read from the linkage file's folder on, down"
            raise CommandRefusedError(message)
        target = public / source.relative_to(base)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    path = public / MANIFEST
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
