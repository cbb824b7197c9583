"""Two hundred texts that are meant to hurt whoever reads, binds or runs them.

Over the ``visits`` table of ``tests.support.installations.harness``. Some are within
the limits and are answered; none may take more than any other question.
"""

W = "SELECT COUNT(*) FROM visits WHERE "


def nested(opening, inside, closing, times):
    return opening * times + inside + closing * times


def chained(part, between, times):
    return between.join([part] * times)


def balanced(leaf, sign, depth):
    """A full binary tree of brackets."""
    if depth == 0:
        return leaf
    side = balanced(leaf, sign, depth - 1)
    return f"({side} {sign} {side})"


def cases(depth):
    """CASE inside every branch of CASE."""
    if depth == 0:
        return "1"
    inside = cases(depth - 1)
    return f"CASE WHEN age > {depth} THEN {inside} ELSE {inside} END"


def doubling(times, select):
    """Common tables, each made of two of the one before it."""
    tables = ["c0 AS (SELECT patient_id, age FROM visits)"]
    tables += [f"c{n} AS ({select.format(one=f'c{n - 1}')})" for n in range(1, times)]
    return f"WITH {', '.join(tables)} SELECT COUNT(*) FROM c{times - 1}"


UNITS = "SELECT patient_id FROM visits"
JOINED = "SELECT a.patient_id, a.age FROM {one} a JOIN {one} b USING (patient_id)"
UNITED = "SELECT patient_id, age FROM {one} UNION ALL SELECT patient_id, age FROM {one}"
WITHIN = (
    "SELECT patient_id, age FROM {one}"
    " WHERE patient_id IN (SELECT patient_id FROM {one})"
)
EXISTING = (
    "SELECT a.patient_id, a.age FROM {one} a WHERE EXISTS"
    " (SELECT * FROM {one} b WHERE b.patient_id = a.patient_id)"
)
SUMMED = (
    "SELECT patient_id, SUM(age * age) AS age FROM {one}"
    " GROUP BY patient_id HAVING SUM(age * age) > 0"
)
NUMBERED = (
    "SELECT patient_id, LAG(age) OVER (PARTITION BY patient_id ORDER BY age) + age"
    " AS age FROM {one}"
)

