"""What a linkage loads beside its tables: public files, which stay what they are."""

import duckdb
import pytest

from privacy.errors import InvalidOptionError
from tests.effort import gate_first
from tests.support.linking import copied, of_page, write_unlinked


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The folder of an installation with exports, where nothing was linked."""
    return write_unlinked(tmp_path_factory.mktemp("bare"))


@pytest.fixture
def linking(bare, tmp_path):
    with copied(bare, tmp_path) as found:
        yield found


def wards(folder, path, pattern=None):
    """Write a public table of two wards; return how it is declared."""
    file = folder / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("code,label\nw1,north\nw2,south\n")
    names = ("code", "label")
    return {
        "name": "wards",
        "public": True,
        "files": [pattern or path],
        "columns": [{"name": name, "type": "text"} for name in names],
        "source": "list of wards",
    }


def with_tables(linking, *tables):
    load = of_page("patients.yaml")["load"]
    return linking.write(load={**load, "tables": list(tables)})


def page_tables():
    return of_page("patients.yaml")["load"]["tables"]


def stored(linking, told):
    """Return the rows of each table of a loaded snapshot."""
    path = linking.services.settings.snapshots / f"{told['snapshot']}.duckdb"
    with duckdb.connect(str(path), read_only=True) as connection:
        names = ("admissions", "laboratory", "wards")
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in names
        }


@pytest.mark.parametrize(
    ("path", "pattern"),
    gate_first(1, [("linked/admissions.csv", None), ("lists/wards.csv", "l*/*.csv")]),
)
def test_no_public_file_stands_for_a_table_with_unit_keys(linking, path, pattern):
    with_tables(linking, *page_tables(), wards(linking.folder, path, pattern))
    rows = stored(linking, linking.link())
    assert rows["wards"] == 2
    assert min(rows["admissions"], rows["laboratory"]) > 200


@pytest.mark.long
def test_a_public_pattern_does_not_lead_to_tables_with_unit_keys(linking):
    path = "lists/wards.csv"
    table = wards(linking.folder, path)
    table["files"] = [path, "../linked/*.csv"]
    with_tables(linking, *page_tables(), table)
    told = linking.run("linkage.link", linkage="patients.yaml")
    assert told["state"] == "failed"
    assert "../linked/admissions.csv: lies outside the import folder" in told["error"]


def test_a_table_of_a_source_is_not_public(linking):
    admissions, _ = page_tables()
    public = {**wards(linking.folder, "wards.csv"), "name": "laboratory"}
    with_tables(linking, admissions, public)
    said = "laboratory is a source of the linkage"
    with pytest.raises(InvalidOptionError, match=said):
        linking.submit("linkage.link", linkage="patients.yaml")


def test_a_table_of_a_source_names_no_files(linking):
    admissions, laboratory = page_tables()
    with_tables(linking, {**admissions, "files": ["other.csv"]}, laboratory)
    with pytest.raises(InvalidOptionError, match="leave out its files"):
        linking.submit("linkage.link", linkage="patients.yaml")
