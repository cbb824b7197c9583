"""Which ids of a register's records are numbers that patients have."""

import duckdb
import pytest

from upstream.linkage.declared import LinkageSpec
from upstream.linkage.registers.keyed import SourceIds, write_source_ids
from upstream.linkage.registers.register import opened

FIELDS = {"fields": {"name": {"kind": "name"}, "insurance": {"kind": "id"}}}


@pytest.fixture
def written(tmp_path):
    """Write the ids of records, which are told as key, source, id and insurance."""

    def written(records, *sources):
        with opened(tmp_path / "register.duckdb") as register:
            register.create(LinkageSpec.model_validate(FIELDS))
            for number, (key, source, id_, insurance) in enumerate(records, 1):
                register.connection.execute(
                    "INSERT INTO record VALUES (?, ?, ?, NULL, ?)",
                    [number, source, id_, insurance],
                )
                register.connection.execute(
                    "INSERT INTO standing VALUES (?, ?, FALSE, ?, ?, 1)",
                    [number, number % 2 == 0, key, key],
                )
            path = tmp_path / "ids.parquet"
            write_source_ids(register, sources, path)
        assert path.stat().st_mode & 0o777 == 0o600
        rows = duckdb.connect().sql(f"FROM '{path}'").fetchall()
        assert len(rows) == len(set(rows))
        return set(rows)

    return written


def test_each_source_s_ids_are_told_with_their_patient_s_key(written):
    records = [(7, "a", "1", None), (7, "a", "2", None), (8, "b", "1", None)]
    records += [(9, "letters", "note.txt", None)]
    found = written(records, SourceIds("a"), SourceIds("b"))
    assert found == {("7", "1"), ("7", "2"), ("8", "1")}


def test_of_several_columns_those_are_told_by_which_most_are_one_patient_s(written):
    parts = [("N", "1/2"), ("N", "\\3"), ("N", "4"), ("S", "4")]
    escaped = ["N/1\\/2", "N/\\\\3", "N/4", "S/4"]
    records = [(key, "a", id_, None) for key, id_ in enumerate(escaped, 1)]
    found = written(records, SourceIds("a", 2))
    whole = {(str(key), "/".join(one)) for key, one in enumerate(parts, 1)}
    assert found == whole | {("1", "1/2"), ("2", "\\3")}


def test_a_number_beside_the_id_is_told_where_one_patient_alone_has_it(written):
    told = ["A1", "A2", "A2", "A3", "unknown", "unknown", None]
    keys = [1, 2, 2, 3, 4, 5, 6]
    records = [
        (key, "a", f"r{n}", insurance)
        for n, (key, insurance) in enumerate(zip(keys, told, strict=True))
    ]
    found = written(records, SourceIds("a", 1, ["insurance"]))
    ids = {(str(key), f"r{n}") for n, key in enumerate(keys)}
    assert found - ids == {("1", "A1"), ("2", "A2"), ("3", "A3")}
