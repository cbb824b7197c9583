"""Names are public too; and what is split over many lists and tables counts as one."""

import sqlite3
import zipfile
from contextlib import closing

import pytest

from privacy.coincidences import names_in_files
from privacy.schema_json import dataset_from_json, dataset_to_json
from tests.effort import gate_first
from tests.support.workbooks import write_workbook
from tests.unit.upstream.public_check.test_published_ids import IDS, NUMBERS, known
from upstream.errors import IngestionError
from upstream.files.exports.database_tables import declared_table
from upstream.files.exports.databases import names_of_database
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import DatabaseSpec
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import HANDFUL, Declared, EarlierSnapshot


@pytest.fixture
def house(hospital):
    """Stays of twenty patients with text ids."""
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    stays(hospital, IDS)
    return hospital


def stays(hospital, ids):
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ids)


def matrix(hospital, headers, name=str.lower, **keys):
    """Have a public table with a column for each header."""
    columns = [
        {"name": name(one), "from": one, "type": "integer", **keys} for one in headers
    ]
    gene = {"name": "gene", "type": "text"}
    hospital.more_tables = [
        {"name": "matrix", "files": ["matrix.csv"], "public": True, "source": "test",
         "columns": [gene, *columns]}
    ]  # fmt: skip
    rows = ",".join(["gene", *headers]), ",".join(["g1", *("1" for _ in headers)])
    (hospital.folder / "matrix.csv").write_text("\n".join(rows) + "\n")


def copies(hospital, names, values=None):
    """Have private columns of these names, each with the list at its place."""
    for place, name in enumerate(names):
        keys = {"from": "ward", "type": "text", "source": "test"}
        if values is not None:
            keys["domain"] = {"values": values[place]}
        hospital.column(name, **keys)


def refusal(hospital):
    with pytest.raises(IngestionError) as refused:
        hospital.load()
    (problem,) = refused.value.problems
    assert not any(uid.lower() in problem.sentence.lower() for uid in IDS)
    return problem.sentence


def test_a_table_with_a_column_for_each_patient_cannot_be_public(house):
    matrix(house, IDS)
    said = refusal(house)
    assert said.startswith("the column names of matrix hold ids of population p, more")
    assert "a row for each, with a unit column" in said
    matrix(house, IDS[:HANDFUL])
    house.load()


def test_what_the_file_of_a_public_table_calls_its_columns_counts(house):
    letters = {uid: f"c_{chr(97 + at)}" for at, uid in enumerate(IDS)}
    matrix(house, IDS, letters.__getitem__)
    assert "the column names of matrix hold ids" in refusal(house)


@pytest.mark.parametrize("place", [0, 1])
def test_so_does_each_name_of_several(house, place):
    few_digits = [str(number) for number in range(11, 31)]
    stays(house, few_digits)
    letters = {uid: f"c_{chr(97 + at)}" for at, uid in enumerate(few_digits)}
    matrix(house, few_digits, letters.__getitem__)
    for column in house.more_tables[0]["columns"][1:]:
        names = [column["from"], f"score {column['name']}"]
        column["from"] = names if place == 0 else names[::-1]
    assert "the column names of matrix hold ids" in refusal(house)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["pat_{}", "c_{}", "p{}", "of_{}_day"])
def test_numbers_in_names_of_columns_are_found(hospital, name):
    stays(hospital, NUMBERS)
    copies(hospital, map(name.format, NUMBERS))
    assert "the column names of stays hold ids" in refusal(hospital)


@pytest.mark.long
def test_numbers_that_name_columns_of_a_public_file_are_declared(hospital):
    stays(hospital, range(1, 21))
    matrix(hospital, [f"{day:02}" for day in range(1, 13)], "d_{}".format)
    assert "not_unit_ids" in refusal(hospital)
    matrix(hospital, [f"{day:02}" for day in range(1, 13)], "d_{}".format,
           not_unit_ids=True)  # fmt: skip
    hospital.load()


def test_private_columns_may_not_be_named_after_patients(house):
    copies(house, [f"{uid.lower()}" for uid in IDS])
    assert "the column names of stays hold ids" in refusal(house)


