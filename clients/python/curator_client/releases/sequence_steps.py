"""What can be done with a published release of sequences, as steps for both clients."""

from __future__ import annotations

import io
import json
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from curator_client.connection.exchange import (
    Patience,
    Request,
    Steps,
    document_of,
    exchange,
)
from curator_client.releases.fidelity import MOST_GROUPS, compared, report
from curator_client.releases.steps import ReleaseSteps
from curator_client.releases.tree_plotting import draw_tree
from curator_client.releases.trees import made_up_sequences, symbols_of
from curator_client.tables.exports import optional
from curator_client.tables.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from curator_client.answers.release_answer import ReleaseAnswer

_TREE = "tree.csv"


def steps_of(document: dict[str, Any], patience: Patience) -> ReleaseSteps:
    """Return the steps that fit a release's kind."""
    kind = SequenceSteps if document.get("kind") == "sequences" else ReleaseSteps
    return kind(document, patience)


class SequenceSteps(ReleaseSteps):
    """One published release of sequences."""

    # -- counts ------------------------------------------------------------------

    def count_prefix(self, *symbols: Any) -> Steps[ReleaseAnswer]:
        """Return how many sequences begin with these symbols.

        Example: ``release.count_prefix("triage", "ICU").plot()``
        """
        return (yield from self._count(f"STARTS_WITH({_listed(symbols)})"))

    def count_run(self, *symbols: Any) -> Steps[ReleaseAnswer]:
        """Return in how many sequences these symbols follow each other at once."""
        return (yield from self._count(f"HAS_RUN({_listed(symbols)})"))

    def first_then(self, *symbols: Any) -> Steps[ReleaseAnswer]:
        """Return how many sequences have these in this order, others between or not."""
        return (yield from self._count(f"FIRST_THEN({_listed(symbols)})"))

    def at(self, place: int) -> Steps[ReleaseAnswer]:
        """Return how many sequences have which symbol at a place, counted from 1.

        NULL: the sequence ended before.
        """
        return (yield from self._grouped(f"SYMBOL_AT({place})", "symbol"))

    def lengths(self) -> Steps[ReleaseAnswer]:
        """Return how many sequences have which length; the greatest: or more."""
        return (yield from self._grouped("LENGTH()", "length"))

    def slopes(self, width: float = 1) -> Steps[ReleaseAnswer]:
        """Return how many sequences rise or fall how steeply, in bands of a width.

        Raises:
            SqlRefusedError: The symbols have no order.
        """
        return (yield from self._grouped(f"SLOPE_BAND({width})", "slope"))

    def top_runs(
        self, k: int = 10, shortest: int = 2, longest: int = 3
    ) -> Steps[ReleaseAnswer]:
        """Return the runs that occur most, each with the number of places.

        A number holds the places that the release knows and those that it estimates
        beyond. ``count_run`` counts sequences, and only those that are sure to have
        the run; ``undecided`` of its answer may have it, too.

        Args:
            k: How many.
            shortest: Fewest symbols of a run.
            longest: Most symbols of a run.
        """
        sql = f"SELECT TOP_RUNS({k}, {shortest}, {longest}) FROM release"  # noqa: S608 - the server checks it
        return (yield from self.query(sql))

    # -- the tree ----------------------------------------------------------------

    def tree(self, *prefix: Any, split: Any = ...) -> Steps[Listing]:
        """Return how sequences that begin with these symbols go on.

        Args:
            prefix: The first symbols; none for the first step of all sequences.
            split: A value of the splitting dimension; left out: all together.

        Example: ``release.tree("triage")``
        """
        given = {"prefix": json.dumps([_plain(symbol) for symbol in prefix])}
        if split is not ...:
            given["split"] = json.dumps(_plain(split))
        request = Request("GET", f"{self._path()}/tree?{urlencode(given)}")
        reply = yield from exchange(request, self._patience)
        found = document_of(reply, request, None)["children"]
        return Listing.of_dicts(
            found, columns=("kind", "symbol", "count", "half_width", "children")
        )

    def to_pandas(self) -> Steps[pd.DataFrame]:
        """Return every path of the tree: its parent, last symbol, estimate, variance.

        ``frame.attrs`` says which release they are of, and what was paid for it.
        The file is compared with its digest in the manifest.

        Raises:
            ImportError: pandas is not installed.
            BrokenDownloadError: The file is another than the manifest names.
            NotFoundError: The paths are too many to be listed; ask by ``query``.
        """
        if self._cells is None:
            content = yield from self._file(_TREE)
            pandas = optional("pandas", "to_pandas()")
            self._cells = pandas.read_csv(
                io.BytesIO(content),
                dtype={"symbol": "object"},
                keep_default_na=False,
                na_values={"split": [""]},
            )
            self._cells.attrs.update(self._about())
        return self._cells.copy()

    def synthetic(
        self, n: int | None = None, *, seed: int | None = None
    ) -> Steps[pd.DataFrame]:
        """Return made-up sequences that are distributed like the published tree.

        They come from published numbers alone, so they cost nothing and are nobody's.
        Where the release does not know how sequences go on, these end.

        Args:
            n: How many; the release's own (noisy) total where it is left out.
            seed: For the same sequences again.

        Returns:
            A row a symbol: ``sequence``, ``place`` from 1, ``symbol``; and the split's
            value where there is one.

        Raises:
            ImportError: pandas is not installed.
        """
        paths = yield from self.to_pandas()
        return made_up_sequences(paths, self._split(), n, seed)

    def fidelity(self, rows: pd.DataFrame) -> Steps[Listing]:
        """Report how well made-up sequences follow the release, for nothing.

        The symbols at each place, and at each two places that follow, are compared
        with the release's own noisy counts, of sequences that are known so far. No
        row behind the release is looked at: a score against raw data is an answer
        about people, and has to be paid for.

        Args:
            rows: Of ``synthetic()``: a row a symbol.

        Returns:
            A row a place or two: as ``fidelity`` of a cube has a row a column or pair.

        Raises:
            ValueError: The rows are not those of sequences.
        """
        made_up = symbols_of(rows)
        longest = int(self._manifest()["max_length"])
        lines, skipped = [], []
        symbols = self._manifest()["alphabet"]["values"]
        size, null = len(symbols), {"none"} if None in symbols else set()
        singles = [(place,) for place in range(1, longest + 1)]
        for places in (*singles, *pairwise(range(1, longest + 1))):
            title = " then ".join(f"place {place}" for place in places)
            if (size + 1) ** len(places) > MOST_GROUPS:
                skipped.append(title)
                continue
            answer = yield from self._symbols_at(places)
            chosen = [one[places[0] - 1 : places[-1]] for one in made_up]
            whole = [
                symbols
                for symbols in chosen
                if len(symbols) == len(places) and null.isdisjoint(symbols)
            ]
            lines.append(compared(title, answer, whole, has_null=False))
        return report(lines, skipped)

    def plot_tree(self, depth: int = 3, *, ax: Axes | None = None) -> Steps[Axes]:
        """Draw the tree's first steps: each path as wide as it has sequences.

        Where the release is split, a row above says which part is of which value.

        Args:
            depth: How many steps.
            ax: Axes to draw on; else new ones are made.

        Raises:
            ImportError: matplotlib or pandas is not installed.
        """
        paths = yield from self.to_pandas()
        return draw_tree(paths, depth, self._split(), ax)

    # -- what they share -----------------------------------------------------------

    def _dimensions(self) -> list[dict[str, Any]]:
        """Return the dimension that splits the release, for ``cuboid`` and bars."""
        split = self._manifest()["split"]
        return [] if split is None else [split]

    def _split(self) -> str | None:
        return next(iter(self._names()), None)

    def _count(self, condition: str) -> Steps[ReleaseAnswer]:
        sql = f"SELECT COUNT(*) AS n FROM release WHERE {condition}"  # noqa: S608 - literals are quoted
        return (yield from self.query(sql))

    def _symbols_at(self, places: tuple[int, ...]) -> Steps[ReleaseAnswer]:
        keys = ", ".join(f"SYMBOL_AT({place})" for place in places)
        named = ", ".join(f"SYMBOL_AT({place}) AS s{place}" for place in places)
        sql = f"SELECT {named}, COUNT(*) AS n FROM release GROUP BY {keys}"  # noqa: S608 - numbers
        return (yield from self.query(sql))

    def _grouped(self, key: str, name: str) -> Steps[ReleaseAnswer]:
        sql = f"SELECT {key} AS {name}, COUNT(*) AS n FROM release GROUP BY {key}"  # noqa: S608 - the server checks it
        return (yield from self.query(sql))


def _plain(symbol: Any) -> Any:
    """Return a symbol as JSON can hold it."""
    known = symbol is None or isinstance(symbol, bool | int | str)
    return symbol if known else str(symbol)


def _listed(symbols: Sequence[Any]) -> str:
    return ", ".join(literal(symbol) for symbol in symbols)


def literal(symbol: Any) -> str:
    """Return a symbol as SQL writes it.

    >>> literal("it's"), literal(3), literal(None), literal(True)
    ("'it''s'", '3', 'NULL', 'TRUE')
    """
    if symbol is None:
        return "NULL"
    if isinstance(symbol, bool):
        return str(symbol).upper()
    if isinstance(symbol, str | date):
        return "'" + str(symbol).replace("'", "''") + "'"
    return str(symbol)
