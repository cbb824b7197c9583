"""Random texts with rows of their own, several answers in one, and keys that follow.

Wide on purpose: many are refused, and some are no SQL. What is answered must be what
plain DuckDB finds.
"""

# ruff: noqa: E501 - a text is one string, to be read

from itertools import pairwise

WARDS = ("surgery", "internal", "other", "oncology", "attic")
CODES = ("I10", "E11.9", "E11.2", "J44.1", "Z99")
DAYS = (
    "2020-01-01",
    "2021-06-15",
    "2024-02-28",
    "2024-02-29",
    "2025-12-31",
    "9999-12-31",
    "0001-01-01",
)
LABELS = ("x", "y", "z")
WHERE = (
    "{e}age >= 60",
    "{e}department <> 'surgery'",
    "{e}discharged_to IS NULL",
    "{e}year IN (2020, 2024)",
    "{e}admitted >= DATE '2024-02-01'",
    "{e}age BETWEEN 18 AND 64",
    "{e}discharged_to = 'died' OR {e}department = 'surgery'",
)
COUNTS = (
    "COUNT(*)",
    "COUNT(DISTINCT {e}patient_id)",
    "COUNT({e}encounter_id)",
    "SUM({e}length_of_stay)",
    "AVG({e}age)",
    "COUNT({e}discharged_to)",
    "COUNT(*) FILTER (WHERE {e}discharged_to = 'died')",
    "SUM(CASE WHEN {e}age >= 60 THEN 1 ELSE 0 END)",
    "SUM(CASE WHEN {e}age >= 60 THEN 1 END)",
    "COUNT(COALESCE({e}discharged_to, 'none'))",
    "COUNT(DISTINCT CASE WHEN {e}age >= 60 THEN {e}patient_id END)",
)
TOTALS = ("COUNT(*)", "COUNT(DISTINCT patient_id)")
PARTS = (
    "EXTRACT(MONTH FROM admitted)",
    "EXTRACT(YEAR FROM admitted)",
    "EXTRACT(QUARTER FROM admitted)",
    "MONTHNAME(admitted)",
    "EXTRACT(ISODOW FROM admitted)",
    "DAYNAME(admitted)",
    "CAST(DATE_TRUNC('month', admitted) AS DATE)",
    "CAST(DATE_TRUNC('year', admitted) AS DATE)",
    "strftime(admitted, '%Y-%m')",
    "CASE WHEN EXTRACT(YEAR FROM admitted) < 2022 THEN 'early' ELSE 'late' END",
    "CASE WHEN EXTRACT(QUARTER FROM admitted) IN (1, 4) THEN 'cold' ELSE 'warm' END",
    "CASE WHEN EXTRACT(MONTH FROM admitted) <= 6 THEN 1 ELSE 0 END",
    "department",
    "CASE WHEN department = 'surgery' THEN 'cut' ELSE 'not' END",
    "CASE WHEN CASE WHEN department = 'surgery' THEN 'cut' ELSE 'not' END = 'cut' THEN 1 ELSE 2 END",
    "year",
    "year >= 2022",
    "COALESCE(discharged_to, 'none')",
    "discharged_to IS NULL",
)


