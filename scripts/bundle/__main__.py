"""Makes the bundle: wheels, clients, documentation, image steps, a bill of materials.

python -m scripts.bundle DIRECTORY [--docs build/docs]
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from scripts.bundle.contents import (
    pack,
    write_checksums,
    write_image,
    write_operations,
    write_page,
    write_r_client,
)
from scripts.bundle.materials import write_bill_of_materials
from scripts.bundle.wheels import collect_wheels, install, write_requirements
from server.version import VERSION

ROOT = Path(__file__).parents[2]
NAME = f"curator-{VERSION}"


def main() -> None:
    """Make the directory and its tar."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bundle", description=__doc__
    )
    parser.add_argument("directory", type=Path, help="made anew")
    parser.add_argument("--docs", type=Path, help="built documentation to take along")
    given = parser.parse_args()
    folder = make(given.directory.absolute(), given.docs)
    made = pack(folder)
    print(f"{folder}\n{made}")  # noqa: T201 - a tool's own words


def make(within: Path, docs: Path | None) -> Path:
    """Make the bundle's directory in another one; return it."""
    shutil.rmtree(within, ignore_errors=True)
    folder = within / NAME
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    collect_wheels(ROOT, wheels)
    write_requirements(wheels, folder / "requirements.txt")
    write_r_client(ROOT, folder)
    write_image(ROOT, folder)
    write_operations(ROOT, folder)
    if docs is not None:
        shutil.copytree(docs, folder / "docs", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    write_page(folder)
    with tempfile.TemporaryDirectory() as name:
        python = install(folder, Path(name) / "env")
        write_bill_of_materials(ROOT, python, folder / "sbom.cdx.json")
    write_checksums(folder)
    return folder


if __name__ == "__main__":
    main()
