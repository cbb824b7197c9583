import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def test_data():
    """The folder of public test data; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("CURATOR_TEST_DATA", ROOT / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}: set CURATOR_TEST_DATA")
    return folder.resolve()
