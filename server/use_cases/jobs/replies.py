"""Jobs as they are sent."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document, TimeText

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class JobItem(TypedDict):
    """A job in a list. ``done`` of ``total`` counts the stage, in its own unit."""

    id: str
    """Id of the job, `job_` and 24 hexadecimal digits."""
    kind: str
    """What it does, such as `dataset.load`."""
    population: str | None
    """Name of the population that it works on; null where it is of none."""
    actor: str
    """Name of the principal who submitted it."""
    created: TimeText
    """When it was submitted."""
    state: JobState
    """`queued`: no worker has it yet. `cancelled`: stopped on request. `failed`: see
    `error`."""
    stage: str | None
    """What it does now, in words; null before it starts."""
    done: int
    """How far the stage is, in the stage's own unit, such as bytes."""
    total: int | None
    """How much the stage has to do, in the same unit; null where nobody knows."""
    attempts: int
    """How often a worker took it up; more than 1 after a crash."""
    cancel_requested: bool
    """Whether somebody asked to cancel it."""
    started: TimeText | None
    """When a worker first took it up; null before."""
    ended: TimeText | None
    """When it ended, in whatever state; null before."""


class LineageShape(TypedDict):
    """What a job read, with which code, and what it made."""

    inputs: list[Document]
    """Files and snapshots that it read, with sizes and SHA-256 where they were read
    whole."""
    code_version: str
    """Version of the server that ran it."""
    outputs: list[Document]
    """What it made, such as a snapshot, a release or files."""


class JobDetail(JobItem):
    """A job. ``result`` may count raw rows: it is for custodians alone."""

    error: str | None
    """A sentence on why it failed; null unless it did."""
    result: Document | None
    """What it found, by its kind; it may count raw rows. Null until it is done."""
    parameters: Document
    """As it was submitted, with what was left out filled in."""
    lineage: LineageShape
    """What it read and made."""
