"""The rule table of PRIVACY 1 and 3: what is stated, and what one patient can reach.

Each row is a question, the L1 sensitivities stated for its vectors, and how far a
patient with every cap full moves them. Where both are equal no lower statement is
right; where a stated one is higher, it still must not fall below what is reached.
"""

from datetime import date, datetime
from decimal import Decimal

import pytest

from privacy.contributions import NO_BOUNDS, ContributionBounds
from tests.semantics import engine, hospital
from tests.semantics.meaning.values import LEAST
from tests.support.compiling import compile_query

HEAVY, STRANGER = 7, 8
WARDS = ("icu", "er", "other", None)
ONE = "SELECT COUNT(*) FROM "
E_L = "encounters e {} JOIN labs l ON e.patient_id = l.patient_id"
E_D = "encounters e {} JOIN diagnoses d ON e.patient_id = d.patient_id AND d.seq = {}"
NUMBERED = (
    "(SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY started) AS n "
    "FROM encounters) x"
)
FIRST_WARD = (
    "(SELECT patient_id, MIN({}) AS ward FROM encounters GROUP BY patient_id) f"
)
BY = "SELECT {0}, COUNT(DISTINCT {1}.patient_id) FROM {2} GROUP BY {0}"
HAS_LAB = "EXISTS (SELECT 1 FROM labs l WHERE l.patient_id = e.patient_id{})"
CASED = (
    "SELECT k, COUNT(DISTINCT patient_id) FROM (SELECT patient_id, {} AS k "
    "FROM encounters e) x GROUP BY k"
)
SEXES = (
    "SELECT sex, COUNT(DISTINCT patient_id) FROM (SELECT patient_id, sex FROM patients "
    "UNION ALL SELECT patient_id, sex FROM patients) x GROUP BY sex"
)
MOST = 4 * 2**63
MET = (
    "SELECT COUNT(*), SUM(x.n) FROM encounters e CROSS JOIN LATERAL (SELECT COUNT(*) "
    "AS n FROM labs l WHERE l.patient_id = e.patient_id AND ({})) x"
)