BRACKETS = [
    *(W + nested("(", "age = 1", ")", n) for n in (25, 30, 31, 100, 1_000, 6_000)),
    *(W + "(" * n for n in (30, 1_000, 16_000)),
    *(W + ")" * n for n in (1, 1_000, 16_000)),
    *(W + "age = " + nested("(", "1", ")", n) for n in (28, 29, 30, 900)),
    *(W + nested("NOT (", "age = 1", ")", n) for n in (14, 15, 16, 900)),
    *(W + nested("COALESCE(", "age", ", 1)", n) + " = 1" for n in (20, 29, 31, 300)),
    *(W + "NOT " * n + "age = 1" for n in (29, 30, 31, 1_900)),
    *(W + "age = " + "- " * n + "1" for n in (29, 31, 1_900)),
    *(nested("(", "SELECT COUNT(*) FROM visits", ")", n) for n in (30, 31, 900)),
]
LISTS = [
    *(W + f"age IN ({chained('1', ', ', n)})" for n in (255, 256, 257, 990, 4_000)),
    *(
        W + f"note IN ({chained(quoted, ', ', n)})"
        for quoted, n in (("'x'", 256), ("'東京'", 256), ("''", 257))
    ),
    *(
        W + chained(f"age IN ({chained('1', ', ', n)})", " OR ", m)
        for n, m in ((200, 4), (50, 18), (8, 90))
    ),
    W + nested("age IN (1, ", "2", ")", 28),
    W + "age IN ()",
    W + "age IN (" + chained("(1)", ", ", 250) + ")",
]
KINDS = [
    W + chained(token, " ", 1_985)
    for token in (
        "SELECT",
        "FROM",
        "WHERE",
        "AND",
        "OR",
        "NOT",
        "CASE",
        "WHEN",
        "END",
        "IN",
        "BETWEEN",
        "LIKE",
        "IS NULL",
        "EXISTS",
        "OVER",
        "UNION ALL",
        "WITH",
        "AS",
        "JOIN",
        "LEFT JOIN",
        "ON",
        "USING",
        "GROUP BY",
        "ORDER BY",
        "HAVING",
        "LIMIT",
        "DISTINCT",
        "DATE",
        "CAST",
        "EXTRACT",
        "INTERVAL",
        "NULL",
        "TRUE",
        "age",
        '"age"',
        "1",
        "0.5",
        "1.",
        "'x'",
        ",",
        ".",
        "=",
        "<>",
        "+",
        "*",
        "/",
        ";",
        "age,",
        "(age)",
        "age.age",
        "ROWS",
        "PRECEDING",
        "LATERAL",
        "UNNEST",
        "[",
        "{",
    )
]
CHOICES = [
    *(W + f"{cases(n)} = 1" for n in (3, 5, 6, 7)),
    *(
        W + nested("CASE WHEN age = 1 THEN ", "1", " END", n) + " = 1"
        for n in (20, 29, 31, 200)
    ),
    *(
        W + "CASE " + chained("WHEN age = 1 THEN 1", " ", n) + " END = 1"
        for n in (90, 240)
    ),
    *(
        W + "CASE age " + chained("WHEN 1 THEN 1", " ", n) + " END = 1"
        for n in (90, 300)
    ),
]
CHAINS = [
    *(W + chained("age = 1", between, 490) for between in (" AND ", " OR ")),
    *(
        W + chained("age = 1", between, n)
        for between, n in ((" AND NOT ", 390), (" OR NOT ", 390))
    ),
    *(
        W + chained("age", sign, n) + " = 1"
        for sign in (" + ", " - ", " * ")
        for n in (60, 95, 105, 900)
    ),
    *(W + chained("age", " = ", n) for n in (2, 3, 900)),
    *(W + balanced("age", sign, n) + " = 1" for sign in "+*" for n in (4, 6, 7)),
    *(W + chained("age / NULLIF(age, 0)", " + ", n) + " = 1" for n in (30, 90)),
    *(W + chained("(day + age)", " > ", n) for n in (2, 3)),
    W + nested("(day + (", "age", ")) - day", 10) + " = 1",
    W + nested("(-", "age", ")", 14) + " = 1",
    W + chained("note LIKE '%x%'", " OR ", 480),
    W + chained("age BETWEEN 1 AND 2", " AND ", 320),
]
TABLES = [
    *(doubling(n, JOINED) for n in (2, 4, 8, 16, 40)),
    *(doubling(n, UNITED) for n in (2, 4, 8, 16, 40)),
    *(doubling(n, WITHIN) for n in (2, 4, 8, 16, 40)),
    *(doubling(n, EXISTING) for n in (2, 4, 8, 16)),
    *(doubling(n, SUMMED) for n in (2, 8, 16, 40)),
    *(doubling(n, NUMBERED) for n in (2, 8, 16, 40)),
    *(
        nested("SELECT COUNT(*) FROM (", "SELECT patient_id FROM visits", ") d", n)
        for n in (2, 15, 31)
    ),
    *(
        f"SELECT COUNT(*) FROM {nested('(SELECT patient_id FROM ', 'visits', ') d', n)}"
        for n in (10, 28, 300)
    ),
    *(
        W
        + nested(
            "patient_id IN (SELECT patient_id FROM visits WHERE ", "age = 1", ")", n
        )
        for n in (5, 29, 31)
    ),
    "SELECT COUNT(*) FROM visits a" + " JOIN visits b USING (patient_id)" * 200,
    "SELECT COUNT(*) FROM visits v0"
    + "".join(
        f" JOIN visits v{n} ON v{n}.patient_id = v0.patient_id" for n in range(1, 100)
    ),
    f"SELECT COUNT(*) FROM ({chained(UNITS, ' UNION ALL ', 300)}) d",
]
LETTERS = [
    *(
        W + f"note = '{text}'"
        for text in (
            "\u202e" * 4_000,
            "e" + "\u0301" * 7_000,
            "\u200b" * 5_000,
            "\U0001f600" * 4_000,
            "\ufdfa" * 5_000,
        )
    ),
    *(
        W + f"{text} = 1"
        for text in ("é" * 100, "\u0430ge", "age\u200b", "\uff41ge", "\U0001f600")
    ),
    *(W + f'"{name}" = 1' for name in ("é", "x" * 64, "x" * 16_000, '""' * 4_000)),
    *(W + f"{'x' * n} = 1" for n in (63, 64, 1_000, 16_000)),
    *(
        W + f"age = {number}"
        for number in (
            "9" * 400,
            "9" * 16_000,
            "0." + "9" * 15_000,
            "1e999999",
            "0x" + "f" * 9_000,
        )
    ),
    *(W + f"note = '{text}'" for text in ("x" * 16_000, "''" * 7_000, "%_" * 7_000)),
    *(
        W + f"note LIKE '{text}'"
        for text in ("%a" * 5_000, "%" * 9_000, "%" + "x" * 9_000 + "%")
    ),
    W + "note = '" + "x" * 9_000,
    *(nested("/*", "", "*/", n) + W + "age = 1" for n in (1, 1_000, 3_900)),
    "/*" * 8_000,
    "-- x\n" * 3_000 + W + "age = 1",
    ";" * 1_999,
    W + "age = 1" + " " * 16_000,
    "\n" * 16_000 + W + "age = 1",
]
FRAME = "ROWS BETWEEN {} PRECEDING AND CURRENT ROW"
DISTINCT = "COUNT(DISTINCT age + {}) AS w{}"
WINDOW = "SUM(age) OVER (PARTITION BY patient_id ORDER BY day " + FRAME + ") AS w{}"


