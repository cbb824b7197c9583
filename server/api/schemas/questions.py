"""The shapes of CONTRACT 5 for the OpenAPI document; bodies are written elsewhere.

These models describe; they never parse. Bodies are read by
``server.use_cases.services.strict_json``.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


def _without_nulls(schema: dict[str, Any]) -> None:
    """Say of members that may be left out that they may not be null."""
    for member in schema["properties"].values():
        if member.get("default", ...) is None:
            del member["default"]
        kinds = [kind for kind in member.pop("anyOf", []) if kind != {"type": "null"}]
        member.update(kinds[0] if len(kinds) == 1 else {})
        if len(kinds) > 1:
            member["anyOf"] = kinds


def _one_price(schema: dict[str, Any]) -> None:
    _without_nulls(schema)
    schema["oneOf"] = [{"required": ["epsilon"]}, {"required": ["accuracy"]}]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_nulls)


class AccuracyWish(_Asked):
    """Every cell of every aggregate within this half-width at this confidence."""

    within: float = Field(gt=0, examples=[20])
    confidence: float = Field(gt=0, lt=1, examples=[0.95])


class Bounds(_Asked):
    """Lower bounds on contributions, to buy accuracy."""

    tables: dict[str, int] = Field(default={}, examples=[{"encounters": 5}])
    max_rows_per_unit: int | None = Field(default=None, gt=0)
    max_groups_per_unit: int | None = Field(default=None, gt=0)


class Options(_Asked):
    """How to answer."""

    reuse: Literal["allow", "never"] = "allow"
    weights: dict[str, float] = Field(default={}, examples=[{"patients": 2}])
    prefer: Literal["release"] | None = None
    bounds: Bounds | None = None


class QuestionBody(_Asked):
    """A question: SQL, and exactly one of epsilon and accuracy."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_one_price)

    sql: str = Field(
        examples=["SELECT sex, COUNT(DISTINCT patient_id) FROM patients GROUP BY sex"]
    )
    epsilon: str | float | None = Field(
        default=None,
        examples=["0.1"],
        description="A decimal, at most nine places; a string keeps it exact.",
    )
    accuracy: AccuracyWish | None = None
    project: str | None = None
    options: Options | None = None


class OutputColumn(_Shape):
    """A column of the answer."""

    name: str
    kind: Literal["group", "measure"]
    type: Literal["integer", "decimal", "date", "timestamp", "text", "boolean"]
    unit: str | None = Field(examples=["patient"])


class Noise(_Shape):
    """The noise of one measured column, per cell, in the column's unit.

    An average has two entries: its sum and its count. A quantile's is of the count of
    each bin, in rows.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_nulls)

    column: str
    part: Literal["sum", "count"] | None = Field(
        default=None, description="Of an average alone."
    )
    per: Literal["bin"] | None = Field(default=None, description="Of a quantile alone.")
    mechanism: str = Field(examples=["discrete_laplace"])
    scale: str = Field(examples=["10.000000000000002"])
    l1_sensitivity: str = Field(examples=["1"])
    half_width_95: str = Field(examples=["30"])


class Intervals(_Shape):
    """The 95 % intervals of one average or quantile, a pair a row; of noise alone.

    They come from the noisy parts by a union bound: each by itself holds the exact
    value with at least this confidence.
    """

    column: str
    confidence: str = Field(examples=["0.95"])
    rows: list[list[str] | None] = Field(examples=[[["72.100000", "75.300000"], None]])


CellValue = int | str | bool | None
"""Whole numbers are integers; decimals, days, times and text are strings."""


class ChargeShape(_Shape):
    """What was paid."""

    epsilon: str = Field(examples=["0.1"])
    delta: str = Field(examples=["0"])
    reused: bool


class Remaining(_Shape):
    """What is left of the limits that the caller may see."""

    project: str | None = Field(examples=["4.9"])
    principal: str | None = Field(examples=[None])


class WarningShape(_Shape):
    """Something to know before relying on the answer."""

    code: str
    detail: str


class FreeAnswer(_Shape):
    """An answer that is on offer for nothing: somebody's, or a release's.

    A release is taken by ``options.prefer``, or asked by itself.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_nulls)

    kind: Literal["answer", "release"]
    id: str
    name: str | None = Field(default=None, description="Of a release.")
    epsilon: str = Field(description="That was paid for it.", examples=["1"])


