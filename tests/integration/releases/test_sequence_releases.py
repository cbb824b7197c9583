"""Sequences, from a spec to signed files: charged once, whole, and verifiable."""

import csv
import io
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from budget.ledger import Scope
from privacy.errors import InvalidOptionError
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from release.store.opening import open_release, problems_in
from server.use_cases.publishing.published import file_problems, published
from server.use_cases.publishing.specs import SpecRefusedError, plan_release, read_spec
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import Installation
from tests.support.installations.publishing import OPERATOR, Press, paths, spec
from tests.support.noise.samplers import ZeroVectorSampler

BY_SEX = {"column": "sex"}
VISITS = {"every": "1 month", "start": "first", "take": "count", "bins": [2, 3]}


@pytest.fixture
def quick(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    return made


@pytest.fixture
def press(quick):
    return Press(quick)


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """Where nothing is ever published: what is refused leaves no trace."""
    made = Installation(tmp_path_factory.mktemp("refusing")).create()
    made.load()
    return Press(made)


@pytest.fixture
def exact(quick):
    return Press(quick, ZeroVectorSampler)


def listed(folder):
    """Return the estimate of each path, by split and symbols."""
    rows = csv.DictReader(io.StringIO((folder / "tree.csv").read_text("utf-8")))
    found, ways = {}, {}
    for row in rows:
        above = ways.get(row["parent"], ())
        ways[row["path"]] = own = (*above, row["symbol"])
        found[(row.get("split"), own[1:])] = float(row["estimate"])
    return found


def test_sequences_are_published_whole_and_charged_once(exact):
    job = exact.publish(paths(split=BY_SEX, epsilon="5"))
    assert job["state"] == "done", job
    result = job["result"]
    assert (result["symbols"], result["max_length"], result["trees"]) == (4, 3, 2)
    (folder,) = exact.folders()
    assert problems_in(folder) == []
    manifest = open_release(folder).manifest
    assert manifest["kind"] == "sequences"
    assert manifest["alphabet"]["values"] == ["north", "south", "other", None]
    assert manifest["split"]["values"] == ["F", "M"]
    assert (manifest["order"], manifest["max_length"]) == ("day", 3)
    assert "price of one" in manifest["derivation"][-1]
    assert sum(Decimal(part["epsilon"]) for part in manifest["parts"]) == 5
    with exact.services() as services:
        assert str(services.ledger.spent(Scope.population("people"))) == "5"
    with exact.services() as services:
        assert file_problems(services) == []
    with exact.service() as service:
        assert service.verify(OPERATOR, "paths")["ok"]


def test_without_noise_the_tree_is_that_of_the_rows(exact):
    exact.publish(paths(split=BY_SEX, epsilon="3000"))
    (folder,) = exact.folders()
    found = listed(folder)
    # of units 1-100: ward by the number modulo 3, one visit more than its remainder
    assert round(found[("F", ("north", "(end)"))]) == 16
    assert round(found[("M", ("north", "(end)"))]) == 17
    assert round(found[("F", ("south", "south", "(end)"))]) == 17
    assert round(found[("F", ("other", "other", "other"))]) == 17
    assert ("F", ("other", "(end)")) not in found


def test_periods_are_told_in_the_manifest_and_read_from_the_rows(exact):
    told = paths(symbol=None, periods=VISITS, epsilon="3000", max_length=2)
    assert exact.publish(told)["state"] == "done"
    (folder,) = exact.folders()
    manifest = open_release(folder).manifest
    assert manifest["periods"]["every"] == "1 month"
    assert manifest["alphabet"]["values"] == ["<2", "2-<3", ">=3", None]
    found = listed(folder)
    assert round(found[(None, ("<2", "(end)"))]) == 33
    assert round(found[(None, ("2-<3", "(end)"))]) == 34
    assert round(found[(None, (">=3", "(end)"))]) == 33


def test_a_listed_number_that_the_model_does_not_say_is_found(exact):
    exact.publish(paths(epsilon="3000"))
    (folder,) = exact.folders()
    content = (folder / "tree.csv").read_bytes()
    (folder / "tree.csv").write_bytes(content.replace(b"north", b"nurth", 1))
    assert problems_in(folder) == ["tree.csv was changed"]


def test_a_plan_tells_alphabet_parts_and_price_and_charges_nothing(press):
    with press.planner() as planner:
        planned = planner.plan(OPERATOR, {"release": paths(split=BY_SEX)})
    assert planned["alphabet"] == {"name": "ward", "values": 4, "expression": "ward"}
    assert planned["split"]["values"] == 2
    assert (planned["kind"], planned["affordable"]) == ("sequences", True)
    assert sum(Decimal(part["epsilon"]) for part in planned["parts"]) == Decimal("0.5")
    assert "prefix_tree" in {one["strategy"] for one in planned["expected_errors"]}
    assert not press.folders()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"kind": "tree"}, ("kind",)),
        ({"kind": None}, ("kind",)),
        ({"symbol": None}, ()),
        ({"periods": VISITS}, ()),
        ({"colour": "red"}, ("colour",)),
        ({"max_length": 0}, ("max_length",)),
        ({"max_length": 1_001}, ("max_length",)),
        ({"order": "ward"}, ("order",)),
        ({"order": "patient_id"}, ("order",)),
        ({"order": "never"}, ("order",)),
        ({"symbol": {"column": "note"}}, ("symbol",)),
        ({"symbol": {"column": "ward", "bins": 2, "bands": 3}}, ("symbol",)),
        ({"split": {"column": "ward"}}, ("split",)),
        ({"split": {"column": "age", "bands": 10}}, ("split",)),
        ({"from": "visits; DROP"}, ("from",)),
        ({"where": "age > 3 GROUP BY sex"}, ("from",)),
        ({"bounds": {"max_groups_per_unit": 2}}, ("bounds",)),
        ({"bounds": {"tables": {"nowhere": 2}}}, ("bounds",)),
        ({"strategy": "cells"}, ("strategy",)),
        ({"parameters": {"height": 9}}, ("strategy",)),
        ({"epsilon": "0.000000001"}, ("strategy",)),
    ],
)
def test_a_spec_that_does_not_fit_is_refused_with_its_place(refusing, change, place):
    given = {"release": paths(**change)}
    with (
        refusing.services() as services,
        services.databases.reader.connect() as connection,
        pytest.raises(SpecRefusedError) as caught,
    ):
        plan_release(connection, read_spec(given), Target(DUCKDB))
    assert caught.value.place == ("release", *place)


