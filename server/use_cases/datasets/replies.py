"""Datasets, snapshots, budgets and past questions as they are sent."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from privacy.measures import MeasureName
from server.use_cases.custody.replies import HeldDataset
from server.use_cases.losses.amounts import PerQuery
from server.use_cases.questions.replies import (
    Answer,
    ChargeShape,
)
from server.use_cases.questions.studies.replies import StudyAnswer
from server.use_cases.releases.replies import CellValue, TypeName, WarningShape
from server.use_cases.services.documents import DayText, Document, LossText, TimeText

QueryState = Literal["in_flight", "answered", "failed"]


class LimitShape(TypedDict):
    """A limit, what is spent of it, and what is left."""

    allotment: LossText
    """The most that may be spent, in what the population counts."""
    spent: LossText
    """What was spent so far."""
    remaining: LossText
    """What is left of the allotment."""


class CapShape(TypedDict):
    """The population's cap, where the caller may see it."""

    epsilon: LossText
    """The most that all answers about the population may ever spend."""
    spent: LossText
    """Epsilon that was spent so far, for all projects and releases."""
    remaining: LossText
    """What is left of the cap."""


class ProjectBudget(LimitShape):
    """One project's budget."""

    project: str
    """Name of the project."""
    population: str
    """Name of the population that its datasets are over."""
    measure: MeasureName
    """What its losses count: epsilon (`pure`), or rho (`zcdp`)."""
    datasets: list[str]
    """Names of the datasets that it may ask."""
    expires: DayText | None
    """First day without access; null is never."""
    warnings: list[WarningShape]
    """Such as `expires_soon`, from 14 days before access ends."""
    principal: LimitShape | None
    """The caller's own allotment in the project; null where there is none."""
    cap: CapShape | None
    """The population's cap; null where the caller may not see it."""


class Budget(TypedDict):
    """The caller's budgets."""

    projects: list[ProjectBudget]
    """The caller's projects that have not expired."""


class ColumnShape(TypedDict):
    """A declared column; ``expression`` is what a load computes its values by."""

    name: str
    """As SQL names it."""
    type: str
    """Type of its values, such as `integer` or `text`."""
    scale: int
    """Digits after the decimal point; 0 for other types than decimals."""
    nullable: bool
    """Whether values may be NULL."""
    constant_in_unit: bool
    """Whether all rows of one unit have the same value."""
    domain: Document | None
    """The values that it may take: a list, a range, or codes of a hierarchy; null where
    none is declared."""
    max_length: NotRequired[int]
    """Of text: the most bytes of UTF-8 that a value has."""
    expression: NotRequired[str]
    """Of a derived column: what a load computes its values by."""


class FanOutShape(TypedDict):
    """How many rows of a public table agree in some columns at most."""

    columns: list[str]
    """Names of the columns."""
    max: int
    """The most rows that agree in all of them."""


class TableShape(TypedDict):
    """A declared table; ``max_length`` of a text column is in bytes of UTF-8.

    A private table has a unit column and a bound, a public one says that it is public.
    """

    name: str
    """As SQL names it."""
    public: NotRequired[Literal[True]]
    """That the table is about nobody; left out of private tables."""
    unit_column: NotRequired[str]
    """Of a private table: name of the column that says whose row it is."""
    max_rows_per_unit: NotRequired[int]
    """Of a private table: the most rows that one unit has."""
    key: list[str]
    """Names of the columns that identify a row together; empty where none do."""
    fan_out: NotRequired[list[FanOutShape]]
    """Of a public table: how many rows agree in some columns at most."""
    max_rows: int
    """The declared upper bound on its rows; public."""
    listed: NotRequired[Literal[True]]
    """That the rows of a public table are shown, and are the lists of its columns."""
    columns: list[ColumnShape]
    """Its columns, in the declared order."""
    rows: NotRequired[list[list[str | int | bool | None]]]
    """Of a listed table: its rows, a value for each column."""


