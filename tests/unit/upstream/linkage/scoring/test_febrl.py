"""FEBRL's records, without the social security number, linked into people."""

import pytest

from benchmarks.linking.febrl import SETS, read_febrl
from benchmarks.linking.tables import linked, paired, spec_of


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("FEBRL 4", 0.999), ("FEBRL 1", 0.99)])
def test_febrl_is_linked_as_well_as_is_promised(test_data, name, least):
    paths = [test_data / "febrl" / file for file in SETS[name]]
    if not all(path.exists() for path in paths):
        pytest.skip("no FEBRL data")
    records = read_febrl(paths)
    once = sorted(set(records.sources)) if len(paths) > 1 else ()
    keys, _, _, scoring = linked(records, spec_of(once))
    found, matches = paired(keys), records.matches()
    assert 2 * len(found & matches) / (len(found) + len(matches)) >= least
    assert scoring.blocking().completeness > 0.99
