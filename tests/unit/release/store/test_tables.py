"""Tables of a release as files."""

import subprocess
import sys
from datetime import date
from decimal import Decimal

import duckdb
import numpy as np
import pytest

from release.store.tables import write_table


def test_a_table_that_cannot_be_written_is_an_error_of_the_system(tmp_path):
    """Whoever writes a release tells it by that from a bug of ours."""
    with pytest.raises(OSError, match=r"cells\.(parquet|csv) could not be written"):
        write_table(tmp_path / "gone", "cells", {"value": np.arange(3)})


def test_labels_are_read_back_in_their_order_and_types(tmp_path):
    labels = {
        "flag": [True, False, None],
        "number": [-(2**62), 7, None],
        "day": [date(2024, 2, 29), date(2024, 3, 1), None],
        "amount": [Decimal("1.50"), Decimal("-2.00"), None],
        "word": ["it's", 'a "b",\nä', None],
        "whole": [30, 20, 10],
        'of "0" absent': ["x", "y", "z"],
    }
    codes = np.array([2, 0, 1, 1, 2, 0])
    table = dict.fromkeys(labels, codes) | {"0": np.arange(6), "estimate": codes / 4}

    for path in write_table(tmp_path, "cells", table, labels):
        read = "read_parquet(?)"
        if path.suffix == ".csv":
            read = "read_csv(?, all_varchar = true)"
        found = duckdb.connect().execute(f"FROM {read}", [str(path)])
        assert [column[0] for column in found.description] == list(table)
        rows = found.fetchall()
        if path.suffix == ".csv":
            assert [row[4] for row in rows] == [labels["word"][code] for code in codes]
            continue
        kinds = ["BOOLEAN", "BIGINT", *["VARCHAR"] * 3, "BIGINT", "VARCHAR"]
        assert [str(column[1]) for column in found.description] == [
            *(str(duckdb.sqltype(kind)) for kind in kinds),
            "BIGINT",
            "DOUBLE",
        ]
        assert rows == [
            (
                *(_as_written(values[code]) for values in labels.values()),
                place,
                code / 4,
            )
            for place, code in enumerate(codes.tolist())
        ]


def _as_written(value):
    return str(value) if isinstance(value, date | Decimal) else value


_WRITING = """
import resource, sys
from pathlib import Path
import subprocess
import sys
from datetime import date
from decimal import Decimal

import duckdb
import numpy as np
from release.store.tables import write_table

codes = np.arange(300_000)
labels = [f"value number {code:08d} of a hierarchy" for code in codes[1:]] + [None]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_table(Path(sys.argv[1]), "cells", {"code": codes}, {"code": labels})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_300_000_labels_are_written_within_200_megabytes(tmp_path):
    """As SQL text they ran out of any memory, after the release was charged."""
    done = subprocess.run(
        [sys.executable, "-c", _WRITING, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(done.stdout) * 1024 <= 200_000_000  # ru_maxrss is in KiB
    found = (
        duckdb.connect()
        .execute(
            "SELECT COUNT(*), COUNT(code), COUNT(DISTINCT code), arg_max(code, place) "
            "FROM (SELECT code, row_number() OVER () AS place FROM read_parquet(?))",
            [str(tmp_path / "cells.parquet")],
        )
        .fetchone()
    )
    last = "value number 00299999 of a hierarchy"
    assert found == (300_000, 299_999, 299_999, last)