class HierarchyShape(TypedDict):
    """A hierarchy of codes: its levels, widest first, and how many codes it lists."""

    name: str
    """As the functions of SQL name it."""
    levels: list[str]
    """Names of its levels, widest first."""
    codes: int
    """How many codes it lists."""


class ShownBlocks(TypedDict):
    """How a population is divided into blocks, each of which has the cap for itself."""

    column: str
    """What of a row says in which block its unit is."""
    tables: list[str]
    """Names of the tables that have the column; the first has a row of every unit."""
    values: list[int | str]
    """The blocks, in declared order."""


class DividedDataset(TypedDict):
    """What datasets have beside whose population has blocks."""

    blocks: NotRequired[ShownBlocks]
    """Of a population with blocks: how it is divided. A query is charged to those that
    its text can touch, as its plan says."""


class DatasetDetail(HeldDataset, DividedDataset, PerQuery):
    """A dataset's public schema, its limits and the caller's budget."""

    measure: MeasureName
    """What its population counts: epsilon (`pure`), or rho (`zcdp`)."""

    snapshot_date: DayText
    """The declared day of the data, which CURRENT_DATE means."""
    display: Document
    """How answers are best shown: below `hide_below`, a client hides counts."""
    limits: dict[str, int]
    """The most `cells` that one answer may have."""
    hierarchies: list[HierarchyShape]
    """Hierarchies of codes that its columns may use."""
    max_units: int
    """The declared upper bound on the number of units; public."""
    budget: Budget
    """What the caller may spend on this dataset."""
    tables: list[TableShape]
    """Its tables, as declared."""


class QueryInFlight(TypedDict):
    """A query in flight: its state alone."""

    query_id: str
    """Id of the query."""
    state: Literal["in_flight"]
    """Always `in_flight`: it is charged, and its reply has not left."""


class QueryRecord(TypedDict):
    """What is told of any query."""

    query_id: str
    """Id of the query, `q_` and 24 hexadecimal digits."""
    time: TimeText
    """When it was charged."""
    dataset: str
    """Name of the dataset that was asked."""
    snapshot: str
    """Id of the snapshot that answered."""
    project: str
    """Name of the project that paid."""
    sql: str
    """As it was sent."""
    charge: ChargeShape
    """What was paid."""


class QueryItem(QueryRecord):
    """One of the caller's queries."""

    state: QueryState
    """`in_flight`: its reply has not left. `failed`: charged, and without an answer."""


class QueryDetail(QueryRecord):
    """A query that has ended, with its answer if it has one."""

    state: Literal["answered", "failed"]
    """`failed`: charged, and without an answer."""
    answer: NotRequired[Answer]
    """As it was sent; left out of a query that failed, and of a study."""
    study: NotRequired[StudyAnswer]
    """Of several questions that were paid for by one charge: as it was sent."""


ShownQuery = Annotated[QueryDetail | QueryInFlight, Field(discriminator="state")]


class SampleColumn(TypedDict):
    """A column of made-up rows."""

    name: str
    """As SQL names it."""
    type: TypeName
    """Type of its values, which says how `rows` write them."""


class SampleShape(TypedDict):
    """Made-up rows: they follow from the public schema alone, and tell of nobody."""

    made_up: Literal[True]
    """Always true: these rows are of nobody."""
    dataset: str
    """Name of the dataset."""
    table: str
    """Name of the table."""
    columns: list[SampleColumn]
    """The columns of `rows`."""
    rows: list[list[CellValue]]
    """In the order of the columns; the same each time."""


class RemovedSnapshotShape(TypedDict):
    """A version of a dataset that was erased."""

    id: str
    """Id of the snapshot."""
    dataset: str
    """Name of its dataset."""
    state: Literal["removed"]
    """Always `removed`."""


class SnapshotShape(TypedDict):
    """A version of a dataset: active, kept, or removed."""

    id: str
    """Id of the snapshot, `s_` and 24 hexadecimal digits."""
    dataset: str
    """Name of its dataset."""
    created: TimeText
    """When it was loaded."""
    state: Literal["active", "kept", "removed"]
    """`active`: queries are answered from it. `kept`: it may be activated. `removed`:
    its file was erased."""
