"""Nothing public may hold more than a handful of unit ids, however they are spelled."""

import duckdb
import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from tests.unit.upstream.conftest import SECRET
from upstream.errors import IngestionError
from upstream.public_watch import Surroundings
from upstream.published_ids import HANDFUL, EarlierSnapshot, KnownUnits
from upstream.row_hash import population_id
from upstream.secrets import derive_keys

IDS = [f"P{i:07}" for i in range(5_970, 5_990)]
OTHER_SPELLINGS = {
    "as they are": str,
    "small letters": str.lower,
    "blanks around": lambda uid: f" {uid}\u3000",
    "blanks inside": lambda uid: f"{uid[0]} {uid[1:]}",
    "without zeros": lambda uid: "P" + uid[1:].lstrip("0"),
    "more zeros": lambda uid: "p0000" + uid[1:],
}


@pytest.fixture
def house(hospital):
    """Stays of twenty patients with text ids, and room for a public table."""
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in IDS)
    return hospital


def publish(hospital, values, kind="text", **keys):
    column = {"name": "code", "type": kind, "source": "test", **keys}
    hospital.more_tables = [
        {"name": "marks", "files": ["marks.csv"], "public": True, "columns": [column]}
    ]
    lines = "".join(f"{value}\n" for value in values)
    (hospital.folder / "marks.csv").write_text("code\n" + lines)


@pytest.mark.parametrize("spelled", OTHER_SPELLINGS)
def test_a_table_of_patients_cannot_be_public(house, spelled):
    publish(house, map(OTHER_SPELLINGS[spelled], IDS))
    with pytest.raises(
        IngestionError, match=r"column marks\.code holds ids"
    ) as refused:
        house.load()
    assert "unit_column" in str(refused.value)
    assert not any(uid in str(refused.value) for uid in IDS)
    assert not (house.folder / house.target).exists()


def test_a_handful_of_ids_may_be_public(house):
    publish(house, [*IDS[:HANDFUL], *(f"w{i}" for i in range(50))])
    assert house.load().report.tables[1].rows_kept == HANDFUL + 50
    (house.folder / house.target).unlink()
    publish(house, IDS[: HANDFUL + 1])
    with pytest.raises(IngestionError):
        house.load()


def test_one_patient_in_many_spellings_is_no_handful(house):
    publish(house, [spell(IDS[0]) for spell in OTHER_SPELLINGS.values()])
    house.load()


@pytest.mark.parametrize("kind", ["integer", "decimal", "text"])
def test_numbers_that_are_ids_are_found_in_columns_of_every_type(hospital, kind):
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},,A\n" for i in range(1, 21))
    publish(hospital, range(1, 13), kind, **({"scale": 1} if kind == "decimal" else {}))
    with pytest.raises(IngestionError, match="not_unit_ids"):
        hospital.load()
    hospital.more_tables[0]["columns"][0]["not_unit_ids"] = True
    hospital.load()


def test_what_is_declared_of_numbers_does_not_hold_for_other_ids(house):
    publish(house, IDS, not_unit_ids=True)
    with pytest.raises(IngestionError, match=r"marks\.code"):
        house.load()


def test_a_list_of_values_cannot_name_patients(house):
    house.column("ward", domain={"values": [uid.lower() for uid in IDS]}, source="test")
    with pytest.raises(IngestionError, match=r"the list of stays\.ward"):
        house.load()


@pytest.mark.parametrize("what", ["codes", "level area"])
def test_a_hierarchy_cannot_name_patients(house, what):
    header, named = "code,area\n", enumerate(IDS)
    rows = [f"{uid},x\n" if what == "codes" else f"c{i},{uid}\n" for i, uid in named]
    (house.folder / "h.csv").write_text(header + "".join(rows))
    house.hierarchies = [{"name": "areas", "file": "h.csv"}]
    with pytest.raises(IngestionError, match=f"the {what} of hierarchy areas"):
        house.load()


def known(ids, unit_type="text"):
    key = derive_keys(SECRET).population
    return KnownUnits(
        unit_type, b"".join(sorted(population_id(key, uid) for uid in ids))
    )


@pytest.mark.parametrize("spelled", sorted({*OTHER_SPELLINGS} - {"blanks inside"}))
def test_patients_who_were_loaded_before_are_found_by_their_keyed_hashes(
    hospital, spelled
):
    publish(hospital, map(OTHER_SPELLINGS[spelled], IDS))
    hospital.surroundings = Surroundings(own=known(IDS))
    with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
        hospital.load()


def test_integers_are_found_by_their_keyed_hashes_with_zeros_or_without(hospital):
    publish(hospital, [f"00{i}" for i in range(101, 110)])
    people = [str(i) for i in range(101, 110)]
    hospital.surroundings = Surroundings(own=known(people, "integer"))
    with pytest.raises(IngestionError):
        hospital.load()


def test_patients_of_other_populations_are_noted_and_not_told(hospital):
    publish(hospital, IDS)
    others = {"pupils": known(IDS), "staff": known(["X1", "X2"])}
    hospital.surroundings = Surroundings(others=others)
    assert hospital.load().names_others == ("pupils",)


def test_patients_of_a_later_load_are_found_in_what_is_public_already(house, tmp_path):
    publish(house, IDS)
    private, house.csv = house.csv, "pid,day,ward\nX1,,A\n"
    house.load()
    schema = dataset_from_json(dataset_to_json(house.manifest().schema()))
    earlier = EarlierSnapshot(house.folder / house.target, schema, frozenset())
    house.surroundings = Surroundings(snapshots={"lists": earlier})
    house.csv, house.target, house.more_tables = private, "later.duckdb", []
    with pytest.raises(IngestionError, match="these units in dataset lists"):
        house.load()
    with duckdb.connect(str(tmp_path / "snapshot.duckdb")) as connection:
        connection.execute("DELETE FROM marks WHERE code > 'P0005974'")
    house.load()


def test_integers_have_nothing_to_fold(hospital):
    hospital.population = {"unit_fold": "case"}
    with pytest.raises(IngestionError, match="integers have one spelling"):
        hospital.manifest()
