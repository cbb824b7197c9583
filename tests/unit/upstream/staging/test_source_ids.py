"""Ids that a linkage's sources have of the units of a load."""

import duckdb
import pytest

from tests.unit.upstream.conftest import SECRET
from upstream.errors import IngestionError
from upstream.ingestion.ingestion import LinkedTables
from upstream.ingestion.secrets import derive_keys
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import KnownUnits
from upstream.staging.row_hash import population_id

KEYS = range(10**15, 10**15 + 20)


def digest(form):
    return population_id(derive_keys(SECRET).population, form)


def told(house, ids):
    """Have the load be told ids by unit key."""
    path = house.folder / "ids.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE told (key VARCHAR, id VARCHAR)")
        connection.executemany("INSERT INTO told VALUES (?, ?)", ids)
        connection.execute(f"COPY told TO '{path}' (FORMAT parquet)")
    house.linked = LinkedTables(house.folder, path)


@pytest.fixture
def house(hospital):
    hospital.csv = "pid,day,ward\n" + "".join(f"{key},,A\n" for key in KEYS)
    told(hospital, [(str(key), f"P-{key % 10**6:07}") for key in KEYS])
    return hospital


def test_all_forms_of_a_source_s_ids_join_the_population_s_file(house):
    told(house, [(str(KEYS[0]), "S01-0042"), (str(KEYS[1]), "***")])
    ids = house.load().population_ids
    found = {ids[start : start + 16] for start in range(0, len(ids), 16)}
    expected = {digest(form) for form in ("s1-42", "s10042", "***")}
    assert found == expected | {digest(str(key)) for key in KEYS}


def test_ids_of_people_who_are_not_in_the_load_are_none_of_it(house):
    before = house.load().population_ids
    house.target = "again.duckdb"
    more = [(str(KEYS[-1] + 1), "P-999"), ("-5", "P-998")]
    told(house, [*((str(key), f"P-{key % 10**6:07}") for key in KEYS), *more])
    assert house.load().population_ids == before


@pytest.mark.long
def test_a_unit_is_new_where_the_file_lacks_an_id_of_it(house):
    ids = house.load().population_ids
    house.surroundings = Surroundings(own=KnownUnits(ids))
    house.target = "again.duckdb"
    again = house.load()
    assert (again.new.count, again.new.digests) == (0, b"")
    told(house, [(str(KEYS[3]), "L-17")])
    house.target = "more.duckdb"
    more = house.load()
    assert (more.new.count, more.new.digests) == (1, digest("l17"))


@pytest.mark.parametrize(("rows", "is_public"), [(5, True), (6, False)])
def test_more_than_a_handful_of_a_source_s_ids_is_not_public(house, rows, is_public):
    codes = [f"p{key % 10**6}" for key in KEYS[1 : rows + 1]]
    codes += [f"w{n}x" for n in range(9)]
    (house.folder / "codes.csv").write_text("code\n" + "\n".join(codes) + "\n")
    house.more_tables = [
        {
            "name": "codes",
            "public": True,
            "files": ["codes.csv"],
            "source": "list",
            "columns": [{"name": "code", "type": "text"}],
        }
    ]
    if is_public:
        assert house.publishes()
    else:
        with pytest.raises(IngestionError, match=r"codes\.code holds ids"):
            house.load()


def test_one_number_of_two_people_in_two_sources_is_no_spelling_of_an_id(house):
    told(house, [(str(key), str(key % 3)) for key in KEYS])
    assert house.load().report.alike_units["other"] == 0
