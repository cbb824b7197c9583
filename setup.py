"""Puts the clients' files into a built server; all else stands in pyproject.toml."""

import importlib.util
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_ROOT = Path(__file__).parent
_BUILDING = _ROOT / "server/api/clients/building.py"


class BuildWithClients(build_py):
    """Writes the clients beside the server's static files."""

    def run(self) -> None:
        """Build the packages, then the clients; a tree makes them when it serves."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "server/api/static/clients"
        shutil.rmtree(folder, ignore_errors=True)  # those of a version before
        folder.mkdir(parents=True)
        for name, content in _clients().items():
            (folder / name).write_bytes(content)


def _clients() -> dict[str, bytes]:
    spec = importlib.util.spec_from_file_location("building", _BUILDING)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(_BUILDING)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, bytes] = module.clients_of(_ROOT)
    return made


setup(cmdclass={"build_py": BuildWithClients})