def listed(part, times):
    """Write a part once a number, with commas between."""
    return ", ".join(part.replace("{}", str(number)) for number in range(times))


CLAUSES = [
    "SELECT " + chained("COUNT(*)", ", ", 300) + " FROM visits",
    f"SELECT {listed('SUM(age + {}) AS s{}', 150)} FROM visits",
    f"SELECT {listed('MEDIAN(age + {}) AS s{}', 90)} FROM visits",
    "SELECT COUNT(*) FROM visits GROUP BY " + chained("sex", ", ", 900),
    (
        f"SELECT {listed('age + {} AS k{}', 90)}, COUNT(*) FROM visits"
        f" GROUP BY {listed('k{}', 90)}"
    ),
    "SELECT COUNT(*) AS n FROM visits ORDER BY " + chained("n", ", ", 900),
    "SELECT COUNT(*) AS n FROM visits HAVING " + chained("COUNT(*) > 1", " AND ", 270),
    "SELECT COUNT(*) FROM visits LIMIT " + "9" * 4_000,
    f"SELECT COUNT(*) FROM (SELECT patient_id, {listed(WINDOW, 80)} FROM visits) d",
    (
        f"SELECT COUNT(*) FROM (SELECT patient_id, {listed(DISTINCT, 150)}"
        " FROM visits GROUP BY patient_id) d"
    ),
]
REPEATS = [  # what each form repeats is repeated by the next
    *(
        f"SELECT COUNT(*) FROM visits WHERE {'POWER(' * n}age{', 4)' * n} > 1"
        for n in (7, 14, 25)
    ),
    f"SELECT COUNT(*) FROM visits WHERE {'NULLIF(' * 25}age{', 1)' * 25} > 1",
    f"SELECT {listed('CORR(age + {}, age) AS s{}', 150)} FROM visits",
    *(
        "SELECT COUNT(DISTINCT patient_id) FROM ("
        + chained("SELECT patient_id FROM visits", f" {word} ", n)
        + ") AS sets"
        for word in ("UNION", "INTERSECT", "EXCEPT")
        for n in (30, 130, 220, 300)
    ),
]
BOMBS = [
    *BRACKETS,
    *LISTS,
    *KINDS,
    *CHOICES,
    *CHAINS,
    *TABLES,
    *LETTERS,
    *CLAUSES,
    *REPEATS,
]
