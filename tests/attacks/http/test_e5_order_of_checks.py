"""CONTRACT 5: the order of checks, one fault taken away at a time."""

import json
from dataclasses import dataclass, field, replace

import pytest

from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import ProjectService
from tests.support.installations.harness import ask, client

_GOOD = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"}
BIG = b" " * (16 * 1024) + b"{"


@dataclass(frozen=True)
class Call:
    """One request; ``faults`` are mended from the first to the last."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    dataset: str = "clinic"

    def send(self, http, path):
        url = f"/v1/datasets/{self.dataset}/{path}"
        return http.post(url, content=self.body, headers=self.headers)

    def without(self, name):
        kept = {key: text for key, text in self.headers.items() if key != name}
        return replace(self, headers=kept)

    def saying(self, **changes):
        body = {**_GOOD, **changes}
        return replace(self, body=json.dumps(body).encode())


def _codes(http, path, calls):
    replies = [call.send(http, path) for call in calls]
    return [(reply.status_code, reply.json().get("type")) for reply in replies]


@pytest.fixture(scope="module")
def used(house):
    """A key that came before with another request."""
    headers = {"Idempotency-Key": "order-used"}
    assert ask(house.http, headers=headers).status_code == 200
    return headers["Idempotency-Key"]


@pytest.fixture(scope="module")
def poor(house):
    """An analyst who cannot pay."""
    with house.analyst("orderly", "orderly", allotment="0.1") as http:
        yield http


def _wrong_everything(key):
    return Call(
        {
            "Authorization": "Bearer cur_nobody",
            "Content-Encoding": "gzip",
            "Accept": "text/html",
            "Idempotency-Key": key,
        },
        BIG,
        "elsewhere",
    )


def test_an_analysts_faults_are_named_in_the_order_of_the_contract(house, used):
    call = _wrong_everything("off the grammar")
    calls = [call]
    calls.append(call := call.without("Authorization"))
    calls.append(call := replace(call, body=b"{"))
    calls.append(call := call.without("Content-Encoding"))
    calls.append(call := call.without("Accept"))
    mismatched = replace(call, headers={"Idempotency-Key": used})
    calls.append(mismatched)
    calls.append(call := call.without("Idempotency-Key"))
    unknown = {"bounds": {"tables": {"nowhere": 1}}}
    bad = {"sql": "SELECT nothing", "epsilon": "9", "options": unknown}
    calls.append(call.saying(**bad, cap="9"))
    calls.append(call := call.saying(**bad))
    call = replace(call, dataset="clinic")  # what follows is one stage of its own
    calls.append(call.saying(epsilon="9", options=unknown))
    calls.append(call.saying(sql="SELECT nothing", epsilon="9"))
    calls.append(call.saying(epsilon="9"))
    calls.append(call.saying())
    assert _codes(house.http, "queries", calls) == [
        (401, "unauthenticated"),
        (413, "too_large"),
        (415, "unsupported_media_type"),
        (406, "not_acceptable"),
        (422, "invalid_request"),  # the key's grammar
        (422, "idempotency_mismatch"),
        (400, "malformed_json"),
        (422, "invalid_request"),  # the body's form
        (404, "not_found"),
        (422, "invalid_request"),  # an option that no table fits
        (422, "sql_not_allowed"),
        (422, "epsilon_out_of_range"),
        (200, None),
    ]


def test_plans_are_checked_in_the_same_order_but_for_keys(house):
    call = _wrong_everything("off the grammar")
    calls = [call]
    calls.append(call := call.without("Authorization"))
    calls.append(call := replace(call, body=b"{"))
    calls.append(call := call.without("Content-Encoding"))
    calls.append(call := call.saying(cap="9"))
    calls.append(call := call.saying(epsilon="9"))
    calls.append(call := replace(call, dataset="clinic"))
    calls.append(call.saying())
    assert _codes(house.http, "plan", calls) == [
        (401, "unauthenticated"),
        (413, "too_large"),
        (415, "unsupported_media_type"),
        (400, "malformed_json"),
        (422, "invalid_request"),
        (404, "not_found"),
        (422, "epsilon_out_of_range"),
        (200, None),
    ]


def test_a_replay_comes_before_the_body_is_read_and_the_grant_is_looked_up(house):
    headers = {"Idempotency-Key": "order-replay"}
    with house.analyst("leaver", "leaving") as http:
        first = ask(http, headers=headers)
        with house.installation.services() as services:
            ProjectService(services, "local:test").revoke_principal("leaving", "leaver")
        assert ask(http).status_code == 404
        assert ask(http, headers=headers).content == first.content


@pytest.mark.parametrize("role", ["custodian", "auditor", "admin"])
def test_a_role_is_refused_after_the_bodys_form_and_before_the_dataset(house, role):
    with house.installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal(f"order{role}", role)
        token = service.create_key(f"order{role}")["key"]
    call = Call({}, b"{", "elsewhere")
    calls = [call, call.saying(cap="9"), call.saying(epsilon="9")]
    calls.append(replace(calls[-1], dataset="clinic"))
    calls.append(replace(call.saying(), dataset="clinic"))
    forbidden = (403, "forbidden")
    with client(house.url, token) as http:
        for path in ("queries", "plan"):
            assert _codes(http, path, calls) == [
                (400, "malformed_json"),
                (422, "invalid_request"),
                *[forbidden] * 3,
            ]
        for path in ("/v1/datasets", "/v1/queries", "/v1/budget"):
            assert http.get(path).status_code == 403


def test_stored_answers_are_looked_up_before_the_purse(house, poor):
    question = {"sql": "SELECT COUNT(*) FROM visits WHERE note = 'order'"}
    path = "/v1/datasets/clinic/queries"
    body = {**question, "epsilon": "0.5"}
    assert poor.post(path, json=body).status_code == 402
    assert house.http.post(path, json=body).status_code == 200
    assert poor.post(path, json=body).status_code == 200
    assert poor.post(path, json={**body, "epsilon": "9"}).status_code == 422


def test_a_query_string_is_refused_where_questions_are_asked(house):
    for path in ("queries", "plan"):
        url = f"/v1/datasets/clinic/{path}?epsilon=0"
        reply = house.http.post(url, json=_GOOD)
        assert (reply.status_code, reply.json()["type"]) == (422, "invalid_request")


def test_a_body_of_exactly_16_kib_is_read_and_one_byte_more_is_not(house):
    body = json.dumps(_GOOD).encode().ljust(16 * 1024)
    for path in ("queries", "plan"):
        url = f"/v1/datasets/clinic/{path}"
        assert house.http.post(url, content=body).status_code == 200
        assert house.http.post(url, content=body + b" ").status_code == 413
