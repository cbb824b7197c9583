"""Nothing public may hold more than a handful of unit ids, however they are spelled."""

import duckdb
import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from tests.effort import gate_first
from tests.unit.upstream.conftest import SECRET
from upstream.errors import IngestionError
from upstream.id_forms.loose_ids import id_forms
from upstream.ingestion.secrets import derive_keys
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import (
    HANDFUL,
    Declared,
    EarlierSnapshot,
    KnownUnits,
)
from upstream.staging.row_hash import population_id

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


@pytest.mark.sampled
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


NUMBERS = [str(i) for i in range(1_000_007, 1_000_019)]
WRITTEN = {
    "floats": "{}.0",
    "scientific": None,
    "full width": None,
    "thousands": "1,000,0{2}",
    "blanks": "1 000 0{2}",
    "dashes": "1-000-0{2}",
    "quotes": "'{}'",
    "signs": "-{}",
    "zeros": "000{}",
    "marks": "\ufeff{}\u200b",
}


def written(how, number):
    """Return a number of seven digits as a program may write it."""
    if how == "scientific":
        return f"{int(number):.6E}"
    if how == "full width":
        return "".join(chr(0xFF10 + int(digit)) for digit in number)
    return WRITTEN[how].format(number, "", number[-2:])


@pytest.mark.long
@pytest.mark.parametrize("when", gate_first(1, ["in this load", "in an earlier load"]))
@pytest.mark.parametrize("unit_type", ["integer", "text"])
def test_numbers_are_found_however_a_program_writes_them(hospital, unit_type, when):
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type)
    if when == "in this load":
        hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in NUMBERS)
    else:
        hospital.surroundings = Surroundings(own=known(NUMBERS))
    for number, how in enumerate(WRITTEN):
        values = [written(how, number) for number in NUMBERS]
        keys = {"from": "ward", "type": "text", "source": "test"}
        hospital.column(f"c{number}", domain={"values": values}, **keys)
    with pytest.raises(IngestionError) as refused:
        hospital.load()
    told = [problem.sentence for problem in refused.value.problems]
    for number, (how, said) in enumerate(zip(WRITTEN, told, strict=True)):
        assert f"the list of stays.c{number} holds ids" in said, how


@pytest.mark.parametrize("when", gate_first(1, ["in this load", "in an earlier load"]))
def test_ids_are_found_in_cells_that_hold_more(house, when):
    if when == "in an earlier load":
        house.surroundings = Surroundings(own=known(IDS))
        house.csv = "pid,day,ward\nX1,,A\n"
    for cells in (
        [f"{uid};north;x" for uid in IDS],
        [f"Patient/{uid} (see note)" for uid in IDS],
        ["|".join(IDS[start : start + 10]) for start in (0, 10)],
    ):
        publish(house, cells)
        with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
            house.load()


@pytest.mark.long
def test_the_columns_of_a_table_are_counted_together(house):
    column = {"type": "text", "source": "test"}
    columns = [{"name": name, **column} for name in ("first", "second", "third")]
    house.more_tables = [
        {"name": "pairs", "files": ["pairs.csv"], "public": True, "columns": columns}
    ]
    rows = [f"{IDS[2 * i]},{IDS[2 * i + 1]},w{i}\n" for i in range(3)]
    (house.folder / "pairs.csv").write_text("first,second,third\n" + "".join(rows))
    with pytest.raises(IngestionError, match=r"column pairs\.first and the column pai"):
        house.load()
    (house.folder / "pairs.csv").write_text(
        "first,second,third\n" + "".join(f"{uid},w1,w2\n" for uid in IDS[:HANDFUL])
    )
    house.load()


def test_the_codes_and_levels_of_a_hierarchy_are_counted_together(house):
    rows = [f"{IDS[i]},{IDS[3 + i]}\n" for i in range(3)]
    (house.folder / "h.csv").write_text("code,area\n" + "".join(rows))
    house.hierarchies = [{"name": "areas", "file": "h.csv"}]
    with pytest.raises(IngestionError, match="hold, together, ids of population p"):
        house.load()


ORDINARY = {
    "icd": [f"{c}{i:02}.{j}" for c in "EIJ" for i in range(30) for j in range(10)],
    "atc": [f"{c}{i:02}AB{j:02}" for c in "ABN" for i in range(1, 12) for j in (1, 2)],
    "loinc": [f"{i}-{i % 10}" for i in range(718, 20_000, 7)],
    "ages": [f"{i}-{i + 4}" for i in range(0, 100, 5)] + ["100+"],
    "icd9 blocks": ["001-139", "140-239", "240-279", "280-289", "290-319", "320-389",
                    "390-459", "460-519", "520-579", "580-629"],
    "days": [f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)],
    "german days": [f"{d:02}.{m:02}.2024" for m in range(1, 13) for d in range(1, 29)],
    "clock": [f"{h:02}:{m:02}" for h in range(24) for m in (0, 15, 30, 45)],
    "doses": [f"{i / 4:.2f}" for i in range(1, 200) if i % 4],
    "versions": [f"{i}.{j}.{k}" for i in range(3) for j in range(5) for k in range(5)],
    "towns": [f"{i:05} Town" for i in range(1_067, 99_000, 61)],
    "telephones": [f"030 {i:04}-{i % 89:02}" for i in range(1_000, 9_000, 31)],
    "papers": [f"PMID: {i}" for i in range(1_000, 9_000_000, 9_001)],
    "prices": [f"EUR {i}.{i % 90 + 10}" for i in range(1_000, 9_000, 31)],
    "drugs": [f"{i:05}-{i % 9_000:04}-{i % 97:02}" for i in range(2, 60_000, 61)],
    "departments": ["surgery", "eye clinic", "ward 7 b", "ICU (2)", "x-ray"],
    "texts": [f"stage {i}, see table {i + 1}/{i + 2}" for i in range(50)],
}  # fmt: skip
COINCIDING = {
    "zip codes": [f"{i:05}" for i in range(1_067, 99_000, 61)],
    "years": [str(i) for i in range(1990, 2030)],
    "months": [str(i) for i in range(1, 13)],
    "ends of ranges": [f"{i:,}" for i in range(1_000, 20_000, 250)],
}