RULES = {
    "scan": (ONE + "encounters", [4], [4]),
    "filter": (ONE + "encounters WHERE urgent", [4], [4]),
    "numbering, first": (
        ONE + NUMBERED.format("patient_id") + " WHERE n = 1",
        [1],
        [1],
    ),
    "numbering, two": (ONE + NUMBERED.format("patient_id") + " WHERE n <= 2", [2], [2]),
    "numbering, denied twice": (
        ONE + NUMBERED.format("patient_id") + " WHERE NOT (NOT (n <= 2 AND n > 0))",
        [2],
        [2],
    ),
    "numbering, written twice": (
        ONE
        + NUMBERED.format("patient_id").replace(
            " AS n",
            " AS m, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY started) AS n",
        )
        + " WHERE n = 1",
        [1],
        [1],
    ),
    "numbering by more keys": (
        ONE + NUMBERED.format("patient_id, ward") + " WHERE n = 1",
        [4],
        [4],
    ),
    "numbering by keys of one side": (
        ONE
        + "(SELECT e.patient_id, ROW_NUMBER() OVER (PARTITION BY e.patient_id, e.ward "
        "ORDER BY l.taken) AS n FROM " + E_L.format("INNER") + ") x WHERE n <= 2",
        [8],
        [8],
    ),
    "numbering below a number": (
        ONE + NUMBERED.format("patient_id") + " WHERE NOT (n >= 3)",
        [2],
        [2],
    ),
    "numbering above a number": (
        ONE + NUMBERED.format("patient_id") + " WHERE NOT (n <> 3)",
        [1],
        [1],
    ),
    "numbering between": (
        ONE + NUMBERED.format("patient_id") + " WHERE n BETWEEN 2 AND 3",
        [2],
        [2],
    ),
    "numbering among": (
        ONE + NUMBERED.format("patient_id") + " WHERE n IN (1, 3, 9) AND n > 1",
        [2],
        [1],
    ),
    "numbering before a join": (
        ONE
        + NUMBERED.format("patient_id")
        + " JOIN labs l ON l.patient_id = x.patient_id WHERE x.n = 1",
        [5],
        [5],
    ),
    "numbering in ON of an outer join": (
        ONE
        + "labs l LEFT JOIN "
        + NUMBERED.format("patient_id")
        + " ON l.patient_id = x.patient_id AND x.n <= 2",
        [10],
        [10],
    ),
    "numbering of the preserved side in ON": (
        ONE
        + NUMBERED.format("patient_id")
        + " LEFT JOIN labs l ON l.patient_id = x.patient_id AND x.n = 1",
        [20],
        [8],
    ),
    "numbering beside OR": (
        ONE
        + NUMBERED.format("patient_id")
        + " JOIN labs l ON l.patient_id = x.patient_id WHERE x.n = 1 OR analyte = 'na'",
        [20],
        [20],
    ),
    "window": (
        ONE + "(SELECT patient_id, SUM(days) OVER (PARTITION BY patient_id) AS s "
        "FROM encounters) x WHERE s > 0",
        [4],
        [4],
    ),
    "window of strangers": (
        ONE
        + (
            "(SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id) AS n "
            "FROM labs) x WHERE n <= 5"
        ),
        [5],
        [5],
    ),
    "units by a window of all of their rows": (
        CASED.format("MIN(ward) OVER (PARTITION BY patient_id)"),
        [1],
        [1],
    ),
    "units by their first row": (
        CASED.format("FIRST_VALUE(ward) OVER (PARTITION BY patient_id ORDER BY days)"),
        [1],
        [1],
    ),
    "units by a running window": (
        CASED.format("LAST_VALUE(ward) OVER (PARTITION BY patient_id ORDER BY days)"),
        [4],
        [4],
    ),
    "units by a window that varies": (
        CASED.format("MIN(ward) OVER (PARTITION BY patient_id, severity)"),
        [4],
        [3],
    ),
    "values of windows of all of their rows": (
        ONE + "(SELECT DISTINCT patient_id, s FROM (SELECT patient_id, SUM(days) OVER "
        "(PARTITION BY patient_id) AS s FROM encounters) y) x",
        [1],
        [1],
    ),
    "rollup": (
        ONE
        + "(SELECT patient_id, MAX(age) AS a FROM encounters GROUP BY patient_id) x",
        [1],
        [1],
    ),
    "rollup by two keys": (
        ONE + "(SELECT patient_id, ward FROM encounters GROUP BY patient_id, ward) x",
        [4],
        [4],
    ),
    "rollup of one side of a join": (
        ONE
        + "(SELECT DISTINCT e.patient_id, e.ward FROM "
        + E_L.format("INNER")
        + ") x",
        [4],
        [4],
    ),
    "rollup of a side that may be missing": (
        ONE
        + "(SELECT DISTINCT e.patient_id, p.sex FROM encounters e LEFT JOIN patients p "
        "ON e.patient_id = p.patient_id AND e.severity = 1) x",
        [2],
        [2],
    ),
    "rollup by a declared key": (
        ONE + "(SELECT d.seq, COUNT(*) AS n FROM diagnoses d JOIN labs l ON "
        "l.patient_id = d.patient_id GROUP BY d.seq) x",
        [4],
        [4],
    ),
    "numbering by a declared key": (
        ONE
        + "(SELECT ROW_NUMBER() OVER (PARTITION BY d.seq ORDER BY l.taken) AS n FROM "
        "diagnoses d JOIN labs l ON l.patient_id = d.patient_id) x WHERE n = 1",
        [4],
        [4],
    ),
    "rollup by a window": (
        ONE + "(SELECT DISTINCT patient_id, n FROM (SELECT e.patient_id, ROW_NUMBER() "
        "OVER (PARTITION BY e.patient_id ORDER BY l.taken) AS n FROM "
        + E_L.format("INNER")
        + ") x) y",
        [20],
        [20],
    ),
    "first row of each row": (
        ONE + "encounters e LEFT JOIN LATERAL (SELECT result FROM labs l WHERE "
        "l.patient_id = e.patient_id LIMIT 1) x ON TRUE",
        [4],
        [4],
    ),
    "aggregates of the rows that each row meets": (
        MET.format("l.level < e.severity OR l.level >= e.severity OR l.level IS NULL"),
        [4, 20],
        [4, 20],
    ),
    "join by a declared key": (
        ONE + "encounters e JOIN diagnoses d ON d.seq = e.severity",
        [4],
        [4],
    ),
    "without a match": (
        ONE + E_L.format("LEFT") + " AND l.result > 1000000 WHERE l.patient_id IS NULL",
        [4],
        [4],
    ),
    "without a match, by another column": (
        ONE + E_L.format("LEFT") + " AND l.result > 1000000 WHERE l.analyte IS NULL",
        [4],
        [4],
    ),
    "without a match, by one that may be missing": (
        ONE + E_L.format("LEFT") + " WHERE l.raw IS NULL",
        [20],
        [20],
    ),
    "without a match, or so": (
        ONE + E_L.format("LEFT") + " WHERE l.patient_id IS NULL OR e.age >= 0",
        [20],
        [20],
    ),
    "rows of a unit key": (
        "SELECT COUNT(l.patient_id) FROM " + E_L.format("LEFT"),
        [20],
        [20],
    ),
    "inner join": (ONE + E_L.format("INNER"), [20], [20]),
    "left join": (ONE + E_L.format("LEFT"), [20], [20]),
    "left join of few": (
        ONE + "patients p LEFT JOIN labs l ON p.patient_id = l.patient_id",
        [5],
        [5],
    ),
    "keyed join": (ONE + E_D.format("INNER", "e.severity"), [4], [4]),
    "keyed left join": (ONE + E_D.format("LEFT", "e.severity + 9"), [4], [4]),
    "keyed join of a joined side": (
        ONE + "diagnoses d JOIN patients p ON d.patient_id = p.patient_id "
        "JOIN encounters e ON e.patient_id = d.patient_id AND e.severity = d.seq",
        [4],
        [4],
    ),
    "keyed join behind one that multiplies": (
        ONE + E_L.format("INNER") + " JOIN diagnoses d "
        "ON d.patient_id = e.patient_id AND d.seq = e.severity",
        [20],
        [20],
    ),
    "keyed join of a side that others multiplied": (
        ONE + "diagnoses d JOIN labs l ON d.patient_id = l.patient_id "
        "JOIN encounters e ON e.patient_id = d.patient_id AND e.severity = d.seq",
        [80],
        [20],
    ),
    "keyed join by a column that equals the key": (
        ONE + "diagnoses d JOIN encounters e ON e.patient_id = d.patient_id "
        "AND e.severity = d.seq JOIN diagnoses f ON f.patient_id = d.patient_id "
        "AND f.seq = e.severity",
        [4],
        [4],
    ),
    "join by the keys of a roll-up": (
        ONE + "labs l JOIN (SELECT patient_id, severity, COUNT(*) AS n FROM encounters "
        "GROUP BY patient_id, severity) x ON x.patient_id = l.patient_id "
        "AND x.severity = l.level",
        [5],
        [0],
    ),
    "join by part of a roll-up's keys": (
        ONE + "labs l JOIN (SELECT patient_id, severity, ward FROM encounters "
        "GROUP BY patient_id, severity, ward) x ON x.patient_id = l.patient_id "
        "AND x.severity = l.level",
        [20],
        [0],
    ),
    "join by the keys of the first rows": (
        ONE + "labs l LEFT JOIN (SELECT patient_id, ward, ROW_NUMBER() OVER "
        "(PARTITION BY patient_id, ward ORDER BY started) AS n FROM encounters) x "
        "ON x.patient_id = l.patient_id AND x.ward = l.ward AND x.n = 1",
        [5],
        [5],
    ),
    "join by the keys of the first two rows": (
        ONE + "labs l LEFT JOIN (SELECT patient_id, ward, ROW_NUMBER() OVER "
        "(PARTITION BY patient_id, ward ORDER BY started) AS n FROM encounters) x "
        "ON x.patient_id = l.patient_id AND x.ward = l.ward AND x.n <= 2",
        [20],
        [5],
    ),
    "join by part of a key": (
        ONE
        + (
            "encounters e JOIN diagnoses d ON e.patient_id = d.patient_id "
            "AND d.seq >= e.severity - 9"
        ),
        [16],
        [16],
    ),
    "join by a key of both sides": (
        ONE + E_D.format("LEFT", "d.seq"),
        [16],
        [16],
    ),
    "left join of a keyed side": (
        ONE + "diagnoses d LEFT JOIN labs l ON d.patient_id = l.patient_id "
        "AND d.seq = 1",
        [20],
        [8],
    ),
    "self-join": (
        ONE + "encounters a JOIN encounters b ON a.patient_id = b.patient_id",
        [16],
        [16],
    ),
    "public join by key": (
        ONE + "encounters e LEFT JOIN wards w ON e.ward = w.ward",
        [4],
        [4],
    ),
    "public join with fan-out": (
        ONE + "encounters e JOIN grades g ON g.severity = e.severity",
        [8],
        [8],
    ),
    "union all": (
        ONE + "(SELECT patient_id FROM encounters UNION ALL "
        "SELECT patient_id FROM labs) x",
        [9],
        [9],
    ),
    "exists": (ONE + "encounters e WHERE " + HAS_LAB.format(""), [4], [4]),
    "in": (
        ONE + "encounters WHERE patient_id IN (SELECT patient_id FROM labs)",
        [4],
        [4],
    ),
    "count of values": ("SELECT COUNT(ward) FROM encounters", [4], [3]),
    "units by a varying key": (BY.format("ward", "e", "encounters e"), [4], [4]),
    "units by two keys": (
        (
            "SELECT urgent, certain, COUNT(DISTINCT e.patient_id) FROM encounters e "
            "JOIN diagnoses d ON e.patient_id = d.patient_id GROUP BY urgent, certain"
        ),
        [6],
        [3],
    ),
    "values": ("SELECT COUNT(DISTINCT ward) FROM encounters", [3], [3]),
    "values of some rows": (
        "SELECT COUNT(DISTINCT e.wide) FILTER (WHERE l.result > -1000000), "
        "COUNT(DISTINCT CASE WHEN l.result IS NULL THEN NULL WHEN e.urgent THEN e.wide "
        "ELSE e.wide END) FROM " + E_L.format("INNER"),
        [4, 4],
        [0, 0],
    ),
    "values of some rows, computed": (
        "SELECT COUNT(DISTINCT CASE WHEN l.result > 0 THEN e.wide ELSE l.level END) "
        "FROM " + E_L.format("INNER"),
        [20],
        [0],
    ),
    "values by group": (
        "SELECT ward, COUNT(DISTINCT severity) FROM encounters GROUP BY ward",
        [4],
        [4],
    ),
    "sum": ("SELECT SUM(days) FROM encounters", [56], [56]),
    "negative sum": ("SELECT SUM(-days) FROM encounters", [56], [56]),
    "sum far from zero": ("SELECT SUM(age + 1000) FROM encounters", [4480], [4480]),
    "sum of decimals": ("SELECT SUM(cost) FROM encounters", [4 * 9999], [4 * 9999]),
    "saturated sum": ("SELECT SUM(vast + vast) FROM encounters", [MOST], [MOST]),
    "sum of a count": (
        (
            "SELECT SUM(n) FROM (SELECT patient_id, COUNT(*) AS n FROM encounters "
            "GROUP BY patient_id) x"
        ),
        [4],
        [4],
    ),
    "average": ("SELECT AVG(days) FROM encounters", [56, 4], [56, 4]),
    "median": ("SELECT MEDIAN(age) FROM encounters", [4], [4]),
    "quantile of decimals": ("SELECT QUANTILE(cost, 0.9, 8) FROM encounters", [4], [4]),
    "constant from one row": (
        BY.format("p.sex", "p", "patients p JOIN encounters e USING (patient_id)"),
        [1],
        [1],
    ),
    "constant of the nullable side": (
        BY.format(
            "p.sex",
            "e",
            "encounters e LEFT JOIN patients p ON e.patient_id = p.patient_id",
        ),
        [1],
        [1],
    ),
    "nullable side on a varying condition": (
        BY.format(
            "p.sex",
            "e",
            "encounters e LEFT JOIN patients p ON e.patient_id = p.patient_id "
            "AND e.severity = 1",
        ),
        [2],
        [2],
    ),
    "constant lookup": (
        BY.format(
            "w.floor",
            "f",
            FIRST_WARD.format("ward")
            + " JOIN wards w ON w.ward = f.ward "
            + "JOIN labs l ON l.patient_id = f.patient_id",
        ),
        [1],
        [1],
    ),
    "varying lookup": (
        BY.format("w.floor", "e", "encounters e JOIN wards w ON w.ward = e.ward"),
        [4],
        [3],
    ),
    "lookup with fan-out": (
        BY.format(
            "g.grade",
            "f",
            FIRST_WARD.format("severity") + " JOIN grades g ON g.severity = f.ward",
        ),
        [2],
        [2],
    ),
    "exists of the unit": (CASED.format(HAS_LAB.format("")), [1], [1]),
    "exists of the row": (
        CASED.format(HAS_LAB.format(" AND l.ward = e.ward")),
        [2],
        [2],
    ),
    "union of constants": (SEXES, [2], [1]),
}
BOUNDED = {
    "lower scan": (
        ONE + "encounters",
        ContributionBounds(tables=(("encounters", 2),)),
        [2],
        [2],
    ),
    "lower rows": (
        ONE + E_L.format(""),
        ContributionBounds(max_rows_per_unit=3),
        [3],
        [3],
    ),
    "lower groups": (
        BY.format("ward", "e", "encounters e"),
        ContributionBounds(max_groups_per_unit=2),
        [2],
        [2],
    ),
}


