"""Whether a release's folder is the one that the ledger names by a digest."""

from pathlib import Path

from release.store.folders import describe
from release.store.manifest_files import MANIFEST
from release.store.opening import file_problems_in, problems_in


def folder_problems(folder: Path, manifest_sha256: str, key: str) -> list[str]:
    """Return what is wrong with a folder that the ledger names by a digest."""
    problems = digest_problems(folder, manifest_sha256, key)
    return problems or problems_in(folder, key)


def digest_problems(folder: Path, manifest_sha256: str, key: str) -> list[str]:
    """Return where a folder's digests are not the ledger's; the quick half."""
    if not folder.is_dir():
        return ["its folder is missing: bring it back from a backup"]
    problems = file_problems_in(folder, key)
    if not problems and manifest_digest(folder) != manifest_sha256:
        problems.append("the manifest is not the one that the ledger names")
    return problems


def manifest_digest(folder: Path) -> str:
    """Return the sha256 of a folder's manifest."""
    return str(describe(folder / MANIFEST)["sha256"])
