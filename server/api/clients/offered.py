"""Which files of clients this server has: those it was built with, or its tree's."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from server.api.clients.building import clients_of

BUILT: Final = Path(__file__).parents[1] / "static/clients"
"""Where ``setup.py`` puts them; a tree has no such folder."""
_TREE: Final = Path(__file__).parents[3]
CHECKSUMS: Final = "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class ClientFile:
    """One file that is offered.

    Attributes:
        name: Of the file, as installers want it.
        content: Its bytes.
        sha256: Their digest, in hexadecimal.
    """

    name: str
    content: bytes = field(repr=False)
    sha256: str

    @property
    def is_wheel(self) -> bool:
        """Whether it is the Python client; else it is that for R."""
        return self.name.endswith(".whl")

    @property
    def media_type(self) -> str:
        """What it is sent as."""
        return "application/zip" if self.is_wheel else "application/gzip"


@cache
def offered_files() -> dict[str, ClientFile]:
    """Return the clients by the names of their files; none where there are none."""
    return {
        name: ClientFile(name, content, hashlib.sha256(content).hexdigest())
        for name, content in sorted(_found())
    }


def _found() -> Iterator[tuple[str, bytes]]:
    if BUILT.is_dir():
        for path in BUILT.iterdir():
            yield path.name, path.read_bytes()
    elif (_TREE / "clients/python/pyproject.toml").is_file():
        yield from clients_of(_TREE).items()


def checksums() -> bytes:
    """Return the digests, as ``sha256sum --check`` reads them."""
    lines = (f"{each.sha256}  {each.name}\n" for each in offered_files().values())
    return "".join(lines).encode()