def numbered(hospital, unit_type):
    """Have 3,000 patients, numbered from 1."""
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type)
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},,A\n" for i in range(1, 3_001))


@pytest.mark.long
@pytest.mark.parametrize("unit_type", gate_first(1, ["integer", "text"]))
def test_ordinary_tables_are_public_beside_patients_numbered_from_one(
    hospital, unit_type
):
    numbered(hospital, unit_type)
    hospital.more_tables = []
    for number, values in enumerate(ORDINARY.values()):  # each is compared alone
        column = {"name": "code", "type": "text", "source": "a standard"}
        name = f"table_{number}"
        hospital.more_tables.append(
            {"name": name, "files": [f"{name}.csv"], "public": True,
             "columns": [column]}
        )  # fmt: skip
        lines = "".join(f'"{value}"\n' for value in values)
        (hospital.folder / f"{name}.csv").write_text("code\n" + lines)
    assert len(hospital.load().report.tables) == 1 + len(ORDINARY)


@pytest.mark.sampled
@pytest.mark.parametrize("what", COINCIDING)
@pytest.mark.parametrize("unit_type", gate_first(1, ["integer", "text"]))
def test_numbers_that_coincide_are_public_once_that_is_declared(
    hospital, unit_type, what
):
    numbered(hospital, unit_type)
    values = [f'"{value}"' for value in COINCIDING[what]]
    publish(hospital, values)
    with pytest.raises(IngestionError, match="not_unit_ids"):
        hospital.load()
    publish(hospital, values, not_unit_ids=True)
    hospital.load()


def test_numbers_that_coincide_with_nobody_need_no_declaration(hospital):
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in NUMBERS)
    publish(hospital, [value for values in COINCIDING.values() for value in values
                       if "," not in value])  # fmt: skip
    assert hospital.publishes()


def test_a_handful_of_ids_may_be_public(house):
    publish(house, [*IDS[:HANDFUL], *(f"w{i}" for i in range(50))])
    assert house.load().report.tables[1].rows_kept == HANDFUL + 50
    (house.folder / house.target).unlink()
    publish(house, IDS[: HANDFUL + 1])
    with pytest.raises(IngestionError):
        house.load()


def test_one_patient_in_many_spellings_is_no_handful(house):
    publish(house, [spell(IDS[0]) for spell in OTHER_SPELLINGS.values()])
    assert house.publishes()


@pytest.mark.sampled
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


@pytest.mark.parametrize(("keys", "warned"), [({}, 1), ({"not_unit_ids": True}, 0)])
def test_ids_without_their_letters_are_told(house, keys, warned):
    publish(house, [uid[1:] for uid in IDS], **keys)
    said = house.load().report.warnings
    assert len(said) == warned
    assert all("column marks.code holds numbers most of which" in one for one in said)


def test_numbers_of_which_few_are_those_of_ids_are_not_told(house):
    publish(house, [uid[1:] for uid in IDS[:9]] + [str(i) for i in range(10)])
    assert not house.load().report.warnings


def test_a_list_of_values_cannot_name_patients(house):
    house.column("ward", domain={"values": [uid.lower() for uid in IDS]}, source="test")
    with pytest.raises(IngestionError, match=r"the list of stays\.ward holds") as said:
        house.load()
    assert "unit_column" not in str(said.value)
    assert "Leave it out" in str(said.value)


@pytest.mark.parametrize("what", ["codes", "level area"])
def test_a_hierarchy_cannot_name_patients(house, what):
    header, named = "code,area\n", enumerate(IDS)
    rows = [f"{uid},x\n" if what == "codes" else f"c{i},{uid}\n" for i, uid in named]
    (house.folder / "h.csv").write_text(header + "".join(rows))
    house.hierarchies = [{"name": "areas", "file": "h.csv"}]
    holds = "hold" if what == "codes" else "holds"
    told = f"the {what} of hierarchy areas {holds} ids"
    with pytest.raises(IngestionError, match=told) as said:
        house.load()
    assert "unit_column" not in str(said.value)


def known(ids):
    """Return what the overlap file of a population of these ids holds."""
    key = derive_keys(SECRET).population
    forms = {form for uid in ids for form in (uid, *id_forms(uid))}
    return KnownUnits(b"".join(sorted(population_id(key, form) for form in forms)))


@pytest.mark.sampled
@pytest.mark.parametrize("spelled", OTHER_SPELLINGS)
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
    hospital.surroundings = Surroundings(own=known(people))
    with pytest.raises(IngestionError):
        hospital.load()


def test_patients_of_other_populations_are_noted_and_not_told(hospital):
    publish(hospital, IDS)
    others = {"pupils": known(IDS), "staff": known(["X1", "X2"])}
    hospital.surroundings = Surroundings(others=others)
    assert hospital.load().names_others == ("pupils",)


@pytest.mark.long
def test_patients_of_a_later_load_are_found_in_what_is_public_already(house, tmp_path):
    publish(house, IDS)
    private, house.csv = house.csv, "pid,day,ward\nX1,,A\n"
    house.load()
    schema = dataset_from_json(dataset_to_json(house.manifest().schema()))
    earlier = EarlierSnapshot(
        house.folder / house.target, Declared(schema, frozenset())
    )
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
