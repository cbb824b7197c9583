"""Jobs as they are sent."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class JobItem(TypedDict):
    """A job in a list. ``done`` of ``total`` counts the stage, in its own unit."""

    id: str
    kind: str
    population: str | None
    actor: str
    created: str
    state: JobState
    stage: str | None
    done: int
    total: int | None
    attempts: int
    cancel_requested: bool
    started: str | None
    ended: str | None


class LineageShape(TypedDict):
    """What a job read, with which code, and what it made."""

    inputs: list[Document]
    code_version: str
    outputs: list[Document]


class JobDetail(JobItem):
    """A job. ``result`` may count raw rows: it is for custodians alone."""

    error: str | None
    result: Document | None
    parameters: Document
    lineage: LineageShape
