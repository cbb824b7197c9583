"""Questions in which one person decides whether a side of a join has rows.

Each is a text with ``{who}``, a condition that singles out a person. ``operators`` runs
it and returns how many rows each operator of the engine gave: counts, never times.
"""

import json

QUESTIONS = {
    "in": (
        "SELECT COUNT(*) FROM visits WHERE pid IN"
        " (SELECT pid FROM people p WHERE {who})"
    ),
    "not in": (
        "SELECT COUNT(*) FROM visits WHERE pid NOT IN"
        " (SELECT pid FROM people p WHERE {who})"
    ),
    "in, as a value": (
        "SELECT SUM(CASE WHEN pid IN (SELECT pid FROM people p WHERE {who}) THEN 1"
        " ELSE 0 END) FROM visits"
    ),
    "exists": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM people p WHERE p.pid = v.pid AND {who})"
    ),
    "exists, compared": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM people p WHERE p.pid = v.pid AND {who} AND p.day < v.day)"
    ),
    "not exists": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS"
        " (SELECT * FROM people p WHERE p.pid = v.pid AND {who})"
    ),
    "not exists, compared": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS"
        " (SELECT * FROM people p WHERE p.pid = v.pid AND {who} AND p.age < v.age)"
    ),
    "exists or": (
        "SELECT COUNT(*) FROM visits v WHERE v.age > 119 OR EXISTS"
        " (SELECT * FROM people p WHERE p.pid = v.pid AND {who} AND p.age < v.age)"
    ),
    "exists, as a value": (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM people p WHERE p.pid = v.pid AND"
        " {who}) THEN 1 ELSE 0 END) FROM visits v"
    ),
    "exists in exists": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM labs l WHERE"
        " l.pid = v.pid AND l.age > v.age AND EXISTS (SELECT * FROM people p WHERE"
        " p.pid = l.pid AND p.age < v.age AND p.age < l.age AND {who}))"
    ),
    "exists, outer": (
        "SELECT COUNT(*) FROM people p WHERE {who} AND EXISTS"
        " (SELECT * FROM visits v WHERE v.pid = p.pid AND v.age > p.age)"
    ),
    "join": "SELECT COUNT(*) FROM visits v JOIN people p ON v.pid = p.pid WHERE {who}",
    "join, turned": (
        "SELECT COUNT(*) FROM people p JOIN visits v ON v.pid = p.pid WHERE {who}"
    ),
    "join of both": (
        "SELECT COUNT(*) FROM visits v JOIN people p ON v.pid = p.pid"
        " WHERE {who} AND v.age > p.age"
    ),
    "left join": (
        "SELECT COUNT(*), SUM(p.age) FROM visits v LEFT JOIN people p"
        " ON v.pid = p.pid AND {who}"
    ),
    "left join, filtered": (
        "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.pid = p.pid"
        " WHERE {who} AND p.age > 0"
    ),
    "left join, compared": (
        "SELECT COUNT(*), SUM(p.age) FROM visits v LEFT JOIN people p"
        " ON v.pid = p.pid AND {who} AND p.age > v.age"
    ),
    "derived table": (
        "SELECT COUNT(*) FROM visits v JOIN (SELECT pid, COUNT(*) AS n FROM people p"
        " WHERE {who} GROUP BY pid) AS r ON v.pid = r.pid WHERE r.n > 0"
    ),
    "derived table, filtered": (
        "SELECT COUNT(*) FROM visits v JOIN (SELECT pid, paid, age AS g FROM people)"
        " AS p ON v.pid = p.pid WHERE {who}"
    ),
    "derived join": (
        "SELECT COUNT(*) FROM labs l JOIN (SELECT v.pid, v.age FROM visits v JOIN"
        " people p ON p.pid = v.pid WHERE {who}) AS r ON r.pid = l.pid"
    ),
    "window": (
        "SELECT COUNT(*) FROM visits v JOIN (SELECT pid, ROW_NUMBER() OVER (PARTITION"
        " BY pid ORDER BY day) AS n FROM people p WHERE {who}) AS r ON v.pid = r.pid"
        " WHERE n = 1"
    ),
    "common table": (
        "WITH r AS (SELECT pid FROM people p WHERE {who}) SELECT COUNT(*) FROM visits v"
        " JOIN r ON r.pid = v.pid WHERE v.pid IN (SELECT pid FROM r)"
    ),
    "union": (
        "SELECT COUNT(*) FROM visits v JOIN (SELECT pid, age FROM people p WHERE {who}"
        " UNION ALL SELECT pid, age FROM people p WHERE {who} AND p.age > 1) AS u"
        " ON u.pid = v.pid"
    ),
    "in a union": (
        "SELECT COUNT(*) FROM (SELECT pid FROM visits WHERE pid IN (SELECT pid FROM"
        " people p WHERE {who}) UNION ALL SELECT v.pid FROM labs v JOIN people p ON"
        " p.pid = v.pid WHERE {who}) AS u"
    ),
    "nested": (
        "SELECT COUNT(*) FROM labs WHERE pid IN (SELECT pid FROM visits WHERE pid IN"
        " (SELECT pid FROM people p WHERE {who}))"
    ),
    "three tables": (
        "SELECT COUNT(*) FROM labs l JOIN visits v ON v.pid = l.pid JOIN people p"
        " ON p.pid = v.pid WHERE {who}"
    ),
    "public join": (
        "SELECT COUNT(*) FROM visits v JOIN codes c ON c.code = v.item JOIN people p"
        " ON p.pid = v.pid WHERE {who} AND c.number > 5"
    ),
    "equal to a constant": (
        "SELECT COUNT(*) FROM visits v JOIN people p ON p.pid = v.pid"
        " WHERE p.paid = v.paid AND v.paid = {value}"
    ),
    "a table of one person": (
        "SELECT COUNT(*) FROM visits v JOIN rare r ON r.pid = v.pid"
    ),
    "not in a table of one person": (
        "SELECT COUNT(*) FROM visits WHERE pid NOT IN (SELECT pid FROM rare)"
    ),
}


def operators(connection, statement):
    """Return each operator's name, the rows that it gave and those it holds.

    Depth first; the side that a join holds stands right. None where nothing is held.
    """
    connection.execute("PRAGMA enable_profiling = 'no_output'")
    connection.execute(statement.sql, list(statement.parameters)).fetchall()
    found = json.loads(connection.get_profiling_information("json"))
    connection.execute("PRAGMA disable_profiling")
    return list(_operators(found["operator"]))


def _operators(nodes):
    for node in nodes:
        below = node.get("children", [])
        held = _rows(below[1]) if "JOIN" in node["type"] else None
        yield node["type"], node["intermediate_rows"], held
        yield from _operators(below)


def _rows(node):
    """Return the rows that an operator gives; a UNION's are counted at its parts."""
    if node["type"] == "UNION":
        return sum(map(_rows, node["children"]))
    return node["intermediate_rows"]
