"""A published cube is asked over HTTP: free, by its readers, and by nobody else."""

import json
from collections import Counter
from datetime import date

import pytest

from tests.support.data.wards import publish
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroVectorSampler

ROWS = [row.split(",") for row in DEFAULT_ROWS]
SQL = (
    "SELECT sex, COUNT(*) AS n FROM wards WHERE age IN ('30-39', '40-49', '50-59') "
    "GROUP BY sex"
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Serve a clinic with a release for one project, and one for everybody."""
    made = Installation(tmp_path_factory.mktemp("releases")).create()
    made.load()
    keys = {
        "ada": made.analyst(),
        "bob": made.analyst("bob", "other", allotment="1"),
    }
    with made.services() as services:
        from server.use_cases.custody.people import PeopleService  # noqa: PLC0415

        service = PeopleService(services, "local:test")
        for name, role in (("eve", "analyst"), ("oda", "auditor"), ("ann", "admin")):
            service.create_principal(name, role)
            keys[name] = service.create_key(name)["key"]
    ids = {
        "granted": publish(made, ZeroVectorSampler)["release"],
        "noisy": publish(made, name="noisy_wards", epsilon="0.5")["release"],
        "public": publish(made, ZeroVectorSampler, name="open", readers="public")[
            "release"
        ],
    }
    with serve_in_thread(made) as url:
        yield made, url, keys, ids


def asked(clinic, who, release, sql=SQL, **more):
    _, url, keys, ids = clinic
    path = f"/v1/releases/{ids.get(release, release)}/queries"
    with client(url, keys[who]) as http:
        return http.post(path, json={"sql": sql, **more})


def test_a_reader_asks_a_release_in_the_same_sql_for_nothing(clinic):
    made, *_ = clinic
    before = made.curator("ledger", "export", "--json").stdout

    reply = asked(clinic, "ada", "granted")

    expected = Counter(row[1] for row in ROWS if 30 <= int(row[2]) <= 59)
    answer = reply.json()
    assert reply.status_code == 200
    assert answer["rows"] == [[sex, expected[sex]] for sex in "FM"]
    assert answer["price"] == "0"
    assert answer["columns"][1] == {
        "name": "n",
        "kind": "measure",
        "type": "integer",
        "unit": "rows",
    }
    assert made.curator("ledger", "export", "--json").stdout == before


@pytest.mark.parametrize("told", ["0.99", "0.990"])
def test_a_confidence_as_text_is_the_number(clinic, told):
    sql = SQL.replace("wards", "noisy_wards")
    number = asked(clinic, "ada", "noisy", sql, confidence=0.99)
    text = asked(clinic, "ada", "noisy", sql, confidence=told)
    assert number.status_code == 200
    assert text.content == number.content


def test_intervals_are_around_the_rows_and_grow_with_confidence(clinic):
    usual = asked(clinic, "ada", "noisy", SQL.replace("wards", "noisy_wards")).json()
    surer = asked(
        clinic, "ada", "noisy", SQL.replace("wards", "noisy_wards"), confidence=0.999
    ).json()

    for (_, count), ends in zip(
        usual["rows"], usual["intervals"][0]["rows"], strict=True
    ):
        assert int(ends[0]) <= max(count, 0) < int(ends[1])
    assert usual["rows"] == surer["rows"]
    assert surer["half_widths"][0]["confidence"] == "0.999"
    for one, other in zip(
        usual["half_widths"][0]["rows"], surer["half_widths"][0]["rows"], strict=True
    ):
        assert float(one) < float(other)


@pytest.mark.parametrize(
    ("who", "release", "status"),
    [
        ("ada", "granted", 200),
        ("bob", "granted", 404),
        ("eve", "granted", 404),
        ("ada", "public", 200),
        ("bob", "public", 200),
        ("eve", "public", 200),
        ("oda", "public", 403),
        ("ann", "public", 403),
        ("eve", "rel_" + "0" * 24, 404),
        ("ada", "rel_" + "0" * 24, 404),
    ],
)
def test_readers_are_those_who_were_granted_or_everybody(clinic, who, release, status):
    name = "open" if release == "public" else "wards"

    reply = asked(clinic, who, release, SQL.replace("wards", name))

    assert reply.status_code == status


def test_what_is_absent_and_what_is_not_yours_are_the_same_404(clinic):
    absent = asked(clinic, "eve", "rel_" + "1" * 24)
    strangers = asked(clinic, "eve", "granted")
    wrong = asked(clinic, "eve", "granted", "SELECT nonsense")

    assert absent.content == strangers.content == wrong.content
    assert dict(absent.headers).keys() == dict(strangers.headers).keys()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b'{"sql": 3}', 422, "invalid_request"),
        (b'{"sql": "x", "epsilon": "1"}', 422, "invalid_request"),
        (b'{"sql": "x", "confidence": 1}', 422, "invalid_request"),
        (b'{"sql": "x", "confidence": "90%"}', 422, "invalid_request"),
        (b'{"sql": "SELECT COUNT(* FROM wards"}', 422, "sql_syntax"),
        (b'{"sql": "DROP TABLE wards"}', 422, "sql_not_allowed"),
        (b'{"sql": "SELECT COUNT(*) FROM visits"}', 422, "sql_not_allowed"),
        (b'{"sql": "SELECT COUNT(note) FROM wards"}', 422, "unknown_column"),
    ],
)
def test_refusals_have_the_codes_of_the_other_routes(clinic, body, status, code):
    _, url, keys, ids = clinic
    with client(url, keys["ada"]) as http:
        reply = http.post(f"/v1/releases/{ids['granted']}/queries", content=body)

    assert (reply.status_code, reply.json()["type"]) == (status, code)


@pytest.mark.parametrize(
    "confidence", [b"0.3", b"2", b'"0.4"', b'".9"', b"null", b"true"]
)
def test_a_confidence_out_of_range_is_told_the_range(clinic, confidence):
    _, url, keys, ids = clinic
    body = b'{"sql": "x", "confidence": ' + confidence + b"}"
    with client(url, keys["ada"]) as http:
        reply = http.post(f"/v1/releases/{ids['granted']}/queries", content=body)

    assert reply.json()["detail"] == "confidence: a number from 0.5 to 0.999999"


def test_no_key_no_answer(clinic):
    _, url, _, ids = clinic
    with client(url, "cur_" + "0" * 64) as http:
        reply = http.post(f"/v1/releases/{ids['public']}/queries", json={"sql": SQL})

    assert reply.status_code == 401


def test_an_answer_holds_nothing_but_json_of_its_shape(clinic):
    answer = json.loads(asked(clinic, "ada", "granted").content)

    assert set(answer) == {
        "release", "snapshot", "columns", "rows", "intervals", "half_widths",
        "price", "derivation", "warnings",
    }  # fmt: skip


def test_a_withdrawn_release_is_gone_from_the_next_question_on(clinic):
    made, url, keys, _ = clinic
    doomed = publish(made, ZeroVectorSampler, name="doomed")["release"]
    sql = SQL.replace("wards", "doomed")
    body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
    first = asked(clinic, "ada", doomed, sql)
    with client(url, keys["ada"]) as http:
        offered = http.post("/v1/datasets/clinic/plan", json=body).json()["free"]
        gone = made.curator("release", "withdraw", doomed, "--reason", "a mistake")
        left = http.post("/v1/datasets/clinic/plan", json=body).json()["free"]
    second = asked(clinic, "ada", doomed, sql)

    assert gone.returncode == 0, gone.stderr
    assert (first.status_code, second.status_code) == (200, 404)
    assert doomed in {one["id"] for one in offered}
    assert doomed not in {one["id"] for one in left}


def test_grants_end_with_their_project(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst(expires=date(2001, 1, 1))
    release = publish(made, ZeroVectorSampler)["release"]
    with serve_in_thread(made) as url, client(url, key) as http:
        reply = http.post(f"/v1/releases/{release}/queries", json={"sql": SQL})

    assert reply.status_code == 404
