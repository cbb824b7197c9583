"""Datasets, snapshots, budgets and past questions as they are sent."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from server.use_cases.custody.replies import HeldDataset, LossRange
from server.use_cases.questions.replies import Answer, ChargeShape
from server.use_cases.releases.replies import CellValue, TypeName, WarningShape
from server.use_cases.services.documents import Document

QueryState = Literal["in_flight", "answered", "failed"]


class LimitShape(TypedDict):
    """A limit, what is spent of it, and what is left."""

    allotment: str
    spent: str
    remaining: str


class CapShape(TypedDict):
    """The population's cap, where the caller may see it."""

    epsilon: str
    spent: str
    remaining: str


class ProjectBudget(LimitShape):
    """One project's budget."""

    project: str
    population: str
    datasets: list[str]
    expires: str | None
    warnings: list[WarningShape]
    principal: LimitShape | None
    cap: CapShape | None


class Budget(TypedDict):
    """The caller's budgets."""

    projects: list[ProjectBudget]


class ColumnShape(TypedDict):
    """A declared column; ``expression`` is what a load computes its values by."""

    name: str
    type: str
    scale: int
    nullable: bool
    constant_in_unit: bool
    domain: Document | None
    max_length: NotRequired[int]
    expression: NotRequired[str]


class FanOutShape(TypedDict):
    """How many rows of a public table agree in some columns at most."""

    columns: list[str]
    max: int


class TableShape(TypedDict):
    """A declared table; ``max_length`` of a text column is in bytes of UTF-8.

    A private table has a unit column and a bound, a public one says that it is public.
    """

    name: str
    public: NotRequired[Literal[True]]
    unit_column: NotRequired[str]
    max_rows_per_unit: NotRequired[int]
    key: list[str]
    fan_out: NotRequired[list[FanOutShape]]
    max_rows: int
    columns: list[ColumnShape]


class HierarchyShape(TypedDict):
    """A hierarchy of codes: its levels, widest first, and how many codes it lists."""

    name: str
    levels: list[str]
    codes: int


class DatasetDetail(HeldDataset):
    """A dataset's public schema, its limits and the caller's budget."""

    snapshot_date: str
    epsilon_per_query: LossRange
    display: Document
    limits: dict[str, int]
    hierarchies: list[HierarchyShape]
    max_units: int
    budget: Budget
    tables: list[TableShape]


class QueryInFlight(TypedDict):
    """A query in flight: its state alone."""

    query_id: str
    state: Literal["in_flight"]


class QueryItem(TypedDict):
    """One of the caller's queries."""

    query_id: str
    state: QueryState
    time: str
    dataset: str
    snapshot: str
    project: str
    sql: str
    charge: ChargeShape


class QueryDetail(QueryItem):
    """A query, with its answer once it is answered."""

    answer: NotRequired[Answer]


class SampleColumn(TypedDict):
    """A column of made-up rows."""

    name: str
    type: TypeName


class SampleShape(TypedDict):
    """Made-up rows: they follow from the public schema alone, and tell of nobody."""

    made_up: Literal[True]
    dataset: str
    table: str
    columns: list[SampleColumn]
    rows: list[list[CellValue]]


class RemovedSnapshotShape(TypedDict):
    """A version of a dataset that was erased."""

    id: str
    dataset: str
    state: Literal["removed"]


class SnapshotShape(TypedDict):
    """A version of a dataset: active, kept, or removed."""

    id: str
    dataset: str
    created: str
    state: Literal["active", "kept", "removed"]
