"""How this project starts processes of its own: by one command, from one folder.

Python searches the working directory, ``PYTHONPATH`` and a user's own folder before it
looks at what is installed. A child that did so would run whatever lies there.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import IO

from engines.processes import start_module

NEUTRAL_FOLDER = os.sep
"""Where a child works that opens no relative path: nobody but root writes there."""
_OF_THE_INTERPRETER = ("PYTHON",)
_OF_THE_SERVER = ("CURATOR_", "PG")  # settings, with passwords among them


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules, from this process's own folder.

    Isolated mode reads no ``PYTHON*`` variable, no user's folder and no working
    directory; the module is the one that lies beside this very code.

    Args:
        module: Its full name.
        arguments: What it is told.
    """
    start = os.path.abspath(start_module.__file__)  # noqa: PTH100 - links stay as they are
    quiet = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *quiet, start, module, *arguments]


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without a variable that steers Python.

    Args:
        environment: This process's own where left out.
    """
    return _without(_OF_THE_INTERPRETER, environment)


def bare_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a child's environment that holds no setting of the server's either.

    For children that read what strangers wrote: they need no password and no path.

    Args:
        environment: This process's own where left out.
    """
    return _without(_OF_THE_INTERPRETER + _OF_THE_SERVER, environment)


def pipes_of(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    """Return the input and the output of a child that was started with both."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError
    return process.stdin, process.stdout


def _without(
    prefixes: tuple[str, ...], environment: Mapping[str, str] | None
) -> dict[str, str]:
    given = os.environ if environment is None else environment
    return {
        name: value for name, value in given.items() if not name.startswith(prefixes)
    }