@pytest.mark.parametrize(
    "change",
    [
        {"every": "1 fortnight"},
        {"every": 7},
        {"every": "0 days"},
        {"start": "2024"},
        {"start": 7},
        {"take": "median"},
        {"take": "max"},
        {"of": "age"},
        {"take": "max", "of": "note"},
        {"take": "max", "of": "patient_id"},
        {"take": "max", "of": "never"},
        {"bins": [3, 2]},
        {"bins": []},
        {"bins": ["x"]},
        {"bins": ["NaN"]},
        {"bins": ["0.0000000001"]},
        {"bins": ["1e30"]},
    ],
)
def test_periods_that_do_not_fit_are_refused_with_their_place(refusing, change):
    given = {"release": paths(symbol=None, periods={**VISITS, **change})}
    with (
        refusing.services() as services,
        services.databases.reader.connect() as connection,
        pytest.raises(SpecRefusedError) as caught,
    ):
        plan_release(connection, read_spec(given), Target(DUCKDB))
    assert caught.value.place[:2] == ("release", "periods")


def test_every_form_of_a_spec_reads_back_the_same():
    forms = [
        paths(),
        paths(split=BY_SEX, where="age > 3", bounds={"max_rows_per_unit": 2}),
        *(
            paths(symbol=None, periods={**VISITS, **change})
            for change in (
                {"every": "2 weeks", "start": "2024-01-01"},
                {"every": "1 year", "take": "average", "of": "age"},
                {"every": 10, "start": 0, "name": "load"},
            )
        ),
    ]
    for told in forms:
        read = read_spec({"release": told})
        again = read_spec({"release": json.loads(read.canonical_json())})
        assert again == read
        assert read.request() == again.request()


def test_a_withdrawn_release_is_not_read_and_its_name_stays_taken(press):
    press.publish(paths())
    with press.service() as service:
        withdrawn = service.withdraw(OPERATOR, "paths", "a wrong cohort")
        assert withdrawn["state"] == "withdrawn"
        assert withdrawn["manifest"]["kind"] == "sequences"
        with pytest.raises(CommandRefusedError):
            service.withdraw(OPERATOR, "paths", "again")
    with pytest.raises(InvalidOptionError, match="another name"):
        press.publish(paths())


def test_over_http_a_refused_spec_is_an_invalid_request(press):
    viewer = replace(OPERATOR, populations=frozenset({"people"}))
    with press.planner() as planner, pytest.raises(InvalidOptionError) as caught:
        planner.plan(viewer, {"release": paths(split={"column": "ward"})})
    assert "may vary within one patient" in str(caught.value)


def test_a_cube_and_a_tree_of_one_table_are_two_charges(press):
    press.publish(spec(epsilon="0.25"))
    press.publish(paths(epsilon="0.75"))
    with press.services() as services:
        assert str(services.ledger.spent(Scope.population("people"))) == "1"
    with press.services() as services:
        assert len(published(services)) == 2
        assert file_problems(services) == []
