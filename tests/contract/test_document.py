"""The OpenAPI document is one that other people's tools can use."""

import re
from collections import Counter
from pathlib import Path

import pytest

from server.api.schemas.descriptions import describe, texts_of
from server.api.schemas.naming import name_schemas
from server.api.schemas.problems import STATUS_BY_CODE
from server.use_cases.releases.replies import ReleaseDetail
from server.use_cases.services.paging import ListOf
from tests.support.installations.replies import document

ROOT = Path(__file__).parents[2]
VERBS = {
    *(
        "activate",
        "add",
        "announce",
        "approve",
        "ask",
        "cancel",
        "change",
        "create",
        "disable",
    ),
    *("download", "enable", "list", "plan", "publish", "reject", "remove", "revoke"),
    *("set", "show", "submit", "undo", "verify", "withdraw"),
}
LOSSES = {"allotment", "delta", "delta_cap", "epsilon", "epsilon_cap", "price", "spent"}
SCHEMAS = document()["components"]["schemas"]


def operations():
    return [
        (path, operation)
        for path, verbs in document()["paths"].items()
        for operation in verbs.values()
    ]


def parts(value, place="#"):
    """Yield all objects of the document, but for those that examples hold."""
    if isinstance(value, dict):
        yield place, value
        for name, each in value.items():
            if name not in {"example", "examples", "default"}:
                yield from parts(each, f"{place}/{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from parts(each, f"{place}/{number}")


def properties():
    """Yield each member of each object that a schema describes."""
    for place, part in parts(document()):
        members = part.get("properties", {})
        if isinstance(members, dict) and "type" in part:
            for name, member in members.items():
                yield f"{place}/{name}", name, member


def target(schema):
    """Return the name of the schema that one refers to, null aside; None if none."""
    kinds = [kind for kind in schema.get("anyOf", [schema]) if "$ref" in kind]
    return kinds[0]["$ref"].rpartition("/")[2] if kinds else None


def test_it_is_valid():
    from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: PLC0415 - slow

    OpenAPIV31SpecValidator(document()).validate()


def test_operation_ids_are_a_verb_and_a_noun_each_once():
    ids = Counter(operation["operationId"] for _, operation in operations())
    assert len(ids) > 60
    assert [name for name, count in ids.items() if count > 1] == []
    strange = [
        name
        for name in ids
        if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)
        or name.partition("_")[0] not in VERBS
    ]
    assert strange == []


def test_each_operation_has_a_summary_a_description_and_a_tag_that_is_described():
    tags = {tag["name"]: tag["description"] for tag in document()["tags"]}
    used = set()
    for _, operation in operations():
        summary = operation["summary"]
        assert re.fullmatch(r"[A-Z][a-z]+( [A-Za-z'-]+){1,10}", summary), summary
        assert operation["description"].startswith(summary)
        assert operation["description"].rstrip().endswith("."), summary
        used.update(operation["tags"])
    assert used == set(tags)
    assert all(tags.values())
    summaries = Counter(operation["summary"] for _, operation in operations())
    assert [summary for summary, count in summaries.items() if count > 1] == []


def test_each_refusal_names_its_codes_and_their_headings():
    page = (ROOT / "docs/errors.md").read_text("utf-8")
    found = re.findall(r"^## (\d+) `(\w+)`$", page, re.MULTILINE)
    headings = {(int(status), code) for status, code in found}
    assert headings == {(status, code) for code, status in STATUS_BY_CODE.items()}
    for path, operation in operations():
        for status, reply in operation["responses"].items():
            if not status.startswith("2"):
                codes = re.findall(
                    rf"`(\w+)` \(docs/errors\.md#{status}-\1\)", reply["description"]
                )
                named = {(int(status), code) for code in codes}
                assert named == {one for one in headings if one[0] == int(status)}, path
    assert set(SCHEMAS["Problem"]["properties"]["type"]["examples"]) == {
        code for _, code in headings
    }


