"""What tests of copies of tables begin with."""

import pytest

from tests.support.copies import write_stays
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import Texts


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Rows of stays, and what jobs need."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    with made.services() as services:
        write_stays(tmp_path)
        yield Texts(made, services)
