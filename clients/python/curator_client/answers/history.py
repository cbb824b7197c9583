"""A past question, as the server lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class PastQuery:
    """One of your past queries; ``curator.answer(past.query_id)`` brings its answer."""

    document: dict[str, Any]

    @property
    def query_id(self) -> str:
        """The id under which the server keeps it."""
        return str(self.document["query_id"])

    @property
    def state(self) -> str:
        """``"in_flight"``, ``"answered"`` or ``"failed"``."""
        return str(self.document["state"])

    @property
    def time(self) -> str:
        """When it was charged."""
        return str(self.document["time"])

    @property
    def dataset(self) -> str:
        """The dataset that was asked."""
        return str(self.document["dataset"])

    @property
    def project(self) -> str:
        """The project that paid."""
        return str(self.document["project"])

    @property
    def sql(self) -> str:
        """The question."""
        return str(self.document["sql"])

    @property
    def charge(self) -> dict[str, Any]:
        """What was paid; ``reused`` answers cost nothing."""
        return dict(self.document["charge"])

    def __repr__(self) -> str:
        """Return one line for lists in terminals."""
        paid = "free" if self.charge["reused"] else f"epsilon {self.charge['epsilon']}"
        question = " ".join(self.sql.split())
        return f"{self.time} {self.query_id} {self.state}, {paid}: {question}"
