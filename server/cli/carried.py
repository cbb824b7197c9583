"""The client that an installed server carries: commands that ask go through it.

An installed server has the client's wheel among its own files, to offer it. Where
nobody installed the client beside it, it is imported from there: a wheel of Python
alone is a place that modules are found in.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

WHEELS: Final = Path(__file__).parents[1] / "api/static/clients"
"""Where an installed server has the client's wheel; a tree of source has none."""


def reach_client(wheels: Path = WHEELS) -> None:
    """Let the carried client be found, last of all, if no other is."""
    found = find_spec("curator_client")
    if found is None or found.origin is None:  # a folder of that name is no package
        sys.path += [str(wheel) for wheel in sorted(wheels.glob("*.whl"))]
