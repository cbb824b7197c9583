"""Manifests of jobs, read in a process of their own.

Who may write to the import folder writes what takes long to read: a large text, values
repeated by aliases, patterns that match whole disks. A child reads it, less urgent than
answers, with little memory and for a short time.
"""

import atexit
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from engines.processes.json_children import JsonChild
from privacy.errors import CuratorError
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import BusyError, CommandRefusedError
from upstream.files.sources import Folders, files_of
from upstream.manifests.manifest import Manifest, load_manifest
from upstream.manifests.yaml_nodes import YamlFile, read_yaml

READING_SECONDS = 60.0
"""Ten times what a manifest of a mebibyte takes, on a busy machine too."""
MOST_FILES = 20_000  # that one manifest may name; a job's record lists each
MOST_SAID = 20_000  # characters of what is wrong with one
MOST_WAITING = 3  # threads that wait for the child, of the server's 40
OUTSIDE = (
    "the manifest must be a .yaml, .yml or .json file under CURATOR_IMPORT, the folder "
    "that jobs may read"
)
SUFFIXES = {".yaml", ".yml", ".json"}
_TAKES_LONG = (
    "the manifest, or listing the files that its patterns match, takes longer than "
    f"{READING_SECONDS:.0f} seconds or more memory than there is for it: shorten it"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a manifest.

    Attributes:
        path: The manifest's own, without links; None where it is not there.
        population: The one that it names, if any.
        inputs: The manifest itself, then the files that it names.
        refused: What is wrong with it; None: nothing.
    """

    path: str | None
    population: str | None
    inputs: list[Document]
    refused: str | None = None


class ManifestReader:
    """Reads one manifest at a time; safe for use by many threads."""

    def __init__(self, *, timeout_seconds: float = READING_SECONDS) -> None:
        self._timeout_seconds = timeout_seconds
        self._places = threading.BoundedSemaphore(1 + MOST_WAITING)
        self._turn = threading.Lock()
        self._child: JsonChild | None = None  # until there is something to read

    def read(self, folder: Path, manifest: str) -> Reading:
        """Return what ``reading_of`` does, found by a child.

        Raises:
            BusyError: Others wait for the child already.
        """
        if not self._places.acquire(blocking=False):
            message = "other jobs are being submitted now: submit it again in a minute"
            raise BusyError(message)
        try:
            with self._turn:
                return self._asked_child([str(folder), manifest])
        finally:
            self._places.release()

    def _asked_child(self, asked: list[str]) -> Reading:
        if self._child is None or self._child.has_ended():
            self.close()
            self._child = JsonChild("server.children.manifest_child")
            atexit.register(self.close)
        reply = self._child.ask(asked, self._timeout_seconds)
        if reply is None:
            self.close()
            return Reading(None, None, [], _TAKES_LONG)
        if reply.pop("is_last"):
            self.close()
        return Reading(**reply)

    def close(self) -> None:
        """End the child; another is started when there is something to read."""
        atexit.unregister(self.close)
        if self._child is not None:
            self._child.kill()
            self._child = None


MANIFESTS = ManifestReader()
"""Of this process: a child takes a second to start, and serves whatever is loaded."""


def replied(folder: str, manifest: str) -> Document:
    """Return the child's reply: ``reading_of`` as a document."""
    return asdict(reading_of(Path(folder), manifest))


def reading_of(folder: Path, manifest: str) -> Reading:
    """Return what is found in a manifest and the folders that it names.

    Args:
        folder: The import folder, without links.
        manifest: A path under it.
    """
    try:
        path = located(folder, manifest)
        read = read_yaml(path, within=folder)
    except CuratorError as error:
        return Reading(None, None, [], _bounded(str(error)))
    population = _population_in(read)
    try:
        checked = load_manifest(path, folder, read)
        inputs = [manifest_input(read, path), *file_inputs(checked, path, folder)]
    except (CuratorError, OSError) as error:
        return Reading(None, population, [], _bounded(str(error)))
    return Reading(str(path), checked.population.id, inputs)


def located(folder: Path, manifest: str) -> Path:
    """Return a manifest's path without links.

    Raises:
        CommandRefusedError: It is not there, or does not lie in the folder.
    """
    path = _real(folder / manifest)
    if path is None or not _is_manifest_in(folder, path):
        raise CommandRefusedError(OUTSIDE)
    return path


def manifest_input(read: YamlFile, path: Path) -> Document:
    """Describe the manifest itself, as it was when it was read."""
    return {"path": str(path), **asdict(read.facts)}


def file_inputs(manifest: Manifest, path: Path, folder: Path) -> list[Document]:
    """Describe the files that a manifest names; big ones are not hashed.

    Raises:
        CommandRefusedError: They are too many.
    """
    folders = Folders(path.parent, folder)
    found = {file for table in manifest.tables for file in files_of(table, folders)}
    if len(found) > MOST_FILES:
        message = f"the manifest names more than {MOST_FILES:,} files: write fewer"
        raise CommandRefusedError(message)
    return [
        {"path": str(file), "size_bytes": file.stat().st_size} for file in sorted(found)
    ]


def _bounded(said: str) -> str:
    if len(said) <= MOST_SAID:
        return said
    return said[:MOST_SAID].rpartition("\n")[0] + "\nand more: correct these first"


def _population_in(read: YamlFile) -> str | None:
    """Return the population that a manifest names, right or wrong, if any."""
    content = read.content
    declared = content.get("population") if isinstance(content, dict) else None
    named = declared.get("id") if isinstance(declared, dict) else None
    return named if isinstance(named, str) else None


def _real(path: Path) -> Path | None:
    """Return a path without links; None where it cannot be one."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_manifest_in(folder: Path, path: Path) -> bool:
    inside = path.is_relative_to(folder) and path.suffix.lower() in SUFFIXES
    try:
        return inside and path.is_file()
    except OSError:  # a name that is too long for any file
        return False
