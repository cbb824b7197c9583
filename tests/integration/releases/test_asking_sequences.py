"""A published tree of paths is asked over HTTP: free, by its readers alone."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from tests.support.data.wards import publish
from tests.support.data.whole_trees import register
from tests.support.installations.harness import Installation, client, serve_in_thread
from tests.support.installations.publishing import Press
from tests.support.noise.samplers import ZeroVectorSampler

WARDS = ("north", "south", "attic")
ROWS = [
    f"{unit},{'FM'[unit % 2]},{20 + unit % 70},{WARDS[(unit + visit * unit) % 3]},"
    f"2024-0{1 + unit % 9}-1{visit},n{unit}"
    for unit in range(1, 101)
    for visit in range(1 + unit % 5)
]
SPEC = {
    "name": "moves",
    "dataset": "clinic",
    "kind": "sequences",
    "strategy": "whole",
    "from": "visits",
    "order": "day",
    "symbol": {"column": "ward"},
    "max_length": 4,
    "split": {"column": "sex"},
    "epsilon": "1",
    "readers": [{"project": "study"}],
}


def paths():
    """Return each unit's sex and wards, cut to four."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for row in ROWS:
        unit, sex, _, ward, *_ = row.split(",")
        known = found.get(unit, (sex, ()))[1]
        shown = "other" if ward == "attic" else ward
        found[unit] = sex, (*known, shown)[:4]
    return list(found.values())


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    register()
    made = Installation(tmp_path_factory.mktemp("sequences")).create()
    made.load(ROWS)
    keys = {"ada": made.analyst(), "bob": made.analyst("bob", "other", allotment="1")}
    ended = Press(made, ZeroVectorSampler).publish(SPEC)
    assert ended["state"] == "done", ended
    ids = {
        "moves": ended["result"]["release"],
        "cube": publish(made, ZeroVectorSampler)["release"],
    }
    with serve_in_thread(made) as url:
        yield url, keys, ids


def asked(clinic, sql, who="ada", **more):
    url, keys, ids = clinic
    with client(url, keys[who]) as http:
        path = f"/v1/releases/{ids['moves']}/queries"
        return http.post(path, json={"sql": sql, **more})


def branch(clinic, who="ada", release="moves", **query):
    url, keys, ids = clinic
    with client(url, keys[who]) as http:
        return http.get(f"/v1/releases/{ids[release]}/tree", params=query)


def test_a_reader_asks_how_many_went_one_way_for_nothing(clinic):
    sql = (
        "SELECT sex, COUNT(*) AS n FROM moves WHERE FIRST_THEN('north', 'other') "
        "GROUP BY sex"
    )
    reply = asked(clinic, sql)

    expected = Counter(
        sex
        for sex, path in paths()
        if "north" in path and "other" in path[path.index("north") + 1 :]
    )
    answer = reply.json()
    assert reply.status_code == 200
    assert answer["price"] == "0"
    assert [row for row in answer["rows"] if row[0] is not None] == [
        [sex, f"{expected[sex]}.000000"] for sex in "FM"
    ]
    assert answer["columns"][1]["unit"] == "patient"
    assert answer["undecided"][0]["rows"][0] == "0.000000"


def test_a_wider_confidence_has_wider_intervals(clinic):
    sql = "SELECT COUNT(*) AS n FROM moves WHERE LENGTH() >= 3"
    usual, surer = (asked(clinic, sql, confidence=c).json() for c in (0.95, 0.999))

    assert usual["rows"] == surer["rows"]
    widths = [float(a["half_widths"][0]["rows"][0]) for a in (usual, surer)]
    assert 0 < widths[0] < widths[1]


def test_runs_are_listed_with_how_often_they_occur(clinic):
    answer = asked(clinic, "SELECT TOP_RUNS(3, 2, 2) FROM release").json()

    counted = Counter(
        f"{one} > {other}" for _, path in paths() for one, other in pairwise(path)
    )
    found = {run: float(count) for run, count in answer["rows"]}
    assert sorted(found.values()) == sorted(n for _, n in counted.most_common(3))
    assert all(counted[run] == count for run, count in found.items())


@pytest.mark.parametrize(
    ("sql", "rule", "column"),
    [
        ("SELECT COUNT(*) FROM moves WHERE HAS_RUN('nroth')", "unknown_symbol", 42),
        ("SELECT COUNT(*) FROM moves WHERE LENGTH() = 9", "past_length", 45),
        ("SELECT COUNT(*) FROM wards", "unknown_table", 22),
        ("SELECT SUM(sex) FROM moves", "sequence_counts", 8),
    ],
)
def test_refusals_tell_rule_place_and_what_to_write(clinic, sql, rule, column):
    reply = asked(clinic, sql)

    problem = reply.json()
    assert (reply.status_code, problem["rule"]) == (422, rule)
    assert problem["column"] == column
    assert problem["hint"]


def test_functions_of_sequences_are_refused_by_cubes_as_ever(clinic):
    url, keys, ids = clinic
    with client(url, keys["ada"]) as http:
        sql = "SELECT COUNT(*) FROM wards WHERE SYMBOL_AT(1) = 'north'"
        reply = http.post(f"/v1/releases/{ids['cube']}/queries", json={"sql": sql})

    assert (reply.status_code, reply.json()["rule"]) == (422, "function")


def test_a_branch_shows_where_its_sequences_go_on(clinic):
    found = branch(clinic, prefix=json.dumps(["north"]), split=json.dumps("F")).json()

    here = [path for sex, path in paths() if sex == "F" and path[0] == "north"]
    expected = Counter(path[1] if len(path) > 1 else None for path in here)
    assert float(found["count"]) == len(here)
    counted = {child["symbol"]: float(child["count"]) for child in found["children"]}
    assert {s: n for s, n in counted.items() if n} == expected
    assert found["children"][-1]["kind"] == "end"


def test_a_branch_without_a_split_takes_all_together(clinic):
    found = branch(clinic, prefix='["north"]').json()

    assert float(found["count"]) == sum(path[0] == "north" for _, path in paths())


@pytest.mark.parametrize(
    "query",
    [
        {"prefix": "north"},
        {"prefix": '{"a": 1}'},
        {"prefix": '["nroth"]'},
        {"split": "F"},
        {"split": '"X"'},
        {"depth": "1"},
    ],
)
def test_a_branch_that_is_not_declared_is_an_invalid_request(clinic, query):
    reply = branch(clinic, **query)

    assert (reply.status_code, reply.json()["type"]) == (422, "invalid_request")


def test_trees_that_are_not_yours_or_not_there_are_the_same_404(clinic):
    _, _, ids = clinic
    ids = {**ids, "absent": "rel_" + "0" * 24}
    absent = branch((*clinic[:2], ids), release="absent")
    strangers = branch(clinic, who="bob")
    cube = branch(clinic, release="cube")

    assert absent.status_code == 404
    assert absent.content == strangers.content == cube.content
    assert asked(clinic, "SELECT COUNT(*) FROM moves", "bob").content == absent.content
