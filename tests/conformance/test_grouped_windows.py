"""Windows beside GROUP BY are those of two queries: of the groups, and over them.

Each text is written twice: at one level, which the compiler reads, and at two with a
name of its own for everything that is grouped by or counted, which the evaluator does.
"""

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from privacy.errors import QueryError
from tests.conformance.reading import tree_of
from tests.effort import gate_first
from tests.semantics import engine, hospital
from tests.semantics.grammar import Question
from tests.semantics.meaning.answers import prepare
from tests.support.compiling import compile_query

pytestmark = pytest.mark.thorough

CHUNKS = 40
QUESTIONS = 30
QUESTIONS_PER_DATABASE = 15
MOST_REFUSED = 0.3

OF_ENCOUNTERS = ("ward", "severity", "urgent", "started", "days")
JOINED = "encounters AS e JOIN labs AS l ON e.patient_id = l.patient_id"
SOURCES = {  # FROM: what its tables are called, the columns of each that are keys
    "encounters": {"encounters": OF_ENCOUNTERS},
    "encounters AS e": {"e": OF_ENCOUNTERS},
    JOINED: {"e": ("ward", "severity"), "l": ("ward", "level")},
}
AGGREGATES = (
    "COUNT(*)",
    "SUM({}.days)",
    "MIN({}.severity)",
    "MAX({}.age)",
    "COUNT(DISTINCT {}.started)",
    "COUNT(CASE WHEN EXISTS (SELECT * FROM wards WHERE ward = {}.ward) THEN 1 END)",
    "SUM(CASE WHEN {}.ward IN (SELECT ward FROM wards) THEN 1 ELSE 0 END)",
)
COMPUTED = {  # of each key, and a value that it may have
    "ward": ("COALESCE({}, 'icu')", "'icu'"),
    "severity": ("{} + 1", "2"),
    "urgent": ("NOT {}", "TRUE"),
    "started": ("{} + 1", "DATE '2020-02-29'"),
    "days": ("ABS({})", "1"),
    "level": ("{} - 5", "5"),
}
ALIASES = ("title", "severity", "floor", "sum", "row_number", "grouped", "part", "age")
FUNCTIONS = (
    ("ROW_NUMBER()", ()),
    ("LAG({}, 1)", ()),
    ("FIRST_VALUE({})", ()),
    ("COUNT({})", ("", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")),
    ("MAX({})", ("", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")),
)
WHOLE = ("{}", "{}", "CASE WHEN {part} > 1 THEN {} END")
ASKED = (
    "SELECT COUNT(*) AS n FROM ({}) AS r WHERE k IS NOT NULL",
    "SELECT COUNT(*) AS n FROM ({}) AS r WHERE k = {value}",
    "SELECT COUNT(*) AS n FROM ({}) AS r WHERE k <> {value}",
)


@dataclass(frozen=True)
class Part:
    """What a group has: at one level, and by its name where the groups are a table."""

    written: str
    named: str
    value: str = "1"


class Grouped:
    """A SELECT with GROUP BY and a window, at random."""

    def __init__(self, rng):
        self.rng = rng
        self.source = rng.choice(list(SOURCES))
        tables = SOURCES[self.source]
        self.first = next(iter(tables))
        columns = [(table, name) for table, own in tables.items() for name in own]
        self.keys = rng.sample(columns, rng.choice((1, 1, 2, 2, 3)))
        self.all_keys = [(self.first, "patient_id"), *self.keys]
        self.doubled = {"patient_id"} if len(tables) > 1 else set()
        self.doubled |= {n for t, n in columns for u, o in columns if n == o and t != u}

    def spelled(self, key):
        """Return a column with its table in front, or without where it is the only."""
        table, name = key
        with_table = name in self.doubled or self.rng.random() < 0.6
        return f"{table}.{name}" if with_table else name

    def name_of(self, key):
        return f"x_{self.all_keys.index(key)}"

    def part(self):
        """Return a key, what is computed of one, or an aggregate."""
        kind = self.rng.choice(("key", "computed", "aggregate"))
        if kind == "aggregate":
            return self.aggregate()
        key = self.rng.choice(self.keys)
        form, value = COMPUTED[key[1]]
        form = form if kind == "computed" else "{}"
        texts = form.format(self.spelled(key)), form.format(self.name_of(key))
        return Part(*texts, value)

    def aggregate(self):
        number = self.rng.randrange(len(AGGREGATES))
        return Part(AGGREGATES[number].format(self.first), f"y_{number}")

    def window(self):
        """Return an item with a window."""
        rng = self.rng
        form, frames = rng.choice(FUNCTIONS)
        keys = [key for key in self.keys if rng.random() < 0.25]
        unit = self.all_keys[0]
        by = [Part(self.spelled(key), self.name_of(key)) for key in (unit, *keys)]
        order = [self.part() for _ in range(rng.choice((1, 1, 2)))]
        signs = [rng.choice(("", " DESC")) for _ in order]
        of, beside = self.part(), self.aggregate()
        whole, frame = rng.choice(WHOLE), rng.choice(frames or ("",))

        def text(side):
            said = ", ".join(getattr(part, side) for part in by)
            terms = [getattr(p, side) + s for p, s in zip(order, signs, strict=True)]
            over = f"PARTITION BY {said} ORDER BY {', '.join(terms)}{frame}"
            call = f"{form.format(getattr(of, side))} OVER ({over})"
            return whole.format(call, part=getattr(beside, side))

        counts = form.startswith(("ROW_NUMBER", "COUNT"))
        return Part(text("written"), text("named"), "1" if counts else of.value)

    def items(self):
        """Return the list beside the window, and how GROUP BY may say each key."""
        rng = self.rng
        items, said = [], {}
        taken = {"k"}
        for key in self.all_keys:
            said[key] = [self.spelled(key)]
            if rng.random() < 0.3 and key != self.all_keys[0]:
                continue
            alias = rng.choice(ALIASES) if rng.random() < 0.5 else None
            name = alias or key[1]
            if name in taken:
                continue
            taken.add(name)
            items.append((key, self.spelled(key) + (f" AS {alias}" if alias else "")))
        if rng.random() < 0.5:
            items.append((None, self.aggregate().written + " AS counted"))
        if rng.random() < 0.3:
            items.append((None, "1 AS one"))
        rng.shuffle(items)
        items.insert(rng.randrange(len(items) + 1), (None, None))
        for place, (key, _) in enumerate(items, start=1):
            if key is not None:
                said[key].append(str(place))
        return [text for _, text in items], said

    def texts(self):
        """Return the question at one level and at two."""
        rng = self.rng
        window = self.window()
        items, said = self.items()
        listed = ", ".join(text or f"{window.written} AS k" for text in items)
        where = rng.choice(("", f" WHERE {self.first}.severity > 1"))
        having = rng.choice(("", "", " HAVING COUNT(*) > 1"))
        keys = ", ".join(rng.choice(said[key]) for key in self.all_keys)
        one = f"SELECT {listed} FROM {self.source}{where} GROUP BY {keys}{having}"
        named = [f"{t}.{n} AS {self.name_of((t, n))}" for t, n in self.all_keys]
        named += [f"{a.format(self.first)} AS y_{n}" for n, a in enumerate(AGGREGATES)]
        keys = ", ".join(f"{table}.{name}" for table, name in self.all_keys)
        read = f"FROM {self.source}{where} GROUP BY {keys}{having}"
        groups = f"SELECT {', '.join(named)} {read}"
        two = f"SELECT x_0, {window.named} AS k FROM ({groups}) AS g"
        asked = rng.choice(ASKED)
        return tuple(asked.format(each, value=window.value) for each in (one, two))


def compiled(sql):
    """Return the compiled query, None where it is refused."""
    try:
        return compile_query(sql, hospital.DATASET)
    except QueryError:
        return None


def compared(connection, tables, texts):
    """Compare the compiler's answer at one level with the evaluator's at two."""
    one, two = map(compiled, texts)
    assert (one is None) == (two is None), "\n".join(texts)
    if one is None:
        return "refused"
    expected = prepare(Question(tree_of(texts[1])), tables)
    assert [tuple(cell) for cell in one.rendered.cells] == expected.cells
    found = engine.exact_vectors(connection, one.rendered)
    assert found == expected.exact_vectors(), "\n".join(texts)
    assert {m.sensitivity for m in one.measures} == {
        m.sensitivity for m in two.measures
    }
    return "moved" if any(map(any, found)) else "empty"


@pytest.mark.parametrize("seed", gate_first(2, range(CHUNKS)))
def test_a_window_beside_group_by_is_one_over_the_groups(seed):
    rng = random.Random(seed)
    counts = Counter()
    with engine.connect() as connection:
        for number in range(QUESTIONS):
            if number % QUESTIONS_PER_DATABASE == 0:
                tables = hospital.random_tables(rng)
                engine.load(connection, tables)
            counts[compared(connection, tables, Grouped(rng).texts())] += 1
    assert counts["refused"] <= MOST_REFUSED * QUESTIONS
    assert counts["moved"] > QUESTIONS // 4
