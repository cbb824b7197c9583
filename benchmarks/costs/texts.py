"""Questions with many texts, computed or not, in each place that may hold them.

Read by ``python -m benchmarks.costs.plans --terms 1 16 --bytes 1024 8192``.
"""

from collections.abc import Callable, Mapping


def computed(many: int, column: str = "note") -> list[str]:
    """Return so many texts, each as long as the column's and of its own."""
    return [f"COALESCE({column}, 'k{each}')" for each in range(many)]


def _terms(many: int) -> str:
    stored = ["note", "note DESC"][:many]
    return ", ".join([*stored, *computed(many - len(stored))])


def _read(many: int, least: str = "'a'") -> str:
    return " AND ".join(f"a{each} >= {least}" for each in range(many))


def _made(call: str, many: int) -> str:
    return ", ".join(
        call.replace("{}", text) + f" AS a{each}"
        for each, text in enumerate(computed(many))
    )


def _rolled(call: str, keys: str, least: str = "'a'") -> Callable[[int], str]:
    def question(many: int) -> str:
        return (
            f"SELECT COUNT(*) FROM (SELECT {keys}, {_made(call, many)} FROM visits"
            f" GROUP BY {keys}) AS r WHERE {_read(many, least)}"
        )

    return question


def _first(keys: str, kind: str = "FIRST") -> Callable[[int], str]:
    def question(many: int) -> str:
        return (
            f"SELECT COUNT(*) FROM (SELECT {keys}, {kind}(note ORDER BY"
            f" {_terms(many)}) AS a0 FROM visits GROUP BY {keys}) AS r WHERE a0 >= 'a'"
        )

    return question


def _firsts(keys: str) -> Callable[[int], str]:
    return _rolled("FIRST({} ORDER BY note, note DESC)", keys)


def _first_numbers(many: int) -> str:
    terms = ", ".join(f"paid + {each}" for each in range(many))
    return (
        f"SELECT COUNT(*) FROM (SELECT pid, FIRST(age ORDER BY {terms}) AS a0 FROM"
        " visits GROUP BY pid) AS r WHERE a0 >= 3"
    )


def _over(call: str, window: str) -> Callable[[int], str]:
    def question(many: int) -> str:
        made = window.replace("{terms}", _terms(many))
        made = made.replace("{computed}", ", ".join(computed(many)))
        return (
            f"SELECT COUNT(*) FROM (SELECT pid, {call} OVER (PARTITION BY pid{made})"
            " AS a0 FROM visits) AS r WHERE a0 >= 1"
        )

    return question


def _ordered_numbers(many: int) -> str:
    terms = ", ".join(f"paid + {each}" for each in range(many))
    return (
        f"SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER"
        f" BY {terms}) AS n FROM visits) AS r WHERE n >= 1"
    )


def _many_orders(many: int) -> str:
    made = ", ".join(
        f"LAG({text}) OVER (PARTITION BY pid ORDER BY paid + {each}) AS a{each}"
        for each, text in enumerate(computed(many))
    )
    rows = f"SELECT pid, {made} FROM visits"
    return f"SELECT COUNT(*) FROM ({rows}) AS r WHERE {_read(many)}"


def _number_keys(many: int) -> str:
    keys = " AND ".join(
        f"v.age + {each} >= l.result - {1_000 + each}" for each in range(many)
    )
    return f"SELECT COUNT(*) FROM visits v JOIN labs l ON v.pid = l.pid AND {keys}"


def _windows(call: str, over: str) -> Callable[[int], str]:
    def question(many: int) -> str:
        return (
            f"SELECT COUNT(*) FROM (SELECT pid, {_made(call + over, many)} FROM visits)"
            f" AS r WHERE {_read(many)}"
        )

    return question


def _keys(many: int) -> str:
    return (
        "SELECT COUNT(*) FROM (SELECT pid, "
        + _made("{}", many)
        + ", COUNT(*) AS n FROM visits GROUP BY pid, "
        + ", ".join(computed(many))
        + f") AS r WHERE n >= 1 AND {_read(many)}"
    )


def _distinct_rows(many: int) -> str:
    return (
        f"SELECT COUNT(*) FROM (SELECT DISTINCT pid, {_made('{}', many)} FROM visits)"
        f" AS r WHERE {_read(many)}"
    )


def _derived(table: str, column: str, many: int) -> str:
    made = ", ".join(
        f"{text} AS a{each}" for each, text in enumerate(computed(many, column))
    )
    return f"(SELECT pid, visit_id, {made} FROM {table})"


def _filtered(many: int) -> str:
    rows = _derived("visits", "note", many)
    return f"SELECT COUNT(*) FROM {rows} AS r WHERE {_read(many)}"


def _conditions(many: int) -> str:
    tests = " OR ".join(f"{text} < 'a'" for text in computed(many))
    return f"SELECT COUNT(*) FROM visits WHERE {tests}"


def _cases(many: int) -> str:
    tests = " OR ".join(
        f"CASE WHEN age > {each} THEN note ELSE ward END < 'a'" for each in range(many)
    )
    return f"SELECT COUNT(*) FROM visits WHERE {tests}"


def _nested(many: int) -> str:
    rows = "SELECT pid, note AS a, age FROM visits"
    for each in range(many):
        rows = (
            f"SELECT pid, COALESCE(a, 'k{each}') AS a, age FROM ({rows}) AS d{each}"
            f" WHERE age <> {each}"
        )
    return f"SELECT COUNT(*) FROM ({rows}) AS r WHERE a >= 'a'"


