"""The OpenAPI document is the contract: committed, and true of what is sent."""

from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from server.api.schemas.problems import STATUS_BY_CODE
from server.main import cli
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.replies import (
    check_reply,
    document,
    example_of,
    validators,
)

ROOT = Path(__file__).parents[2]
GROUPED = (
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward"
)
SCHEMA_TYPE = "https://json-schema.org/draft/2020-12/schema"


def check(schema, value):
    """Validate a value against a schema of the document."""
    schemas = {"components": document()["components"]}
    whole = {**schema, **schemas, "$schema": SCHEMA_TYPE}
    jsonschema.Draft202012Validator(whole).validate(value)


def operations():
    for path, verbs in document()["paths"].items():
        for verb, operation in verbs.items():
            yield f"{verb.upper()} {path}", operation


def contents():
    """Yield every body that the document describes: where, media type, content."""
    for name, operation in operations():
        body = operation.get("requestBody")
        if body is not None:
            for content in body["content"].values():
                yield f"{name} body", content
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                yield f"{name} {status}", content


def schema_of(operation_name, status):
    operation = dict(operations())[operation_name]
    content = operation["responses"][str(status)]["content"]
    return next(iter(content.values()))["schema"]


def test_the_command_prints_the_committed_document():
    printed = CliRunner().invoke(cli, ["openapi"])
    assert printed.exit_code == 0
    assert printed.stdout == (ROOT / "openapi/openapi.json").read_text("utf-8")


def test_the_schemas_are_json_schemas():
    for name, schema in document()["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema.get("description"), name


@pytest.mark.parametrize(
    ("where", "content"),
    [pytest.param(*found, id=found[0]) for found in contents()],
)
def test_each_body_has_examples_that_fit_its_schema(where, content):
    named = [one["$ref"] for one in content.get("examples", {}).values()]
    examples = document()["components"]["examples"]
    shown = [examples[one.rpartition("/")[2]]["value"] for one in named]
    shown += [content["example"]] if "example" in content else []
    assert shown, where
    for example in shown:
        check(content["schema"], example)


def test_an_example_with_a_wrong_member_does_not_fit():
    schema = schema_of("POST /v1/datasets/{dataset}/queries", 200)
    _, content = next(c for c in contents() if c[0].endswith("queries 200"))
    with pytest.raises(jsonschema.ValidationError):
        check(schema, {**content["example"], "charge": {"epsilon": 0.1}})


def test_every_code_that_a_route_can_send_is_described():
    statuses = {
        int(status)
        for _, operation in operations()
        for status in operation["responses"]
        if not status.startswith("2")
    }
    unlisted = {405}  # of no route: the path has another verb
    assert set(STATUS_BY_CODE.values()) - unlisted <= statuses


@pytest.mark.parametrize(
    "body",
    [
        {"sql": "SELECT 1"},
        {"sql": "SELECT 1", "epsilon": "1", "accuracy": {"within": 1}},
        {"sql": "SELECT 1", "epsilon": "1", "rho": "1"},
        {"sql": "SELECT 1", "epsilon": None},
        {"sql": "SELECT 1", "epsilon": "1", "seed": 1},
    ],
)
def test_bodies_that_the_server_refuses_do_not_fit_their_schema(body):
    with pytest.raises(jsonschema.ValidationError):
        check({"$ref": "#/components/schemas/QuestionBody"}, body)


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("openapi")).create()
    installation.load()
    key = installation.analyst(allotment="10")
    with serve_in_thread(installation) as url, client(url, key) as connection:
        yield connection


@pytest.mark.parametrize(("operation", "status"), sorted(validators()))
def test_the_examples_of_replies_have_no_member_that_is_not_described(
    operation, status
):
    check_reply(operation, status, example_of(operation, status))


def test_a_reply_with_a_member_that_is_not_described_is_found():
    with pytest.raises(AssertionError, match="'rows' was unexpected"):
        check_reply("GET /healthz", 200, {"status": "ok", "rows": 12})


def fits(reply, operation_name):
    check(schema_of(operation_name, reply.status_code), reply.json())


def test_real_answers_fit(http):
    answered = ask(http, GROUPED)
    assert answered.status_code == 200
    fits(answered, "POST /v1/datasets/{dataset}/queries")
    query_id = answered.json()["query_id"]
    fits(http.get(f"/v1/queries/{query_id}"), "GET /v1/queries/{query_id}")
    fits(http.get("/v1/queries"), "GET /v1/queries")


@pytest.mark.parametrize(
    "price", [{"epsilon": "1"}, {"accuracy": {"within": 20, "confidence": "0.95"}}]
)
def test_real_plans_fit(http, price):
    body = {"sql": GROUPED, **price}
    check({"$ref": "#/components/schemas/QuestionBody"}, body)
    planned = http.post("/v1/datasets/clinic/plan", json=body)
    assert planned.status_code == 200
    fits(planned, "POST /v1/datasets/{dataset}/plan")


@pytest.mark.parametrize(
    "path",
    ["/v1/datasets", "/v1/datasets/clinic", "/v1/budget", "/healthz", "/readyz"],
)
def test_real_readings_fit(http, path):
    read = http.get(path)
    assert read.status_code == 200
    fits(read, f"GET {path.replace('clinic', '{dataset}')}")


@pytest.mark.parametrize(
    ("sql", "epsilon", "status"),
    [
        ("SELECT", "1", 422),
        ("SELECT foo FROM visits", "1", 422),
        ("SELECT MAX(age) FROM visits", "1", 422),
        ("SELECT note, COUNT(*) FROM visits GROUP BY note", "1", 422),
        ("SELECT COUNT(*) FROM visits", "9", 422),
        ("SELECT COUNT(*) FROM visits", "x", 422),
    ],
)
def test_real_refusals_fit(http, sql, epsilon, status):
    refused = ask(http, sql, epsilon)
    assert refused.status_code == status, refused.text
    assert refused.headers["content-type"] == "application/problem+json"
    fits(refused, "POST /v1/datasets/{dataset}/queries")


def test_a_refusal_for_want_of_budget_fits(http):
    while (refused := ask(http, epsilon="5")).status_code == 200:
        pass
    assert refused.status_code == 402
    assert set(refused.json()["remaining"]) == {"project", "principal"}
    fits(refused, "POST /v1/datasets/{dataset}/queries")
