"""A custodian's import folder, and what is read of it."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from upstream.extraction.reading.outcomes import Quarantined
from upstream.extraction.reading.reading import read_documents
from upstream.extraction.reading.specs import SourceSpec

SPEC = TypeAdapter(SourceSpec)


@dataclass
class Imports:
    """The folder, for a test to fill."""

    path: Path

    def put(self, name, content):
        """Write a file of it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(raw)
        return path

    def source(self, kind, **keys):
        """Return a declaration."""
        keys = {"name": "notes", **keys}
        if kind != "database":
            keys = {"files": ["**/*"], **keys}
        return SPEC.validate_python({"kind": kind, **keys})

    def all(self, kind, after=None, seen=None, **keys):
        """Return what a source gives, documents and what was set aside."""
        source = self.source(kind, **keys)
        return list(read_documents(source, self.path, after=after, seen=seen))

    def texts(self, kind, **keys):
        """Return the documents' texts by their ids; nothing was set aside."""
        found = self.all(kind, **keys)
        assert [each for each in found if isinstance(each, Quarantined)] == []
        return {each.id: each.text for each in found}

    def reasons(self, kind, **keys):
        """Return why each was set aside; documents are None."""
        return [
            each.reason.value if isinstance(each, Quarantined) else None
            for each in self.all(kind, **keys)
        ]


@pytest.fixture
def imports(tmp_path):
    folder = tmp_path / "import"
    folder.mkdir()
    return Imports(folder)
