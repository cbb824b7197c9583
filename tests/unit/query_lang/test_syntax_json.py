import json

import pytest
from hypothesis import given, settings

from query_lang.parse import parse_query
from query_lang.syntax_json import from_json, to_json
from tests.property.evaluator import to_sql
from tests.property.questions import questions

SQL = (
    "SELECT sex s, COUNT(*), COUNT(DISTINCT t.u) FROM t WHERE a = 1 AND NOT (b OR "
    "c BETWEEN '1' AND DATE '2') AND d NOT IN (TRUE, NULL) OR e IS NULL GROUP BY 1"
)


def test_a_tree_survives_json_exactly():
    tree = parse_query(SQL)
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


@settings(max_examples=100, deadline=None)
@given(question=questions())
def test_random_trees_survive_json_exactly(question):
    tree = parse_query(to_sql(question))
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


def broken(change):
    document = to_json(parse_query("SELECT COUNT(*) FROM t GROUP BY 1"))
    change(document)
    return document


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "SELECT",
        {},
        {"node": "Select"},
        {"node": "Position", "line": 1, "column": 1},
        broken(lambda d: d.update(node="Unknown")),
        broken(lambda d: d.update(node=["Select"])),
        broken(lambda d: d.update(extra=1)),
        broken(lambda d: d.pop("where")),
        broken(lambda d: d.update(items=None)),
        broken(lambda d: d.update(items=["COUNT(*)"])),
        broken(lambda d: d.update(where="a = 1")),
        broken(lambda d: d["position"].update(line=True)),
        broken(lambda d: d["position"].update(line="1")),
        broken(lambda d: d["source"].update(name=5)),
        broken(lambda d: d["source"].update(position=None)),
        broken(lambda d: d["group_by"][0].update(node="TypedLiteral", type="interval")),
    ],
)
def test_documents_that_no_tree_writes_are_refused(document):
    with pytest.raises(ValueError, match="written"):
        from_json(document)
