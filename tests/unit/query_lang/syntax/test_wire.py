import json
from dataclasses import is_dataclass

import pytest

from query_lang.reading.parse import parse_query, read_query
from query_lang.syntax import nodes as syntax
from query_lang.syntax.wire import from_json, to_json
from tests.golden.constructs import IDIOMS, TEXTS


@pytest.mark.parametrize("sql", [*TEXTS, *IDIOMS])
def test_a_tree_survives_json_exactly(sql):
    tree = parse_query(sql)
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


def nodes(document):
    if isinstance(document, list):
        return set().union(*map(nodes, document))
    if not isinstance(document, dict):
        return set()
    return {document["node"]}.union(
        *(nodes(value) for name, value in document.items() if name != "node")
    )


def test_the_texts_hold_every_node_of_the_tree():
    written = set().union(*(nodes(to_json(parse_query(sql))) for sql in TEXTS))
    declared = {
        name
        for name, value in vars(syntax).items()
        if isinstance(value, type) and is_dataclass(value)
    }
    assert written == declared - {"Idiom"}


def test_no_idiom_is_written_or_read():
    tree = read_query("SELECT COUNT(*) FROM t WHERE a IS TRUE")
    with pytest.raises(KeyError):
        to_json(tree)
    document = to_json(parse_query("SELECT COUNT(*) FROM t WHERE a"))
    document["select"]["where"] = {
        "node": "Idiom",
        "position": document["select"]["position"],
    }
    with pytest.raises(ValueError, match="written"):
        from_json(document)


def broken(change):
    document = to_json(
        parse_query("SELECT COUNT(*) FROM t GROUP BY 1 ORDER BY 1 LIMIT 1")
    )
    change(document, document["select"])
    return document


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "SELECT",
        {},
        {"node": "Query"},
        {"node": "Position", "line": 1, "column": 1},
        broken(lambda d, _: d.update(node="Unknown")),
        broken(lambda d, _: d.update(node=["Query"])),
        broken(lambda d, _: d.update(node="Select")),
        broken(lambda d, _: d.update(extra=1)),
        broken(lambda d, _: d.update(common_tables=None)),
        broken(lambda d, s: d.update(common_tables=[s])),
        broken(lambda d, s: d.update(select=s["source"])),
        broken(lambda _, s: s.pop("where")),
        broken(lambda _, s: s.update(items=None)),
        broken(lambda _, s: s.update(items=["COUNT(*)"])),
        broken(lambda _, s: s.update(where="a = 1")),
        broken(lambda _, s: s.update(limit=True)),
        broken(lambda _, s: s.update(limit=1.0)),
        broken(lambda _, s: s.update(distinct=0)),
        broken(lambda _, s: s["position"].update(line=True)),
        broken(lambda _, s: s["position"].update(line="1")),
        broken(lambda _, s: s["source"].update(name=5)),
        broken(lambda _, s: s["source"].update(position=None)),
        broken(lambda _, s: s["order_by"][0].update(nulls_first=1)),
        broken(
            lambda _, s: s["group_by"][0].update(node="TypedLiteral", type="interval")
        ),
    ],
)
def test_documents_that_no_tree_writes_are_refused(document):
    with pytest.raises(ValueError, match="written"):
        from_json(document)
