"""Small published cubes that tests ask, and an evaluation that shares no code."""

from datetime import date
from itertools import product

import numpy as np

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import CubeDomain, Dimension
from release.cubes.models.cells import CellsModel
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.views import BandView, LevelView, MonthView

MONTHS = tuple(f"{2014 + n // 12}-{n % 12 + 1:02d}" for n in range(18))
BANDS = tuple(f"{low}-{low + 9}" for low in range(0, 60, 10))
DIMENSIONS = (
    Dimension("sex", ColumnType.TEXT, ("F", "M", None), constant=True),
    Dimension("age", ColumnType.INTEGER, tuple(range(20, 45)), ordered=True),
    Dimension("block", ColumnType.TEXT, ("E10-E14", "E65-E68", "I10-I15", None)),
    Dimension("month", ColumnType.TEXT, MONTHS, ordered=True),
    Dimension("died", ColumnType.BOOLEAN, (False, True), constant=True),
)
BANDED = (*DIMENSIONS[:1], Dimension("band", ColumnType.TEXT, BANDS, ordered=True))


def cells_cube(
    dimensions=DIMENSIONS, *, bound=3, counts="units", values=None, scale=2.5
):
    """Return a cube with plain cells; their values are any that are told apart."""
    domain = CubeDomain(tuple(dimensions), bound)
    if values is None:
        values = np.random.default_rng(5).integers(-4, 40, domain.size)
    cube = PublishedCube(
        id="rel_1",
        name="cube",
        domain=domain,
        counts=counts,
        unit="patient",
        unit_column="patient_id",
        snapshot_date=date(2016, 1, 1),
        views={
            "block": LevelView("icd10", "block"),
            "month": MonthView(date(2014, 1, 1)),
            "band": BandView(10),
        },
    )
    return cube, CellsModel(domain, values, scale)


def ask(cube, sql, **options):
    """Answer a text over a cube."""
    asked = AskedCube(*cube)
    try:
        return asked.ask(parse_query(sql), **options)
    finally:
        asked.close()


def rows_of(cube):
    """Yield each cell as a dictionary of its values, and its estimate under ``n``."""
    published, model = cube
    dimensions = published.domain.dimensions
    names = [dimension.name for dimension in dimensions]
    cells = product(*(dimension.values for dimension in dimensions))
    for cell, estimate in zip(cells, model.estimates().tolist(), strict=True):
        yield {**dict(zip(names, cell, strict=True)), "n": estimate}