def _few_kept(many: int) -> str:
    """Few rows of a vector pass: the engine gathers them, at each filter."""
    rows = "SELECT pid, note AS a, age, cost FROM visits"
    for each in range(many):
        test = "cost < 40000" if each == 0 else f"age <> {each}"
        rows = f"SELECT pid, a, age, cost FROM ({rows}) AS d{each} WHERE {test}"
    return f"SELECT COUNT(*) FROM ({rows}) AS r WHERE a >= 'a'"


def _held(many: int) -> str:
    read = " AND ".join(f"r.a{each} <> v.note" for each in range(many))
    rows = _derived("labs", "remark", many)
    return (
        f"SELECT COUNT(*) FROM visits v JOIN {rows} AS r ON v.pid = r.pid WHERE {read}"
    )


def _join_keys(many: int) -> str:
    keys = " AND ".join(
        f"COALESCE(v.note, 'k{each}') = COALESCE(l.remark, 'k{each}')"
        for each in range(many)
    )
    return f"SELECT COUNT(*) FROM visits v JOIN labs l ON v.pid = l.pid AND {keys}"


def _left_join(many: int) -> str:
    tests = " AND ".join(
        f"COALESCE(l.remark, 'k{each}') <> COALESCE(v.note, 'b')"
        for each in range(many)
    )
    return (
        "SELECT COUNT(*), COUNT(l.result) FROM visits v LEFT JOIN labs l"
        f" ON v.pid = l.pid AND {tests}"
    )


def _exists(many: int) -> str:
    tests = " AND ".join(
        f"COALESCE(l.remark, 'k{each}') <> COALESCE(v.note, 'b')"
        for each in range(many)
    )
    return (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM labs l WHERE"
        f" l.pid = v.pid AND {tests})"
    )


def _exists_keys(many: int) -> str:
    keys = " AND ".join(
        f"COALESCE(v.note, 'k{each}') = COALESCE(l.remark, 'k{each}')"
        for each in range(many)
    )
    return (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM labs l WHERE"
        f" l.pid = v.pid AND {keys})"
    )


def _marked(many: int) -> str:
    rows = _derived("visits", "note", many)
    tests = " AND ".join(f"l.remark > v.a{each}" for each in range(many))
    return (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM labs l WHERE l.pid = v.pid AND"
        f" {tests}) THEN 1 ELSE 0 END) AS n FROM {rows} AS v"
    )


def _union(many: int) -> str:
    rows = " UNION ALL ".join([_derived("visits", "note", many)[1:-1]] * 2)
    return (
        "SELECT COUNT(*) FROM (SELECT pid, a0, ROW_NUMBER() OVER (PARTITION BY pid"
        f" ORDER BY {', '.join(f'a{each}' for each in range(many))}) AS n FROM ({rows})"
        " AS u) AS r WHERE n >= 1 AND a0 >= 'a'"
    )


_FRAME = (
    " OVER (PARTITION BY pid ORDER BY seen ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)"
)
_BY_DAY = " OVER (PARTITION BY pid ORDER BY seen)"
_ROWS, _UNITS = "pid, visit_id", "pid"

PLACES: Mapping[str, Callable[[int], str]] = {
    "order of FIRST, a row": _first(_ROWS),
    "order of FIRST, 40 rows": _first(_UNITS),
    "numbers in FIRST, 40 rows": _first_numbers,
    "many FIRST, a row": _firsts(_ROWS),
    "many FIRST, 40 rows": _firsts(_UNITS),
    "MAX, a row": _rolled("MAX({})", _ROWS),
    "MAX, 40 rows": _rolled("MAX({})", _UNITS),
    "MIN, 40 rows": _rolled("MIN({})", _UNITS),
    "COUNT(DISTINCT), a row": _rolled("COUNT(DISTINCT {})", _ROWS, "1"),
    "COUNT(DISTINCT), 40 rows": _rolled("COUNT(DISTINCT {})", _UNITS, "1"),
    "GROUP BY": _keys,
    "DISTINCT": _distinct_rows,
    "ORDER BY of a window": _over("ROW_NUMBER()", " ORDER BY {terms}"),
    "numbers in ORDER BY": _ordered_numbers,
    "PARTITION BY": _over("ROW_NUMBER()", ", {computed}"),
    "PARTITION BY, counted": _over("COUNT(*)", ", {computed}"),
    "both of a window": _over("LAG(age)", ", {computed} ORDER BY {terms}"),
    "LAG": _windows("LAG({})", _BY_DAY),
    "LAG in many orders": _many_orders,
    "FIRST_VALUE": _windows("FIRST_VALUE({})", _BY_DAY),
    "MAX over": _windows("MAX({})", " OVER (PARTITION BY pid)"),
    "MAX, running": _windows("MAX({})", _BY_DAY),
    "MIN over frames": _windows("MIN({})", _FRAME),
    "derived table": _filtered,
    "WHERE": _conditions,
    "CASE": _cases,
    "nested WHERE": _nested,
    "few rows kept": _few_kept,
    "held by a join": _held,
    "keys of a join": _join_keys,
    "numbers as keys of a join": _number_keys,
    "LEFT JOIN": _left_join,
    "EXISTS": _exists,
    "keys of EXISTS": _exists_keys,
    "EXISTS as a value": _marked,
    "UNION ALL": _union,
}
"""By place, the question with so many texts there."""
