"""Ids of a linkage's sources are compared as unit ids are, with all that is public."""

import csv

import pytest
import yaml

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.errors import CommandRefusedError
from tests.effort import gate_first
from tests.support.linking import copied, of_page, write_unlinked
from upstream.errors import IngestionError


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The folder of an installation with exports, where nothing was linked."""
    return write_unlinked(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def linked(bare, tmp_path_factory):
    """A copy of it whose exports were linked and loaded."""
    folder = tmp_path_factory.mktemp("linked") / "copy"
    with copied(bare, folder) as found:
        found.link()
    return folder


@pytest.fixture(params=["bare", "linked"])
def either(request, tmp_path):
    with copied(request.getfixturevalue(request.param), tmp_path) as found:
        yield found


@pytest.fixture
def before(bare, tmp_path):
    with copied(bare, tmp_path) as found:
        yield found


@pytest.fixture
def after(linked, tmp_path):
    with copied(linked, tmp_path) as found:
        yield found


def ids_of(folder, file, column, delimiter=",", encoding="utf-8"):
    with (folder / file).open(newline="", encoding=encoding) as opened_file:
        rows = csv.DictReader(opened_file, delimiter=delimiter)
        return list(dict.fromkeys(row[column] for row in rows))


def numbers(folder):
    """Return the hospital numbers of the admissions."""
    return ids_of(folder, "admissions.csv", "patient_no", ";", "windows-1252")


def samples(folder):
    """Return the ids of the laboratory."""
    return ids_of(folder, "laboratory.csv", "lab_id")


def public(folder, values, name="codes", header="code", kind="text"):
    """Write a public table of some values; return how it is declared."""
    told = "\n".join(map(str, (header, *values)))
    (folder / f"{name}.csv").write_text(told + "\n")
    column = {"name": header, "type": kind}
    return {
        "name": name,
        "public": True,
        "files": [f"{name}.csv"],
        "columns": [column],
        "source": "list of codes",
    }


def with_tables(linking, *more):
    """Write the page's linkage with more tables."""
    load = of_page("patients.yaml")["load"]
    return linking.write(load={**load, "tables": [*load["tables"], *more]})


def manifest(folder, population, ids, *more):
    """Write a plain manifest of a table of these ids, and other tables."""
    rows = "".join(f"{one},north\n" for one in ids)
    (folder / "visits.csv").write_text("pid,ward\n" + rows)
    declared = of_page("patients.yaml")["load"]
    limits = {**declared["population"], "id": population, "unit_type": "text"}
    if population == declared["population"]["id"]:
        limits = {**declared["population"], "epsilon_cap": "100000"}
    visits = {
        "name": "visits",
        "files": ["visits.csv"],
        "unit_column": "pid",
        "max_rows_per_unit": 5,
        "source": "test protocol",
        "columns": [
            {"name": "pid", "type": limits["unit_type"], "nullable": False},
            {
                "name": "ward",
                "type": "text",
                "domain": {"values": ["north", "south"]},
                "source": "list of wards",
            },
        ],
    }
    told = {
        **declared,
        "population": limits,
        "dataset": f"plain_{population}",
        "tables": [visits, *more],
    }
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump(told))
    return path


def load(linking, path, **choices):
    service = LoadService(linking.services, "local:test")
    return service.load(path, LoadChoices(**choices))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("found", gate_first(1, [numbers, samples]))
def test_a_public_table_of_a_source_s_ids_is_refused_in_a_linked_load(either, found):
    with_tables(either, public(either.folder, found(either.folder)[:200]))
    told = either.run("linkage.link", linkage="patients.yaml")
    assert told["state"] == "failed"
    assert "the column codes.code holds ids of" in told["error"]


@pytest.mark.long
def test_a_handful_of_a_source_s_ids_is_let_pass(before):
    values = [*numbers(before.folder)[:5], *(f"w{n}" for n in range(50))]
    with_tables(before, public(before.folder, values))
    assert before.link()["snapshot"]


@pytest.mark.long
def test_a_public_file_with_a_source_s_column_of_ids_is_refused(before):
    with_tables(before, public(before.folder, ["w1"], header="patient_no"))
    told = before.run("linkage.link", linkage="patients.yaml")
    assert "the file has the column 'patient_no'" in told["error"]


def test_a_later_public_table_of_a_source_s_ids_is_refused(after):
    codes = public(after.folder, numbers(after.folder)[:200])
    others = range(10**6, 10**6 + 60)
    with pytest.raises(IngestionError, match=r"codes\.code holds ids of population"):
        load(after, manifest(after.folder, "people", others, codes))


def test_people_of_a_linkage_are_not_loaded_by_number_elsewhere(after):
    path = manifest(after.folder, "others", numbers(after.folder)[:100])
    with pytest.raises(CommandRefusedError, match="some of these units are in"):
        load(after, path)
    strangers = [f"X{n}" for n in range(100)]
    told = load(
        after,
        manifest(after.folder, "others", strangers),
        override_overlap=True,
        reason="others",
    )
    assert told["snapshot"]


@pytest.mark.long
def test_people_who_were_loaded_by_number_are_not_linked_elsewhere(before):
    load(before, manifest(before.folder, "others", samples(before.folder)[:100]))
    before.write()
    told = before.run("linkage.link", linkage="patients.yaml")
    assert told["state"] == "failed"
    assert "some of these units are in population 'others' too" in told["error"]


@pytest.mark.long
def test_the_same_records_are_not_linked_in_two_populations(after):
    load_of_page = of_page("patients.yaml")["load"]
    limits = {**load_of_page["population"], "id": "others"}
    other = {**load_of_page, "population": limits, "dataset": "elsewhere"}
    path = after.write(population="others", linkage="again", load=other)
    after.create_population(path)
    told = after.run("linkage.link", linkage="patients.yaml")
    assert told["state"] == "failed"
    assert "some of these units are in population 'people' too" in told["error"]


@pytest.mark.long
def test_the_same_linkage_is_loaded_again_and_again(after):
    after.write()
    assert after.link()["snapshot"]


@pytest.mark.long
def test_two_people_of_one_number_in_two_sources_are_not_called_alike(after):
    after.write()
    (after.folder / "laboratory.csv").write_text(
        (after.folder / "laboratory.csv")
        .read_text()
        .replace(samples(after.folder)[0], numbers(after.folder)[-1])
    )
    warnings = after.link()["report"]["warnings"]
    assert not [one for one in warnings if "ids that differ" in one]
