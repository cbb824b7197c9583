"""What lies in a bundle beside its wheels."""

import io
import shutil
import tarfile
from pathlib import Path

from scripts.bundle.wheels import digest_of
from server.version import VERSION

CHECKSUMS = "SHA256SUMS"
PAGE = Path(__file__).with_name("INSTALL.md")
LAST_STAGE = "# ---- what runs:"
BUILD = Path(__file__).with_name("build.dockerfile")


def write_image(root: Path, folder: Path) -> None:
    """Write the Dockerfile whose build needs no network, and what it copies.

    What runs is the repository's own last stage, word by word.
    """
    text = (root / "Dockerfile").read_text("utf-8")
    slim = _between(text, "# ---- slim:", LAST_STAGE)
    last = LAST_STAGE + text.partition(LAST_STAGE)[2]
    image = folder / "image"
    image.mkdir()
    build = BUILD.read_text("utf-8").replace("VERSION", VERSION)
    words = [build, slim, last]
    (image / "Dockerfile").write_text("\n".join(word for word in words if word))
    for name in copied_scripts(text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)


def _between(text: str, first: str, last: str) -> str:
    """Return what stands from one mark to the next; nothing where there is no such."""
    found = text.partition(first)[2].partition(last)[0]
    return first + found if found else ""


def copied_scripts(text: str) -> list[str]:
    """Return the files of our scripts that a Dockerfile copies."""
    return [
        word
        for line in text.splitlines()
        if line.startswith("COPY")
        for word in line.split()
        if word.startswith("scripts/")
    ]


def write_r_client(root: Path, folder: Path) -> None:
    """Write the source package of the client for R, as R installs it."""
    source = root / "clients/r"
    with tarfile.open(folder / f"curator_{VERSION}.tar.gz", "w:gz") as tar:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                _add(tar, f"curator/{path.relative_to(source)}", path.read_bytes())


def write_operations(root: Path, folder: Path) -> None:
    """Write units, alerts and the like as the files that the pages name."""
    target = folder / "operations"
    target.mkdir()
    for path in sorted((root / "docs/operations").iterdir()):
        if path.suffix != ".md":
            shutil.copy(path, target)


def write_page(folder: Path) -> None:
    """Write how to install from the bundle."""
    text = PAGE.read_text("utf-8").replace("VERSION", VERSION)
    (folder / PAGE.name).write_text(text)


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file, as sha256sum --check reads it."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != CHECKSUMS
    )
    lines = [f"{digest_of(folder / name)}  {name}\n" for name in names]
    (folder / CHECKSUMS).write_text("".join(lines))


def pack(folder: Path) -> Path:
    """Write the directory to a tar beside it; wheels are compressed already."""
    target = folder.with_name(folder.name + ".tar")
    with tarfile.open(target, "w") as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = f"{folder.name}/{path.relative_to(folder)}"
                _add(tar, name, path.read_bytes())
    return target


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file that says nothing of who packed it, or when."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))