def encounters():
    for number, ward in enumerate(WARDS):
        yield {
            "started": date(2020, 2, 1 + number),
            "ended": None,
            "ward": ward,
            "age": 120,
            "severity": (1, 2, 3, 3)[number],
            "days": 14,
            "cost": Decimal("99.99"),
            "urgent": True,
            "note": None,
            "wide": None,
            "vast": LEAST,
        }


def labs():
    for number in range(5):
        yield {
            "analyte": "na",
            "taken": datetime(2020, 2, 1),  # noqa: DTZ001 - no zone
            "result": None,
            "raw": None,
            "level": None,
            "ward": ("icu", "er")[number % 2],
        }


def diagnoses():
    for seq in (1, 2, 3, 4):
        yield {
            "seq": seq,
            "code": "E11",
            "local": None,
            "noted": None,
            "certain": (True, False, None)[seq % 3],
        }


def patient():
    return {"sex": "f", "birth": None, "smoker": None, "region": "nord"}


def owned(unit, rows):
    return [
        {"unit": unit, "row_hash": place, "row_rank": place, **row}
        for place, row in enumerate(rows, start=1)
    ]


def tables(*, heavy):
    """Return the rows of all tables; public ones are as large as they can be."""
    own = [HEAVY] if heavy else []
    makers = {"encounters": encounters, "labs": labs, "diagnoses": diagnoses}
    found = {
        n: [r for u in own for r in owned(u, make())] for n, make in makers.items()
    }
    found["patients"] = [r for u in (*own, STRANGER) for r in owned(u, [patient()])]
    found["labs"] += [r for u in (STRANGER, STRANGER + 1) for r in owned(u, labs())]
    found["wards"] = [
        {"ward": ward, "floor": floor, "title": "t"}
        for floor, ward in enumerate(WARDS[:3])
    ]
    found["grades"] = [
        {"severity": severity, "grade": grade, "points": 1}
        for severity in (1, 2, 3)
        for grade in ("low", "high")
    ]
    return found


