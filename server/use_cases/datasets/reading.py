"""What analysts may look at: datasets, their budget, their past answers."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from sqlalchemy import Connection, select

from budget.ledger import QueryRecord, Scope
from privacy.losses import Loss
from privacy.measures import Measure
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.custody.replies import HeldDataset
from server.use_cases.datasets.expiry import expiry_warnings
from server.use_cases.datasets.made_up import FEW_ROWS, MOST_ROWS, made_up_sample
from server.use_cases.datasets.metadata.formats import FORMATS
from server.use_cases.datasets.public_schema import public_schema_of, shown_blocks
from server.use_cases.datasets.replies import (
    Budget,
    DatasetDetail,
    LimitShape,
    ProjectBudget,
    QueryItem,
    QueryState,
    SampleShape,
)
from server.use_cases.identity.access import Caller, Project, dataset_row, projects_of
from server.use_cases.losses.amounts import per_query
from server.use_cases.losses.measures import measures_of_projects
from server.use_cases.questions.answers import charge_document
from server.use_cases.questions.questions import Schema, loss_range, schema_of
from server.use_cases.questions.studies.composed import is_study
from server.use_cases.services.documents import Document, encode
from server.use_cases.services.errors import (
    InProgressError,
    NotFoundError,
    QueryFailedError,
)
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services

LIMITS: Final = {
    "cells": 10_000,
    "sql_bytes": 16_384,
    "tokens": 2_000,
    "depth": 30,
    "in_items": 256,
}


class AnalystReader:
    """Reads public metadata and the caller's own records; nothing costs anything."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def datasets(self, caller: Caller, page: Page) -> ListOf[HeldDataset]:
        """List the datasets that the caller's unexpired projects may ask."""
        with self._services.databases.reader.connect() as connection:
            visible = tables.dataset.c.name.in_(sorted(_granted(connection, caller)))
            rows, following = read_page(connection, tables.dataset, page, visible)
            items = [_item(connection, row.name) for row in rows]
        return listed(items, following)

    def dataset(self, caller: Caller, name: str) -> DatasetDetail:
        """Describe one dataset: schema, domains, limits, the caller's budget.

        Raises:
            NotFoundError: Unknown or not granted.
        """
        with self._services.databases.reader.connect() as connection:
            if name not in _granted(connection, caller):
                raise NotFoundError
            row = dataset_row(connection, name)
            losses = loss_range(connection, row.population)
            item = _item(connection, name)
            projects = projects_of(connection, caller.name)
        declared = schema_of(row.active_snapshot, row.schema).dataset
        schema = public_schema_of(declared)
        return {
            **item,
            "snapshot_date": schema["snapshot_date"],
            "measure": losses.measure.name,
            **per_query(losses.measure, losses.minimum, losses.maximum),
            "display": json.loads(row.display),
            "limits": LIMITS,
            "hierarchies": schema["hierarchies"],
            "budget": self._budget(projects, caller),
            "max_units": schema["max_units"],
            "tables": schema["tables"],
            **shown_blocks(declared),
        }

    def sample(
        self, caller: Caller, name: str, table: str | None, rows: int
    ) -> SampleShape:
        """Return made-up rows of a table (the first one where none is named).

        They follow from the public schema alone.

        Raises:
            NotFoundError: The dataset is unknown or not granted, or has no such table.
        """
        schema = self._granted_schema(caller, name)
        names = schema.dataset.tables
        chosen = next(iter(names)) if table is None else table
        if chosen not in names:
            raise NotFoundError
        most = FEW_ROWS if rows <= FEW_ROWS else MOST_ROWS
        made = _made_up(schema, chosen, most)
        return {**made, "rows": made["rows"][:rows]}

    def metadata(self, caller: Caller, name: str, form: str) -> Document:
        """Return the dataset's public schema in another catalogue's words.

        Args:
            caller: Who reads.
            name: Of the dataset.
            form: One of ``FORMATS``.

        Raises:
            NotFoundError: Unknown or not granted.
        """
        return FORMATS[form](
            public_schema_of(self._granted_schema(caller, name).dataset)
        )

    def _granted_schema(self, caller: Caller, name: str) -> Schema:
        with self._services.databases.reader.connect() as connection:
            if name not in _granted(connection, caller):
                raise NotFoundError
            row = dataset_row(connection, name)
        return schema_of(row.active_snapshot, row.schema)

    def budget(self, caller: Caller) -> Budget:
        """Return what each of the caller's projects may spend and has spent."""
        with self._services.databases.reader.connect() as connection:
            projects = projects_of(connection, caller.name)
        return self._budget(projects, caller)

    def _budget(self, projects: Sequence[Project], caller: Caller) -> Budget:
        # The ledger reads on connections of its own: none may be held meanwhile, or
        # readers could wait for one another.
        measures = self._measures()
        return {
            "projects": [
                self._project(project, caller, measures[project.name])
                for project in projects
            ]
        }

    def _project(
        self, project: Project, caller: Caller, measure: Measure
    ) -> ProjectBudget:
        own = Scope.project(project.name)
        return {
            "project": project.name,
            "population": project.population,
            "measure": measure.name,
            "datasets": list(project.datasets),
            "expires": project.expires,
            "warnings": expiry_warnings(project.expires),
            **self._spent_of(own, self._services.ledger.limit(own) or Loss(0)),
            "principal": self._limit(Scope.principal(project.name, caller.name)),
            "cap": None,  # the population's cap is for custodians to show
        }

    def _limit(self, scope: Scope) -> LimitShape | None:
        limit = self._services.ledger.limit(scope)
        return None if limit is None else self._spent_of(scope, limit)

    def _spent_of(self, scope: Scope, limit: Loss) -> LimitShape:
        spent = self._services.ledger.spent(scope)
        return {
            "allotment": str(limit),
            "spent": str(spent),
            "remaining": str(limit.minus_floor_zero(spent)),
        }

    def queries(
        self, caller: Caller, *, limit: int, cursor: str | None
    ) -> ListOf[QueryItem]:
        """List the caller's queries, newest first."""
        records, next_cursor = self._services.ledger.history(
            caller.name, limit=limit, cursor=cursor
        )
        measures = self._measures()
        shown = [self._listed(record, measures) for record in records]
        return listed(shown, next_cursor)

    def query(self, caller: Caller, query_id: str) -> bytes:
        """Return one query as JSON; while it is in flight its state alone.

        The answer's bytes are put in as they are stored: to read and write a large one
        takes long, and everybody waits for it.

        Raises:
            NotFoundError: Unknown, or another principal's.
        """
        record = self._own(caller, query_id)
        if self._state(record) == "in_flight":
            return encode({"query_id": query_id, "state": "in_flight"})
        shown = encode(self._listed(record, self._measures()))
        if record.body is None:
            return shown
        name = b"study" if is_study(record.request_json) else b"answer"
        return b'%b, "%b": %b}' % (shown[:-1], name, record.body)

    def stored_answer(self, caller: Caller, query_id: str) -> bytes:
        """Return the bytes of one answer, as they were sent.

        Raises:
            NotFoundError: Unknown, or another principal's.
            InProgressError: Its reply has not left.
            QueryFailedError: It has none.
        """
        record = self._own(caller, query_id)
        if self._state(record) == "in_flight":
            message = "its reply has not left yet: read it again in a while"
            raise InProgressError(message)
        if record.body is None:
            raise QueryFailedError(query_id)
        return record.body

    def _own(self, caller: Caller, query_id: str) -> QueryRecord:
        record = self._services.ledger.query(query_id)
        if record is None or record.principal != caller.name:
            raise NotFoundError
        return record

    def _measures(self) -> Mapping[str, Measure]:
        with self._services.databases.reader.connect() as connection:
            return measures_of_projects(connection)

    def _listed(
        self, record: QueryRecord, measures: Mapping[str, Measure]
    ) -> QueryItem:
        asked = json.loads(record.request_json)
        return {
            "query_id": record.query_id,
            "state": self._state(record),
            "time": shown_time(record.time),
            "dataset": record.dataset,
            "snapshot": record.snapshot,
            "project": record.project,
            "sql": asked["sql"],
            "charge": charge_document(
                measures[record.project], record.loss, reused=record.reused
            ),
        }

    def _state(self, record: QueryRecord) -> QueryState:
        """Show a query as in flight until its reply has left (PRIVACY 6)."""
        unreleased = self._services.unreleased
        if record.held or not unreleased.is_released(record.query_id):
            return "in_flight"
        state = cast("QueryState", record.state)
        return state if state in {"answered", "failed"} else "in_flight"


@lru_cache(32)
def _made_up(schema: Schema, table: str, rows: int) -> SampleShape:
    """Return so many made-up rows of a table: a thousand take a tenth of a second."""
    return made_up_sample(schema.dataset, schema.dataset.tables[table], rows)


def _granted(connection: Connection, caller: Caller) -> set[str]:
    projects = projects_of(connection, caller.name)
    return {name for project in projects for name in project.datasets}


def _item(connection: Connection, name: str) -> HeldDataset:
    row = connection.execute(
        select(tables.dataset).where(tables.dataset.c.name == name)
    ).one()
    return {
        "name": row.name,
        "population": row.population,
        "snapshot": row.active_snapshot,
    }
