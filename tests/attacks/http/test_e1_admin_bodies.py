"""E1 and E5 for what changes things: bodies off their form change nothing."""

import json

import pytest

from tests.attacks.http.test_e1_malformed_bodies import LOSS_STRINGS, MALFORMED_BODIES
from tests.support.installations.harness import client
from tests.support.installations.two_persons import Two

PROJECT = {
    "name": "fresh", "datasets": ["clinic"], "principals": ["ada"], "allotment": "1",
}  # fmt: skip
CAP = "/v1/admin/populations/people"
PROJECTS, STUDY = "/v1/admin/projects", "/v1/admin/projects/study"
ROUTES = {
    "carol": [
        ("PATCH", CAP), ("POST", PROJECTS),
        ("PATCH", STUDY), ("POST", f"{STUDY}/grants"),
    ],
    "root": [("POST", "/v1/admin/principals"), ("POST", "/v1/admin/keys")],
}  # fmt: skip
WRONG = [
    ("carol", "PATCH", CAP, []),
    ("carol", "PATCH", CAP, {}),
    ("carol", "PATCH", CAP, {"epsilon_cap": True}),
    ("carol", "PATCH", CAP, {"epsilon_cap": None}),
    ("carol", "PATCH", CAP, {"epsilon_cap": ["1"]}),
    ("carol", "PATCH", CAP, {"epsilon_cap": "1", "because": "x"}),
    ("carol", "PATCH", STUDY, {}),
    ("carol", "PATCH", STUDY, {"allotment": None}),
    ("carol", "PATCH", STUDY, {"purpose": ""}),
    ("carol", "PATCH", STUDY, {"purpose": "two\nlines"}),
    ("carol", "PATCH", STUDY, {"purpose": "\u0000"}),
    ("carol", "PATCH", STUDY, {"expires": "2027-6-1"}),
    ("carol", "PATCH", STUDY, {"expires": "20270601"}),
    ("carol", "PATCH", STUDY, {"expires": 20270601}),
    ("carol", "PATCH", STUDY, {"population": "pupils"}),
    ("carol", "POST", PROJECTS, {**PROJECT, "name": "Fresh"}),
    ("carol", "POST", PROJECTS, {**PROJECT, "name": "fresh\n"}),
    ("carol", "POST", PROJECTS, {**PROJECT, "name": "study"}),
    ("carol", "POST", PROJECTS, {**PROJECT, "datasets": []}),
    ("carol", "POST", PROJECTS, {**PROJECT, "datasets": "clinic"}),
    ("carol", "POST", PROJECTS, {**PROJECT, "principals": [1]}),
    ("carol", "POST", PROJECTS, {**PROJECT, "private_history": 1}),
    ("carol", "POST", PROJECTS, {**PROJECT, "created_by": "dora"}),
    ("carol", "POST", f"{STUDY}/grants", {}),
    ("carol", "POST", f"{STUDY}/grants", {"principal": "ada", "dataset": "clinic"}),
    ("carol", "POST", f"{STUDY}/grants", {"dataset": "clinic", "allotment": "1"}),
    ("root", "POST", "/v1/admin/principals", {"name": "x", "role": "king"}),
    ("root", "POST", "/v1/admin/principals", {"name": "ada", "role": "analyst"}),
    ("root", "POST", "/v1/admin/principals", {"name": "X", "role": "analyst"}),
    (
        *("root", "POST", "/v1/admin/principals"),
        {"name": "x", "role": "analyst", "populations": ["people"]},
    ),
    ("root", "POST", "/v1/admin/principals/ada/disable", {"reason": "left"}),
    ("root", "POST", f"{CAP}/custodians", {"principal": "ada"}),
    ("root", "POST", f"{CAP}/custodians", {"principal": "root"}),
]


@pytest.fixture(scope="module")
def people(house):
    """A custodian of the house's population, and the admin, as clients."""
    two = Two.make(house.installation, ("carol",))
    two.people(lambda service: service.add_custodian("people", "carol"))
    with (
        client(house.url, two.keys["carol"]) as carol,
        client(house.url, two.keys["root"]) as root,
    ):
        yield {"carol": carol, "root": root}


def _code(reply):
    return reply.status_code, reply.json()["type"]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_bodies_of_the_wrong_shape_are_422_and_write_nothing(house, people, wrong):
    name, verb, path, body = wrong
    before = house.dump()
    reply = people[name].request(verb, path, json=body)
    assert _code(reply) == (422, "invalid_request"), reply.text
    assert "king" not in reply.text
    assert house.dump() == before


def test_what_is_no_strict_json_is_400_everywhere(house, people):
    before = house.dump()
    for name, routes in ROUTES.items():
        for verb, path in routes:
            for body in (b"", b"{", b'{"a": 1} {}', b'{"a": NaN}', *MALFORMED_BODIES):
                reply = people[name].request(verb, path, content=body)
                assert _code(reply) == (400, "malformed_json"), (path, body)
            twice = b'{"epsilon_cap": "1", "epsilon_cap": "2"}'
            reply = people[name].request(verb, path, content=twice)
            assert _code(reply) == (400, "malformed_json")
    assert house.dump() == before


def test_losses_off_their_grammar_set_no_cap(house, people):
    before = house.dump()
    fine = {"0", "0.0", "000000", "999999.999999999", "5.000000001", "6", "0.000999999"}
    for text in LOSS_STRINGS:
        if text in fine or text == "0.0000000000":
            continue
        reply = people["carol"].patch(CAP, content=json.dumps({"epsilon_cap": text}))
        assert reply.status_code == 422, text
    for number in (b"-1", b"1e-10", b"1e400", b"1e999999999", b"0.1234567891"):
        reply = people["carol"].patch(CAP, content=b'{"epsilon_cap": %s}' % number)
        assert _code(reply) == (422, "epsilon_out_of_range"), number
    assert house.dump() == before


def test_the_checks_come_in_their_order(house, people):
    """401, 413, 415, query string, 400, 422, 403, 404: each hides all after it."""
    huge = {"content": b"x" * 20_000}
    odd = {"content": b"x", "headers": {"Content-Encoding": "gzip"}}
    path = "/v1/admin/populations/nowhere"
    with client(house.url, "nobody") as nobody:
        assert _code(nobody.patch(path, **huge))[0] == 401
    # root's role has no such route, and there is no such population either
    root = people["root"]
    assert _code(root.patch(path, **huge)) == (413, "too_large")
    assert _code(root.patch(path, **odd)) == (415, "unsupported_media_type")
    body = {"epsilon_cap": "not a loss"}
    assert _code(root.patch(f"{path}?x=1", json=body)) == (422, "invalid_request")
    assert _code(root.patch(path, content=b"x")) == (400, "malformed_json")
    assert _code(root.patch(path, json={})) == (422, "invalid_request")
    assert _code(root.patch(path, json=body)) == (403, "forbidden")
    carol = people["carol"]
    assert _code(carol.patch(path, json={"epsilon_cap": "1"})) == (404, "not_found")
    assert _code(carol.patch(CAP, json=body)) == (422, "epsilon_out_of_range")


def test_a_reading_checks_key_and_role_before_its_parameters(house, people):
    path = "/v1/admin/populations?limit=x"
    with client(house.url, "nobody") as nobody:
        assert nobody.get(path).status_code == 401
    assert people["root"].get(path).status_code == 403
    assert _code(people["carol"].get(path)) == (422, "invalid_request")


def test_other_verbs_are_405(people):
    for path in (CAP, PROJECTS, "/v1/admin/keys"):
        assert _code(people["carol"].put(path)) == (405, "method_not_allowed")