@pytest.fixture(scope="module")
def neighbours():
    with engine.connect() as present, engine.connect() as absent:
        engine.load(present, tables(heavy=True))
        engine.load(absent, tables(heavy=False))
        yield present, absent


def measured(neighbours, sql, bounds):
    """Return what is stated, and what is reached in each norm."""
    compiled = compile_query(sql, hospital.DATASET, bounds)
    vectors = [engine.exact_vectors(one, compiled.rendered) for one in neighbours]
    steps = [
        [abs(a - b) for a, b in zip(one, other, strict=True)]
        for one, other in zip(*vectors, strict=True)
    ]
    return [measure.sensitivity for measure in compiled.measures], steps


def check(neighbours, sql, bounds, stated, reached):
    sensitivities, steps = measured(neighbours, sql, bounds)

    assert [s.l1 for s in sensitivities] == stated
    assert [sum(moved) for moved in steps] == reached
    for sensitivity, moved in zip(sensitivities, steps, strict=True):
        assert sum(step * step for step in moved) <= sensitivity.l2_squared
        assert max(moved) <= sensitivity.linf


@pytest.mark.parametrize("rule", RULES)
def test_a_full_patient_moves_each_vector_as_the_rule_says(neighbours, rule):
    sql, stated, reached = RULES[rule]
    check(neighbours, sql, NO_BOUNDS, stated, reached)


def test_the_hashes_of_a_nullable_side_order_rows_before_part_numbers(neighbours):
    """PRIVACY 2: hashes in join order, then part numbers, NULL first."""
    sql = (
        "SELECT COUNT(*) FROM (SELECT patient_id, k, ROW_NUMBER() OVER "
        "(PARTITION BY patient_id) AS n FROM (SELECT u.patient_id, u.k FROM "
        "(SELECT patient_id, 1 AS k FROM patients UNION ALL "
        "SELECT patient_id, 2 AS k FROM patients) u LEFT JOIN patients p "
        "ON u.patient_id = p.patient_id AND u.k = 1) x) y WHERE k = 1 AND n = 1"
    )
    compiled = compile_query(sql, hospital.DATASET, NO_BOUNDS)
    assert engine.exact_vectors(neighbours[0], compiled.rendered) == [[0]]


@pytest.mark.parametrize("rule", BOUNDED)
def test_a_bound_asked_for_holds_a_full_patient(neighbours, rule):
    check(neighbours, *BOUNDED[rule])