def test_tables_may_not_be_named_after_patients(house):
    """One table for each patient, from one file for each."""
    code = {"name": "code", "type": "text"}
    house.more_tables = [
        {"name": uid.lower(), "files": [f"{uid}.csv"], "public": True, "source": "test",
         "columns": [code]}
        for uid in IDS[:6]
    ]  # fmt: skip
    for uid in IDS[:6]:
        (house.folder / f"{uid}.csv").write_text("code\nx\n")
    assert "the names of tables hold ids" in refusal(house)


def test_a_public_table_cannot_be_read_from_a_file_for_each_patient(house):
    for at, uid in enumerate(IDS[:6]):
        (house.folder / f"gene_{uid}.csv").write_text(f"code\nx{at}\n")
    columns = [{"name": "code", "type": "text"}]
    house.more_tables = [
        {"name": "genes", "files": ["gene_*.csv"], "public": True, "source": "test",
         "columns": columns}
    ]  # fmt: skip
    assert "the files' names and folders of genes hold ids" in refusal(house)
    (house.folder / f"gene_{IDS[0]}.csv").unlink()
    house.load()


def public_genes(house, file, **how):
    house.more_tables = [
        {"name": "genes", "files": [file], "public": True, "source": "test",
         "columns": [{"name": "code", "type": "text"}], **how}
    ]  # fmt: skip


def write_sheets(path, names, first=0):
    sheets = {name: [["code"], [f"x{at}"]] for at, name in enumerate(names, first)}
    write_workbook(path, sheets)


def test_a_public_table_cannot_be_read_from_a_sheet_for_each_patient(house):
    write_sheets(house.folder / "genes.xlsx", IDS[:6])
    public_genes(house, "genes.xlsx", excel={"sheet": IDS[:6]})
    assert "the files' names and folders of genes hold ids" in refusal(house)
    public_genes(house, "genes.xlsx", excel={"sheet": IDS[:5]})
    house.load()


def test_nor_from_workbooks_whose_only_sheet_is_called_so(house):
    for at, uid in enumerate(IDS[:6]):
        write_sheets(house.folder / f"gene_{at}.xlsx", [uid], at)
    public_genes(house, "gene_*.xlsx")
    assert "the files' names and folders of genes hold ids" in refusal(house)


@pytest.mark.parametrize("inside", ["{}.csv", "{}/r.csv"])
def test_nor_from_archives_whose_member_is_called_so(house, inside):
    for at, uid in enumerate(IDS[:6]):
        with zipfile.ZipFile(house.folder / f"gene_{at}.zip", "w") as archive:
            archive.writestr(inside.format(uid), f"code\nx{at}\n")
    public_genes(house, "gene_*.zip")
    assert "the files' names and folders of genes hold ids" in refusal(house)


@pytest.mark.parametrize("path", ["{}.sqlite", "d/{}/genes.sqlite"])
def test_nor_from_databases_whose_files_are_called_so(house, path):
    tables = []
    for at, uid in enumerate(IDS[:6]):
        file = house.folder / path.format(uid)
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE labs (code TEXT)")
            database.execute("INSERT INTO labs VALUES (?)", [f"x{at}"])
            database.commit()
        url = f"sqlite:///{path.format(uid)}"
        tables.append(
            {"name": f"genes_{at}", "database": {"url": url, "table": "labs"},
             "public": True, "source": "test",
             "columns": [{"name": "code", "type": "text"}]}
        )  # fmt: skip
    house.more_tables = tables
    assert "the files' names and folders of genes_0 and" in refusal(house)
    house.more_tables = tables[:5]
    house.load()


def from_files(hospital, pattern, paths):
    """Have a public table from a file at each path."""
    for at, path in enumerate(paths):
        file = hospital.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"code\nx{at}\n")
    hospital.more_tables = [
        {"name": "genes", "files": [pattern], "public": True, "source": "test",
         "columns": [{"name": "code", "type": "text"}]}
    ]  # fmt: skip


FOLDERS = ["s/sub-{}/r.csv", "s/{}/2024/r.csv", "{}/s/r.csv", "s/pid={}/a/r.csv"]


@pytest.mark.sampled
@pytest.mark.parametrize("path", FOLDERS)
def test_a_public_table_cannot_be_read_from_a_folder_for_each_patient(house, path):
    from_files(house, path.format("*"), map(path.format, IDS))
    assert "the files' names and folders of genes hold ids" in refusal(house)


