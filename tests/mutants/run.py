"""Plant faults one at a time; each must be caught by the tests that it names.

Run: ``python -m tests.mutants.run [NAME ...]``. Works on copies of the tree, never on
the tree itself. Exit code 1 if a fault survives, or if a fault no longer fits the code.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.defences import DEFENCES
from tests.mutants.faults import FAULTS

ROOT = Path(__file__).parents[2]
COPIED = (
    "privacy", "query_lang", "mechanisms", "budget", "engines", "release", "upstream",
    "server", "clients", "tests", "examples", "docs", "openapi", "benchmarks",
    "scripts",
)  # fmt: skip

ALL = (*FAULTS, *DEFENCES)
MOST_SECONDS = 900
"""Of the tests of one fault: the longest take two minutes."""


def main() -> int:
    """Plant each fault that is named, or all; one on each processor at a time."""
    chosen = [f for f in ALL if not sys.argv[1:] or f.name in sys.argv[1:]]
    survived = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault, (verdict, seconds) in zip(
            chosen, pool.map(timed, chosen), strict=True
        ):
            print(
                f"{verdict:9} {seconds:5.1f} s  {fault.name}: {fault.what}", flush=True
            )
            if verdict != "caught":
                survived.append(fault.name)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} faults caught")
    for name in survived:
        print(f"not caught: {name}")
    return 1 if survived else 0


def timed(fault) -> tuple[str, float]:
    """Return what became of a fault, and the seconds that it took."""
    started = time.monotonic()
    return try_fault(fault), time.monotonic() - started


def try_fault(fault) -> str:
    """Return "caught", "survived" or "unfit"."""
    with tempfile.TemporaryDirectory() as name:
        copy = make_copy(Path(name))
        target = copy / fault.file
        text = target.read_text()
        if text.count(fault.right) != 1:
            return "unfit"
        target.write_text(text.replace(fault.right, fault.wrong))
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-x", *fault.tests],
                cwd=copy,
                env=environment_of(copy),
                capture_output=True,
                check=False,
                timeout=MOST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return "caught"  # a test that does not end has not passed
        return "caught" if done.returncode == 1 else "survived"


def make_copy(folder):
    """Copy what the tests need of the tree into an empty folder; return it."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, folder / file)
    return folder


def environment_of(copy):
    """Return the environment in which a copy's own packages are imported."""
    return {
        "CURATOR_TEST_DATA": str(ROOT / "../shared/data"),
        **os.environ,
        "PYTHONPATH": f"{copy}:{copy / 'clients/python'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
