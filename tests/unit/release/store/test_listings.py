"""Tables of a release for people."""

import duckdb
import numpy as np

from privacy.schema import ColumnType
from release.contract.domain import CubeDomain, Dimension
from release.cubes.models.cells import CellsModel
from release.store.listings import cube_listing
from release.store.tables import write_table


def test_dimensions_may_be_called_as_the_numbers_are(tmp_path):
    called = {
        "estimate": ("F", "M"),
        "estimate_": (1, 2, None),
        "half_width_95": (True, False),
    }
    dimensions = [
        Dimension(name, kind, values)
        for (name, values), kind in zip(
            called.items(),
            (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN),
            strict=True,
        )
    ]
    model = CellsModel(CubeDomain(tuple(dimensions), 1), np.arange(12), 2.0)
    listing = cube_listing(model)
    assert listing is not None
    parquet, _ = write_table(tmp_path, listing.name, listing.table, listing.labels)

    found = duckdb.connect().execute("FROM read_parquet(?)", [str(parquet)])
    assert [column[0] for column in found.description] == [
        *called,
        "estimate__",
        "variance",
        "half_width_95_",
    ]
    assert [row[:4] for row in found.fetchall()] == [
        (sex, number, flag, 6 * i + 2 * j + k)
        for i, sex in enumerate(called["estimate"])
        for j, number in enumerate(called["estimate_"])
        for k, flag in enumerate(called["half_width_95"])
    ]