def test_a_folder_for_each_patient_may_not_lie_behind_links(house):
    from_files(house, "shown/*/*.csv", [f"kept/{at}/r.csv" for at in range(20)])
    for at, uid in enumerate(IDS):
        (house.folder / "shown").mkdir(exist_ok=True)
        (house.folder / "shown" / uid).symlink_to(house.folder / "kept" / str(at))
    assert "the files' names and folders of genes hold ids" in refusal(house)


@pytest.mark.parametrize("path", ["s/{}.csv", "s/{}/r.csv"])
def test_files_and_folders_that_are_numbers_of_patients_are_found(hospital, path):
    stays(hospital, range(1, 30))
    from_files(hospital, path.format("*"), map(path.format, range(1, 30)))
    assert "the files' names and folders of genes hold ids" in refusal(hospital)


@pytest.mark.long
@pytest.mark.parametrize("path", ["s/{}/r.csv", "s/y={}/r.csv", "s/{}.csv"])
def test_a_folder_for_each_year_or_day_is_public_beside_numbered_patients(
    hospital, path
):
    stays(hospital, range(1, 20_001))
    from_files(hospital, path.format("*"), map(path.format, range(2_001, 2_020)))
    assert hospital.publishes()
    (hospital.folder / hospital.target).unlink()
    days = [f"202401{day:02}" for day in range(1, 32)]
    stays(hospital, range(10_000_000, 90_000_000, 40_009))
    from_files(hospital, path.format("2024*"), map(path.format, days))
    assert hospital.publishes()


@pytest.mark.long
def test_an_approval_binds_to_the_folders_of_a_public_table(house):
    from_files(house, "s/*/r.csv", ["s/north/r.csv"])
    before = house.load().not_stored
    (house.folder / house.target).unlink()
    (house.folder / "s" / "north").rename(house.folder / "s" / "south")
    assert house.load().not_stored != before


