"""Runs one of this project's modules, from the folder that this very file lies in.

A child process names this file by its absolute path, under Python's isolated mode: no
variable of the environment, no folder of a user and no working directory is searched.
"""

import runpy
import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[2])


def main() -> None:
    """Run the module that the first argument names, with the arguments after it."""
    if FOLDER not in sys.path:  # a tree that is not installed, or another than is
        sys.path.insert(0, FOLDER)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
