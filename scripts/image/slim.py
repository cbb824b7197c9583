"""Takes out of an environment what no server needs, and says what is left.

python slim.py ENVIRONMENT [yes]

Out go what only builds packages, and what only trains models (``yes`` keeps that);
packages' own tests, stubs and sources in C; symbols for debuggers, where ``strip`` is
at hand; and bytecode of modules that no module of ours names. Licences stay. Every
module of ours, and all that they name, is then imported with what is left. It needs the
standard library alone.
"""

import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

BUILDERS = {"setuptools"}
MODELS = {"scikit-learn", "scipy", "joblib", "narwhals", "threadpoolctl", "cloudpickle"}
SOURCES = {".pyi", ".pyx", ".pxd", ".h", ".hpp", ".c", ".cpp", ".a"}
LISTED = 8  # of the largest packages
MB = 1_000_000  # as docker lists images


def size_of(path: Path) -> int:
    """Return the bytes of the files under a path."""
    found = [path] if path.is_file() else path.rglob("*")
    return sum(one.lstat().st_size for one in found if not one.is_dir())


def uninstall(site: Path, names: set[str]) -> list[str]:
    """Delete distributions with all their folders; return which."""
    here = distributions(path=[str(site)])
    found = {one.name: _tops(one) for one in here if one.name in names}
    for top in set[str]().union(*found.values()):
        path = site / top
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return sorted(found)


def _tops(one: Distribution) -> set[str]:
    """Return what a distribution has in site-packages alone: no commands, no caches."""
    tops = {file.parts[0] for file in one.files or ()}
    return tops - {"..", "__pycache__"}


def delete_unused(site: Path) -> int:
    """Delete tests, stubs, sources in C and bytecode; return how many."""
    folders = [
        path
        for name in ("tests", "__pycache__")
        for path in site.rglob(name)
        if path.is_dir()
    ]
    files = [path for path in site.rglob("*") if path.suffix in SOURCES]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)  # one may lie in another
    for file in files:
        file.unlink(missing_ok=True)
    return len(folders) + len(files)


def strip_libraries(site: Path) -> int:
    """Strip libraries; return how many, 0 where there is no tool."""
    tool = shutil.which("strip")
    if tool is None:
        return 0
    # Those in folders *.libs were patched as wheels were made: strip would break them.
    found = [path for path in site.rglob("*.so") if path.parent.suffix != ".libs"]
    for path in found:
        subprocess.run([tool, "--strip-unneeded", path], check=True)
    return len(found)


def main(environment: Path, *, keeps_models: bool) -> None:
    """Slim an environment, list its largest packages and import what is left."""
    (site,) = environment.glob("lib/python3*/site-packages")
    before = size_of(environment)
    gone = uninstall(site, BUILDERS if keeps_models else BUILDERS | MODELS)
    deleted, stripped = delete_unused(site), strip_libraries(site)
    checking = Path(__file__).with_name("imports.py")
    subprocess.run([environment / "bin/python", "-I", checking, site], check=True)
    lines = [
        f"without {', '.join(gone)}",
        f"{deleted} files and folders deleted, {stripped} libraries stripped",
        f"{before // MB} MB before, {size_of(environment) // MB} MB now; the largest:",
    ]
    sizes = {path.name: size_of(path) for path in site.iterdir()}
    largest = sorted(sizes.items(), key=lambda one: -one[1])[:LISTED]
    lines += [f"  {size // MB:>4} MB  {name}" for name, size in largest]
    print("\n".join(lines), flush=True)  # noqa: T201 - a tool's own words


if __name__ == "__main__":
    main(Path(sys.argv[1]), keeps_models=sys.argv[2:] == ["yes"])