def test_levels_may_not_be_named_after_patients(house):
    levels = [uid.lower() for uid in IDS[:6]]
    rows = [["code", *levels], ["a", *("x" for _ in levels)]]
    (house.folder / "h.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    house.hierarchies = [{"name": "areas", "file": "h.csv"}]
    assert "the level names of hierarchy areas hold ids" in refusal(house)


@pytest.mark.long
def test_questions_are_no_patients(house):
    ids = [f"Q{number}" for number in range(1, 60)]
    stays(house, ids)
    copies(house, map(str.lower, ids))
    assert house.report().units == len(ids)


def test_names_are_found_by_keyed_hashes_and_of_other_populations(hospital):
    matrix(hospital, IDS)
    hospital.surroundings = Surroundings(own=known(IDS))
    assert "the column names of matrix hold ids" in refusal(hospital)
    hospital.surroundings = Surroundings(others={"pupils": known(IDS)})
    assert hospital.load().names_others == ("pupils",)


def earlier(hospital):
    """Load what is declared, and return it as another dataset's snapshot."""
    hospital.load()
    manifest = hospital.manifest()
    schema = dataset_from_json(dataset_to_json(manifest.schema()))
    headers = names_in_files(manifest.model_dump(mode="json", by_alias=True))
    declared = Declared(schema, frozenset(), headers)
    snapshot = EarlierSnapshot(hospital.folder / hospital.target, declared)
    hospital.surroundings = Surroundings(snapshots={"genes": snapshot})
    hospital.target, hospital.more_tables = "later.duckdb", []


@pytest.mark.long
@pytest.mark.parametrize("shown", ["names", "files' names"])
def test_patients_of_a_later_load_are_found_in_names_that_are_public(house, shown):
    stays(house, ["X1"])
    letters = {uid: f"c_{chr(97 + at)}" for at, uid in enumerate(IDS)}
    matrix(house, IDS, str.lower if shown == "names" else letters.__getitem__)
    earlier(house)
    stays(house, IDS)
    assert "column names of matrix hold ids of these units in dataset" in refusal(house)


SPLIT = {
    "codes": (IDS, str),
    "numbers": (NUMBERS, str),
    "in texts": (IDS, "scan of {}.pdf".format),
    "words": ([f"anna {chr(97 + n)}berg" for n in range(20)], str.title),
}


@pytest.mark.sampled
@pytest.mark.parametrize("what", SPLIT)
def test_a_handful_in_each_of_some_lists_is_more_than_a_handful(house, what):
    ids, spell = SPLIT[what]
    stays(house, ids)
    told = [spell(uid) for uid in ids[:8]]
    copies(house, ["one"], [[*told[:4], "north", "south", "w1", "w12"]])
    house.load()
    (house.folder / house.target).unlink()
    copies(house, ["two"], [[*told[4:], "east", "w3"]])
    said = refusal(house)
    assert said.startswith("the list of stays.one and the list of stays.two hold, toge")


@pytest.mark.long
def test_lists_tables_hierarchies_and_names_count_as_one(house):
    copies(house, [IDS[0].lower()])
    copies(house, ["first"], [[IDS[1], IDS[2]]])
    (house.folder / "h.csv").write_text(f"code,area\n{IDS[3]},x\n")
    house.hierarchies = [{"name": "areas", "file": "h.csv"}]
    matrix(house, [IDS[4]])
    house.load()
    (house.folder / house.target).unlink()
    (house.folder / "matrix.csv").write_text(f"gene,{IDS[4]}\n{IDS[5]},1\n")
    assert "hold, together, ids of population p" in refusal(house)


@pytest.mark.long
def test_what_is_split_is_found_in_another_dataset_and_of_others(house):
    stays(house, ["X1"])
    copies(house, ["one", "two"], [IDS[:5], IDS[5:10]])
    house.surroundings = Surroundings(others={"pupils": known(IDS)})
    assert house.load().names_others == ("pupils",)
    (house.folder / house.target).unlink()
    earlier(house)
    stays(house, IDS)
    del house.columns[3:]
    assert "these units in dataset genes" in refusal(house)


@pytest.mark.long
@pytest.mark.parametrize("unit_type", gate_first(1, ["integer", "text"]))
def test_ordinary_codes_split_over_lists_are_public_beside_numbered_patients(
    hospital, unit_type
):
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type)
    stays(hospital, range(1, 3_001))
    lists = [list(range(first, first + 5)) for first in range(0, 60, 5)]
    lists += [list(range(year, year + 5)) for year in range(1_990, 2_020, 5)]
    lists += [[code + shift for code in (1_067, 4_103, 20_095, 80_331, 99_084)]
              for shift in range(5)]  # fmt: skip
    for number, values in enumerate(lists):
        copies(hospital, [f"item_{number}"], [list(map(str, values))])
    texts = [[f"S{n}", f"E1{n}.9", f"{n}-{n + 4}", f"v{n}.0"] for n in range(10)]
    copies(hospital, [f"text_{n}" for n in range(10)], texts)
    assert hospital.report().units == 3_000


def test_decimals_that_are_public_name_patients_of_a_later_load(house):
    ids = [f"2019.{n:03}0" for n in range(11, 99)]
    (house.folder / "cases.csv").write_text("casenr\n" + "\n".join(ids) + "\n")
    number = {"name": "casenr", "type": "decimal", "scale": 4}
    house.more_tables = [
        {"name": "cases", "files": ["cases.csv"], "public": True, "source": "test",
         "columns": [number]}
    ]  # fmt: skip
    earlier(house)
    stays(house, ids)
    said = refusal(house)
    assert said.startswith("the column cases.casenr holds ids of these units in datase")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///?dbname=p4711",
        "postgresql://h/db?options=-csearch_path%3Dp4711",
        "postgresql://h/db?service=p4711",
        "oracle+oracledb://h/?service_name=p4711",
        "postgresql://p4711@h/db",
        "postgresql://p4711/db",
        "postgresql://h/p4711",
        "sqlite:///a/p4711/b.sqlite",
    ],
)
def test_all_that_chooses_a_database_is_a_name(tmp_path, url):
    read = DatabaseSpec(url=url, table="x")
    columns = [{"name": "code", "type": "text"}]
    table = TableSpec(
        name="t", public=True, source="test", database=read, columns=columns
    )
    source = declared_table(table, read)
    assert "p4711" in names_of_database(source, tmp_path)
