"""Wheels of a bundle, for the machine and the Python that make it."""

import hashlib
import re
import subprocess
import sys
import venv
from pathlib import Path

LOCKED = ("requirements/postgres.txt", "requirements/backups.txt")
OURS = (".", "clients/python")


def pip(*arguments: object) -> None:
    """Run pip; what it says goes to the terminal only where it fails."""
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*words, *map(str, arguments)], check=True)


def collect_wheels(root: Path, wheels: Path) -> None:
    """Fetch what is locked, by its hashes, and build the two wheels of our own."""
    files = [word for name in LOCKED for word in ("--requirement", root / name)]
    pip(
        *("download", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--dest", wheels, *files),
    )
    for project in OURS:
        pip(
            *("wheel", "--no-deps", "--no-index", "--no-build-isolation"),
            *("--wheel-dir", wheels, root / project),
        )


def write_requirements(wheels: Path, target: Path) -> None:
    """Write a requirements file that admits these very wheels and no others."""
    lines = [
        f"{name}=={version} \\\n    --hash=sha256:{digest_of(path)}\n"
        for path in sorted(wheels.glob("*.whl"))
        for name, version in [named(path)]
    ]
    target.write_text("".join(lines))


def named(wheel: Path) -> tuple[str, str]:
    """Return the normalised name and the version in a wheel's file name."""
    name, version, *_ = wheel.name.split("-")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def install(folder: Path, environment: Path) -> Path:
    """Install a bundle as its page says, into an environment without pip.

    Returns:
        The environment's Python.
    """
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin/python"
    pip(
        *("--python", python, "install", "--no-deps", "--no-index", "--require-hashes"),
        *("--find-links", folder / "wheels", "-r", folder / "requirements.txt"),
    )
    return python
