"""The Adult table with ARX's hierarchies, as the reference answers were made of it."""

from functools import cache

import pytest

from benchmarks.anonymization.adult import read_adult


@cache
def adult_of(folder):
    if not (folder / "adult" / "adult.csv").exists():
        pytest.skip("no Adult data")
    return read_adult(folder / "adult")