class ReleaseDifference(_Shape):
    """One thing in which a release is not what a question asks."""

    what: Literal["snapshot", "source", "bounds", "filter", "counting", "dimension"]
    detail: str


class RelatedRelease(_Shape):
    """A release that comes near to a question, but does not answer it."""

    kind: Literal["release"]
    id: str
    name: str
    epsilon: str
    differences: list[ReleaseDifference]


class HalfWidths(_Shape):
    """The half-widths of one count or sum from a release, a text a row."""

    column: str
    confidence: str = Field(examples=["0.95"])
    rows: list[str] = Field(examples=[["30", "30"]])


class ReleaseTaken(_Shape):
    """The release that gave an answer."""

    kind: Literal["release"]
    id: str
    name: str
    epsilon: str


class Answer(_Shape):
    """Noisy rows: one a declared cell, but for what HAVING and LIMIT leave out."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_nulls)

    query_id: str
    snapshot: str
    columns: list[OutputColumn]
    rows: list[list[CellValue]] = Field(
        description="In the order of the columns. Counts and sums of integers are "
        "signed integers as drawn; decimals are strings, averages and quantiles with "
        "six digits after the point; days and times are ISO strings; NULL is null."
    )
    noise: list[Noise]
    intervals: list[Intervals] = Field(
        description="Of averages and quantiles; from a release, of every measure."
    )
    release: ReleaseTaken | None = Field(
        default=None, description="Where a release answered, for nothing."
    )
    half_widths: list[HalfWidths] | None = Field(
        default=None, description="From a release alone, whose noise is its own."
    )
    charge: ChargeShape
    remaining: Remaining
    derivation: str
    warnings: list[WarningShape]


class Foretold(_Shape):
    """How far an average or a quantile strays at most, said before it is asked.

    It depends on how many values a cell counts, so it is said for round numbers of
    them; null where noise may decide all.
    """

    column: str
    of: Literal["value", "share"] = Field(
        description="`value`: an average lies within so much of the exact one. "
        "`share`, of a quantile of a fraction q, with so much as s: at least q - s of "
        "the exact values lie up to the end of its bin, and at most q + s before that "
        "bin, which may hold none."
    )
    confidence: str = Field(examples=["0.95"])
    counted: list[int] = Field(examples=[[100, 1000, 10000, 100000]])
    half_widths: list[str | None] = Field(
        examples=[[None, "4.210527", "0.382776", "0.037929"]]
    )


class Attainable(_Shape):
    """The noise of a question that spends all that its asker sees left."""

    epsilon: str = Field(examples=["0.2"])
    noise: list[Noise]


class Cost(_Shape):
    """What executing takes at most: from the text and public sizes alone.

    A step is about a nanosecond of one thread of the engine.
    """

    steps: int = Field(description="At the declared numbers of units and rows.")
    memory_bytes: int = Field(description="At the declared numbers, held at once.")
    unit_steps: int = Field(description="That the rows of one unit can add.")
    unit_memory_bytes: int = Field(description="That the rows of one unit can add.")
    startup_steps: int = Field(
        description="That the first rows begin, whoever's they are; in steps too."
    )
    startup_memory_bytes: int = Field(description="Likewise; in memory_bytes too.")


class Plan(_Shape):
    """What an answer would cost and how noisy it would be; no data was touched."""

    epsilon: str
    delta: str
    affordable: bool
    remaining: Remaining
    snapshot: str
    cells: int
    columns: list[OutputColumn]
    noise: list[Noise]
    expected: list[Foretold] = Field(description="Of averages and quantiles.")
    attainable: Attainable | None = Field(
        description="Where a limit that you see is passed: what the rest would bring."
    )
    cost: Cost
    derivation: str
    warnings: list[WarningShape]
    free: list[FreeAnswer]
    related: list[RelatedRelease] = Field(
        description="Releases that come near, of those that you may read."
    )


class ProblemShape(_Shape):
    """An error: application/problem+json with a stable code as its type."""

    type: str = Field(examples=["sql_not_allowed"])
    title: str
    status: int
    detail: str
    rule: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    query_id: str | None = None
    remaining: Remaining | None = None
    attainable: Attainable | None = None


class DatasetItem(_Shape):
    """A dataset that the caller may ask."""

    name: str
    population: str
    snapshot: str


class DatasetList(_Shape):
    """Datasets, by name."""

    items: list[DatasetItem]
    next_cursor: str | None


class LimitShape(_Shape):
    """A limit, what is spent of it, and what is left."""

    allotment: str
    spent: str
    remaining: str


class CapShape(_Shape):
    """The population's cap, where the caller may see it."""

    epsilon: str
    spent: str
    remaining: str


