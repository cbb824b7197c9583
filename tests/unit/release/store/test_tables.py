"""Tables of a release as files."""

import numpy as np
import pytest

from release.store.tables import write_table


def test_a_table_that_cannot_be_written_is_an_error_of_the_system(tmp_path):
    """Whoever writes a release tells it by that from a bug of ours."""
    with pytest.raises(OSError, match=r"cells\.(parquet|csv) could not be written"):
        write_table(tmp_path / "gone", "cells", {"value": np.arange(3)})
