"""Past questions, as the server lists them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from curator_client.answers.losses import loss_in_column, loss_in_words
from curator_client.tables import exports
from curator_client.tables.display import shortened, terminal_width
from curator_client.tables.listing import Listing

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 20
_COLUMNS = ["time", "dataset", "state", "epsilon", "query_id", "sql"]
_LONGEST = 100  # characters of a question that are shown where there is no terminal
_SHORTEST = 24  # that are shown in however narrow a one


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

    @property
    def _line(self) -> str:
        """The question in one line."""
        return " ".join(self.sql.split())

    def __repr__(self) -> str:
        """Return one line for lists in terminals."""
        paid = "free" if self.charge["reused"] else loss_in_words(self.charge)
        said = f"{self.time} {self.query_id} {self.state}, {paid}: "
        return said + shortened(self.sql, room_for_sql(len(said)))

    def cells(self) -> list[str]:
        """Return what stands in its row of a table."""
        paid = "0" if self.charge["reused"] else loss_in_column(self.charge)
        return [self.time, self.dataset, self.state, paid, self.query_id, self._line]


class History(Iterator[PastQuery]):
    """Past queries, newest first, asked for as they are met; shown, the newest 20.

    Args:
        walk: Begins anew, at the newest.
    """

    def __init__(self, walk: Callable[[], Iterator[PastQuery]]) -> None:
        self._walk = walk
        self._left: Iterator[PastQuery] | None = None

    def __next__(self) -> PastQuery:
        """Return the next one."""
        if self._left is None:
            self._left = self._walk()
        return next(self._left)

    def _listing(self, most: int) -> Listing:
        found = itertools.islice(self._walk(), most)
        note = f"the newest {most} at most; epsilon 0: free"
        return Listing(_COLUMNS, [past.cells() for past in found], note)

    def to_pandas(self) -> pd.DataFrame:
        """Return all of them as a DataFrame; times are datetime64 in UTC.

        Raises:
            ImportError: pandas is not installed.
        """
        cells = [past.cells() for past in self._walk()]
        columns = {name: [row[n] for row in cells] for n, name in enumerate(_COLUMNS)}
        return exports.pandas_frame(columns, {"time": "instant"})

    def __repr__(self) -> str:
        """Return a table for terminals; of long questions the beginning."""
        return repr(with_short_sql(self._listing(_SHOWN)))

    def _repr_html_(self) -> str:
        return self._listing(_SHOWN)._repr_html_()


def room_for_sql(taken: int) -> int:
    """Return how many characters of a question are shown after so many others."""
    width = terminal_width()
    return max(width - taken, _SHORTEST) if width else _LONGEST


def with_short_sql(listing: Listing) -> Listing:
    """Return a listing whose last column, the questions, is cut to the terminal."""
    others = [
        max(len(str(row[place])) for row in [listing.columns, *listing.rows]) + 2
        for place in range(len(listing.columns) - 1)
    ]
    room = room_for_sql(sum(others) + 2)
    rows = [[*row[:-1], shortened(str(row[-1]), room)] for row in listing.rows]
    return replace(listing, rows=rows)
