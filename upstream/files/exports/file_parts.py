"""Files that make a table: each by itself, or one of those in an archive."""

from dataclasses import dataclass
from pathlib import Path

from engines.regular_files import opened
from upstream.files.exports.packed import archive_of, member_name
from upstream.manifests.file_specs import FileKind, is_archive, kind_of


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file, or one in an archive of several.

    Attributes:
        path: Where it, or the archive, lies.
        file_name: What to call that in a problem.
        member: Its name in the archive; None: it is in none.
    """

    path: Path
    file_name: str
    member: str | None = None

    @property
    def name(self) -> str:
        """What to call it in a problem; it ends as the file's own name does."""
        return member_name(self.file_name, self.member)

    @property
    def kind(self) -> FileKind | None:
        """What it is by its name's end."""
        return kind_of(self.member or self.path.name)


def parts_of(
    path: Path, name: str, warnings: list[str] | None = None, root: Path | None = None
) -> list[FilePart]:
    """Return the file itself, or the files of an archive of several, by their names.

    Args:
        path: The file.
        name: What to call it in a problem.
        warnings: Where to add what is not read of an archive.
        root: The folder that it must not leave.

    Raises:
        OSError: It cannot be read.
        IngestionError: It is an archive that cannot be read.
    """
    if not is_archive(path.name):
        return [FilePart(path, name)]
    with opened(path, within=root) as file:
        held = archive_of(file, name)
    if warnings is not None:
        warnings.extend(held.warnings(name))
    return [FilePart(path, name, one) for one in held.members or (None,)]