class Texts:
    """Draws texts from a random source."""

    def __init__(self, source):
        self._random = source
        self._pick, self._sample = source.choice, source.sample

    def chance(self, share):
        return self._random.random() < share

    def text(self):
        """Return a text of one of the forms."""
        forms = [
            *[self.joined] * 8,
            *[self.following] * 3,
            *[self.stacked] * 3,
            *[self.bracketed] * 2,
            *[self.inside] * 4,
            self.lateral,
            self.groups,
            self.together,
            self.narrowed,
        ]
        return self._pick(forms)()

    # -- rows in the text ----------------------------------------------------

    def joined(self):
        """Rows of one or two tables of literals beside stays, or beside diagnoses."""
        is_third = self.chance(0.25)
        tables = [self.table(name) for name in "vw"[: self._pick((1, 1, 1, 2))]]
        stays = "encounters e"
        if is_third:
            stays += " JOIN diagnoses d ON d.patient_id = e.patient_id AND d.encounter_id = e.encounter_id"
        kinds = [
            self._pick(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", ",")) for _ in tables
        ]
        where = [self.where("e.")] if self.chance(0.4) else []
        source = stays
        if not is_third and kinds[0] != "," and self.chance(0.3):
            source = self._first(tables[0], kinds[0], stays)
            rest = list(zip(tables[1:], kinds[1:], strict=True))
        else:
            rest = list(zip(tables, kinds, strict=True))
        for (rows, _, ties), kind in rest:
            tie = self._pick(ties if is_third else [t for t in ties if "d." not in t])
            if kind == "," and tie.startswith("ON"):
                source += f" CROSS JOIN {rows}"
                where.append(tie.removeprefix("ON "))
            else:
                source += f" {'JOIN' if kind == ',' else kind} {rows} {tie}"
        return self._grouped(source, where, tables)

    def _first(self, table, kind, stays):
        rows, _, ties = table
        tie = self._pick([t for t in ties if "d." not in t])
        return f"{rows} {kind} {stays} {tie}"

    def _grouped(self, source, where, tables):
        keys = []
        for name, (_, columns, _) in zip("vw", tables, strict=False):
            some = [column for column in columns if self.chance(0.4)]
            keys += [self._pick((f"{name}.{column}", column)) for column in some]
        if self.chance(0.4):
            keys.append(self._pick(("e.department", "department", "e.year", "year")))
        if self.chance(0.15):
            keys.append(
                "CASE WHEN v.g = 'x' THEN 'X' WHEN v.g IS NULL THEN 'none' ELSE v.g END"
            )
        own = [f"COUNT({self._pick(('v.g', 'g'))})"] if self.chance(0.1) else []
        counts = [*own, *(c.format(e="e.") for c in self._sample(COUNTS, 2))]
        if self.chance(0.15):
            where.append(self._pick(("v.g <> 'x'", "g = 'y'", "v.g IS NOT NULL")))
        return self.select(keys, counts, source, where)

    def table(self, name):
        """Return rows under a name, their columns, and what may tie them to stays."""
        kind = self._pick(
            (
                self._keys,
                self._keys,
                self._ranges,
                self._years,
                self._days,
                self._likes,
                self._series,
            )
        )
        columns, rows, ties = kind(name)
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        table = f"(VALUES {listed}) AS {name}({', '.join(columns)})"
        if self.chance(0.15):
            selected = " UNION ALL ".join(
                "SELECT "
                + ", ".join(f"{v} AS {c}" for v, c in zip(row, columns, strict=True))
                for row in rows
            )
            table = f"({selected}) AS {name}"
        return table, columns, ties

    def _label(self):
        return f"'{self._pick(LABELS)}'"

    def _keys(self, name):
        column, known = self._pick(
            (
                ("department", WARDS),
                ("department", WARDS),
                ("discharged_to", ("home", "died")),
                ("code", CODES),
                ("k", WARDS),
            )
        )
        some = self._sample(known, self._random.randint(1, min(4, len(known))))
        if self.chance(0.2):
            some.append(some[0])
        rows = [(f"'{each}'", self._label()) for each in some]
        if column == "code":
            return (
                (column, "g"),
                rows,
                [
                    f"ON {name}.code = d.code",
                    "USING (code)",
                    f"ON e.department > {name}.code",
                ],
            )
        tied = "department" if column == "k" else column
        ties = [
            f"ON {name}.{column} = e.{tied}",
            f"ON e.{tied} = {name}.{column} AND {self.where('e.')}",
            f"ON {name}.{column} = e.{tied} AND {name}.g <> 'z'",
        ]
        ties += [f"USING ({column})"] * 2 if column != "k" else []
        return (column, "g"), rows, ties

    def _ranges(self, name):
        ends = sorted(self._sample(range(121), self._random.randint(2, 4)))
        less = self._pick((0, 0, 1))
        rows = [
            (str(low), str(high - less), self._label()) for low, high in pairwise(ends)
        ]
        ties = [
            f"ON e.age BETWEEN {name}.lo AND {name}.hi",
            f"ON e.age >= {name}.lo AND e.age < {name}.hi",
            "ON e.age BETWEEN lo AND hi",
            f"ON e.age > {name}.lo",
        ]
        return ("lo", "hi", "g"), rows, ties

    def _years(self, name):
        some = [
            self._random.randint(2018, 2026) for _ in range(self._random.randint(1, 3))
        ]
        rows = [(str(year), self._label()) for year in some]
        ties = [f"ON e.year = {name}.year", "USING (year)", f"ON {name}.year <= e.year"]
        return ("year", "g"), rows, ties

    def _series(self, name):
        rows = [
            (str(y), self._label()) for y in range(2019, 2019 + self._pick((2, 3, 4)))
        ]
        return (
            ("y", "g"),
            rows,
            [f"ON e.year = {name}.y", f"ON EXTRACT(YEAR FROM e.admitted) = {name}.y"],
        )

    def _days(self, name):
        some = self._sample(DAYS, self._random.randint(1, 3))
        form = self._pick(("DATE '{}'", "'{}'"))
        rows = [(form.format(day), self._label()) for day in some]
        ties = [
            f"ON e.admitted >= {name}.d",
            f"ON e.admitted = {name}.d",
            f"ON e.admitted < {name}.d",
        ]
        if form.startswith("DATE"):
            ties += [
                f"ON e.admitted < {name}.d + INTERVAL '{self._pick(('1 day', '2 months', '10000 years'))}'",
                f"ON e.admitted >= {name}.d - INTERVAL '1 year'",
            ]
        return ("d", "g"), rows, ties

    def _likes(self, name):
        some = self._sample(("s", "su", "in", "o", "c"), self._random.randint(1, 3))
        rows = [(f"'{each}'", self._label()) for each in some]
        return ("stem", "g"), rows, [f"ON e.department LIKE {name}.stem || '%'"]

    def narrowed(self):
        """A table of literals that a SELECT made of another one."""
        clause = self._pick(
            ("GROUP BY ALL", "GROUP BY k", "LIMIT 1", "WHERE k <> 'surgery'", "", "")
        )
        head = self._pick(("SELECT", "SELECT", "SELECT DISTINCT"))
        some = [self._pick(WARDS) for _ in range(3)]
        rows = ", ".join(f"('{each}')" for each in some)
        table = f"({head} k FROM (VALUES {rows}) AS t(k) {clause}) AS v"
        return self.select(
            ["v.k"],
            ["COUNT(*)"],
            f"encounters e JOIN {table} ON v.k = e.department",
            [],
        )

    # -- brackets beside them ------------------------------------------------

    def inside(self):
        """Brackets that read rows in the text, or tables there that are called alike."""
        name = self._pick(("v", "v", "f", "d"))
        label = self._pick(("g", "code", "rank"))
        source = self._around(name, label)
        said = self._within(name, label)
        if self.chance(0.5):
            return self.select([], ["COUNT(*)"], source, [said])
        sums = f"SUM(CASE WHEN {said} THEN 1 ELSE 0 END)"
        keys = [f"{name}.{label}"] if self.chance(0.5) else []
        return self.select(keys, [sums], source, [])

    def _around(self, name, label):
        front, column = self._pick(("e.", "e.", "")), self._pick(("department", "year"))
        if self.chance(0.3):
            other = self._pick(("department", "COALESCE(e.discharged_to, 'none')"))
            front = front if other == "department" else ""
            columns = (
                f"{front}{other} AS {label}, {front or self._pick(('e.', ''))}age AS w"
            )
            return f"encounters e CROSS JOIN LATERAL (SELECT {columns}) AS {name}"
        keys = [f"'{each}'" for each in WARDS]
        if column == "year":
            keys = [str(year) for year in range(2020, 2025)]
        rows = [
            f"({key}, '{self._pick((*WARDS, *CODES, 'secondary'))}', {self._random.randint(0, 120)})"
            for key in self._sample(keys, self._random.randint(1, 3))
        ]
        listed = f"(VALUES {', '.join(rows)}) AS {name}(k, {label}, w)"
        sign = self._pick(("=", "=", ">=")) if column == "year" else "="
        kind = self._pick(("JOIN", "JOIN", "LEFT JOIN"))
        return f"encounters e {kind} {listed} ON {front}{column} {sign} {name}.k"

    def _within(self, name, label, depth=0):
        own = self._pick(("f", "f", "e", "d", "v"))
        table = self._pick(("encounters", "diagnoses"))
        front = self._pick((f"{own}.", f"{own}.", ""))
        read = self._pick((f"{name}.{label}", f"{name}.{label}", label))
        said = [
            f"{front}age > {name}.w",
            f"{front}department <> {read}",
            f"{front}year < 2022",
        ]
        if table == "diagnoses":
            said = [f"{front}code = {read}", f"{own}.{label} = 'secondary'"]
            said += [f"{own}.rank = 'secondary'", f"{front}code <> {name}.{label}"]
        where = self._pick(said)
        if depth == 0 and self.chance(0.2):
            where += f" AND {self._within(name, label, 1)}"
        sign = self._pick(("", "NOT "))
        key = self._pick(("patient_id", "patient_id", "encounter_id"))
        if self.chance(0.5):
            listed = f"SELECT {own}.{key} FROM {table} {own} WHERE {where}"
            if key == "encounter_id" and self.chance(0.3):
                listed += f" GROUP BY {own}.{key} HAVING COUNT(*) > 1"
            return f"e.{key} {sign}IN ({listed})"
        tie = f"{own}.{key} = e.{key}"
        if self.chance(0.4):
            said = ["", f" AND {where}"]
            if table == "encounters":
                said += [f" AND {own}.admitted < e.admitted"]
                said += [f" AND {own}.age <= e.age"]
            rest = self._pick(said)
            value = self._pick(
                ("COUNT(*)", f"COUNT(DISTINCT {front}year)", "1 + COUNT(*)")
            )
            compared = self._pick(("> 1", "= 0", "< 3", "IS NULL"))
            return f"(SELECT {value} FROM {table} {own} WHERE {tie}{rest}) {compared}"
        return f"{sign}EXISTS (SELECT 1 FROM {table} {own} WHERE {tie} AND {where})"

    # -- the rest -----------------------------------------------------------

    def following(self):
        """Keys of which some follow from others, and from those that follow."""
        keys = self._sample(PARTS, self._random.randint(2, 4))
        counts = [each.format(e="") for each in self._sample(COUNTS, 1)]
        where = [self.where("")] if self.chance(0.3) else []
        return self.select(keys, counts, "encounters", where)

    def stacked(self):
        """Answers one below the other, whose labels may be groups."""
        count, many = self._pick(TOTALS), self._random.randint(1, 3)
        key = self._pick(
            (
                "department",
                "COALESCE(discharged_to, 'none')",
                "CAST(year AS VARCHAR)",
                "year",
                "",
            )
        )
        labels = self._sample(
            ("'all'", "'surgery'", "'none'", "'other'", "'2020'", "'attic'"), many
        )
        if key == "year":
            labels = [self._pick(("1", "2020", "2020.0")) for _ in range(many)]
        parts = [
            f"SELECT {each} AS k0, {count} AS m0 FROM {self.source()}"
            for each in labels
        ]
        if key:
            parts.append(
                f"SELECT {key} AS k0, {count} AS m0 FROM encounters GROUP BY 1"
            )
        self._random.shuffle(parts)
        return " UNION ALL ".join(parts)

    def source(self):
        table = self._pick(("encounters", "labs", "patients"))
        if self.chance(0.3):
            return self.cohort()
        return f"encounters WHERE {self.where('')}" if self.chance(0.3) else table

    def cohort(self):
        """Patients of some stays, perhaps beside those who have labs."""
        one = f"SELECT DISTINCT patient_id FROM encounters WHERE {self.where('')}"
        if self.chance(0.4):
            return f"({one}) AS c"
        kind = self._pick(("JOIN", "LEFT JOIN", "RIGHT JOIN"))
        other = self._pick(
            (
                "SELECT patient_id FROM labs GROUP BY patient_id",
                "SELECT DISTINCT patient_id FROM prescriptions",
                "SELECT patient_id FROM labs",
            )
        )
        both = f"({one}) AS c {kind} ({other}) AS l USING (patient_id)"
        return f"(SELECT patient_id FROM {both}) AS b" if self.chance(0.5) else both

    def bracketed(self):
        """Totals of several tables, and perhaps a WHERE that has no rows."""
        one, two = (
            f"SELECT {self._pick(TOTALS)} AS k FROM {self.source()}" for _ in range(2)
        )
        where = self._pick(("", "", "", " WHERE 1 = 0", " WHERE 1 = 1"))
        if self.chance(0.5):
            return f"SELECT ({one}) AS m0, ({two}) AS m1{where}"
        where = where and " WHERE n.k < 0"
        return f"WITH n AS ({one}), o AS ({two}) SELECT n.k AS m0, o.k AS m1 FROM n CROSS JOIN o{where}"

    def lateral(self):
        """Columns that are computed of each row, and of each other."""
        tie = self._pick(("CROSS JOIN LATERAL", "LEFT JOIN LATERAL", "JOIN LATERAL"))
        says = "" if tie.startswith("CROSS") else self._pick((" ON TRUE", " ON FALSE"))
        source = f"encounters e {tie} (SELECT e.age - e.age % 10 AS a) x{says}"
        key = self._pick(("x.a", "a"))
        if self.chance(0.3):
            of_rows = self._pick(
                (
                    "ROW_NUMBER() OVER (PARTITION BY e.patient_id ORDER BY e.encounter_id)",
                    "COUNT(*) OVER (PARTITION BY e.department)",
                    "COUNT(*)",
                    "MAX(e.age)",
                    "e.department AS age, age",
                )
            )
            rows = f"encounters e CROSS JOIN LATERAL (SELECT {of_rows} AS a) x"
            below = f"(SELECT e.patient_id, x.a FROM {rows}) AS q"
            return f"SELECT COUNT(*) AS m0 FROM {below} WHERE a >= 1 AND a <= 2"
        if self.chance(0.4):
            source += " CROSS JOIN LATERAL (SELECT x.a >= 50 AS b) y"
            key = "y.b"
        return self.select([key], ["COUNT(*)"], source, [])

    def groups(self):
        """Aggregates of groups of all patients; none of them is empty."""
        key = self._pick(
            ("year", "EXTRACT(MONTH FROM admitted)", "EXTRACT(QUARTER FROM admitted)")
        )
        count = self._pick(("COUNT(*)", "SUM(length_of_stay)"))
        shown = self._pick(("SUM(n)", "AVG(n)", "MIN(n)", "MAX(n)"))
        return f"SELECT {shown} AS m0 FROM (SELECT {key} AS k, {count} AS n FROM encounters GROUP BY 1) AS g"

    def together(self):
        """STRING_AGG of listed values, perhaps over a window."""
        drugs = self._sample(
            ("metformin", "insulin", "ramipril", "ibuprofen"), self._pick((1, 2, 3))
        )
        listed = ", ".join(f"'{each}'" for each in drugs)
        call = (
            f"STRING_AGG(DISTINCT drug, '+' ORDER BY drug{self._pick(('', ' DESC'))})"
        )
        where = f"FROM prescriptions WHERE drug IN ({listed})"
        below = f"SELECT patient_id, {call} AS s {where} GROUP BY patient_id"
        if self.chance(0.2):
            below = (
                f"SELECT patient_id, {call} OVER (PARTITION BY patient_id) AS s {where}"
            )
        return f"SELECT s AS k0, COUNT(*) AS m0 FROM ({below}) AS t GROUP BY 1"

    def where(self, table):
        return f"({self._pick(WHERE).format(e=table)})"

    def select(self, keys, counts, source, where):
        shown = [f"{key} AS k{n}" for n, key in enumerate(keys)]
        shown += [f"{count} AS m{n}" for n, count in enumerate(counts)]
        text = f"SELECT {', '.join(shown)} FROM {source}"
        if where:
            text += f" WHERE {' AND '.join(f'({each})' for each in where)}"
        if keys:
            text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}"
        return text
