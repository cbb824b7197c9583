"""The Python client as a wheel, the R client as a source package.

Made of files alone, by the standard library, so a server can make them at its start
where it runs from a tree, and ``setup.py`` where it is built. The same files give the
same bytes, whenever and by whom they were written: no times, no modes, no order of a
disk is in them. A test compares the wheel with the one that setuptools makes.
"""

import base64
import gzip
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

_PACKED: Final = frozenset({".py", ".typed"})
_ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # a zip knows no earlier time
_FILE_MODE: Final = 0o644
_WHEEL: Final = (
    "Wheel-Version: 1.0\nGenerator: curator\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)
_R_SOURCES: Final = (
    *("DESCRIPTION", "NAMESPACE", "LICENSE"),
    *("R/*.R", "man/*.Rd", "tests/*.R", "tests/testthat/*.R", "vignettes/*.Rmd"),
)


def clients_of(tree: Path) -> dict[str, bytes]:
    """Return the clients of a source tree, by the names of their files.

    Args:
        tree: The folder that has ``clients/python`` and ``clients/r``.
    """
    return dict([wheel_of(tree / "clients/python"), tarball_of(tree / "clients/r")])


def wheel_of(folder: Path) -> tuple[str, bytes]:
    """Return the name and the bytes of a pure Python project's wheel."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    name = project["name"].replace("-", "_")
    stem = f"{name}-{project['version']}"
    files = dict(_packed(folder))
    files |= {
        f"{stem}.dist-info/{path}": text.encode()
        for path, text in _told(folder, project).items()
    }
    record = f"{stem}.dist-info/RECORD"
    files[record] = _record(files, record).encode()
    return f"{stem}-py3-none-any.whl", _zipped(files)


def _packed(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted((folder / "curator_client").rglob("*")):
        if path.suffix in _PACKED:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _told(folder: Path, project: Mapping[str, Any]) -> dict[str, str]:
    """Return what a wheel says of itself, by the names of its files."""
    scripts = "".join(f"{name} = {aim}\n" for name, aim in project["scripts"].items())
    return {
        "licenses/LICENSE": (folder / "LICENSE").read_text("utf-8"),
        "METADATA": _metadata(project, (folder / "README.md").read_text("utf-8")),
        "WHEEL": _WHEEL,
        "entry_points.txt": f"[console_scripts]\n{scripts}",
        "top_level.txt": "curator_client\n",
    }


def _metadata(project: Mapping[str, Any], readme: str) -> str:
    """Return core metadata 2.4, in the order that setuptools writes it."""
    extras = project["optional-dependencies"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"Classifier: {each}" for each in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "License-File: LICENSE",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]),
    ]
    for extra, wanted in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {_only_with(extra, each)}" for each in wanted]
    return "\n".join(lines) + f"\n\n{readme}"


def _only_with(extra: str, requirement: str) -> str:
    name, _, marker = requirement.partition(";")
    told = marker.strip().replace("'", '"')
    more = f"({told})" if " or " in told else told
    needed = f"{more} and " if more else ""
    return f'{name.strip()}; {needed}extra == "{extra}"'


def _record(files: Mapping[str, bytes], own: str) -> str:
    lines = [
        f"{path},sha256={_digest(content)},{len(content)}"
        for path, content in sorted(files.items())
    ]
    return "\n".join([*lines, f"{own},,"]) + "\n"


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return digest.rstrip(b"=").decode()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | _FILE_MODE) << 16
            archive.writestr(entry, content)
    return written.getvalue()


def tarball_of(folder: Path) -> tuple[str, bytes]:
    """Return the name and the bytes of an R package's source, as R installs it."""
    lines = (folder / "DESCRIPTION").read_text("utf-8").splitlines()
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    written = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=written, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in _r_sources(folder):
            entry = tarfile.TarInfo(
                f"{said['Package']}/{path.relative_to(folder).as_posix()}"
            )
            content = path.read_bytes()
            entry.size, entry.mode = len(content), _FILE_MODE
            archive.addfile(entry, io.BytesIO(content))
    return f"{said['Package']}_{said['Version']}.tar.gz", written.getvalue()


def _r_sources(folder: Path) -> Iterator[Path]:
    for pattern in _R_SOURCES:
        yield from sorted(folder.glob(pattern))
