"""Archives of several files, unpacked to be looked at for a draft."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from shutil import copyfileobj

from engines.regular_files import opened
from upstream.files.exports.file_parts import FilePart, parts_of
from upstream.files.exports.packed import member_of
from upstream.files.records import refused
from upstream.manifests.file_specs import kind_of

_SEVERAL_KINDS = "holds files of several kinds, which make no one table: unpack it"


@dataclass(slots=True)
class LookedAtArchives:
    """Copies of the files of archives, and which file each of them is.

    Attributes:
        folder: Where they are written.
        warnings: What is not read of archives, a sentence each.
    """

    folder: Path
    warnings: list[str] = field(default_factory=list)
    _parts: dict[Path, FilePart] = field(default_factory=dict)

    def unpacked(self, group: Sequence[Path]) -> list[Path]:
        """Return files, and in the place of archives of several those in them.

        Raises:
            IngestionError: An archive cannot be read, or holds several kinds of files.
        """
        found: list[Path] = []
        for file in group:
            parts = parts_of(file, file.name, self.warnings)
            found += [self._looked_at(part) for part in parts]
        packed = [self._parts[file] for file in found if file in self._parts]
        if packed and len({kind_of(file.name) for file in found}) > 1:
            raise refused(packed[0].file_name, _SEVERAL_KINDS)
        return found

    def _looked_at(self, part: FilePart) -> Path:
        if part.member is None:
            return part.path
        folder = self.folder / str(len(self._parts))
        folder.mkdir(parents=True, mode=0o700)
        path = folder / PurePath(part.member).name
        with (
            opened(part.path) as whole,
            member_of(whole, part.file_name, part.member) as content,
            path.open("wb") as target,
        ):
            copyfileobj(content, target)
        self._parts[path] = part
        return path

    def part_of(self, file: Path) -> FilePart:
        """Return which file of an archive a copy is of; others are themselves."""
        return self._parts.get(file, FilePart(file, file.name))

    def named(self, files: Sequence[Path]) -> list[Path]:
        """Return what a manifest names: archives in the place of those in them."""
        return list(dict.fromkeys(self.part_of(file).path for file in files))

    def require_one(self, group: Sequence[Path], why: str) -> None:
        """Refuse an archive whose files would be several tables.

        Raises:
            IngestionError: Files of the group are in one.
        """
        packed = [self._parts[file] for file in group if file in self._parts]
        if packed:
            said = f"its files make no one table ({why}): unpack it"
            raise refused(packed[0].file_name, said)
