"""Ask a Curator server private questions from Python.

>>> from curator_client import Curator
>>> curator = Curator("https://curator.example.org", "cur_...")  # doctest: +SKIP
>>> curator.query("SELECT COUNT(*) FROM encounters", epsilon="0.1")  # doctest: +SKIP

In a notebook, ``%load_ext curator_client`` adds ``%%curator``.
"""

from __future__ import annotations

from typing import Any

from curator_client.answers.answer import Answer
from curator_client.answers.budget import Budget
from curator_client.answers.history import PastQuery
from curator_client.answers.plan import Plan
from curator_client.answers.refusals import (
    BudgetExceededError,
    ConfirmationNeededError,
    CuratorError,
    CuratorRefusalError,
    CuratorUnreachableError,
    InvalidRequestError,
    NotFoundError,
    QueryFailedError,
    SqlRefusedError,
    TooBusyError,
    UnauthenticatedError,
)
from curator_client.answers.release_answer import ReleaseAnswer
from curator_client.answers.schema import Dataset, Domain, Domains
from curator_client.answers.study import Study, StudyPlan
from curator_client.client import AsyncCurator, Curator
from curator_client.connection.exchange import Patience
from curator_client.releases.release import AsyncRelease, Release
from curator_client.releases.sequences import AsyncSequenceRelease, SequenceRelease
from curator_client.releases.steps import BrokenDownloadError
from curator_client.tables.listing import Listing
from curator_client.wishes import (
    AccuracyWish,
    Bounds,
    Options,
    QuestionOptions,
    StudyOptions,
    StudyQuestion,
)

__all__ = [
    "AccuracyWish",
    "Answer",
    "AsyncCurator",
    "AsyncRelease",
    "AsyncSequenceRelease",
    "Bounds",
    "BrokenDownloadError",
    "Budget",
    "BudgetExceededError",
    "ConfirmationNeededError",
    "Curator",
    "CuratorError",
    "CuratorRefusalError",
    "CuratorUnreachableError",
    "Dataset",
    "Domain",
    "Domains",
    "InvalidRequestError",
    "Listing",
    "NotFoundError",
    "Options",
    "PastQuery",
    "Patience",
    "Plan",
    "QueryFailedError",
    "QuestionOptions",
    "Release",
    "ReleaseAnswer",
    "SequenceRelease",
    "SqlRefusedError",
    "Study",
    "StudyOptions",
    "StudyPlan",
    "StudyQuestion",
    "TooBusyError",
    "UnauthenticatedError",
]


def load_ipython_extension(shell: Any) -> None:
    """Add ``%curator`` and ``%%curator`` to a notebook (``%load_ext``)."""
    from curator_client.magic import register  # noqa: PLC0415 - needs IPython

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take ``%curator`` and ``%%curator`` away again (``%unload_ext``)."""
    from curator_client.magic import unregister  # noqa: PLC0415 - needs IPython

    unregister(shell)
