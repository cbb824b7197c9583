"""A load with blocks: each unit is in one, in all rows, tables and snapshots."""

import pytest

from server.use_cases.loading.loading import (
    BLOCKS_LINKED,
    LoadChoices,
    Loader,
    LoadRequest,
)
from server.use_cases.services.errors import CommandRefusedError
from tests.support.enrolment import (
    PATIENTS,
    SITES,
    VISITS,
    Enrolment,
    divided,
    load,
)
from upstream.errors import IngestionError, ManifestError
from upstream.ingestion.ingestion import LinkedTables

GROWN = (*SITES, "west")
ELSEWHERE = ("p1", "north", "F")  # who was at the other site before


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return divided(tmp_path_factory.mktemp("blocks"))


def refused(installation, enrolment, error, told, **choices):
    with pytest.raises(error, match=told):
        load(installation, enrolment, **choices)


def test_a_unit_of_two_blocks_refuses_the_load(installation):
    rows = (*PATIENTS, ("p1", "north", "F"))
    told = "1 unit of the load has no single block: site"
    refused(installation, Enrolment(rows), IngestionError, told)


def test_a_value_that_is_no_block_refuses_the_load(installation):
    rows = (*PATIENTS, ("q1", "west", "F"))
    refused(installation, Enrolment(rows), IngestionError, "site")


def test_a_computed_block_that_is_null_refuses_the_load(installation):
    strange = Enrolment(visits=(*VISITS, ("stranger", 1)))
    refused(installation, strange, IngestionError, "1 unit of the load has no single")


def test_a_unit_that_is_missing_in_the_first_table_refuses_the_load(tmp_path):
    strange = Enrolment(visits=(*VISITS, ("stranger", 1)), tables="[patients]")
    with pytest.raises(
        IngestionError, match="1 unit of the load has no row in patients"
    ):
        divided(tmp_path, strange)


def test_a_unit_in_another_block_than_before_refuses_the_load(installation):
    assert PATIENTS[0][:2] == ("p1", "south")
    rows = (ELSEWHERE, *PATIENTS[1:])
    told = "1 unit of the load was in another block of people before"
    refused(installation, Enrolment(rows), CommandRefusedError, told)
    refused(installation, Enrolment(rows), CommandRefusedError, told, dry_run=True)


def test_so_does_one_in_another_dataset_of_the_population(installation):
    load(
        installation, Enrolment((("n1", "north", "F"),), (("n1", 1),), dataset="other")
    )
    rows = (*PATIENTS, ("n1", "south", "F"))
    visits = (*VISITS, ("n1", 1))
    told = "1 unit of the load was in another block"
    refused(installation, Enrolment(rows, visits), CommandRefusedError, told)
    assert load(installation, Enrolment((*PATIENTS, ("n1", "north", "M")), visits))


def test_a_unit_that_left_and_comes_back_is_still_in_its_block(installation):
    load(installation, Enrolment(PATIENTS[1:], VISITS[2:]))
    rows = (ELSEWHERE, *PATIENTS[1:])
    refused(installation, Enrolment(rows), CommandRefusedError, "another block")
    assert load(installation)["snapshot"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (Enrolment(blocks="", sites=SITES), "has blocks: give them"),
        (Enrolment(tables="[patients]"), "column and tables never change"),
        (Enrolment(sites=("south", "north")), "new values come after"),
        (Enrolment(more="\n  unit_fold: [case]"), "unit_fold of population people"),
    ],
)
def test_what_was_declared_of_blocks_never_changes(installation, changed, told):
    refused(
        installation,
        changed,
        CommandRefusedError,
        told,
        accept_changes=True,
        reason="why not",
    )


def test_a_population_without_blocks_stays_without(tmp_path):
    plain = divided(tmp_path, Enrolment(blocks=""))
    told = "created without blocks, and stays so"
    refused(plain, Enrolment(), CommandRefusedError, told)


def test_a_new_block_needs_two_persons_or_one_who_says_why(installation):
    rows = (*PATIENTS, ("w1", "west", "F"))
    grown = Enrolment(rows, (*VISITS, ("w1", 2)), sites=GROWN)
    refused(installation, grown, CommandRefusedError, "population: blocks|domain")


BROKEN = (
    ({"tables": "[patients, nobody]"}, "nobody, which is no private table"),
    ({"tables": "[visits, patients]"}, "files of visits must have site"),
    ({"tables": "[patients, patients]"}, "a table stands twice"),
)


@pytest.mark.parametrize(("changes", "told"), BROKEN)
def test_a_manifest_whose_blocks_do_not_fit_is_refused(tmp_path, changes, told):
    with pytest.raises(ManifestError, match=told):
        divided(tmp_path, Enrolment(**changes))


WRITTEN = (
    ("values: [north, south]}\n", "values: [south, north]}\n", "same values"),
    ("values: [north, south]}\n", "values: [north, 3]}\n", "all texts or all whole"),
    ("values: [north, south]}\n", "values: [north, north]}\n", "a block stands twice"),
    ("    nullable: false\n", "", "write nullable: false"),
    ("    constant_in_unit: true\n    domain", "    domain", "constant_in_unit"),
    ("column: site", "column: ward", "read from ward, which is no column"),
)


@pytest.mark.parametrize(("old", "new", "told"), WRITTEN)
def test_each_rule_of_the_column_is_told(installation, old, new, told):
    path = Enrolment().write(installation.folder)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with installation.services() as services, pytest.raises(ManifestError, match=told):
        Loader(services, "local:test").load(path, LoadChoices(), LoadRequest())


def test_a_linkage_cannot_load_a_population_with_blocks(installation):
    path = Enrolment().write(installation.folder)
    request = LoadRequest(linked=LinkedTables(installation.folder, path))
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match="cannot be loaded by a linkage"),
    ):
        Loader(services, "local:test").load(path, LoadChoices(), request)
    assert "merging and splitting" in BLOCKS_LINKED
