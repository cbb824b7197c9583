"""Takes out of an environment what no server needs, and says what is left.

Packages' own tests go, and so do symbols for debuggers of large libraries, where
``strip`` is at hand. Licences stay. It needs the standard library alone.
"""

import shutil
import subprocess
import sys
from pathlib import Path

LARGE_BYTES = 32 << 20  # of a library that is worth a second of stripping
LISTED = 8  # of the largest packages
MB = 1_000_000  # as docker lists images


def size_of(path: Path) -> int:
    """Return the bytes of the files under a path."""
    found = [path] if path.is_file() else path.rglob("*")
    return sum(one.lstat().st_size for one in found if not one.is_dir())


def delete_tests(site: Path) -> int:
    """Delete packages' folders of tests; return how many."""
    found = sorted(path for path in site.glob("*/**/tests") if path.is_dir())
    for path in found:
        shutil.rmtree(path, ignore_errors=True)  # one may lie in another
    return len(found)


def strip_libraries(site: Path) -> int:
    """Strip large libraries; return how many, 0 where there is no tool."""
    tool = shutil.which("strip")
    if tool is None:
        return 0
    large = [path for path in site.rglob("*.so") if size_of(path) >= LARGE_BYTES]
    for path in large:
        subprocess.run([tool, "--strip-unneeded", path], check=True)
    return len(large)


def main(environment: Path) -> None:
    """Slim an environment and list its largest packages."""
    (site,) = environment.glob("lib/python3*/site-packages")
    before = size_of(environment)
    tests, stripped = delete_tests(site), strip_libraries(site)
    lines = [
        f"{tests} folders of tests deleted, {stripped} libraries stripped",
        f"{before // MB} MB before, {size_of(environment) // MB} MB now; the largest:",
    ]
    sizes = {path.name: size_of(path) for path in site.iterdir()}
    largest = sorted(sizes.items(), key=lambda one: -one[1])[:LISTED]
    lines += [f"  {size // MB:>4} MB  {name}" for name, size in largest]
    print("\n".join(lines), flush=True)  # noqa: T201 - a tool's own words


if __name__ == "__main__":
    main(Path(sys.argv[1]))