def test_each_refusal_is_a_problem_and_each_route_with_a_key_has_those_of_keys():
    for path, operation in operations():
        for status, reply in operation["responses"].items():
            assert reply["description"] != "Successful Response"
            if status.startswith("2"):
                continue
            ((kind, content),) = reply["content"].items()
            assert kind == "application/problem+json", (path, status)
            assert target(content["schema"]) == "Problem", (path, status)
            assert content["examples"], (path, status)
        if path.startswith("/v1/"):
            assert {"401", "429", "500", "503"} <= set(operation["responses"]), path
            assert operation["security"] == [{"bearer": []}]


def test_each_property_and_each_parameter_has_a_description_of_its_own_words():
    found = list(properties())
    assert len(found) > 600
    found += [
        (f"{path} {parameter['name']}", parameter["name"], parameter)
        for path, operation in operations()
        for parameter in operation.get("parameters", [])
    ]
    bare = [
        place
        for place, name, member in found
        if not re.search(r"[.:]$", said := member.get("description", ""))
        or said.lower() in {f"{name}.", f"the {name}."}
    ]
    assert bare == []


def test_losses_confidences_and_times_are_each_one_named_plain_type():
    for name in ("Loss", "Confidence", "Number", "Time", "Day"):
        assert SCHEMAS[name]["type"] == "string"
        assert {"pattern", "format"} & set(SCHEMAS[name])
        assert SCHEMAS[name]["examples"]
    others = {
        place: member
        for place, name, member in properties()
        if name in LOSSES and target(member) not in {"Loss", "Cap"}
    }
    assert others == {}
    confidences = [
        target(member) for _, name, member in properties() if name == "confidence"
    ]
    assert set(confidences) == {"Confidence"}
    assert len(confidences) >= 5


def test_titles_are_words_and_stand_at_named_schemas_alone():
    for name, schema in SCHEMAS.items():
        assert re.fullmatch(r"[A-Z][a-z]+( [a-z]+)*", schema["title"]), name
    titled = [
        place
        for place, part in parts(document())
        if isinstance(part.get("title"), str) and place.count("/") > 3
    ]
    assert titled == []


def test_unions_of_objects_are_exclusive_and_told_apart_by_their_kind():
    unions = [
        (place, part["oneOf"], part.get("discriminator"))
        for place, part in parts(document())
        if "oneOf" in part
    ]
    assert len(unions) >= 4
    for place, kinds, discriminator in unions:
        members = [SCHEMAS[target(kind)]["properties"] for kind in kinds]
        told = {
            name
            for name in set.intersection(*map(set, members))
            if all({"const", "enum"} & set(each[name]) for each in members)
        }
        if told:
            assert discriminator["propertyName"] in told, place
            assert {"#/components/schemas/" + target(kind) for kind in kinds} == set(
                discriminator["mapping"].values()
            )
    refs = [
        place
        for place, part in parts(document())
        if len(part.get("anyOf", [])) > 1 and all("$ref" in k for k in part["anyOf"])
    ]
    assert refs == []


def test_texts_under_members_are_found_also_of_what_is_inherited():
    assert texts_of(ReleaseDetail)["public"] == "Whether every analyst may read it."
    assert set(texts_of(ReleaseDetail)) == set(ReleaseDetail.__annotations__)


@pytest.mark.parametrize("name", ["ReleaseDetail", "ListOf_ReleaseDetail_"])
def test_a_member_without_a_text_is_left_without_a_description(name):
    schemas = {name: {"description": "x", "properties": {"items": {}, "other": {}}}}
    describe(schemas, [ListOf[ReleaseDetail]])
    assert "description" not in schemas[name]["properties"]["other"]
    of_list = "description" in schemas[name]["properties"]["items"]
    assert of_list == name.startswith("ListOf")


def test_two_schemas_never_share_a_name():
    schemas = {name: {"type": "object"} for name in ("JobShape", "Job")}
    with pytest.raises(ValueError, match="two schemas have one name"):
        name_schemas({"components": {"schemas": schemas}, "paths": {}})