class ProjectBudget(_Shape):
    """One project's budget."""

    project: str
    population: str
    datasets: list[str]
    expires: str | None
    warnings: list[WarningShape]
    allotment: str
    spent: str
    remaining: str
    principal: LimitShape | None
    cap: CapShape | None


class Budget(_Shape):
    """The caller's budgets."""

    projects: list[ProjectBudget]


class ColumnShape(_Shape):
    """A declared column."""

    name: str
    type: str
    scale: int
    nullable: bool
    constant_in_unit: bool
    domain: dict[str, object] | None
    max_length: int | None = None


class FanOutShape(_Shape):
    """How many rows of a public table agree in some columns at most."""

    columns: list[str]
    max: int


class TableShape(_Shape):
    """A declared table; ``max_length`` of a text column is in bytes of UTF-8.

    A private table has a unit column and a bound, a public one says that it is public.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_nulls)

    name: str
    public: bool | None = Field(default=None)
    unit_column: str | None = Field(default=None)
    max_rows_per_unit: int | None = Field(default=None)
    key: list[str]
    fan_out: list[FanOutShape] | None = Field(
        default=None, description="Of a public table, where it declares some."
    )
    max_rows: int
    columns: list[ColumnShape]


class HierarchyShape(_Shape):
    """A hierarchy of codes: its levels, widest first, and how many codes it lists."""

    name: str
    levels: list[str]
    codes: int


class LossRangeShape(_Shape):
    """What one query may spend."""

    min: str
    max: str


class DatasetDetail(DatasetItem):
    """A dataset's public schema, its limits and the caller's budget."""

    snapshot_date: str
    epsilon_per_query: LossRangeShape
    display: dict[str, object]
    limits: dict[str, int]
    hierarchies: list[HierarchyShape]
    max_units: int
    budget: Budget
    tables: list[TableShape]


class QueryItem(_Shape):
    """One of the caller's queries."""

    query_id: str
    state: Literal["in_flight", "answered", "failed"]
    time: str
    dataset: str
    snapshot: str
    project: str
    sql: str
    charge: ChargeShape


class QueryList(_Shape):
    """The caller's queries, newest first."""

    items: list[QueryItem]
    next_cursor: str | None


class QueryInFlight(_Shape):
    """A query in flight: its state alone."""

    query_id: str
    state: Literal["in_flight"]


class QueryDetail(QueryItem):
    """A query, with its answer once it is answered."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_without_nulls)

    answer: Answer | None = None


class Health(_Shape):
    """Whether the process lives, or may serve."""

    status: str = Field(examples=["ok"])
    unavailable_datasets: int = Field(
        default=0,
        description="How many cannot be read, where there are some; of readyz alone.",
    )


class SampleColumn(_Shape):
    """A column of made-up rows."""

    name: str
    type: Literal["integer", "decimal", "date", "timestamp", "text", "boolean"]


class SampleShape(_Shape):
    """Made-up rows: they follow from the public schema alone, and tell of nobody."""

    made_up: Literal[True]
    dataset: str
    table: str
    columns: list[SampleColumn]
    rows: list[list[CellValue]]
